"""Which values of a loop's body differ from lane to lane, and whether lanes may run together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import IndexType, VectorType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import is_side_effect_free

from ...dialects import loops, tir
from ...dialects.int_expr import ONE, Atom, IntExpr
from ...dialects.sym import exprs_of
from ...dialects.tir.types import BufferType
from .copy_ops import bounds_of
from .scope import Scope, is_inside

ELEMENTWISE = (
    arith.AddfOp,
    arith.AddiOp,
    arith.AndIOp,
    arith.DivfOp,
    arith.ExtFOp,
    arith.MaxSIOp,
    arith.MaxUIOp,
    arith.MaximumfOp,
    arith.MaxnumfOp,
    arith.MinSIOp,
    arith.MinUIOp,
    arith.MinimumfOp,
    arith.MinnumfOp,
    arith.MulfOp,
    arith.MuliOp,
    arith.NegfOp,
    arith.OrIOp,
    arith.ShLIOp,
    arith.ShRSIOp,
    arith.ShRUIOp,
    arith.SubfOp,
    arith.SubiOp,
    arith.TruncFOp,
    arith.XOrIOp,
    math.FmaOp,
    math.FloatingPointLikeBinaryMathOperation,
    math.FloatingPointLikeUnaryMathOperation,
)
"""Operations that xDSL lets work on vectors and that cannot trap in a lane that is off.

Comparisons, selections and conversions between integers and floats are scalar in xDSL's `arith`.
"""


def is_contiguous(indices: Sequence[IntExpr], buffer: BufferType, lane: Atom) -> bool:
    """Whether neighbouring lanes access neighbouring elements of the last dim."""
    if not indices or any(lane in e.atoms() for e in indices[:-1]):
        return False
    split = indices[-1].split_on(lane)
    return split is not None and split[0] == ONE and buffer.element_strides()[-1] == ONE


@dataclass
class LaneAnalysis:
    """What running the iterations of a loop together means.

    `lane` is the loop variable in expressions, `varying` holds the values that differ between
    lanes, and `gathers` says whether a load jumps from lane to lane, which costs one scalar load
    each.
    """

    loop: loops.ForOp
    scope: Scope = field(init=False)
    lane: Atom = field(init=False)
    varying: set[SSAValue] = field(default_factory=lambda: set())
    gathers: bool = False
    places: dict[SSAValue, list[list[IntExpr]]] = field(default_factory=lambda: {})
    stored: set[SSAValue] = field(default_factory=lambda: set())

    def can_run_together(self) -> bool:
        """Whether all operations work on vectors and no lane touches what another one writes."""
        self.places.clear()
        self.scope = Scope(Block(), in_place=True)
        lane = self.scope.values.expr(self.loop.loop_var).as_atom
        assert lane is not None
        self.lane = lane
        if self.loop.inits or not self._allows_all(self.loop.body.block, False):
            return False
        return all(self._is_apart(self.places[buffer]) for buffer in self.stored)

    def _varies(self, expr: IntExpr) -> bool:
        return self.lane in expr.atoms()

    def _allows_all(self, block: Block, masked: bool) -> bool:
        return all(self._allows(op, masked) for op in block.ops)

    def _allows(self, op: Operation, masked: bool) -> bool:
        match op:
            case loops.LoadOp():
                return self._allows_load(op, masked)
            case loops.StoreOp():
                return self._allows_store(op)
            case loops.ForOp():
                return self._allows_for(op, masked)
            case loops.IfOp():
                return self._allows_if(op, masked)
            case loops.YieldOp():
                return True
            case tir.ApplyOp():
                self.scope.meaning[op.result] = self.scope.expr(op.expr.data, op.operands)
                return True
            case _:
                return self._allows_scalar(op)

    def _place(self, op: loops.LoadOp | loops.StoreOp) -> tuple[list[IntExpr], bool]:
        """The indices of an access, and whether its lanes are neighbours in memory."""
        indices = self.scope.exprs(exprs_of(op.indices), op.operands_)
        self.places.setdefault(op.buffer, []).append(indices)
        return indices, is_contiguous(indices, cast(BufferType, op.buffer.type), self.lane)

    def _allows_load(self, op: loops.LoadOp, masked: bool) -> bool:
        indices, contiguous = self._place(op)
        if isinstance(op.result.type, VectorType):
            return False
        if any(self._varies(i) for i in indices):
            self.varying.add(op.result)
            self.gathers = self.gathers or not contiguous
            return contiguous or not masked
        return True

    def _allows_store(self, op: loops.StoreOp) -> bool:
        self.stored.add(op.buffer)
        return self._place(op)[1] and not isinstance(op.value.type, VectorType)

    def _allows_for(self, op: loops.ForOp, masked: bool) -> bool:
        bounds = self.scope.exprs([op.lower.data, op.extent.data], op.operands_)
        if op.kind.data not in ("serial", "unrolled") or any(self._varies(b) for b in bounds):
            return False
        starts = zip(op.carry_vars, op.inits, strict=True)
        vectors = {var for var, init in starts if init in self.varying}
        while True:
            self.varying |= vectors
            if not self._allows_all(op.body.block, masked):
                return False
            pairs = zip(op.carry_vars, op.yielded, strict=True)
            found = {var for var, value in pairs if value in self.varying} - self.varying
            if not found:
                break
            vectors = found
        results = zip(op.carried, op.carry_vars, strict=True)
        self.varying |= {result for result, var in results if var in self.varying}
        return True

    def _allows_if(self, op: loops.IfOp, masked: bool) -> bool:
        for lhs, rhs in bounds_of(op, self.scope):
            split = (lhs - rhs).split_on(self.lane)
            if split is None or (split[0].terms and split[0] != ONE):
                return False
            masked = masked or bool(split[0].terms)
        return self._allows_all(op.body.block, masked)

    def _allows_scalar(self, op: Operation) -> bool:
        if op.regions or not is_side_effect_free(op):
            return False
        for operand in op.operands:
            if isinstance(operand.type, IndexType) and self._varies(self.scope.index(operand)):
                return False
        if not any(operand in self.varying for operand in op.operands):
            return True
        self.varying.update(op.results)
        return isinstance(op, ELEMENTWISE)

    def _is_apart(self, places: Sequence[Sequence[IntExpr]]) -> bool:
        """Whether the accesses of different lanes to a buffer never meet."""
        return any(self._separates(column) for column in zip(*places, strict=True))

    def _separates(self, indices: Sequence[IntExpr]) -> bool:
        """Whether one dim keeps lanes apart: ``c * lane + r`` in all accesses and iterations."""
        first = indices[0].split_on(self.lane)
        if first is None or not first[0].constant or any(i != indices[0] for i in indices):
            return False
        values = self.scope.values.list
        return not any(is_inside(values[i], self.loop) for i in first[1].args())
