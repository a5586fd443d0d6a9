"""Preconditions of loop transformations."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise

from xdsl.ir import Operation, SSAValue

from ...dialects import tir
from ...dialects.bounds import is_non_negative
from ...dialects.int_expr import ONE, Compound, IntExpr
from ...dialects.nesting import ancestors, enclosing, operations_in
from ...dialects.sym import Values
from ...dialects.tir.verify_access import buffer_text, uncovered_axis
from ..analysis.independence import Conflict, conflict_of
from .blocks import ScheduleError, function_of, loaded_buffers, stored_buffers


def loop_text(loop: tir.ForOp) -> str:
    """The name of a loop in messages."""
    return f"loop '{loop.loop_var.name_hint or 'i'}'"


def outermost_blocks(loop: tir.ForOp) -> list[tir.BlockOp]:
    """The blocks in a loop that are in no other block in it."""
    blocks = [op for op in operations_in(loop) if isinstance(op, tir.BlockOp)]
    return [b for b in blocks if not any(p in blocks for p in ancestors(b))]


def verify_covered(block: tir.BlockOp) -> None:
    """Raise ScheduleError for a block that runs for a part of its axes' ranges only."""
    reason = uncovered_axis(block)
    if reason is not None:
        raise ScheduleError(
            f"expected block '{block.block_name.data}' to run over the full range of its axes: "
            f"{reason}",
            block,
        )


def verify_unordered(block: tir.BlockOp) -> None:
    """Raise ScheduleError for a block whose instances must keep their order: with other axes."""
    for kind in block.axis_kinds:
        if kind not in ("spatial", "reduce"):
            raise ScheduleError(
                f"expected block '{block.block_name.data}' to have spatial and reduction axes "
                f"only, got one that is {kind}",
                block,
            )


def verify_plain(loop: tir.ForOp) -> None:
    """Raise ScheduleError for a loop with annotations or a kind, which a change would lose."""
    if loop.kind.data != "serial":
        raise ScheduleError(f"expected {loop_text(loop)} to be serial, got {loop.kind.data}", loop)
    verify_annotations(loop)


def verify_annotations(loop: tir.ForOp) -> None:
    """Raise ScheduleError for a loop with annotations."""
    if loop.annotations is not None and loop.annotations.data:
        names = ", ".join(f"'{k}'" for k in loop.annotations.data)
        raise ScheduleError(f"expected {loop_text(loop)} to have no annotations, got {names}", loop)


def verify_fusible(loops: Sequence[tir.ForOp]) -> None:
    """Raise ScheduleError unless loops are plain, each alone in the one before, of own bounds."""
    if not loops:
        raise ScheduleError("expected at least one loop to fuse")
    for loop in loops:
        verify_plain(loop)
    for outer, inner in pairwise(loops):
        if inner.parent_op() is not outer:
            raise ScheduleError(f"expected {loop_text(inner)} to be in {loop_text(outer)}", inner)
        if outer.body.block.first_op is not outer.body.block.last_op:
            raise ScheduleError(
                f"expected {loop_text(inner)} to be the only statement of its parent", inner
            )
    variables = {loop.loop_var for loop in loops}
    for loop in loops:
        if variables & set(loop.operands_):
            raise ScheduleError(
                f"expected bounds of {loop_text(loop)} not to depend on the loops to fuse", loop
            )


def split_sizes(
    loop: tir.ForOp, factors: Sequence[int | IntExpr | None], extent: IntExpr
) -> list[IntExpr]:
    """The factors of a split, with `None` inferred; raises ScheduleError for wrong ones."""
    if not factors:
        raise ScheduleError("expected at least one factor", loop)
    verify_factors(loop, factors)
    product = ONE
    for factor in factors:
        if factor is not None:
            product = product * factor
    if None in factors:
        missing = (extent + product - 1) // product
        return [missing if f is None else IntExpr.of(f) for f in factors]
    if not _reaches(product, extent):
        raise ScheduleError(
            f"expected the product of the factors of {loop_text(loop)} to be at least its extent "
            f"{extent}, got {product}",
            loop,
        )
    return [IntExpr.of(f) for f in factors if f is not None]


