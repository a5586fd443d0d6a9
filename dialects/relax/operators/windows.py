"""Sliding windows of convolutions and pools over spatial dims: sizes, padding, layouts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Attribute

from ...bounds import is_less
from ...int_expr import ONE, IntExpr, minimum
from ..types import TensorType
from .base import OperatorOp
from .language import TensorLanguage

MOST_TAPS = 16
"""The most elements of a window along one dim, which kernels unroll."""

WIDEST_STEP = 4
"""The largest stride along a row whose windows are vectorized: of a larger one, most elements of
the loaded vectors are unused."""


@dataclass(frozen=True)
class Window:
    """A sliding window over one spatial dim."""

    size: IntExpr
    stride: int
    before: int
    after: int
    dilation: int

    @property
    def reach(self) -> IntExpr:
        """The extent of a window, with its dilation."""
        return (self.size - 1) * self.dilation + 1

    @property
    def has_elements(self) -> bool:
        """Whether no window is in the padding alone."""
        return max(self.before, self.after) < (self.reach.constant or 1)

    def count(self, op_name: str, length: IntExpr, ceil_mode: bool = False) -> IntExpr:
        """The number of windows; with `ceil_mode` the last may reach past the end.

        A window starts in the data or in the padding before it, even if it is larger than both.
        Raises ValueError if there is none.
        """
        padded = length + (self.before + self.after)
        slack = self.stride - 1 if ceil_mode else 0
        if is_less(padded + slack, self.reach):
            raise ValueError(
                f"expected spatial dims of '{op_name}' with padding to hold a window of "
                f"{self.reach}, got {padded}"
            )
        last = padded - self.reach
        if ceil_mode:
            last = length + self.before + minimum(self.after - self.reach + self.stride - 1, -1)
        return last // IntExpr.of(self.stride) + 1

    def needed(self, count: IntExpr) -> IntExpr:
        """The length, with the padding before the data, that `count` windows cover."""
        return (count - 1) * self.stride + self.reach

    def hangs_over(self, count: IntExpr, length: IntExpr) -> bool:
        """Whether the last of `count` windows may reach past the end of the data."""
        return not is_less(self.needed(count), length + (self.before + 1))


def spatial_ints(
    op_name: str, name: str, values: Sequence[int], rank: int, least: int
) -> tuple[int, ...]:
    """One number for each spatial dim; one number is repeated. Raises ValueError for others."""
    if len(values) not in (1, rank) or min(values) < least:
        lengths = "1 int" if rank == 1 else f"1 or {rank} ints"
        raise ValueError(
            f"expected {name} of '{op_name}' to be {lengths} of at least {least}, "
            f"got {tuple(values)}"
        )
    return tuple(values) * (rank // len(values))


def paddings(
    op_name: str, values: Sequence[int], rank: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The padding before and after each spatial dim: symmetric, or ``(top, left, bottom, right)``.

    Raises ValueError for a wrong number of them, or negative ones.
    """
    if len(values) == 2 * rank and min(values) >= 0:
        return tuple(values[:rank]), tuple(values[rank:])
    if len(values) not in (1, rank) or min(values) < 0:
        lengths = "1 or 2" if rank == 1 else f"1, {rank} or {2 * rank}"
        raise ValueError(
            f"expected padding of '{op_name}' to be {lengths} ints of at least 0, "
            f"got {tuple(values)}"
        )
    each = tuple(values) * (rank // len(values))
    return each, each


def windows_of(
    op_name: str, sizes: Sequence[IntExpr], attributes: dict[str, Any]
) -> tuple[Window, ...]:
    """The windows with `sizes` and an operator's strides, padding and dilation."""
    rank = len(sizes)
    strides = spatial_ints(op_name, "strides", attributes["strides"], rank, 1)
    before, after = paddings(op_name, attributes["padding"], rank)
    dilation = spatial_ints(op_name, "dilation", attributes["dilation"], rank, 1)
    return tuple(map(Window, sizes, strides, before, after, dilation))


def in_order(values: Sequence[Any], layout: str, wanted: str) -> list[Any]:
    """Permute values for the letters of `layout`, such as dims or indices, to `wanted`."""
    return [values[layout.index(letter)] for letter in wanted]


def dims_in(type_: TensorType, layout: str, wanted: str) -> list[IntExpr] | None:
    """The dims of a tensor of that layout in another order; `None` if they are unknown."""
    return None if type_.dims is None else in_order(type_.dims, layout, wanted)


def expressions(te: TensorLanguage, tensor: Any, layout: str, wanted: str) -> list[IntExpr]:
    """The dims of a tensor expression of that layout in another order."""
    return in_order([te.dim_expr(d) for d in tensor.shape], layout, wanted)


def arranged(
    te: TensorLanguage, tensor: Any, layout: str, wanted: str, dtype: str, name: str
) -> Any:
    """Permute the dims of a tensor, and convert it to `dtype`; unchanged, it is not copied."""
    if layout == wanted:
        return tensor
    shape = in_order(tensor.shape, layout, wanted)
    return te.compute(
        shape, lambda *i: tensor(*in_order(i, wanted, layout)).astype(dtype), name=name
    )


def padded(
    te: TensorLanguage,
    data: Any,
    layout: str,
    wanted: str,
    windows: Sequence[Window],
    counts: Sequence[IntExpr],
    dtype: str,
) -> tuple[Any, list[Window]]:
    """The data in the layout `wanted`, with its spatial dims padded with zeros for the windows.

    Unchanged data is not copied. A copy has dtype `dtype`, and omits elements that windows of one
    element skip by their strides. Also returns windows over the result. The spatial letters are
    those other than N and C.
    """
    dims = dict(zip(wanted, expressions(te, data, layout, wanted), strict=True))
    spatial = list(zip(spatial_letters(wanted), windows, counts, strict=True))
    hanging = {letter: w.hangs_over(count, dims[letter]) for letter, w, count in spatial}
    guards = {x: (w.before, hanging[x]) for x, w, _ in spatial if w.before or hanging[x]}
    if not guards and layout == wanted:
        return data, list(windows)
    steps = {x: w.stride for x, w, _ in spatial if w.size == ONE and w.stride > 1}
    lengths = {
        x: c if x in steps else w.needed(c) for x, w, c in spatial if x in steps or x in guards
    }

    def element(*i: Any) -> Any:
        at, inside = dict(zip(wanted, i, strict=True)), list[Any]()
        at |= {letter: at[letter] * step for letter, step in steps.items()}
        for letter, (before, hangs_over) in guards.items():
            inside += [at[letter] >= before] if before else []
            (end,) = te.tensor.shape_of([dims[letter] + before])
            inside += [at[letter] < end] if hangs_over else []
            at[letter] = at[letter] - before
        found = data(*(at[letter] for letter in layout)).astype(dtype)
        return te.if_then_else(all_of(inside), found, te.const(0, dtype)) if inside else found

    shape = te.tensor.shape_of([lengths.get(letter, dim) for letter, dim in dims.items()])
    copy = te.compute(shape, element, name="pad_temp" if guards else "T_layout")
    return copy, [Window(w.size, 1, 0, 0, 1) if x in steps else w for x, w, _ in spatial]


def all_of(conditions: Sequence[Any]) -> Any:
    """The conjunction of conditions."""
    result = conditions[0]
    for condition in conditions[1:]:
        result = result & condition
    return result


def spatial_letters(layout: str) -> str:
    """The letters of a layout that are neither the batch nor channels."""
    return "".join(letter for letter in layout if letter not in "NCOI")


def window_slices(
    data: NDArray[Any], windows: Sequence[Window], counts: Sequence[int], value: Any
) -> Any:
    """For each offset in a window, the elements of ``(N, C, spatial…)`` data at this offset.

    A generator of pairs ``(offset, NumPy array of shape (N, C, *counts))``.
    """
    widths = [(0, 0), (0, 0)]
    for length, w, count in zip(data.shape[2:], windows, counts, strict=True):
        needed = w.needed(IntExpr.of(count)).constant or 0
        widths.append((w.before, max(0, needed - length - w.before)))
    full = np.pad(data, widths, constant_values=value)
    sizes = [cast(int, w.size.constant) for w in windows]
    for offset in np.ndindex(*sizes):
        slices = [
            slice(o * w.dilation, o * w.dilation + (count - 1) * w.stride + 1, w.stride)
            for o, w, count in zip(offset, windows, counts, strict=True)
        ]
        yield offset, full[(slice(None), slice(None), *slices)]


def without_same_layout(
    properties: dict[str, Attribute], op: type[OperatorOp], layout: str
) -> dict[str, Attribute]:
    """Properties without an ``out_layout`` that is the layout of the data, as by default."""
    values = op.decode(properties)
    if values["out_layout"] == values[layout]:
        properties.pop("out_layout", None)
    return properties
