"""The rules of `tir.block`: bindings are in the ranges of axes, accesses in declared regions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile

from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from ..bounds import Interval, is_non_negative
from ..int_expr import ONE, Arg, Atom, IntExpr
from ..nesting import ancestors, enclosing, operations_in
from ..sym import exprs_of, verify_args
from .access import LoadOp, StoreOp
from .block_attributes import BlockLike
from .iterations import Iteration, Start, happens
from .loop import ForOp
from .ranges import operand_ranges, range_of, surely_less
from .types import BufferType
from .verify_access import buffer_text, range_text
from .verify_regions import verify_declared, verify_reductions


def verify_spatial(op: BlockLike) -> None:
    """Raise VerifyException if two iterations of a spatial axis accumulate into one element.

    They may store to one element: the last store wins. In TVM, a block whose spatial axes do not
    distinguish its elements is neither complete nor a reduction.
    """
    axes = zip(op.axis_vars, op.axes.data, strict=True)
    spatial = [v for v, a in axes if a.kind.data == "spatial" and a.extent.data != ONE]
    if not spatial:
        return
    for store in [o for o in operations_in(op) if isinstance(o, StoreOp)]:
        fixed = _fixed_values(op, store.buffer)
        if _is_injective(store, spatial, fixed) or not _accumulates(store, op):
            continue
        axis = _shared_along(store, spatial, fixed, _starts(store, op))
        if axis is not None:
            raise VerifyException(
                f"block '{op.block_name.data}' accumulates in {buffer_text(store.buffer)} along "
                f"spatial axis '{axis.name_hint or 'of the block'}': expected a reduction axis, "
                "as of T.axis.reduce, where iterations share an element"
            )


def _fixed_values(op: BlockLike, buffer: SSAValue) -> list[SSAValue]:
    """Axes of outer blocks, and loops around the allocation, which has one copy per iteration.

    Iterations that differ in these values are not compared.
    """
    found: list[SSAValue] = []
    for around in ancestors(op):
        if isinstance(around, BlockLike):
            found += around.axis_vars
        elif isinstance(around, ForOp) and around.is_ancestor(buffer.owner):
            found.append(around.loop_var)
    return found


def _is_injective(store: StoreOp, spatial: Sequence[SSAValue], fixed: Sequence[SSAValue]) -> bool:
    """Whether each axis, alone, moves one of the indices."""
    alone: set[SSAValue] = set()
    for index in exprs_of(store.indices):
        moving = [i for i in index.args() if store.operands_[i] not in fixed]
        step = index.coefficient_of(Arg(moving[0])) if len(moving) == 1 else None
        if step is not None and step.constant:
            alone.add(store.operands_[moving[0]])
    return alone.issuperset(spatial)


def _accumulates(store: StoreOp, op: BlockLike) -> bool:
    """Whether the innermost block of a store also loads the element, allocated outside `op`."""
    if op.is_ancestor(store.buffer.owner):
        return False
    around = enclosing(store, BlockLike)
    if around is None or (around.init is not None and around.init.is_ancestor(store)):
        return False
    place = (store.buffer, store.indices, *store.operands_)
    return any(
        isinstance(o, LoadOp) and (o.buffer, o.indices, *o.operands_) == place
        for o in operations_in(around)
    )


def _shared_along(
    store: StoreOp,
    variables: Sequence[SSAValue],
    fixed: Sequence[SSAValue],
    starts: Sequence[Start],
) -> SSAValue | None:
    """The first variable that differs between two iterations that store to one element, if any.

    The iterations agree in all of `fixed`. Iterations in which one of `starts` runs share nothing.
    """
    places: dict[tuple[int, ...], dict[tuple[int, ...], bool]] = {}
    found: list[SSAValue] = []

    def shares(at: Iteration) -> bool:
        place = [at.evaluate(e, store.operands_) for e in exprs_of(store.indices)]
        iterations = places.setdefault((*(at.values[v] for v in fixed), *place), {})
        own = tuple(at.values[v] for v in variables)
        iterations[own] = iterations.get(own, False) or any(s.runs(at) for s in starts)
        return not starts and differ(iterations)

    def differ(iterations: Mapping[tuple[int, ...], bool]) -> bool:
        if len(iterations) > 1 and not all(iterations.values()):
            first, second, *_ = iterations
            found.extend(v for v, a, b in zip(variables, first, second, strict=True) if a != b)
        return bool(found)

    is_found = happens(store, shares)
    if is_found or (is_found is False and any(differ(i) for i in places.values())):
        return found[0]
    return None


def _starts(store: StoreOp, op: BlockLike) -> list[Start]:
    """The initializations, by blocks inside `op`, of the element that a store accumulates into."""
    within = takewhile(lambda p: p is not op, ancestors(store))
    blocks = [p for p in within if isinstance(p, BlockLike)]
    return [Start.of(block) for block in blocks if _initializes(block, store.buffer)]


def _initializes(block: BlockLike, buffer: SSAValue) -> bool:
    stores = operations_in(block.init) if block.init is not None else ()
    return any(isinstance(o, StoreOp) and o.buffer == buffer for o in stores)


def verify_block(op: BlockLike) -> None:
    """Raise VerifyException if the block violates a rule."""
    _verify_counts(op)
    _verify_expressions(op)
    ranges = operand_ranges(op)
    for position in range(len(op.axes.data)):
        _verify_binding(op, position, ranges)
    verify_declared(op)
    verify_reductions(op)
    verify_spatial(op)


def _verify_counts(op: BlockLike) -> None:
    count = len(op.axes.data)
    if len(op.body.block.args) != count or len(op.bindings.data) != count:
        raise VerifyException(
            f"expected as many axes as bindings and block arguments, got {count} axes, "
            f"{len(op.bindings.data)} bindings and {len(op.body.block.args)} arguments"
        )
    if any(not isinstance(a.type, IndexType) for a in op.body.block.args):
        raise VerifyException("expected block axes of type index")
    for which, buffers, regions in (
        ("read", op.read_buffers, op.reads),
        ("write", op.write_buffers, op.writes),
    ):
        if len(buffers) != len(regions.data):
            raise VerifyException(
                f"expected one region for each {which} buffer, "
                f"got {len(regions.data)} for {len(buffers)}"
            )


def _verify_expressions(op: BlockLike) -> None:
    count = len(op.axes.data)
    exprs = [*exprs_of(op.bindings)]
    for axis in op.axes.data:
        exprs += [axis.min.data, axis.extent.data]
    for bound in op.predicates.data:
        exprs += [bound.lhs.data, bound.rhs.data]
    verify_args(op, exprs, count + len(op.operands_))
    if any(i < count for e in exprs for i in e.args()):
        raise VerifyException(
            "expected axis ranges, bindings and predicates not to use the block's own axes"
        )
    for region in (*op.regions_of("reads"), *op.regions_of("writes")):
        assert isinstance(region.buffer.type, BufferType)
        rank = region.buffer.type.rank
        if len(region.mins) != rank or len(region.extents) != rank:
            raise VerifyException(
                f"expected a region of rank {rank} for {region.buffer.type}, "
                f"got {len(region.mins)} first indices and {len(region.extents)} extents"
            )
        verify_args(op, [*region.mins, *region.extents], count + len(op.operands_))


def axis_name(value: SSAValue, position: int) -> str:
    """The name of an axis in messages."""
    return value.name_hint or f"axis {position}"


def _verify_binding(op: BlockLike, position: int, ranges: Mapping[Atom, Interval]) -> None:
    axis, binding = op.axes.data[position], op.bindings.data[position].data
    name = axis_name(op.axis_vars[position], position)
    if (value := axis.extent.data.constant) is not None and value < 0:
        raise VerifyException(
            f"expected axis '{name}' to have an extent of at least 0, got {value}"
        )
    covered = range_of(binding, ranges)
    if covered is None:
        return
    wanted = Interval.range(axis.min.data, axis.extent.data)
    if surely_less(covered.lower, wanted.lower) or surely_less(wanted.upper, covered.upper):
        if _is_kept_within(op, binding, covered, wanted, ranges):
            return
        if happens(op, lambda i: not _is_within(i, op, binding, wanted)):
            raise VerifyException(
                f"binding of axis '{name}' takes values in {range_text(covered)}, "
                f"outside its range {range_text(wanted)}"
            )


def _is_kept_within(
    op: BlockLike,
    binding: IntExpr,
    covered: Interval,
    wanted: Interval,
    ranges: Mapping[Atom, Interval],
) -> bool:
    """Whether the predicates and ranges prove that a binding is in its axis' range."""
    least: list[Interval | None] = [covered]
    most: list[Interval | None] = [covered]
    for bound in op.predicates.data:
        lhs, rhs = bound.lhs.data, bound.rhs.data
        least.append(range_of(binding - rhs + lhs + 1, ranges))
        most.append(range_of(binding - lhs + rhs - 1, ranges))
    return any(e is not None and is_non_negative(e.lower - wanted.lower) for e in least) and any(
        e is not None and is_non_negative(wanted.upper - e.upper) for e in most
    )


def _is_within(at: Iteration, op: BlockLike, binding: IntExpr, wanted: Interval) -> bool:
    numbering = op.numbering()
    value = at.evaluate(binding, numbering)
    lower, upper = at.evaluate(wanted.lower, numbering), at.evaluate(wanted.upper, numbering)
    return lower <= value <= upper
