"""`block-sums`: compute long sums of floats in blocks, whose totals are added.

::

    %s = loops.for %k in (0, n) carry (%c = %s0) {
      %d = arith.addf %c, %x fastmath<reassoc,nsz,contract>
      loops.yield %d
    }
  ⇒
    %s = loops.for %b in (0, (n + 127) floordiv 128) carry (%c = %s0) {
      %t = loops.for %k in (%b * 128, min(128, n - %b * 128)) carry (%e = %nothing) {
        %d = arith.addf %e, %x fastmath<reassoc,nsz,contract>
        loops.yield %d
      }
      %f = arith.addf %c, %t
      loops.yield %f
    }

A sum of n terms, one after the other, has an error that grows with n; in blocks of b, blocks of
blocks, and so on it grows with b times the levels (Higham, The Accuracy of Floating Point
Summation, 1993). The order depends on the loops alone, so that results are the same for any number
of threads. Only sums that may be taken in any order are changed: see `analysis.reductions`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from xdsl.context import Context
from xdsl.dialects.arith import AddfOp, ConstantOp
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IndexType, ModuleOp, VectorType
from xdsl.dialects.vector import BroadcastOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.hints import isa

from ...dialects import loops
from ...dialects.bounds import constant_limit
from ...dialects.int_expr import ZERO, IntExpr, minimum
from ...dialects.sym import Values
from ..analysis.reductions import Accumulation, accumulations, is_reordered
from ..equal_parts import largest_divisor
from ..scope import Scope, replace_by_block

BLOCK = 128
"""Sequential additions in a block: this many vector additions hide the cost of starting one."""

SCALARS = 8
"""The factor by which blocks of scalar sums are longer, most of which LLVM vectorizes."""

LEVELS = 3
"""Levels of nested blocks: 128 ** 4 terms are added 128 at a time."""

TILE, TILE_BLOCK = 4, 512
"""Loops with at least `TILE` sums, as in register tiles, have longer blocks: their totals are in
memory, since the sums take all registers."""


@dataclass
class _Blocker:
    made: set[Operation] = field(default_factory=lambda: set())
    """The additions of totals, which are not reordered."""

    def visit(self, block: Block) -> None:
        """Rewrite the loops in a block, inner ones first."""
        for op in list(block.ops):
            for region in op.regions:
                for inner in region.blocks:
                    self.visit(inner)
            if isinstance(op, loops.ForOp) and op.inits:
                self._rewrite(op)

    def _rewrite(self, loop: loops.ForOp) -> None:
        sums = [p for p in range(len(loop.inits)) if self._is_sum(loop, p)]
        if not sums:
            return
        most = _longest(loop, sums)
        size = max(1, most // max(_additions(loop, p, most) for p in sums))
        given, loop.sum_block = loop.sum_block, None
        if given is not None and loop.extent.data != IntExpr.of(given.value.data):
            loop = self._split(loop, sums, given.value.data)
        sizes = [size, *[BLOCK] * (LEVELS - 1)]
        if isinstance(loop.parent_op(), loops.ForOp) and constant_limit(loop.extent.data) is None:
            sizes = sizes[: 1 if size > 1 else 2]  # rows are often short: more takes longer
        for length in sizes:
            trips = constant_limit(loop.extent.data)
            if trips is not None and trips <= 2 * length:
                return
            whole = largest_divisor(trips or 0, length, above=length // 2)
            loop = self._split(loop, sums, whole or length)

    def _is_sum(self, loop: loops.ForOp, position: int) -> bool:
        chain = accumulations(loop.carry_vars[position], loop.yielded[position])
        return bool(chain) and all(
            isinstance(op, AddfOp) and (op in self.made or is_reordered(op)) for op in chain
        )

    def _split(self, loop: loops.ForOp, sums: Sequence[int], size: int) -> loops.ForOp:
        """Block a loop; in each block, sums start from the identity."""
        values = Values()
        lower, extent = (values.rebase(e.data, loop.operands_) for e in (loop.lower, loop.extent))
        body = Block(arg_types=[IndexType(), *(v.type for v in loop.inits)])
        for new, old in zip(body.args, (loop.loop_var, *loop.carry_vars), strict=True):
            new.name_hint = old.name_hint
        scope, carried = Scope(body, in_place=True), list(body.args[1:])
        inits: list[SSAValue] = [
            _nothing(v.type, scope) if p in sums else v for p, v in enumerate(carried)
        ]
        start = values.expr(body.args[0]) * size
        is_whole = size == 1 or (extent.constant or 1) % size == 0
        rest = IntExpr.of(size) if is_whole else minimum(size, extent - start)
        inner = loops.ForOp(
            lower + start, rest, values.list, inits, loop.detach_region(loop.body), loop.kind.data
        )
        body.add_op(inner)
        totals: list[SSAValue] = list(inner.carried)
        for position in sums:
            totals[position] = self._add(carried[position], totals[position], body)
        body.add_op(loops.YieldOp(totals))
        count = (extent + (size - 1)) // size
        outer = loops.ForOp(ZERO, count, values.list, list(loop.inits), Region(body))
        replace_by_block(loop, Block([outer]), outer.carried)
        return outer

    def _add(self, total: SSAValue, part: SSAValue, body: Block) -> SSAValue:
        op = AddfOp(total, part)
        self.made.add(op)
        body.add_op(op)
        return op.result


def _longest(loop: loops.ForOp, sums: Sequence[int]) -> int:
    """The maximum number of sequential additions of a loop's sums in a block."""
    if any(not isa(loop.inits[p].type, VectorType) for p in sums):
        return BLOCK * SCALARS
    return BLOCK if len(sums) < TILE else TILE_BLOCK


def _additions(loop: loops.ForOp, position: int, most: int) -> int:
    """The number of sequential additions to a sum in an iteration; `most` if it is not known."""
    value, end, count = loop.carry_vars[position], loop.yielded[position], 0
    while value is not end:
        use = value.get_user_of_unique_use()
        if isinstance(use, loops.ForOp):
            inner = list(use.inits).index(value)
            trips = constant_limit(use.extent.data)
            count += most if trips is None else trips * _additions(use, inner, most)
            value = use.carried[inner]
        else:
            assert isinstance(use, Accumulation)
            count, value = count + 1, use.result
    return max(1, count)


def _nothing(type_: Attribute, scope: Scope) -> SSAValue:
    """Emit the identity of addition."""
    element = type_.element_type if isa(type_, VectorType) else type_
    number = ConstantOp(FloatAttr(-0.0, cast(AnyFloat, element)))
    scope.emit(number)
    if not isa(type_, VectorType):
        return number.result
    spread = BroadcastOp(number.result, type_)
    scope.emit(spread)
    return spread.vector


@dataclass(frozen=True)
class BlockSumsPass(ModulePass):
    """Compute long sums of floats in blocks, to bound their rounding errors."""

    name = "block-sums"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.body.block.ops:
            if isinstance(func, loops.FuncOp):
                _Blocker().visit(func.body.block)