def verify_factors(loop: tir.ForOp, factors: Sequence[int | IntExpr | None]) -> None:
    """Raise ScheduleError for factors below 1, of foreign symbols, and several of `None`."""
    if sum(f is None for f in factors) > 1:
        raise ScheduleError("expected at most one factor to be None", loop)
    func = function_of(loop)
    known = {*func.declared_symbols(), *func.matched_symbols()}
    for factor in [IntExpr.of(f) for f in factors if f is not None]:
        number = factor.constant
        if (number is not None and number < 1) or not is_non_negative(factor):
            raise ScheduleError(f"expected factors of at least 1, got {factor}", loop)
        if foreign := factor.symbols() - known:
            raise ScheduleError(
                f"expected factors of symbols of '{func.sym_name.data}' "
                f"({', '.join(sorted(known)) or 'none'}), got '{min(foreign)}'",
                loop,
            )


def _reaches(product: IntExpr, extent: IntExpr) -> bool:
    """Whether ``product >= extent`` provably holds; ``a // c * c`` is more than ``a - c``."""
    difference = product - extent
    for atom in [a for monomial, _ in product.terms for a in monomial if isinstance(a, Compound)]:
        split = difference.split_on(atom)
        if atom.op != "floordiv" or split is None:
            continue
        count = split[0] // atom.rhs
        if count * atom.rhs == split[0] and is_non_negative(count):
            difference = split[1] + count * (atom.lhs - atom.rhs + 1)
    return is_non_negative(difference)


def verify_only_blocks(loop: tir.ForOp) -> None:
    """Raise ScheduleError for a loop with effects outside of blocks."""
    work: list[Operation] = list(loop.body.block.ops)
    while work:
        op = work.pop()
        if isinstance(op, tir.ForOp):
            work += op.body.block.ops
        elif not isinstance(op, tir.BlockOp | tir.AllocBufferOp | tir.MatchBufferOp | tir.ApplyOp):
            raise ScheduleError(
                f"expected {loop_text(loop)} to contain only loops and blocks, got '{op.name}'",
                loop,
            )


def verify_data_parallel(
    loop: tir.ForOp, kind: str, private: AbstractSet[SSAValue] = frozenset()
) -> None:
    """Raise ScheduleError unless iterations of a loop run different instances of its blocks.

    Of `private` buffers each iteration has its own. Threads of a block may reduce together: a
    GPU has partial results of each thread, and combines them.
    """
    verify_only_blocks(loop)
    values = Values()
    variable = values.atom(loop.loop_var)
    for block in outermost_blocks(loop):
        bindings = values.exprs(block.bindings, block.numbering())
        for axis, kind_of_axis, binding in zip(
            block.axis_vars, block.axis_kinds, bindings, strict=True
        ):
            is_used = variable in set(binding.atoms())
            if is_used and kind_of_axis != "spatial":
                is_reduction = kind_of_axis == "reduce" and block.init is not None
                if is_reduction and kind.startswith("threadIdx"):
                    private = {*private, *block.write_buffers}
                    continue
                raise ScheduleError(
                    f"expected every axis bound to {loop_text(loop)} to be spatial for it to be "
                    f"{kind}, got {kind_of_axis} axis '{axis.name_hint}' of block "
                    f"'{block.block_name.data}'",
                    loop,
                )
    conflict = conflict_of(loop, private)
    if conflict is not None:
        _refuse_conflict(loop, kind, conflict)


def _refuse_conflict(loop: tir.ForOp, kind: str, conflict: Conflict) -> None:
    """Raise ScheduleError with the accesses of different iterations that may conflict."""
    stored, other = conflict.store.region.buffer, conflict.other.region.buffer
    if conflict.other.is_store:
        what = f"to write different parts of {buffer_text(stored)}"
    else:
        what = f"to read from {buffer_text(other)} only what they write"
    raise ScheduleError(
        f"expected iterations of {loop_text(loop)} {what} for it to be {kind}", loop
    )


def verify_stage_pipeline(loop: tir.ForOp) -> None:
    """Raise ScheduleError unless the scope around a loop is a stage pipeline, as TVM calls it.

    Nothing stores to what a statement before it loads. That scratch memory is stored to first is a
    rule of all functions.
    """
    around = enclosing(loop, tir.BlockOp)
    parent = function_of(loop).body.block if around is None else around.body.block
    loaded: set[SSAValue] = set()
    for statement in parent.ops:
        for buffer in loaded & stored_buffers(statement):
            raise ScheduleError(
                f"expected the scope of {loop_text(loop)} to be a stage pipeline, in "
                f"which nothing stores to {buffer_text(buffer)} after it is loaded",
                statement,
            )
        loaded |= loaded_buffers(statement) - stored_buffers(statement)
