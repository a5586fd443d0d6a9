"""Promote elements that a loop reads and writes in each iteration to loop-carried values.

::

    loops.for %k in (0, m) {                 %y0 = loops.load %Y[%i]
      %y = loops.load %Y[%i]                 %s = loops.for %k in (0, m) carry (%y = %y0 : f32) {
      %x = loops.load %X[%i, %k]      ⇒        %x = loops.load %X[%i, %k]
      %t = arith.addf %y, %x                   %t = arith.addf %y, %x fastmath<reassoc,nsz,contract>
      loops.store %t, %Y[%i]                   loops.yield %t : f32
    }                                        }
                                             loops.store %s, %Y[%i]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Block, Operation, Region, SSAValue

from ...dialects import loops
from ...dialects.bounds import interval_of, is_less, is_non_negative
from ...dialects.int_expr import ZERO, IntExpr
from ...dialects.tir.types import BufferType
from ..analysis.reductions import FloatAccumulation, accumulations
from ..scope import Scope, is_inside, replace_by_block
from .masked_values import replace_load
from .places import Place, are_disjoint, place_of

_REDUCTION = arith.FastMathFlagsAttr(
    [FastMathFlag.REASSOC, FastMathFlag.NO_SIGNED_ZEROS, FastMathFlag.ALLOW_CONTRACT]
)
_PRODUCTS = arith.FastMathFlagsAttr([FastMathFlag.REASSOC, FastMathFlag.ALLOW_CONTRACT])
_FACTOR = arith.FastMathFlagsAttr([FastMathFlag.ALLOW_CONTRACT])
"""LLVM may split accumulations into lanes and fuse them with the factors that feed them. With `nsz`
it would factor ``a * x + a * y``, which loses infinities and NaNs."""


def promote_accumulators(func: loops.FuncOp) -> None:
    """Promote memory accumulators of the function's serial loops, inner loops first.

    Parameters that may alias are not promoted; scratch memory never aliases anything.
    """
    _Promoter(func.noalias is None).visit(func.body.block)


def promote_in_vectorized(func: loops.FuncOp) -> None:
    """Promote memory accumulators of vectorized loops, and of the loops in them."""
    _Promoter(func.noalias is None, ()).visit(func.body.block)


@dataclass
class _Known:
    """The state at a point of a block: valid places, and the contents of some."""

    valid: set[Place] = field(default_factory=set[Place])
    last: dict[SSAValue, tuple[Place, SSAValue]] = field(default_factory=lambda: {})
    """The last store to each buffer, which may alias other places."""

    def note(self, op: loops.LoadOp | loops.StoreOp, place: Place) -> None:
        self.valid.add(place)
        if isinstance(op, loops.LoadOp):
            return
        self.forget({op.buffer})
        if op.mask is None:
            self.last[op.buffer] = place, op.value

    def forget(self, buffers: set[SSAValue]) -> None:
        for buffer in buffers:
            self.last.pop(buffer, None)

    def content(self, place: Place) -> SSAValue | None:
        stored = self.last.get(place.buffer)
        return stored[1] if stored is not None and stored[0] == place else None


_Masks = dict[tuple[SSAValue | IntExpr | None, int], SSAValue | None]
"""Masks as values, by what a place has and its lanes."""


class _Promoter:
    def __init__(self, may_overlap: bool, kinds: Sequence[str] = ("serial", "unrolled")):
        self.may_overlap = may_overlap
        self.kinds = kinds
        """The kinds of loops that are to carry values."""
        self.scope = Scope(Block(), in_place=True)

    def visit(self, block: Block) -> set[SSAValue]:
        """Promote in a block; returns the buffers that its operations use."""
        known = _Known()
        used: set[SSAValue] = set()
        asks_known = any(isinstance(op, loops.ForOp) and self._may_carry(op) for op in block.ops)
        for op in list(block.ops):
            if isinstance(op, loops.LoadOp | loops.StoreOp):
                used.add(op.buffer)
                if asks_known:
                    known.note(op, place_of(op, self.scope))
                continue
            inner = {v for v in op.operands if isinstance(v.type, BufferType)}
            if isinstance(op, loops.ForOp):
                self._note_range(op)
            outer = self.kinds
            if _is_vectorized(op):
                self.kinds = ("serial", "unrolled", "vectorized")
            for region in op.regions:
                for child in region.blocks:
                    inner |= self.visit(child)
            if isinstance(op, loops.ForOp):
                self._promote(op, known)
            self.kinds = outer
            known.forget(inner)
            used |= inner
        return used

    def _may_carry(self, op: loops.ForOp) -> bool:
        return op.kind.data in self.kinds or _is_vectorized(op)

    def _note_range(self, op: loops.ForOp) -> None:
        lower, extent = self.scope.exprs([op.lower.data, op.extent.data], op.operands_)
        self.scope.define_loop(op.loop_var, op.loop_var, lower, extent)

    def _promote(self, op: loops.ForOp, known: _Known) -> None:
        if op.kind.data not in self.kinds:
            return
        candidates = self._candidates(op)
        runs = is_less(0, self.scope.expr(op.extent.data, op.operands_))
        safe = [p for p in candidates if runs or p in known.valid or self._is_valid(p)]
        guarded = len(safe) < len(candidates) and not op.inits
        chosen = candidates if guarded else safe
        allow_reassociation(self._carry(op, chosen, known, guarded) if chosen else op)

    def _candidates(self, op: loops.ForOp) -> list[Place]:
        """The invariant places that the loop's body loads first and then stores."""
        places: dict[SSAValue, dict[Place, tuple[bool, bool]]] = {}
        excluded: set[SSAValue] = set()
        for inner in op.body.block.ops:
            if not isinstance(inner, loops.LoadOp | loops.StoreOp):
                excluded |= _buffers_in(inner)
                continue
            place = place_of(inner, self.scope)
            found = places.setdefault(inner.buffer, {})
            is_store = isinstance(inner, loops.StoreOp)
            loaded_first, stored = found.get(place, (not is_store, False))
            found[place] = loaded_first, stored or is_store
        chosen: list[Place] = []
        for buffer, found in places.items():
            if buffer in excluded or not self._is_private(buffer) or is_inside(buffer, op):
                continue
            if not any(stored for _, stored in found.values()) or not are_disjoint(found):
                continue
            chosen += [
                p
                for p, (loaded_first, stored) in found.items()
                if loaded_first and stored and self._is_invariant(p, op)
            ]
        return chosen

    def _is_private(self, buffer: SSAValue) -> bool:
        return not self.may_overlap or isinstance(buffer.owner, loops.AllocaOp)

    def _is_invariant(self, place: Place, op: loops.ForOp) -> bool:
        exprs = [e for e in (*place.indices, place.mask) if isinstance(e, IntExpr)]
        used = [self.scope.values.list[i] for e in exprs for i in e.args()]
        used += [place.mask] if isinstance(place.mask, SSAValue) else []
        return not any(v is op.loop_var or is_inside(v, op) for v in used)

    def _is_valid(self, place: Place) -> bool:
        """Whether the place is in range even if the loop has no iterations."""
        dims = cast(BufferType, place.buffer.type).dims
        last = len(dims) - 1
        for position, (index, dim) in enumerate(zip(place.indices, dims, strict=True)):
            span = interval_of(index, self.scope.ranges)
            if span is None:
                return False
            upper = span.upper + (place.lanes - 1 if position == last else 0)
            if not (is_non_negative(span.lower) and is_less(upper, dim)):
                return False
        return True

    def _carry(
        self, op: loops.ForOp, places: Sequence[Place], known: _Known, guarded: bool
    ) -> loops.ForOp:
        """Rebuild the loop with the contents of the places as carried values."""
        values = self.scope.values.list
        around = Block()
        masks = self._masks(places, around)
        inits = [self._content(p, known, masks, around) for p in places]
        lower, extent = self.scope.exprs([op.lower.data, op.extent.data], op.operands_)
        _carry_in_body(op, places, self.scope)
        loop = op.like(lower, extent, values, [*op.inits, *inits], op.detach_region(op.body))
        around.add_op(loop)
        results = loop.carried[len(op.inits) :]
        for place, result in zip(places, results, strict=True):
            mask = masks[place.mask, place.lanes]
            around.add_op(loops.StoreOp(result, place.buffer, place.indices, values, mask))
        if guarded:
            around = Block([loops.IfOp([(ZERO, extent)], values, Region(around))])
        replace_by_block(op, around, loop.carried[: len(op.inits)])
        return loop

    def _masks(self, places: Sequence[Place], block: Block) -> _Masks:
        """The masks of the places as values, one for equal masks."""
        found: _Masks = {}
        for mask, lanes in dict.fromkeys((p.mask, p.lanes) for p in places):
            if isinstance(mask, IntExpr):
                made = loops.MaskOp(mask, self.scope.values.list, lanes)
                block.add_op(made)
                found[mask, lanes] = made.result
            else:
                found[mask, lanes] = mask
        return found

    def _content(self, place: Place, known: _Known, masks: _Masks, block: Block) -> SSAValue:
        """The content of a place before the loop."""
        content = known.content(place)
        if content is not None:
            return content
        values = self.scope.values.list
        mask = masks[place.mask, place.lanes]
        load = loops.LoadOp(place.buffer, place.indices, values, place.type, mask)
        load.result.name_hint = place.buffer.name_hint
        block.add_op(load)
        return load.result


