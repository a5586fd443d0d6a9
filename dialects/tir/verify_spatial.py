"""The rule of spatial axes: what a block accumulates into one element is no spatial axis's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile

from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from ..int_expr import ONE, Arg
from ..nesting import ancestors, enclosing, operations_in
from ..sym import exprs_of
from .access import LoadOp, StoreOp
from .block_attributes import BlockLike
from .iterations import Iteration, Start, happens
from .loop import ForOp
from .verify_access import buffer_text


def verify_spatial(op: BlockLike) -> None:
    """Two iterations of a spatial axis must not accumulate into one element.

    They may store to one element: then one of them is the last. TVM calls a block whose spatial
    axes do not tell its elements apart neither complete nor a reduction.
    """
    axes = zip(op.axis_vars, op.axes.data, strict=True)
    spatial = [v for v, a in axes if a.kind.data == "spatial" and a.extent.data != ONE]
    if not spatial:
        return
    for store in [o for o in operations_in(op) if isinstance(o, StoreOp)]:
        fixed = _fixed_values(op, store.buffer)
        if _told_apart(store, spatial, fixed) or not _accumulates(store, op):
            continue
        axis = _shared_along(store, spatial, fixed, _starts(store, op))
        if axis is not None:
            raise VerifyException(
                f"block '{op.block_name.data}' accumulates in {buffer_text(store.buffer)} along "
                f"spatial axis '{axis.name_hint or 'of the block'}': expected a reduction axis, "
                "as of T.axis.reduce, where iterations share an element"
            )


def _fixed_values(op: BlockLike, buffer: SSAValue) -> list[SSAValue]:
    """Axes of the blocks around, and loops around the memory, each iteration of which has its own.

    What two iterations do that differ in these is not compared.
    """
    found: list[SSAValue] = []
    for around in ancestors(op):
        if isinstance(around, BlockLike):
            found += around.axis_vars
        elif isinstance(around, ForOp) and around.is_ancestor(buffer.owner):
            found.append(around.loop_var)
    return found


def _told_apart(store: StoreOp, spatial: Sequence[SSAValue], fixed: Sequence[SSAValue]) -> bool:
    """Whether each axis alone moves an index of its own."""
    alone: set[SSAValue] = set()
    for index in exprs_of(store.indices):
        moving = [i for i in index.args() if store.operands_[i] not in fixed]
        step = index.coefficient_of(Arg(moving[0])) if len(moving) == 1 else None
        if step is not None and step.constant:
            alone.add(store.operands_[moving[0]])
    return alone.issuperset(spatial)


def _accumulates(store: StoreOp, op: BlockLike) -> bool:
    """Whether the innermost block of a store loads that element of memory from outside of `op`."""
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
    """The first variable that differs in two iterations that store to one element, if some do.

    In these all of `fixed` is the same. Those in which one of `starts` runs share nothing.
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
    """When blocks inside of `op` initialise what a store accumulates in."""
    within = takewhile(lambda p: p is not op, ancestors(store))
    blocks = [p for p in within if isinstance(p, BlockLike)]
    return [Start.of(block) for block in blocks if _initialises(block, store.buffer)]


def _initialises(block: BlockLike, buffer: SSAValue) -> bool:
    stores = operations_in(block.init) if block.init is not None else ()
    return any(isinstance(o, StoreOp) and o.buffer == buffer for o in stores)
