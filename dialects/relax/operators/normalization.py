"""Normalizations by mean and variance, or by the mean square, with an affine map.

The variance is the mean of the squared distances from the mean, in a second pass over the data.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from ...int_expr import IntExpr
from ..types import TensorType, shape_text
from .attributes import Bool, Int, Ints, Number
from .base import OperatorOp
from .conversion import accumulator, wide
from .inference import (
    common_element_type,
    divides,
    normalize_axes,
    normalize_axis,
    require_floats,
)
from .language import TensorLanguage
from .moments import Statistics, statistics
from .reduction import reduced
from .steps import SteppedOp


def require_shape(
    op_name: str, label: str, type_: TensorType, dims: Sequence[IntExpr] | None
) -> None:
    """Raise ValueError unless a tensor of known shape has these dims."""
    if dims is not None and type_.dims is not None and type_.dims != tuple(dims):
        expected = shape_text(TensorType.of(dims, None))
        raise ValueError(
            f"expected {label} of '{op_name}' to have shape {expected}, got {shape_text(type_)}"
        )


def along(array: NDArray[Any], axes: Sequence[int], rank: int) -> NDArray[Any]:
    """Reshape an array with the dims `axes` to broadcast against one with all dims."""
    ordered = array.transpose(np.argsort(axes))
    shape = iter(ordered.shape)
    return ordered.reshape([next(shape) if d in axes else 1 for d in range(rank)])


class AffineNormOp(OperatorOp, ABC):
    """A normalization of `data` that is scaled by `gamma` and shifted by `beta`."""

    data = operand_def(TensorType)
    gamma = operand_def(TensorType)
    beta = operand_def(TensorType)
    axes = opt_prop_def(Ints())
    epsilon = opt_prop_def(Number(default=1e-5))
    center = opt_prop_def(Bool(default=True))
    scale = opt_prop_def(Bool(default=True))
    assembly_format = (
        "$data `,` $gamma `,` $beta attr-dict "
        "`:` type($data) `,` type($gamma) `,` type($beta) `->` type($result)"
    )

    @classmethod
    @abstractmethod
    def affine_axes(cls, rank: int, attributes: dict[str, Any]) -> tuple[int, ...]:
        """The axes of the data that gamma and beta have; raises ValueError for wrong attributes."""

    @classmethod
    def check(cls, data: TensorType, attributes: dict[str, Any]) -> None:
        """Raise ValueError if the data does not match the attributes."""

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        data, *affine = operands
        require_floats(cls.name, operands)
        common_element_type(cls.name, operands)
        if data.rank is not None:
            axes = cls.affine_axes(data.rank, attributes)
            cls.check(data, attributes)
            dims = None if data.dims is None else [data.dims[a] for a in axes]
            for label, type_ in zip(("gamma", "beta"), affine, strict=True):
                require_shape(cls.name, label, type_, dims)
        return data

    @classmethod
    def axes_of(cls, rank: int, attributes: dict[str, Any]) -> tuple[int, ...]:
        """The normalized axes; raises ValueError for wrong ones."""
        return normalize_axes(cls.name, attributes["axes"], rank, "axes")

    @classmethod
    def statistics_of(cls, te: TensorLanguage, data: Any, attributes: dict[str, Any]) -> Statistics:
        """Distances from means, and variances, by default over the axes."""
        return statistics(te, data, cls.axes_of(data.ndim, attributes))

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        data, gamma, beta = tensors
        dtype = accumulator(data.dtype)
        axes = cls.affine_axes(data.ndim, attributes)
        found = cls.statistics_of(te, data, attributes)

        def element(*i: Any) -> Any:
            own = [i[a] for a in axes]
            variance = found.variance(*i) + te.const(attributes["epsilon"], dtype)
            value = found.distance(*i) * te.call_intrinsic("rsqrt", variance)
            value = value * gamma(*own).astype(dtype) if attributes["scale"] else value
            value = value + beta(*own).astype(dtype) if attributes["center"] else value
            return value.astype(data.dtype)

        return te.compute(data.shape, element, name=f"T_{cls.name.rpartition('.')[2]}")

    @classmethod
    def normalized(cls, data: NDArray[Any], attributes: dict[str, Any]) -> NDArray[Any]:
        """`statistics_of` in NumPy: the data with mean 0 and variance 1."""
        return normalized(data, cls.axes_of(data.ndim, attributes), attributes["epsilon"])

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        data, *affine = (wide(a) for a in arrays)
        axes = cls.affine_axes(data.ndim, attributes)
        gamma, beta = (along(a, axes, data.ndim) for a in affine)
        result = cls.normalized(data, attributes)
        result = result * gamma if attributes["scale"] else result
        return result + beta if attributes["center"] else result


def normalized(data: NDArray[Any], axes: tuple[int, ...], epsilon: float) -> NDArray[Any]:
    """The data minus its mean over the axes, divided by its standard deviation."""
    if not data.size:
        return data
    centred = data - data.mean(axis=axes, keepdims=True)
    return centred / np.sqrt(np.square(centred).mean(axis=axes, keepdims=True) + epsilon)


@irdl_op_definition
class LayerNormOp(AffineNormOp):
    """Normalize over `axes`, which gamma and beta have; `torch.nn.functional.layer_norm`."""

    name = "relax.nn.layer_norm"

    @classmethod
    def affine_axes(cls, rank: int, attributes: dict[str, Any]) -> tuple[int, ...]:
        return cls.axes_of(rank, attributes)


@irdl_op_definition
class GroupNormOp(AffineNormOp):
    """Normalize over groups of channels and `axes`; `torch.nn.functional.group_norm`."""

    name = "relax.nn.group_norm"
    num_groups = opt_prop_def(Int())
    channel_axis = opt_prop_def(Int())

    @classmethod
    def affine_axes(cls, rank: int, attributes: dict[str, Any]) -> tuple[int, ...]:
        channel = normalize_axis(cls.name, attributes["channel_axis"], rank, "channel_axis")
        axes = cls.axes_of(rank, attributes)
        if channel in axes:
            raise ValueError(
                f"expected axes of '{cls.name}' without channel_axis {channel}, "
                f"got {attributes['axes']}"
            )
        return (channel,)

    @classmethod
    def check(cls, data: TensorType, attributes: dict[str, Any]) -> None:
        groups = attributes["num_groups"]
        (channel,) = cls.affine_axes(data.rank or 0, attributes)
        known = None if data.dims is None else data.dims[channel]
        if groups < 1 or (known is not None and not divides(IntExpr.of(groups), known)):
            raise ValueError(
                f"expected num_groups of '{cls.name}' to divide the channels, "
                f"got {groups} and {shape_text(data)}"
            )

    @classmethod
    def statistics_of(cls, te: TensorLanguage, data: Any, attributes: dict[str, Any]) -> Statistics:
        (channel,) = cls.affine_axes(data.ndim, attributes)
        axes = cls.axes_of(data.ndim, attributes)
        return statistics(te, data, axes, (channel, attributes["num_groups"]))

    @classmethod
    def normalized(cls, data: NDArray[Any], attributes: dict[str, Any]) -> NDArray[Any]:
        (channel,) = cls.affine_axes(data.ndim, attributes)
        groups, shape = attributes["num_groups"], list(data.shape)
        shape[channel : channel + 1] = [groups, shape[channel] // groups]
        axes = cls.axes_of(data.ndim, attributes)
        split = (channel + 1, *(a + 1 if a > channel else a for a in axes))
        found = normalized(data.reshape(shape), split, attributes["epsilon"])
        return found.reshape(data.shape)


@irdl_op_definition
class InstanceNormOp(AffineNormOp):
    """Normalize each channel over `axes`; `torch.nn.functional.instance_norm`."""

    name = "relax.nn.instance_norm"
    channel_axis = opt_prop_def(Int())

    @classmethod
    def affine_axes(cls, rank: int, attributes: dict[str, Any]) -> tuple[int, ...]:
        cls.axes_of(rank, attributes)
        return (normalize_axis(cls.name, attributes["channel_axis"], rank, "channel_axis"),)


def _size(te: TensorLanguage, dims: Sequence[Any], dtype: str) -> Any:
    """The product of dims as a float."""
    if all(isinstance(d, int) for d in dims):
        return te.const(prod(dims), dtype)
    first, *others = (te.cast(dtype, d) for d in dims)
    return prod(others, start=first)


@irdl_op_definition
class RMSNormOp(SteppedOp):
    """Divide by the root of the mean square over `axes`, and multiply by `weight`.

    `torch.nn.functional.rms_norm`.
    """

    name = "relax.nn.rms_norm"
    data = operand_def(TensorType)
    weight = operand_def(TensorType)
    axes = opt_prop_def(Ints(default=(-1,)))
    epsilon = opt_prop_def(Number(default=1e-5))
    assembly_format = (
        "$data `,` $weight attr-dict `:` type($data) `,` type($weight) `->` type($result)"
    )

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        data, weight = operands
        require_floats(cls.name, operands)
        common_element_type(cls.name, operands)
        if data.rank is not None:
            axes = normalize_axes(cls.name, attributes["axes"], data.rank, "axes")
            dims = None if data.dims is None else [data.dims[a] for a in axes]
            require_shape(cls.name, "weight", weight, dims)
        return data

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        dtype = accumulator(tensors[0].dtype)
        x, weight = (te.elementwise(lambda v: v.astype(dtype), t, name="T_cast") for t in tensors)
        axes = normalize_axes(cls.name, attributes["axes"], x.ndim, "axes")
        squares = x * x

        def total(read: Callable[..., Any], ks: list[Any], i: tuple[Any, ...]) -> Any:
            return te.sum(read(squares), axis=ks)

        def root(value: Any) -> Any:
            mean = value / _size(te, [x.shape[a] for a in axes], dtype)
            return te.call_intrinsic("rsqrt", mean + te.const(attributes["epsilon"], dtype))

        sums = reduced(te, squares, axes, False, total, f"{squares.name}_red")
        roots = te.elementwise(root, sums, name="rsqrt")

        def element(*i: Any) -> Any:
            row = (index for axis, index in enumerate(i) if axis not in axes)
            return roots(*row) * x(*i) * weight(*(i[a] for a in axes))

        normalized = te.compute(x.shape, element, name="T_rms_norm")
        return te.elementwise(lambda v: v.astype(tensors[0].dtype), normalized, name="T_cast")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        data, weight = (wide(a) for a in arrays)
        if not data.size:
            return data
        axes = normalize_axes(cls.name, attributes["axes"], data.ndim, "axes")
        mean = np.square(data).mean(axis=axes, keepdims=True)
        return data / np.sqrt(mean + attributes["epsilon"]) * along(weight, axes, data.ndim)