def _carry_in_body(op: loops.ForOp, places: Sequence[Place], scope: Scope) -> None:
    """Replace loads and stores of the places in the loop's body by new carried values."""
    body = op.body.block
    current: dict[Place, SSAValue] = {}
    for place in places:
        argument = body.insert_arg(place.type, len(body.args))
        argument.name_hint = place.buffer.name_hint
        current[place] = argument
    for inner in list(body.ops):
        if isinstance(inner, loops.YieldOp):
            values = [*inner.values, *current.values()]
            inner.detach()
            inner.erase()
            body.add_op(loops.YieldOp(values))
        elif isinstance(inner, loops.LoadOp | loops.StoreOp):
            place = place_of(inner, scope)
            if place not in current:
                continue
            if isinstance(inner, loops.LoadOp):
                replace_load(inner, current[place], scope)
                continue
            current[place] = inner.value
            inner.detach()
            inner.erase()


def _is_vectorized(op: Operation) -> bool:
    return isinstance(op, loops.ForOp) and op.kind.data == "vectorized"


def _buffers_in(op: Operation) -> set[SSAValue]:
    return {v for inner in op.walk() for v in inner.operands if isinstance(v.type, BufferType)}


def allow_reassociation(loop: loops.ForOp) -> None:
    """Flag the operations that accumulate a carried value: ``s = s + a * b`` and chains of them.

    Only if partial results have no other uses: a running sum that is stored stays strict. The flags
    go on the accumulations and on the multiplications that feed them, which may become fused
    multiply-adds.
    """
    for start, end in zip(loop.carry_vars, loop.yielded, strict=True):
        for op in accumulations(start, end):
            if not isinstance(op, FloatAccumulation):
                continue
            factors = [f for operand in op.operands if (f := _factor(operand)) is not None]
            op.fastmath = _PRODUCTS if factors else _REDUCTION
            for factor in factors:
                factor.fastmath = _FACTOR


def _factor(value: SSAValue) -> arith.MulfOp | None:
    """The multiplication whose only use is to be accumulated."""
    op = value.owner
    if not isinstance(op, arith.MulfOp) or op.fastmath in (_REDUCTION, _PRODUCTS):
        return None
    return op if value.has_one_use() else None
