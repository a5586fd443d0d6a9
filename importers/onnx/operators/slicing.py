"""Slices and padding."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....dialects import relax
from ....dialects.bounds import is_non_negative
from ....dialects.dtypes import element_type
from ....dialects.int_expr import ZERO, IntExpr, maximum, minimum
from ....dialects.relax.operators.slicing import FAR
from ..context import Context
from ..data_sizes import is_read, sizes_of
from ..fold_values import objects
from ..formula import Formula
from ..parts import joined, numbered, part
from ..registry import MICROSOFT, converts
from ..tensor import Tensor, axes_of


@converts("Slice")
def slice_by_attributes(
    ctx: Context, x: Tensor, *, starts: list[int], ends: list[int], axes: list[int] | None = None
) -> Tensor:
    """Ranges of axes; bounds are attributes before opset 10."""
    first, last = ([IntExpr.of(v) for v in values] for values in (starts, ends))
    return _sliced(ctx, x, first, last, axes, None)


@converts("Slice", since=10)
def slice_(
    ctx: Context,
    x: Tensor,
    starts: Tensor,
    ends: Tensor,
    axes: Tensor | None = None,
    steps: Tensor | None = None,
) -> Tensor:
    """Ranges of axes, with bounds that may be symbolic, or depend on data."""
    given = [t for t in (starts, ends, steps) if t is not None]
    if any(t.rank == 1 and is_read(ctx, t) for t in given):
        chosen = list(range(starts.dims[0].offset)) if axes is None else axes.ints("axes")
        return _sliced_by_data(ctx, x, starts, ends, axes_of(chosen, x.rank), steps)
    bounds = starts.sizes("starts"), ends.sizes("ends")
    chosen = None if axes is None else axes.ints("axes")
    return _sliced(ctx, x, *bounds, chosen, None if steps is None else steps.ints("steps"))


def _sliced(
    ctx: Context,
    x: Tensor,
    starts: Sequence[IntExpr],
    ends: Sequence[IntExpr],
    axes: Sequence[int] | None,
    steps: Sequence[int] | None,
) -> Tensor:
    axes = axes_of(range(len(starts)) if axes is None else axes, x.rank)
    if not starts:
        return x
    strides = [1] * len(starts) if steps is None else list(steps)
    given = zip(starts, axes, strides, strict=True)
    first = [_start(s, x.dims[axis]) if step < 0 else s for s, axis, step in given]
    options = {"axes": axes, "begin": first, "end": list(ends)}
    return ctx.emit("strided_slice", x, **options, strides=None if set(strides) == {1} else strides)


def _sliced_by_data(
    ctx: Context, x: Tensor, starts: Tensor, ends: Tensor, axes: Sequence[int], steps: Tensor | None
) -> Tensor:
    """Ranges whose bounds depend on data: the lengths are new symbols."""
    places = ctx.array(list(axes), "int64")

    def spread(default: Tensor, given: Tensor) -> Tensor:
        """A number for each axis: those given for some, and others."""
        own = ctx.fitted(ctx.astype(given, "int64"), [IntExpr.of(len(axes))])
        return ctx.emit("scatter_elements", default, places, own, axis=0)

    dims, zeros = ctx.known(objects(x.dims, [x.rank]), "int64"), ctx.array([0] * x.rank, "int64")
    strides = ones = ctx.array([1] * x.rank, "int64")
    begin, end = spread(zeros, starts), spread(dims, ends)
    if steps is not None:
        strides = spread(ones, steps)
    if strides.known is None:  # in reverse, one before the first element is that element
        first = Formula(ctx, begin)
        begin = first.at_least(-Formula(ctx, dims)).where(Formula(ctx, strides) < 0, first).tensor
    found = ctx.emitter.op("dynamic_strided_slice", x.value, begin.value, end.value, strides.value)
    symbols = {a: ctx.emitter.functions.new_size("length") for a in sorted(set(axes))}
    type_ = relax.TensorType.of(
        [symbols.get(a, d) for a, d in enumerate(x.dims)], element_type(x.dtype)
    )
    return ctx.tensor(ctx.emitter.match(found, type_))


def _start(start: IntExpr, dim: IntExpr) -> IntExpr:
    """The start of a slice in reverse: one before the first element is that element.

    For `relax.strided_slice`, as in Python, such a slice has no elements.
    """
    if is_non_negative(start) or start == IntExpr.of(-1):
        return start
    if start.is_constant:
        return _positive(dim + start) if start.offset > -FAR else ZERO
    return _positive(start + dim * maximum(minimum(-start, 1), 0))


@converts("Pad")
def pad_by_attributes(
    ctx: Context,
    x: Tensor,
    *,
    mode: str = "constant",
    pads: list[int] | None = None,
    paddings: list[int] | None = None,
    value: float = 0.0,
) -> Tensor:
    """Padding by attributes, before opset 11; their name was another in opset 1."""
    widths = [IntExpr.of(p) for p in (paddings if pads is None else pads) or ()]
    return padded(ctx, x, widths, mode, ctx.number(value, x.dtype))


@converts("Pad", since=11)
def pad(
    ctx: Context,
    x: Tensor,
    pads: Tensor,
    value: Tensor | None = None,
    axes: Tensor | None = None,
    *,
    mode: str = "constant",
) -> Tensor:
    """Padding before and after axes; a negative width removes elements."""
    widths = sizes_of(ctx, pads, "widths")
    if axes is not None:
        widths = _spread(widths, axes_of(axes.ints("axes"), x.rank), x.rank)
    fill = ctx.array(0, x.dtype) if value is None else ctx.reshape(value, [])
    return padded(ctx, x, widths, mode, fill)


def _spread(widths: Sequence[IntExpr], axes: Sequence[int], rank: int) -> list[IntExpr]:
    """The widths of all axes, from those of some."""
    if len(widths) != 2 * len(axes):
        raise ValueError(f"expected {2 * len(axes)} widths for axes {axes}, got {len(widths)}")
    spread = [ZERO] * (2 * rank)
    for place, axis in enumerate(axes):
        spread[axis], spread[axis + rank] = widths[place], widths[place + len(axes)]
    return spread


_MODES = {"constant": "constant", "reflect": "reflect", "edge": "replicate", "wrap": "circular"}


def padded(ctx: Context, x: Tensor, widths: Sequence[IntExpr], mode: str, fill: Tensor) -> Tensor:
    """The tensor with widths before all axes, then after all; `fill` has rank 0."""
    if len(widths) != 2 * x.rank:
        raise ValueError(f"expected {2 * x.rank} widths, got {len(widths)}")
    if mode not in _MODES:
        raise ValueError(f"expected one of {', '.join(_MODES)}, got '{mode}'")
    margins = list(zip(widths[: x.rank], widths[x.rank :], strict=True))
    for axis, (before, after) in enumerate(margins):
        x = _cropped(ctx, x, axis, _positive(-before), _positive(-after))
    margins = [(_positive(a), _positive(b)) for a, b in margins]
    if all(m == (ZERO, ZERO) for m in margins):
        return x
    is_number = fill.known is not None or mode != "constant"
    if is_number and all(a.is_constant and b.is_constant for a, b in margins):
        pairs = [(a.offset, b.offset) for a, b in margins]
        value = fill.number("the padding") if mode == "constant" else 0
        return ctx.emit("nn.pad", x, pad_width=pairs, pad_mode=_MODES[mode], pad_value=value)
    for axis, (before, after) in enumerate(margins):
        if (before, after) != (ZERO, ZERO):
            x = _WIDENED[mode](ctx, x, axis, before, after, fill)
    return x


def _positive(width: IntExpr) -> IntExpr:
    """A width, or 0 if it is negative."""
    return width if is_non_negative(width) else maximum(width, 0)


def _cropped(ctx: Context, x: Tensor, axis: int, first: IntExpr, last: IntExpr) -> Tensor:
    """The tensor without some of its first and last elements, for negative widths."""
    if (first, last) == (ZERO, ZERO):
        return x
    length = x.dims[axis] - first - last
    if length.is_constant and length.offset < 0:
        raise ValueError(f"expected a dim of at least {first + last} to crop, got {x.dims[axis]}")
    return part(ctx, x, axis, first, length)


Widen = Callable[[Context, Tensor, int, IntExpr, IntExpr, Tensor], Tensor]


def _filled(
    ctx: Context, x: Tensor, axis: int, before: IntExpr, after: IntExpr, fill: Tensor
) -> Tensor:
    def block(length: IntExpr) -> Tensor:
        return ctx.broadcast(fill, [length if a == axis else d for a, d in enumerate(x.dims)])

    around = [*([block(before)] if before != ZERO else []), x]
    return joined(ctx, [*around, *([block(after)] if after != ZERO else [])], axis)


def _taken(mode: str) -> Widen:
    """A mode whose elements are those at places that `take` clamps or wraps."""

    def widen(
        ctx: Context, x: Tensor, axis: int, before: IntExpr, after: IntExpr, fill: Tensor
    ) -> Tensor:
        places = numbered(ctx, before + x.dims[axis] + after, -before)
        return ctx.emit("take", x, places, axis=axis, mode=mode)

    return widen


def _reflected(
    ctx: Context, x: Tensor, axis: int, before: IntExpr, after: IntExpr, fill: Tensor
) -> Tensor:
    dim = x.dims[axis]
    places = numbered(ctx, before + dim + after, -before)
    period = ctx.elementwise("maximum", ctx.number(dim * 2 - 2, "int64"), ctx.array(1, "int64"))
    within = ctx.elementwise("floor_mod", places, period)
    folded = ctx.elementwise("minimum", within, ctx.elementwise("subtract", period, within))
    return ctx.emit("take", x, folded, axis=axis)


_WIDENED = {
    "constant": _filled,
    "edge": _taken("clip"),
    "reflect": _reflected,
    "wrap": _taken("wrap"),
}


@converts("Trilu")
@converts("Trilu", domain=MICROSOFT)
def trilu(ctx: Context, x: Tensor, k: Tensor | None = None, *, upper: int = 1) -> Tensor:
    """The upper or lower triangle of matrices."""
    diagonal = ZERO if k is None else k.size("a diagonal")
    return ctx.emit("triu" if upper else "tril", x, k=diagonal)
