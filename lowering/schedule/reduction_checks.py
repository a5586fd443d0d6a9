"""Preconditions of initializing a reduction in loops of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from xdsl.ir import Block, Operation, SSAValue

from ...dialects import tir
from ...dialects.bounds import Interval, is_non_negative
from ...dialects.int_expr import ONE, Arg, Atom, IntExpr
from ...dialects.nesting import ancestors, operations_in
from ...dialects.sym import Values, exprs_of
from ...dialects.tir.block_attributes import AXIS_KINDS
from ...dialects.tir.regions import infer_regions
from ...dialects.tir.verify_access import buffer_text
from ..analysis.iter_map import IterMap, is_bijective, used_in
from .blocks import ScheduleError, blocks_in, loaded_buffers, stored_buffers
from .loop_checks import loop_text
from .regions import contains


def verify_starts_once(block: tir.BlockOp, inner: Sequence[tir.ForOp]) -> None:
    """Raise ScheduleError unless different iterations of these loops are different instances.

    If two are the same instance, the second one would initialize its element again.
    """
    values = Values()
    extents: dict[Atom, IntExpr] = {}
    for loop in inner:
        extents[values.atom(loop.loop_var)] = values.rebase(loop.extent.data, loop.operands_)
    left = {a for a, extent in extents.items() if extent != ONE}
    for own in values.exprs(block.bindings, block.numbering()):
        used = used_in(own, extents)
        if used <= left and is_bijective(own, {a: extents[a] for a in used}):
            left -= used
    left -= {a for a in left if _is_told_by(a, block, values, extents)}
    for loop, atom in zip(inner, extents, strict=True):
        if atom in left:
            raise ScheduleError(
                f"expected each iteration of {loop_text(loop)} to run a different instance of "
                f"block '{block.block_name.data}'",
                loop,
            )


def _is_told_by(
    variable: Atom, block: tir.BlockOp, values: Values, extents: Mapping[Atom, IntExpr]
) -> bool:
    """Whether bindings over one loop only, as after a fusion, are injective."""
    bindings = values.exprs(block.bindings, block.numbering())
    own = [b for b in bindings if used_in(b, extents) == {variable}]
    return IterMap(own, [variable], {}).tells([variable])


def verify_apart(block: tir.BlockOp, init: tir.InitOp, loop: tir.ForOp) -> None:
    """Raise ScheduleError if the time of the block's initialization is observable in a loop."""
    started = stored_buffers(init)
    _verify_inputs(block, init, loop)
    is_before = True
    for op in operations_in(loop):
        if op is block:
            is_before = False
        elif block not in ancestors(op) and op not in ancestors(block):
            _verify_other(op, block, started, is_before)
    values = Values()
    reads, writes = infer_regions(loop.body.block, values)
    written = {w.buffer: w for w in writes}
    for read in reads:
        if read.buffer in started and not contains(written[read.buffer], read, values):
            raise ScheduleError(
                f"expected each iteration of {loop_text(loop)} to read from "
                f"{buffer_text(read.buffer)} only what block '{block.block_name.data}' writes in "
                "it",
                loop,
            )


def _verify_inputs(block: tir.BlockOp, init: tir.InitOp, loop: tir.ForOp) -> None:
    for buffer in loaded_buffers(init) & stored_buffers(loop):
        raise ScheduleError(
            f"expected nothing in {loop_text(loop)} to store to {buffer_text(buffer)}, which the "
            f"initialization of block '{block.block_name.data}' loads",
            loop,
        )


def _verify_other(
    op: Operation, block: tir.BlockOp, started: set[SSAValue], is_before: bool
) -> None:
    """Nothing else stores to what the block starts, or loads it before the block has run."""
    if op.regions:
        return
    for buffer in started & stored_buffers(op):
        raise ScheduleError(
            f"expected only block '{block.block_name.data}' to store to {buffer_text(buffer)} in "
            "the loop",
            op,
        )
    for buffer in started & loaded_buffers(op) if is_before else ():
        raise ScheduleError(
            f"expected block '{block.block_name.data}' to come before what loads "
            f"{buffer_text(buffer)} in the loop",
            op,
        )


def verify_reductions_run(loop: tir.ForOp) -> None:
    """Raise ScheduleError where `loop` is inside a reduction of which another loop may be empty.

    What starts the reduction is before all of its loops, and is inside of them as soon as `loop` is
    in parts.
    """
    for block in blocks_in(loop):
        reducing = reducing_loops(block)
        if block.init is None or not any(p in ancestors(loop) for p in reducing):
            continue
        others = [level for level in reducing if level is not loop]
        _verify_not_empty(others, block, f"{loop_text(loop)} to be partitioned")


def reductions_over(loop: tir.ForOp) -> list[tir.BlockOp]:
    """The blocks of which a reduction axis depends on a loop."""
    bound = {loop.loop_var}
    found: list[tir.BlockOp] = []
    for op in operations_in(loop):
        if isinstance(op, tir.BlockOp):
            numbering = op.numbering()
            for var, kind, binding in zip(
                op.axis_vars, op.axis_kinds, exprs_of(op.bindings), strict=True
            ):
                if any(numbering[i] in bound for i in binding.args()):
                    bound.add(var)
                    if kind == "reduce" and op not in found:
                        found.append(op)
    return found


