"""Strides of accesses along a loop or a block axis, in memory and in each dim.

::

    for i in (0, n): for j in (0, m): Y[i, j] = X[j, i + 1]

Along `i`, the store to Y moves by m elements and the load of X by 1; by 1 and n along `j`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, SSAValue

from ...dialects import tir
from ...dialects.int_expr import ONE, Atom, IntExpr
from ...dialects.nesting import operations_in
from ...dialects.sym import exprs_of
from ..scope import Scope, index_constant


def memory_step(
    type_: tir.BufferType, indices: Sequence[IntExpr], variable: Atom
) -> IntExpr | None:
    """The stride along a variable in memory, in elements; `None` if it is not uniform."""
    return type_.linear_index(indices).coefficient_of(variable)


def lane_step(type_: tir.BufferType, indices: Sequence[IntExpr], variable: Atom) -> IntExpr | None:
    """The same along a contiguous last dim; `None` also where a variable moves other dims."""
    if not indices or type_.element_strides()[-1] != ONE:
        return None
    if any(variable in index.atoms() for index in indices[:-1]):
        return None
    return indices[-1].coefficient_of(variable)


def lane_offsets(type_: tir.BufferType, places: Sequence[Sequence[IntExpr]]) -> list[int] | None:
    """The distances of places from the first one along a contiguous last dim, in elements.

    `None` if they are not constant, or not in one row.
    """
    first = places[0]
    if not first or type_.element_strides()[-1] != ONE:
        return None
    found: list[int] = []
    for place in places:
        distance = (place[-1] - first[-1]).constant
        if distance is None or place[:-1] != first[:-1]:
            return None
        found.append(distance)
    return found


@dataclass
class Strides:
    """The accesses of a block outside of its initialization, over the loops around it.

    Indices are over SSA values, numbered by `scope.values`; `tir.apply` and constants are folded.
    Axes stand for their bindings, or for themselves if they are not `bound`.
    """

    block: tir.BlockOp
    bound: bool = True
    stores: list[tir.StoreOp] = field(default_factory=lambda: [])
    loads: list[tir.LoadOp] = field(default_factory=lambda: [])
    scope: Scope = field(default_factory=lambda: Scope(Block(), in_place=True))
    indices: dict[Operation, list[IntExpr]] = field(default_factory=lambda: {})

    def __post_init__(self) -> None:
        block, scope = self.block, self.scope
        numbering = block.numbering()
        for var, binding in zip(block.axis_vars, exprs_of(block.bindings), strict=True):
            if self.bound:
                scope.meaning[var] = scope.expr(binding, numbering)
        for op in operations_in(block):
            if op is block or isinstance(op.parent_op(), tir.InitOp):
                continue
            if isinstance(op, tir.ApplyOp):
                scope.meaning[op.result] = scope.expr(op.expr.data, op.operands)
            elif isinstance(op, ConstantOp) and (number := index_constant(op)) is not None:
                scope.meaning[op.result] = IntExpr.of(number)
            elif isinstance(op, tir.LoadOp | tir.StoreOp):
                self.indices[op] = scope.exprs(exprs_of(op.indices), op.operands_)
                if isinstance(op, tir.LoadOp):
                    self.loads.append(op)
                else:
                    self.stores.append(op)

    def step(self, access: tir.LoadOp | tir.StoreOp, variable: SSAValue) -> IntExpr | None:
        """The stride along a loop variable or axis, in elements.

        `None` if it is not uniform, or depends on loaded values.
        """
        type_, values, indices = access.buffer.type, self.scope.values, self.indices[access]
        assert isinstance(type_, tir.BufferType)
        if self._depends_on_loads(access, variable):
            return None
        return memory_step(type_, indices, values.atom(variable))

    def offsets(
        self, access: tir.LoadOp | tir.StoreOp, variable: SSAValue, lanes: int
    ) -> list[int] | None:
        """The places in a row of so many iterations from a multiple of their number on.

        `None` if they are not known.
        """
        type_, indices = access.buffer.type, self.indices[access]
        assert isinstance(type_, tir.BufferType)
        if self._depends_on_loads(access, variable):
            return None
        atom = self.scope.values.atom(variable)
        first = self.scope.values.expr(variable) * lanes
        moved = [{atom: first + lane} for lane in range(lanes)]
        return lane_offsets(type_, [[e.substitute(m) for e in indices] for m in moved])

    def _depends_on_loads(self, access: tir.LoadOp | tir.StoreOp, variable: SSAValue) -> bool:
        """Whether an access is at indices that are computed from what a variable changes."""
        values = self.scope.values.list
        used = {values[i] for index in self.indices[access] for i in index.args()}
        return any(self._changes(value, variable) for value in used)

    def load_steps(self, variable: SSAValue) -> list[IntExpr | None]:
        """The `step` of each load."""
        return [self.step(op, variable) for op in self.loads]

    def store_steps(self, variable: SSAValue) -> list[IntExpr | None]:
        """The `step` of each store."""
        return [self.step(op, variable) for op in self.stores]

    def dims_moved(self, access: tir.LoadOp | tir.StoreOp, variable: SSAValue) -> list[int]:
        """The dims whose index mentions a variable."""
        atom = self.scope.values.atom(variable)
        return [dim for dim, e in enumerate(self.indices[access]) if atom in e.atoms()]

    def _changes(self, value: SSAValue, variable: SSAValue) -> bool:
        """Whether a value that is computed in the block depends on a variable."""
        op = value.owner
        if isinstance(op, Block):
            return False
        if isinstance(op, tir.LoadOp) and op in self.indices:
            step = self.step(op, variable)
            return step is None or bool(step.terms) or op.buffer in self.block.write_buffers
        operands = [v for v in op.operands if not isinstance(v.type, tir.BufferType)]
        return bool(op.regions) or any(
            self._varies(self.scope.index(v), variable)
            if isinstance(v.type, IndexType)
            else self._changes(v, variable)
            for v in operands
        )

    def _varies(self, expr: IntExpr, variable: SSAValue) -> bool:
        values = [self.scope.values.list[i] for i in expr.args()]
        return any(value is variable or self._changes(value, variable) for value in values)
