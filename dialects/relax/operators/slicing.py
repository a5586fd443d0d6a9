"""Slicing and padding: strided_slice, nn.pad."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from ...bounds import is_non_negative
from ...dtypes import is_float
from ...int_expr import ZERO, IntExpr, maximum, minimum
from ..types import TensorType, shape_text
from .attributes import Bool, Exprs, Ints, Number, Text
from .base import OperatorOp, UnaryOp
from .inference import normalize_axes, require_number
from .language import TensorLanguage

FAR = (1 << 31) - 1
"""Begins and ends from here on mean the end of a dim; negative ones mean the start."""


@irdl_op_definition
class StridedSliceOp(OperatorOp):
    """``x[begin:end:stride]`` along axes, with Python's semantics; `numpy.ndarray.__getitem__`.

    Begins and ends may be symbolic expressions. `assume_inbound` asserts that they are in bounds
    and ordered, which simplifies symbolic lengths; elements out of bounds are then 0.
    """

    name = "relax.strided_slice"
    x = operand_def(TensorType)
    axes = opt_prop_def(Ints())
    begin = opt_prop_def(Exprs())
    end = opt_prop_def(Exprs())
    strides = opt_prop_def(Ints(default=None))
    assume_inbound = opt_prop_def(Bool(default=False))
    assembly_format = "$x attr-dict `:` type($x) `->` type($result)"

    @classmethod
    def encode(cls, attributes: Mapping[str, Any]) -> dict[str, Attribute]:
        """Without strides that are all 1, the default."""
        given = dict(attributes)
        axes, strides = (given.get(name) for name in ("axes", "strides"))
        if isinstance(axes, Sequence) and isinstance(strides, Sequence):
            steps, count = cast("Sequence[Any]", strides), len(cast("Sequence[Any]", axes))
            if len(steps) == count and all(isinstance(s, int) and s == 1 for s in steps):
                del given["strides"]
        return super().encode(given)

    @classmethod
    def _steps(cls, attributes: dict[str, Any]) -> tuple[int, ...]:
        counts = [len(attributes[n]) for n in ("axes", "begin", "end")]
        steps: tuple[int, ...] = attributes["strides"] or (1,) * counts[0]
        if len({*counts, len(steps)}) > 1:
            raise ValueError(
                f"expected as many axes, begins, ends and strides of '{cls.name}', "
                f"got {', '.join(map(str, (*counts, len(steps))))}"
            )
        if 0 in steps:
            raise ValueError(f"expected strides of '{cls.name}' other than 0, got {steps}")
        return steps

    @classmethod
    def _ranges(
        cls, dims: Sequence[IntExpr], attributes: dict[str, Any]
    ) -> list[tuple[IntExpr, IntExpr, int]]:
        """The start, length and step along each dim."""
        steps, found = cls._steps(attributes), [(ZERO, d, 1) for d in dims]
        axes = normalize_axes(cls.name, attributes["axes"], len(dims), "axes")
        slices = zip(axes, attributes["begin"], attributes["end"], steps, strict=True)
        for axis, begin, end, step in slices:
            clamps = not attributes["assume_inbound"]
            found[axis] = (*slice_range(begin, end, dims[axis], step, clamps), step)
        return found

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        (x,) = operands
        cls._steps(attributes)
        if x.rank is not None:
            normalize_axes(cls.name, attributes["axes"], x.rank, "axes")
        if x.dims is None:
            return x
        lengths = [length for _, length, _ in cls._ranges(x.dims, attributes)]
        return TensorType.of(lengths, x.known_element)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (x,) = tensors
        exprs = {n: tuple(te.dim_expr(e) for e in attributes[n]) for n in ("begin", "end")}
        dims = [te.dim_expr(d) for d in x.shape]
        ranges = cls._ranges(dims, {**attributes, **exprs})
        starts = te.shape_of([first for first, _, _ in ranges])
        doubtful = [
            axis
            for axis, (first, length, step) in enumerate(ranges)
            if attributes["assume_inbound"] and not _is_inside(first, length, step, dims[axis])
        ]

        def element(*i: Any) -> Any:
            where = [s + p * r[2] for s, p, r in zip(starts, i, ranges, strict=True)]
            value: Any = x(*where)
            for axis in doubtful:
                inside = (where[axis] >= 0) & (where[axis] < x.shape[axis])
                value = te.if_then_else(inside, value, te.const(0, x.dtype))
            return value

        lengths = te.shape_of([length for _, length, _ in ranges])
        return te.compute(lengths, element, name="T_strided_slice")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        (x,) = arrays
        chosen = [slice(None)] * x.ndim
        axes = normalize_axes(cls.name, attributes["axes"], x.ndim, "axes")
        bounds = zip(attributes["begin"], attributes["end"], cls._steps(attributes), strict=True)
        for axis, (begin, end, step) in zip(axes, bounds, strict=True):
            chosen[axis] = slice(begin, end, step)
        return x[tuple(chosen)]


def slice_range(
    begin: IntExpr, end: IntExpr, dim: IntExpr, step: int = 1, clamps: bool = True
) -> tuple[IntExpr, IntExpr]:
    """The start and length of a Python slice of a dim.

    Without `clamps` the slice is assumed to be in bounds, and bounds of unknown sign to count from
    the front.
    """
    first, last = (_from_front(e, dim, step, clamps) for e in (begin, end))
    if clamps:
        first, last = _clamped(first, last, dim, step)
    length = ((last - first if step > 0 else first - last) + abs(step) - 1) // abs(step)
    return first, _largest(length, ZERO)


def _from_front(place: IntExpr, dim: IntExpr, step: int, wraps: bool) -> IntExpr:
    """Normalize a begin or end; a negative one counts from the end."""
    if (value := place.constant) is not None and abs(value) >= FAR:
        low, high = (ZERO, dim) if step > 0 else (IntExpr.of(-1), dim - 1)
        return high if value > 0 else low
    if is_non_negative(place):
        return place
    if is_non_negative(-place - 1):
        return place + dim
    return place + dim * maximum(minimum(-place, 1), 0) if wraps else place


def _clamped(first: IntExpr, last: IntExpr, dim: IntExpr, step: int) -> tuple[IntExpr, IntExpr]:
    """Clamp the bounds of a slice to the dim, as far as its length depends on it."""
    if step > 0:
        return _largest(first, ZERO), _smallest(last, dim)
    return _smallest(first, dim - 1), _largest(last, IntExpr.of(-1))


def _largest(a: IntExpr, b: IntExpr) -> IntExpr:
    """The larger expression, simplified if it is provably one of them."""
    return a if is_non_negative(a - b) else b if is_non_negative(b - a) else maximum(a, b)


def _smallest(a: IntExpr, b: IntExpr) -> IntExpr:
    return a if is_non_negative(b - a) else b if is_non_negative(a - b) else minimum(a, b)


def _is_inside(first: IntExpr, length: IntExpr, step: int, dim: IntExpr) -> bool:
    """Whether a slice is provably in bounds."""
    if length.constant == 0:
        return True
    ends = (first, first + (length - 1) * step)
    return all(is_non_negative(e) and is_non_negative(dim - 1 - e) for e in ends)


@dataclass(frozen=True)
class Margins(Ints):
    """The padding before and after each dim: ``(b0, a0, b1, a1)`` or ``((b0, a0), (b1, a1))``."""

    @property
    def what(self) -> str:
        return "pairs of ints"

    def encode(self, value: Any) -> Attribute:
        flat: list[Any] = []
        for item in cast("Sequence[Any]", value if isinstance(value, list | tuple) else (value,)):
            flat += cast("Sequence[Any]", item) if isinstance(item, list | tuple) else (item,)
        return super().encode(flat)


@irdl_op_definition
class PadOp(UnaryOp):
    """Pad a tensor: by a constant, its edge, or by reflecting or repeating the tensor.

    `numpy.pad`, `torch.nn.functional.pad`. Each dim has two widths, in the order of dims. A
    reflection repeats if a width is not less than the dim, as in NumPy. If a symbolic dim is 0 at
    run time, its padding elements are 0.
    """

    name = "relax.nn.pad"
    pad_width = opt_prop_def(Margins())
    pad_mode = opt_prop_def(
        Text(default="constant", choices=("constant", "reflect", "replicate", "circular"))
    )
    pad_value = opt_prop_def(Number(default=0.0))

    @classmethod
    def _margins(cls, rank: int, attributes: dict[str, Any]) -> list[tuple[int, int]]:
        widths: tuple[int, ...] = attributes["pad_width"]
        if len(widths) != 2 * rank or min(widths, default=0) < 0:
            raise ValueError(
                f"expected {rank} pairs of widths of '{cls.name}', at least 0, got {widths}"
            )
        return list(zip(widths[::2], widths[1::2], strict=True))

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        (data,) = operands
        require_number(cls.name, "pad_value", data, attributes["pad_value"])
        if data.rank is None:
            return data
        margins = cls._margins(data.rank, attributes)
        if data.dims is None:
            return data
        pairs = list(zip(data.dims, margins, strict=True))
        if attributes["pad_mode"] != "constant" and any(d == ZERO and any(m) for d, m in pairs):
            raise ValueError(
                f"expected padded dims of '{cls.name}' to have elements to copy, "
                f"got {shape_text(data)}"
            )
        return TensorType.of([d + low + high for d, (low, high) in pairs], data.known_element)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (data,), mode = tensors, attributes["pad_mode"]
        margins = cls._margins(data.ndim, attributes)
        fill = attributes["pad_value"] if mode == "constant" else 0
        outside = te.cast(data.dtype, te.const(fill if is_float(data.dtype) else int(fill)))

        def element(*i: Any) -> Any:
            where = [p - low for p, (low, _) in zip(i, margins, strict=True)]
            tests: list[Any] = []
            for axis, (dim, margin) in enumerate(zip(data.shape, margins, strict=True)):
                low = margin[0]
                if mode == "constant":
                    tests += [te.LE(low, i[axis])] if low else []
                    tests += [i[axis] < dim + low] if margin[1] else []
                elif any(margin):
                    tests += [] if isinstance(dim, int) else [dim > 0]
                    where[axis] = _CONTINUE[mode](te, where[axis], dim, margin)
            value: Any = data(*where)
            if not tests:
                return value
            inside = tests[0]
            for test in tests[1:]:
                inside = inside & test
            return te.if_then_else(inside, value, outside)

        shape = [d + low + high for d, (low, high) in zip(data.shape, margins, strict=True)]
        return te.compute(shape, element, name="PadInput")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        (data,), mode = arrays, attributes["pad_mode"]
        margins = cls._margins(data.ndim, attributes)
        if mode == "constant" or 0 in data.shape:
            value = data.dtype.type(attributes["pad_value"] if mode == "constant" else 0)
            return np.pad(data, margins, "constant", constant_values=value)
        return np.pad(data, margins, cast(Any, _NUMPY_MODES[mode]))


_NUMPY_MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def _reflect(te: TensorLanguage, place: Any, dim: Any, margin: tuple[int, int]) -> Any:
    if isinstance(dim, int) and max(margin) < dim:
        distance = te.max(place, 0 - place)
        return te.min(distance, 2 * (dim - 1) - distance)
    period = 2 * (dim - 1)
    distance = place % te.max(period, 1)
    return te.min(distance, period - distance)


def _replicate(te: TensorLanguage, place: Any, dim: Any, margin: tuple[int, int]) -> Any:
    return te.max(te.min(place, dim - 1), 0)


def _circular(te: TensorLanguage, place: Any, dim: Any, margin: tuple[int, int]) -> Any:
    return place % dim


_CONTINUE = {"reflect": _reflect, "replicate": _replicate, "circular": _circular}
"""The source index of a padding element along a dim, by mode."""