def verify_starts_fused(loops: Sequence[tir.ForOp]) -> None:
    """Raise ScheduleError where an empty reduction would not start in the fused loop.

    It is its first value for each element. Of loops in one that reduce and that do not, no element
    is left if there are no iterations, and none starts where a loop around or inside has none.
    """
    several = [loop for loop in loops if loop.extent.data != ONE]
    for block in blocks_in(loops[0]):
        reducing = reducing_loops(block)
        others = [loop for loop in several if loop not in reducing]
        if block.init is None or not others or len(others) == len(several):
            continue
        what = f"a loop of the reduction to be fused with {loop_text(others[0])}"
        _verify_not_empty(reducing, block, what)


def verify_splittable(loop: tir.ForOp, step: IntExpr, values: Values) -> None:
    """Raise ScheduleError if a predicate on a part of an axis hides that a reduction is empty.

    `step` is what replaces the loop's variable. Factors that do not divide have a predicate, and
    another loop of the same axis may have no iterations. Where different iterations of the new
    loops are the same instance, as if the inner one of 2 * 2 is split into 1 * 3, the predicates
    alone tell which one is the first: then none of the loops may be empty. So it is for a loop in
    the reduction that no axis is bound to.
    """
    variable = values.atom(loop.loop_var)
    for block in blocks_in(loop):
        if block.init is None:
            continue
        reducing, what = reducing_loops(block), f"factors that do not divide {loop_text(loop)}"
        if any(p in reducing for p in ancestors(loop)) and loop not in _bound_loops(block):
            _verify_not_empty(reducing, block, what)
        bindings = values.exprs(block.bindings, block.numbering())
        for kind, binding in zip(block.axis_kinds, bindings, strict=True):
            if variable not in binding.atoms():
                continue
            others = set(binding.atoms()) - {variable} if kind == "reduce" else set[Atom]()
            if not _is_injective(binding.substitute({variable: step}), values):
                others = {values.atom(p.loop_var) for p in reducing}
            beside = [p for p in reducing if values.atom(p.loop_var) in others]
            _verify_not_empty(beside, block, what)


def _is_injective(expr: IntExpr, values: Values) -> bool:
    """Whether an expression is injective in the variables of loops that it mentions."""
    loops = {i: loop for i in expr.args() if (loop := _loop_of(values.list[i])) is not None}
    extents: dict[Atom, IntExpr] = {
        Arg(i): values.rebase(loop.extent.data, loop.operands_) for i, loop in loops.items()
    }
    used = used_in(expr, extents)
    return IterMap([expr], used, {a: Interval.range(0, extents[a]) for a in used}).tells(used)


def _loop_of(value: SSAValue) -> tir.ForOp | None:
    owner = value.owner.parent_op() if isinstance(value.owner, Block) else None
    return owner if isinstance(owner, tir.ForOp) else None


def verify_strips(loop: tir.ForOp) -> None:
    """Raise ScheduleError if a reduction that is initialized in a loop of it may be empty."""
    for block in reductions_over(loop):
        if block.init is not None:
            what = f"{loop_text(loop)} to be strip-mined"
            _verify_not_empty(reducing_loops(block), block, what)


def _verify_not_empty(loops: Sequence[tir.ForOp], block: tir.BlockOp, what: str) -> None:
    """Raise ScheduleError for a loop of a block's reduction that may have no iterations."""
    for loop in loops:
        if not is_non_negative(loop.extent.data - 1):
            raise ScheduleError(
                f"expected {loop_text(loop)}, over which block '{block.block_name.data}' reduces, "
                "to "
                f"have iterations for {what}, got extent {loop.extent.data}: decompose the "
                "reduction first",
                loop,
            )


def reducing_loops(block: tir.BlockOp) -> list[tir.ForOp]:
    """The loops around a block that its reduction axes are bound to, innermost first."""
    return _bound_loops(block, ("reduce",))


def _bound_loops(block: tir.BlockOp, kinds: Sequence[str] = AXIS_KINDS) -> list[tir.ForOp]:
    axes = zip(block.axis_vars, block.axis_kinds, strict=True)
    driving = _bound_values(block, {var for var, kind in axes if kind in kinds})
    found: list[tir.ForOp] = []
    for parent in ancestors(block):
        if isinstance(parent, tir.BlockOp):
            driving |= _bound_values(parent, driving)
        elif isinstance(parent, tir.ForOp) and parent.loop_var in driving:
            found.append(parent)
    return found


def _bound_values(block: tir.BlockOp, axes: AbstractSet[SSAValue]) -> set[SSAValue]:
    """The values that those of a block's axes are computed from that are among `axes`."""
    numbering = block.numbering()
    bindings = zip(block.axis_vars, exprs_of(block.bindings), strict=True)
    return {numbering[i] for var, binding in bindings if var in axes for i in binding.args()}
