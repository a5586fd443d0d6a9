"""Match reductions over sliding windows whose results are contiguous along an axis, the lanes.

::

    Y[h, w, c] += X[h + r, w + s, c] * W[r, s, c]           channels last
    Y[c, h, w] += X[c, h * 2 + r, w * 2 + s] * W[c, r, s]   planes

Depthwise convolutions and pools are such reductions. With channels last the lanes are `c`, windows
of a row move along `w`, the column, and a row of a window is along `s`, the tap. In planes the
lanes are `w`, along which strided windows are a few elements apart and a weight is the same,
windows move along `h`, the column, and the tap is `r`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ....dialects import tir
from ....dialects.int_expr import ONE
from ....dialects.nesting import operations_in
from ....dialects.relax.operators.windows import MOST_TAPS, WIDEST_STEP
from ...analysis.reductions import Accumulation
from ...analysis.strides import Strides
from ..blocks import ScheduleError, plain_loops
from ..conditions import choices_of
from ..inline import EXPRESSIONS
from ..reducer import reducer_of
from .match_contraction import Contraction, has_no_results, is_apart

NEAR = 8
"""Windows within this distance in a row are to share elements."""


@dataclass(frozen=True)
class SlidingWindows:
    """A reduction over windows; `contraction.n` is the axis of its lanes.

    The left operands of the contraction are the same in all lanes.
    """

    contraction: Contraction
    column: int
    """The axis along a row of results, whose windows overlap."""
    tap: int
    """The axis along a row of a window."""

    def size(self, axis: int) -> int:
        """The number of elements along an axis, which is known."""
        return size_of(self.contraction, axis)

    @cached_property
    def length(self) -> int:
        """The number of elements along the lanes."""
        return self.size(self.contraction.n)

    @cached_property
    def width(self) -> int:
        """The number of results in a row."""
        return self.size(self.column)

    @cached_property
    def taps(self) -> int:
        """The number of elements in a row of a window."""
        return self.size(self.tap)

    def moves(self, axis: int) -> bool:
        """Whether windows move over their data along a spatial axis."""
        return any(_share_dim(self.contraction, axis, k) for k in self.contraction.k)

    @cached_property
    def in_planes(self) -> bool:
        """Whether windows move along the lanes."""
        return self.moves(self.contraction.n)

    @cached_property
    def operands(self) -> int:
        """The number of loaded operands."""
        return len(self.contraction.rhs) + len(self.contraction.lhs)


def _share_dim(contraction: Contraction, first: int, second: int) -> bool:
    """Whether two axes move the same dim of the data, as windows and their elements do."""
    strides, axes = contraction.strides, contraction.block.axis_vars
    return any(
        set(strides.dims_moved(load, axes[first])) & set(strides.dims_moved(load, axes[second]))
        for load in contraction.rhs
    )


def size_of(contraction: Contraction, axis: int) -> int:
    """The extent of an axis, which is known."""
    size = contraction.extent(axis).constant
    assert size is not None
    return size


def windows_of(block: tir.BlockOp) -> SlidingWindows | None:
    """The sliding windows that a block reduces; `None` for other blocks and for scheduled ones."""
    loops = plain_loops(block)
    if not loops or block.init is None or block.predicates.data or has_no_results(block):
        return None
    if not _accumulates(block):
        return None
    strides = Strides(block, bound=False)
    (store,) = strides.stores
    loads = [op for op in strides.loads if op.buffer is not store.buffer]
    if not is_apart(block, store, loads):
        return None
    kinds = block.axis_kinds
    spatial, reduce = ([a for a in loops if kinds[a] == k] for k in ("spatial", "reduce"))
    if len(spatial) + len(reduce) < len(loops):
        return None
    found = [
        SlidingWindows(contraction, column, tap)
        for lanes in spatial
        if (contraction := _along_lanes(block, loops, strides, lanes)) is not None
        for column in spatial
        for tap in reduce
        if column != lanes and _is_fixed(contraction, column, tap)
        if size_of(contraction, tap) <= MOST_TAPS and _is_of_windows(contraction)
    ]
    return next((w for w in reversed(found) if _overlaps(w)), None) or next(
        (w for w in reversed(found) if _gains_apart(w)), None
    )


def _accumulates(block: tir.BlockOp) -> bool:
    """Whether a block accumulates one value, by arithmetic on loads and conditions."""
    work = [op for op in operations_in(block) if not isinstance(op, tir.BlockOp | tir.InitOp)]
    if any(not isinstance(op, tir.StoreOp) and not op.name.startswith(EXPRESSIONS) for op in work):
        return False
    try:
        updates = reducer_of(block).updates
    except ScheduleError:
        return False
    return len(updates) == 1 and isinstance(updates[0].store.value.owner, Accumulation)


def _along_lanes(
    block: tir.BlockOp, loops: dict[int, tir.ForOp], strides: Strides, lanes: int
) -> Contraction | None:
    """The reduction with an axis as its lanes: vectors of results, and of operands that vary."""
    (store,), axis = strides.stores, block.axis_vars[lanes]
    loads = [op for op in strides.loads if op.buffer is not store.buffer]
    steps = [strides.step(op, axis) for op in loads]
    sizes = [-1 if step is None or step.constant is None else step.constant for step in steps]
    if strides.store_steps(axis) != [ONE] or not all(0 <= n <= WIDEST_STEP for n in sizes):
        return None
    varying, uniform = (
        tuple(op for op, n in zip(loads, sizes, strict=True) if bool(n) is v) for v in (True, False)
    )
    return Contraction(block, loops, store, lanes, (), varying, uniform)


def _is_fixed(contraction: Contraction, *axes: int) -> bool:
    """Whether axes and lanes have a known number of elements, more than one."""
    sizes = [contraction.extent(axis).constant for axis in (*axes, contraction.n)]
    return all(size is not None and size > 1 for size in sizes)


def _is_of_windows(contraction: Contraction) -> bool:
    """Whether operands that are the same in all lanes are those of windows, not of a matmul."""
    kinds = contraction.block.axis_kinds
    spatial = [axis for axis, kind in enumerate(kinds) if kind == "spatial"]
    moved = (any(_share_dim(contraction, axis, k) for axis in spatial) for k in contraction.k)
    return not contraction.lhs or all(moved)


def _gains_apart(windows: SlidingWindows) -> bool:
    """Whether a tile of windows without common elements shares weights, or masks for padding.

    In planes, the masks are of vectors; without a tile, each element tests its conditions.
    """
    in_lanes = windows.in_planes and bool(choices_of(windows.contraction.block))
    return in_lanes or bool(windows.contraction.lhs)


def _overlaps(windows: SlidingWindows) -> bool:
    """Whether windows that are next to each other in a row may share elements."""
    strides, axes = windows.contraction.strides, windows.contraction.block.axis_vars
    for load in windows.contraction.rhs:
        steps = [strides.step(load, axes[axis]) for axis in (windows.column, windows.tap)]
        move, reach = (0 if step is None else step.constant or 0 for step in steps)
        if move and reach:
            near = range(move, NEAR * move, move)
            return any(step % reach == 0 and step // reach < windows.taps for step in near)
    return False
