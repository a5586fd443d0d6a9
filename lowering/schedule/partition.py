"""`loop_partition`: split a loop into loops over parts of its range. `loop_trim`: shorten a loop.

::

    for i in (0, n)                       for i_0 in (0, 8)
      block "Y" (v: (0, n) = i)     ⇒       block "Y_i0" (v: (0, 8) = i_0)
                                          for i_1 in (8, n - 8)
                                            block "Y_i1" (v: (8, n - 8) = i_1)
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

from ...dialects import tir
from ...dialects.bounds import interval_of, is_non_negative, simplify
from ...dialects.int_expr import ONE, ZERO, IntExpr, maximum, minimum
from ...dialects.nesting import ancestors, enclosing, operations_in
from ...dialects.parameters import value_name
from ...dialects.sym import ExprAttr, Values, exprs_of
from ...dialects.tir.ranges import ranges_of
from ..analysis.iter_map import IterMap
from ..scope import describe
from .blocks import ScheduleError
from .index_values import add_predicates, replace_indices
from .loop_checks import (
    loop_text,
    outermost_blocks,
    verify_factors,
    verify_only_blocks,
    verify_plain,
)
from .reduction_checks import reductions_over, verify_reductions_run
from .regions import axes_of, refresh_around, replace_header


def partition(
    loop: tir.ForOp, factors: Sequence[int | IntExpr | None], preserve_unit_iters: bool = True
) -> list[tir.ForOp]:
    """Replace a loop by loops over parts of it, in order; TVM's ``loop_partition``.

    Factors are numbers of iterations; one may be `None`: what the others leave, which is otherwise
    the last part, if the factors are known to sum to less than the extent. Each part has
    copies of the blocks, whose axes run over what the part gives them; a reduction starts in the
    first part only. Without `preserve_unit_iters`, loops of one iteration are not used in bindings.
    Raises ScheduleError for a loop with annotations or of a kind, and for factors that are not
    known to sum to the extent or less.
    """
    verify_plain(loop)
    verify_only_blocks(loop)
    extent = loop.extent.data
    sizes = _part_sizes(loop, factors, extent)
    if len(sizes) > 1:
        verify_reductions_run(loop)
        _verify_starts_once(loop, sizes[0])
    starts = accumulate(sizes[:-1], initial=ZERO)
    return split_at(loop, list(zip(starts, sizes, strict=True)), preserve_unit_iters)


def split_at(
    loop: tir.ForOp, parts: Sequence[tuple[IntExpr, IntExpr]], preserve_unit_iters: bool = True
) -> list[tir.ForOp]:
    """Replace a loop by copies that narrow their blocks.

    Each part is how many iterations come before it, and how many it has.
    """
    name = loop.loop_var.name_hint or "i"
    parent = loop.parent
    assert parent is not None
    copies: list[tir.ForOp] = []
    for number, (before, size) in enumerate(parts):
        start = loop.min.data + before
        part = loop.clone()
        parent.insert_op_before(part, loop)
        values = Values()
        operands = list(part.operands_)
        new = tir.ForOp(start, size, operands, part.detach_region(part.body))
        new.location = loop.location
        new.loop_var.name_hint = value_name(f"{name}_{number}")
        parent.insert_op_before(new, part)
        part.detach()
        part.erase()
        copies.append(new)
        rename_blocks(new, f"{name}{number}")
        _narrow(new, is_first=number == 0)
        if size == ONE and not preserve_unit_iters:
            replace_indices({new.loop_var: values.rebase(start, operands)}, values)
    blocks = [b for copy in copies for b in operations_in(copy) if isinstance(b, tir.BlockOp)]
    loop.detach()
    loop.erase()
    for block in blocks:  # predicates may always hold in a part of the range
        add_predicates(block, (), Values())
    refresh_around(blocks)
    return copies


def _part_sizes(
    loop: tir.ForOp, factors: Sequence[int | IntExpr | None], extent: IntExpr
) -> list[IntExpr]:
    verify_factors(loop, factors)
    given = [IntExpr.of(f) for f in factors if f is not None]
    rest = simplify(extent - sum(given, ZERO), {})
    is_open = len(given) < len(factors)
    if rest != ZERO and not is_non_negative(rest):
        raise ScheduleError(
            f"expected the factors of {loop_text(loop)} to sum to its extent {extent} or less, "
            f"got {sum(given, ZERO)}",
            loop,
        )
    if not is_open and rest != ZERO:
        return [*given, rest]
    return [rest if f is None else IntExpr.of(f) for f in factors]


def _verify_starts_once(loop: tir.ForOp, size: IntExpr) -> None:
    """Raise ScheduleError if a later part, after a first one of this size, starts a reduction."""
    values = Values()
    variable = values.atom(loop.loop_var)
    first = values.rebase(loop.min.data, loop.operands_)
    for block in reductions_over(loop):
        if block.init is None:
            continue
        bindings: list[IntExpr] = []
        is_first = is_non_negative(size - 1)
        for axis, binding in zip(block.axes.data, exprs_of(block.bindings), strict=True):
            if axis.kind.data == "reduce":
                bindings.append(values.rebase(binding, block.numbering()))
                start = bindings[-1].substitute({variable: first})
                span = interval_of(start, ranges_of(values.list))
                is_first = is_first and span is not None and span.lower == axis.min.data
        if not (is_first and IterMap(bindings, [variable], {}).tells([variable])):
            raise ScheduleError(
                f"expected only the first iteration of {loop_text(loop)}, in the first part, to "
                f"initialize the reduction of block '{block.block_name.data}'",
                loop,
            )


def rename_blocks(part: Operation, suffix: str) -> None:
    """Append a suffix to the names of the blocks in a copy."""
    for op in operations_in(part):
        if isinstance(op, tir.BlockOp):
            op.properties["block_name"] = StringAttr(f"{op.block_name.data}_{suffix}")


def _narrow(part: tir.ForOp, is_first: bool) -> None:
    """Narrow axes to the range of a part, and initialize reductions in the first part only."""
    if not is_first:
        for block in reductions_over(part):
            if (init := block.init) is not None:
                init.detach()
                init.erase()
    for op in operations_in(part):
        if isinstance(op, tir.BlockOp):
            narrow_axes(op, part)


def narrow_axes(block: tir.BlockOp, loop: tir.ForOp) -> None:
    """Narrow the axes of a block that a loop moves to the ranges of their bindings."""
    outer = enclosing(block, tir.BlockOp)
    is_nested = outer is not None and loop in ancestors(outer)  # then blocks around tell the axes
    values = Values()
    for value in block.numbering():
        values.expr(value)
    ranges = ranges_of(values.list)
    axes: list[tir.Axis] = []
    for axis in axes_of(block):
        span = interval_of(axis.binding, ranges)
        is_moved = is_nested or values.atom(loop.loop_var) in axis.binding.atoms()
        if span is None or not is_moved or axis.kind not in ("spatial", "reduce"):
            axes.append(axis)
            continue
        end = axis.min + axis.extent
        lower, upper = _larger(span.lower, axis.min), _smaller(span.upper + 1, end)
        extent = upper - lower
        if (number := extent.constant) is not None and number < 0:  # which no iteration reaches
            extent = ZERO
        axes.append(tir.Axis(axis.kind, lower, extent, axis.binding))
    bounds = [(b.lhs.data, b.rhs.data) for b in block.predicates.data]
    reads, writes = block.regions_of("reads"), block.regions_of("writes")
    replace_header(block, axes, values, reads, writes, bounds)


def _smaller(lhs: IntExpr, rhs: IntExpr) -> IntExpr:
    """The smaller of two expressions, the first if they are the same number, as far as known."""
    if is_non_negative(rhs - lhs):
        return lhs
    return rhs if is_non_negative(lhs - rhs) else minimum(lhs, rhs)


def _larger(lhs: IntExpr, rhs: IntExpr) -> IntExpr:
    if is_non_negative(lhs - rhs):
        return lhs
    return rhs if is_non_negative(rhs - lhs) else maximum(lhs, rhs)


def trim(loop: tir.ForOp) -> tir.ForOp:
    """Drop the last iterations of a loop, those of which it is known that no block runs.

    ::

        for i in (0, 9):                               for i in (0, 5):
          block "Y" (v: (0, 9) = i) where i < 5   ⇒      block "Y" (v: (0, 5) = i)

    The loop keeps its kind and annotations, predicates that are always true then go away, and
    nothing changes where the last iteration may run a block. In TVM ``loop_partition``, the pass,
    does the same. Returns the loop. Raises ScheduleError for bounds that are not constant, and
    where something but blocks has effects.
    """
    start, extent = loop.min.data.constant, loop.extent.data.constant
    if start is None or extent is None:
        bounds = (describe(e, loop.operands_) for e in (loop.min.data, loop.extent.data))
        raise ScheduleError(
            f"expected {loop_text(loop)} to have constant bounds, got ({', '.join(bounds)})", loop
        )
    verify_only_blocks(loop)
    ends = [_end(loop, block) for block in outermost_blocks(loop)]
    last = max((start + extent if end is None else end for end in ends), default=start + extent)
    if last < start + extent:
        loop.properties["extent"] = ExprAttr(IntExpr.of(max(last - start, 0)))
        inside = [op for op in operations_in(loop) if isinstance(op, tir.BlockOp)]
        for block in inside:
            narrow_axes(block, loop)
            add_predicates(block, (), Values())
        refresh_around(inside)
    return loop


def _end(loop: tir.ForOp, block: tir.BlockOp) -> int | None:
    """The iteration of a loop from which on a predicate of a block is false, if there is one."""
    values = Values()
    variable = values.atom(loop.loop_var)
    found: list[int] = []
    for bound in block.predicates.data:
        room = values.rebase(bound.rhs.data - bound.lhs.data - 1, block.numbering())
        parts = room.split_on(variable)
        span = None if parts is None else interval_of(parts[1], ranges_of(values.list))
        if parts is None or span is None:
            continue
        step, most = parts[0].constant, span.upper.constant
        if step is not None and most is not None and step < 0:
            found.append(most // -step + 1)
    return min(found, default=None)
