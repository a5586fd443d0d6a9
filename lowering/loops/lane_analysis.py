"""Which values of a loop's body vary between lanes, and whether the loop is vectorizable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from xdsl.dialects import arith, math, scf
from xdsl.dialects.builtin import IndexType, IntegerType, VectorType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.traits import is_side_effect_free

from ...backend.targets.architecture import InstructionSet
from ...dialects import loops, tir
from ...dialects.dtypes import byte_width
from ...dialects.int_expr import ONE, Atom, IntExpr
from ...dialects.sym import exprs_of
from ...dialects.tir.types import BufferType
from ..analysis.reductions import Reduction, accumulations, is_reordered
from ..analysis.strides import lane_step
from ..scope import Scope, index_constant, is_inside
from .copy_ops import bounds_of
from .shuffled_load import MOST_VECTORS

ELEMENTWISE = (
    arith.AddfOp,
    arith.AddiOp,
    arith.AndIOp,
    arith.BitcastOp,
    arith.CeilDivSIOp,
    arith.CeilDivUIOp,
    arith.DivSIOp,
    arith.DivUIOp,
    arith.DivfOp,
    arith.ExtFOp,
    arith.FloorDivSIOp,
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
    arith.RemSIOp,
    arith.RemUIOp,
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
    math.SignlessIntegerLikeUnaryMathOperation,
    tir.BFDotOp,
    tir.DotOp,
)
"""Operations that xDSL defines on vectors; none traps in an inactive lane, as divisions by 0 give
0. Other pure operations have a vector form as `loops.lanewise`."""


@dataclass
class LaneAnalysis:
    """The analysis of a loop's iterations as lanes of vectors.

    `lane` is the loop variable in expressions, `varying` holds the values that vary between lanes,
    and `has_gather` is whether an access is neither contiguous nor near, which may cost one scalar
    access per lane. `bits` is the width of the widest element in memory that varies between lanes,
    `is_masked_in_memory` whether the target has masked accesses for all of them.
    """

    loop: loops.ForOp
    isa: InstructionSet
    scope: Scope = field(init=False)
    lane: Atom = field(init=False)
    varying: set[SSAValue] = field(default_factory=lambda: set())
    has_gather: bool = False
    bits: int = 8
    is_masked_in_memory: bool = True
    accumulated: list[Reduction] = field(default_factory=lambda: [])
    """For each value that the loop carries, an operation that accumulates it over the lanes."""
    places: dict[SSAValue, list[list[IntExpr]]] = field(default_factory=lambda: {})
    stored: set[SSAValue] = field(default_factory=lambda: set())

    def is_vectorizable(self) -> bool:
        """Whether all operations have vector forms and lanes are independent."""
        self.places.clear()
        self.scope = Scope(Block(), in_place=True)
        lane = self.scope.values.atom(self.loop.loop_var)
        self.lane = lane
        if not (self._allows_carried() and self._allows_all(self.loop.body.block, False)):
            return False
        return all(self._is_apart(self.places[buffer]) for buffer in self.stored)

    def varies(self, value: SSAValue) -> bool:
        """Whether a value of the body varies between lanes."""
        if isinstance(value.type, IndexType):
            return self._differs(self.scope.index(value))
        return value in self.varying

    def _differs(self, expr: IntExpr) -> bool:
        return self.lane in expr.atoms()

    def _allows_carried(self) -> bool:
        """Whether all carried values are accumulations that may be reordered."""
        for start, end in zip(self.loop.carry_vars, self.loop.yielded, strict=True):
            chain = accumulations(start, end)
            if not chain or not all(map(is_reordered, chain)):
                return False
            self.accumulated.append(chain[0])
        self.varying.update(self.loop.carry_vars)
        return True

    def _allows_all(self, block: Block, masked: bool) -> bool:
        return all(self._allows(op, masked) for op in block.ops)

    def _allows(self, op: Operation, masked: bool) -> bool:
        match op:
            case loops.LoadOp():
                return self._allows_load(op, masked)
            case loops.StoreOp():
                return self._allows_store(op, masked)
            case loops.ForOp():
                return self._allows_for(op, masked)
            case loops.IfOp():
                return self._allows_if(op, masked)
            case scf.IfOp():
                return self._allows_choice(op, masked)
            case loops.YieldOp() | scf.YieldOp():
                return True
            case tir.ApplyOp():
                self.scope.meaning[op.result] = self.scope.expr(op.expr.data, op.operands)
                return True
            case arith.ConstantOp() if (number := index_constant(op)) is not None:
                self.scope.meaning[op.result] = IntExpr.of(number)
                return True
            case _:
                return self._allows_scalar(op)

    def _place(self, op: loops.LoadOp | loops.StoreOp) -> tuple[list[IntExpr], bool]:
        """The indices of an access, and whether its lanes are contiguous in memory."""
        indices = self.scope.exprs(exprs_of(op.indices), op.operands_)
        self.places.setdefault(op.buffer, []).append(indices)
        return indices, lane_step(cast(BufferType, op.buffer.type), indices, self.lane) == ONE

    def _note_element(self, element: Attribute, is_copied: bool) -> None:
        bits = 8 * byte_width(element)
        # Half precision is computed in f32.
        is_as_stored = is_copied or isinstance(element, IntegerType)
        self.bits = max(self.bits, bits if is_as_stored else max(bits, 32))
        self.is_masked_in_memory = self.is_masked_in_memory and self.isa.masks(bits)

    def _allows_load(self, op: loops.LoadOp, masked: bool) -> bool:
        indices, contiguous = self._place(op)
        if isinstance(op.result.type, VectorType):
            return False
        if any(self._differs(i) for i in indices):
            self.varying.add(op.result)
            together = contiguous or self._is_near(op, indices)
            self.has_gather = self.has_gather or not together
            users = [use.operation for use in op.result.uses]
            self._note_element(op.result.type, all(isinstance(u, loops.StoreOp) for u in users))
            return together or not masked
        return True

    def _is_near(self, op: loops.LoadOp, indices: Sequence[IntExpr]) -> bool:
        """Whether lanes are elements of a few vectors, which can be loaded under masks."""
        step = lane_step(cast(BufferType, op.buffer.type), indices, self.lane)
        is_masked = self.isa.masks(8 * byte_width(op.result.type))
        return is_masked and step is not None and 0 < abs(step.constant or 0) <= MOST_VECTORS

    def _allows_store(self, op: loops.StoreOp, masked: bool) -> bool:
        self.stored.add(op.buffer)
        _, contiguous = self._place(op)
        if isinstance(op.value.type, VectorType):
            return False
        self._note_element(op.value.type, isinstance(op.value.owner, loops.LoadOp))
        self.has_gather = self.has_gather or not contiguous
        return contiguous or not masked

    def _allows_for(self, op: loops.ForOp, masked: bool) -> bool:
        bounds = self.scope.exprs([op.lower.data, op.extent.data], op.operands_)
        if op.kind.data not in ("serial", "unrolled") or any(self._differs(b) for b in bounds):
            return False
        starts = zip(op.carry_vars, op.inits, strict=True)
        vectors = {var for var, init in starts if self.varies(init)}
        while True:
            self.varying |= vectors
            if not self._allows_all(op.body.block, masked):
                return False
            pairs = zip(op.carry_vars, op.yielded, strict=True)
            found = {var for var, value in pairs if self.varies(value)} - self.varying
            if not found:
                break
            vectors = found
        results = zip(op.carried, op.carry_vars, strict=True)
        self.varying |= {result for result, var in results if var in self.varying}
        return all(not isinstance(v.type, IndexType) for v in self.varying)

    def _allows_if(self, op: loops.IfOp, masked: bool) -> bool:
        for lhs, rhs in bounds_of(op, self.scope):
            masked = masked or self._differs(lhs - rhs)
        return self._allows_all(op.body.block, masked)

    def _allows_choice(self, op: scf.IfOp, masked: bool) -> bool:
        """Whether an `scf.if` is vectorizable; with a varying condition both arms run, masked."""
        varies = self.varies(op.cond)
        blocks = [region.block for region in op.regions if region.blocks]
        if not all(self._allows_all(block, masked or varies) for block in blocks):
            return False
        for block in blocks:
            last = block.last_op
            values = last.operands if isinstance(last, scf.YieldOp) else ()
            pairs = zip(op.results, values, strict=True)
            self.varying |= {result for result, v in pairs if varies or self.varies(v)}
        touches = any(isinstance(o, loops.LoadOp | loops.StoreOp) for o in op.walk())
        if varies and touches and not self.is_masked_in_memory:
            return False
        return all(not isinstance(r.type, IndexType) or r not in self.varying for r in op.results)

    def _allows_scalar(self, op: Operation) -> bool:
        if op.regions or not (is_side_effect_free(op) or op.name in loops.LANEWISE):
            return False
        if not any(self.varies(operand) for operand in op.operands):
            return True
        if any(isinstance(result.type, IndexType | VectorType) for result in op.results):
            return False
        self.varying.update(op.results)
        return isinstance(op, ELEMENTWISE) or op.name in loops.LANEWISE

    def _is_apart(self, places: Sequence[Sequence[IntExpr]]) -> bool:
        """Whether the accesses of different lanes to a buffer never conflict."""
        return any(self._separates(column) for column in zip(*places, strict=True))

    def _separates(self, indices: Sequence[IntExpr]) -> bool:
        """Whether one dim separates lanes: ``c * lane + r`` in all accesses and iterations."""
        first = indices[0].split_on(self.lane)
        if first is None or not first[0].constant or any(i != indices[0] for i in indices):
            return False
        values = self.scope.values.list
        return not any(is_inside(values[i], self.loop) for i in first[1].args())
