"""Convolutions of one to three spatial dims, and the base of transposed convolutions.

For all layouts, the sum runs over contiguous channels: ``P[n, h, w, i] * W[h, w, i, o]`` into
``Y[n, h, w, o]``, between blocks that pad, pack and unpack if layouts differ. Only depthwise
convolutions of planes stay there, see `forward_convolution`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from numpy.typing import NDArray
from xdsl.ir import Attribute
from xdsl.irdl import operand_def

from ...int_expr import IntExpr
from ..types import TensorType, shape_text
from .base import OperatorOp
from .conversion import accumulator, product_element, rounded, wide
from .inference import require_rank
from .language import TensorLanguage
from .layouts import AnyLayouts
from .windows import (
    Window,
    dims_in,
    expressions,
    in_order,
    spatial_letters,
    windows_of,
    without_same_layout,
)


class ConvolutionOp(OperatorOp, ABC):
    """An operator on ``(N, C, spatial…)`` data and a weight of ``(O, I, spatial…)``."""

    SPATIAL: ClassVar[str]
    """The letters of the spatial dims."""

    data = operand_def(TensorType)
    weight = operand_def(TensorType)
    assembly_format = (
        "$data `,` $weight attr-dict `:` type($data) `,` type($weight) `->` type($result)"
    )

    @classmethod
    def encode(cls, attributes: Mapping[str, Any]) -> dict[str, Attribute]:
        return without_same_layout(super().encode(attributes), cls, "data_layout")

    @classmethod
    def layouts(cls, attributes: dict[str, Any]) -> tuple[str, str, str]:
        """The layouts of data, weight and result."""
        data = attributes["data_layout"]
        return data, attributes["kernel_layout"], attributes["out_layout"] or data

    @classmethod
    @abstractmethod
    def data_channels(cls, weight: Sequence[IntExpr], attributes: dict[str, Any]) -> IntExpr:
        """The channels of the data that an ``OI…`` weight is for."""

    @classmethod
    def assumed(
        cls, operands: Sequence[TensorType], attributes: dict[str, Any]
    ) -> Sequence[TensorType]:
        (data, weight), rank = operands, 2 + len(cls.SPATIAL)
        if data.dims is None or weight.dims is None or {data.rank, weight.rank} != {rank}:
            return operands
        layout, kernel, _ = cls.layouts(attributes)
        sizes = in_order(weight.dims, kernel, f"OI{cls.SPATIAL}")
        dims, wanted = list(data.dims), cls.data_channels(sizes, attributes)
        place = layout.index("C")
        if (dims[place] - wanted).is_constant:  # equal, or never so
            return operands
        dims[place] = wanted
        return [TensorType.of(dims, data.known_element), weight]

    @classmethod
    @abstractmethod
    def geometry(
        cls, data: Sequence[IntExpr], weight: Sequence[IntExpr], attributes: dict[str, Any]
    ) -> tuple[list[IntExpr], IntExpr]:
        """The spatial sizes and channels of the result, for ``NC…`` data and ``OI…`` weight.

        Raises ValueError if they do not match.
        """

    @classmethod
    def element(
        cls, operands: Sequence[TensorType], attributes: dict[str, Any]
    ) -> Attribute | None:
        """The element type of the result; raises ValueError for wrong operands."""
        return product_element(cls.name, operands, attributes["out_dtype"])

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        data, weight = operands
        rank = 2 + len(cls.SPATIAL)
        require_rank(cls.name, "data", data, rank)
        require_rank(cls.name, "weight", weight, rank)
        shown = f"{shape_text(data)} as", shape_text(weight)
        operands = data, weight = cls.assumed(operands, attributes)
        element = cls.element(operands, attributes)
        data_layout, kernel_layout, out_layout = cls.layouts(attributes)
        dims = dims_in(data, data_layout, f"NC{cls.SPATIAL}")
        sizes = dims_in(weight, kernel_layout, f"OI{cls.SPATIAL}")
        if dims is None or sizes is None:
            return TensorType.of(None, element, rank)
        try:
            spatial, channels = cls.geometry(dims, sizes, attributes)
        except ChannelError:
            raise ValueError(
                f"expected channels of '{cls.name}' to be compatible, got {shown[0]} "
                f"{data_layout}, {shown[1]} as {kernel_layout} and "
                f"{attributes.get('groups', 1)} groups"
            ) from None
        return TensorType.of(
            in_order([dims[0], channels, *spatial], f"NC{cls.SPATIAL}", out_layout), element
        )

    @classmethod
    def windows(cls, sizes: Sequence[IntExpr], attributes: dict[str, Any]) -> Sequence[Window]:
        """The windows over the spatial dims, for the spatial sizes of the weight."""
        return windows_of(cls.name, sizes, attributes)

    @classmethod
    @abstractmethod
    def numpy_groups(
        cls,
        data: NDArray[Any],
        weight: NDArray[Any],
        windows: Sequence[Window],
        counts: Sequence[int],
        groups: int,
    ) -> NDArray[Any]:
        """The NumPy result of ``NC…`` data and ``OI…`` weight: ``(N, groups, O / groups, …)``."""

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        layout, kernel, out = cls.layouts(attributes)
        data, weight = (wide(a, attributes.get("out_dtype")) for a in arrays)
        data = data.transpose(in_order(range(data.ndim), layout, f"NC{cls.SPATIAL}"))
        weight = weight.transpose(in_order(range(data.ndim), kernel, f"OI{cls.SPATIAL}"))
        shape, sizes = ([IntExpr.of(d) for d in a.shape] for a in (data, weight))
        found, _ = cls.geometry(shape, sizes, attributes)
        counts, groups = [c.constant or 0 for c in found], attributes.get("groups", 1)
        windows = cls.windows(sizes[2:], attributes)
        result = cls.numpy_groups(data, weight, windows, counts, groups)
        batch, _, each, *_ = result.shape
        result = result.reshape(batch, groups * each, *counts)
        return result.transpose(in_order(range(data.ndim), f"NC{cls.SPATIAL}", out))


class DirectConvolutionOp(ConvolutionOp, ABC):
    """A convolution that sums over the window and the channels."""

    @classmethod
    @abstractmethod
    def channels_last(
        cls,
        te: TensorLanguage,
        tensors: Sequence[Any],
        attributes: dict[str, Any],
        windows: Sequence[Window],
        counts: Sequence[IntExpr],
    ) -> tuple[Any, Any, Sequence[Window]]:
        """Padded ``N…C`` data, ``…IO`` weight, and windows over the padded data."""

    @classmethod
    def operand_dtype(cls, dtype: str, attributes: dict[str, Any]) -> str:
        """The dtype of what is multiplied, for operands of this dtype."""
        return accumulator(dtype, attributes["out_dtype"])

    @classmethod
    def multiply(cls, te: TensorLanguage, left: Any, right: Any, dtype: str) -> Any:
        """The product of two elements, in the dtype of sums."""
        return left.astype(dtype) * right.astype(dtype)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        data, weight = tensors
        layout, kernel, _ = cls.layouts(attributes)
        dims = expressions(te, data, layout, f"NC{cls.SPATIAL}")
        sizes = expressions(te, weight, kernel, f"OI{cls.SPATIAL}")
        counts, _ = cls.geometry(dims, sizes, attributes)
        windows = cls.windows(sizes[2:], attributes)
        return cls.sums(te, tensors, attributes, windows, counts)

    @classmethod
    def sums(
        cls,
        te: TensorLanguage,
        tensors: Sequence[Any],
        attributes: dict[str, Any],
        windows: Sequence[Window],
        counts: Sequence[IntExpr],
    ) -> Any:
        """The result, of `counts` windows over each spatial dim."""
        operands = cls.channels_last(te, tensors, attributes, windows, counts)
        dtype, (*_, out) = tensors[0].dtype, cls.layouts(attributes)
        multiply = partial(cls.multiply, te, dtype=accumulator(dtype, attributes["out_dtype"]))
        product = convolve(te, *operands, counts, attributes["groups"], multiply)
        return in_layout(te, product, out, attributes["out_dtype"] or dtype)


def in_layout(te: TensorLanguage, product: Any, layout: str, dtype: str) -> Any:
    """A channels-last product in the layout and dtype of the result."""
    last = f"N{spatial_letters(layout)}C"
    if layout == last:
        return rounded(te, product, dtype)
    shape = in_order(product.shape, last, layout)
    return te.compute(
        shape, lambda *i: product(*in_order(i, layout, last)).astype(dtype), name="conv"
    )


class ChannelError(ValueError):
    """Raised if the channels of data and weight do not match."""


def convolve(
    te: TensorLanguage,
    data: Any,
    weight: Any,
    windows: Sequence[Window],
    counts: Sequence[IntExpr],
    groups: int,
    multiply: Callable[[Any, Any], Any],
) -> Any:
    """The convolution of padded ``N…C`` data and ``…IO`` weight, channels last."""
    batch, own, channels = data.shape[0], *weight.shape[-2:]
    (each,) = te.tensor.shape_of([te.dim_expr(channels) // IntExpr.of(groups)])
    sizes = [te.reduce_axis((0, s), f"r{d}") for d, s in enumerate(weight.shape[:-2])]
    inner = te.reduce_axis((0, own), name="ri")

    def product(n: Any, at: Sequence[Any], channel: Any, o: Any) -> Any:
        reads = [a * w.stride + r * w.dilation for a, w, r in zip(at, windows, sizes, strict=True)]
        left, right = data(n, *reads, channel), weight(*sizes, inner, o)
        return te.sum(multiply(left, right), axis=[*sizes, inner])

    shape = (batch, *te.tensor.shape_of(counts))
    if groups == 1 or each == 1:

        def element(n: Any, *i: Any) -> Any:
            *at, o = i
            own_channel = o if own == 1 else o * own + inner
            return product(n, at, inner if groups == 1 else own_channel, o)

        return te.compute((*shape, channels), element, name="conv_sum")

    def grouped(n: Any, *i: Any) -> Any:
        *at, group, o = i
        return product(n, at, group * own + inner, group * each + o)

    def joined(*i: Any) -> Any:
        return found(*i[:-1], i[-1] // each, i[-1] % each)

    # A group is a matmul: its results read the same data, with the group's weights.
    found = te.compute((*shape, groups, each), grouped, name="conv_sum")
    return te.compute((*shape, channels), joined, name="conv_groups")


class ConvolutionLayouts(AnyLayouts):
    """The layouts of the operands and the result of a convolution."""

    LAYOUTS: ClassVar[tuple[str, ...]] = ("data_layout", "kernel_layout")
