"""Permutations of elements: permute_dims, flip, roll, reverse_sequence, pixel_shuffle."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from ...int_expr import IntExpr
from ..types import TensorType, shape_text
from .attributes import Int, Ints
from .base import OperatorOp, UnaryOp
from .inference import normalize_axes, normalize_axis, require_dtype, require_rank
from .language import TensorLanguage


class MovingOp(UnaryOp, ABC):
    """An operator whose elements are elements of the operand, at computed indices."""

    @classmethod
    def check(cls, rank: int, attributes: dict[str, Any]) -> None:
        """Raise ValueError for attributes that do not match an operand of this rank."""

    @classmethod
    def moved_dims(cls, dims: Sequence[Any], attributes: dict[str, Any]) -> list[Any]:
        """The dims of the result, by default those of the operand.

        Dims are integer expressions, or those of tensor expressions. Raises ValueError if the
        operand does not match.
        """
        return list(dims)

    @classmethod
    @abstractmethod
    def source_index(cls, dims: Sequence[Any], i: Sequence[Any], attributes: dict[str, Any]) -> Any:
        """The indices into an operand of these dims of the element at `i` of the result."""

    @classmethod
    def rank_of(cls, rank: int | None, attributes: dict[str, Any]) -> int | None:
        """The rank of the result for an operand of this rank."""
        return rank

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        (x,) = operands
        if x.rank is not None:
            cls.check(x.rank, attributes)
        if x.dims is None:
            return TensorType.of(None, x.known_element, cls.rank_of(x.rank, attributes))
        return TensorType.of(cls.moved_dims(x.dims, attributes), x.known_element)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (x,) = tensors

        def element(*i: Any) -> Any:
            return x(*cls.source_index(x.shape, i, attributes))

        dims = cls.moved_dims(x.shape, attributes)
        return te.compute(dims, element, name=f"T_{cls.name.split('.')[-1]}")


@irdl_op_definition
class PermuteDimsOp(UnaryOp):
    """Permute the dims; by default, reverse them; `numpy.transpose`, `torch.permute`."""

    name = "relax.permute_dims"
    axes = opt_prop_def(Ints(default=None))

    @classmethod
    def order(cls, rank: int, attributes: dict[str, Any]) -> list[int]:
        """The source dim of each result dim, all non-negative.

        Raises ValueError for a wrong permutation.
        """
        axes = cast("Sequence[int] | None", attributes.get("axes"))
        if axes is None:
            return list(range(rank))[::-1]
        order = [a + rank if a < 0 else a for a in axes]
        if sorted(order) != list(range(rank)):
            raise ValueError(
                f"expected axes of '{cls.name}' to permute {rank} dims, got {tuple(axes)}"
            )
        return order

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        (data,) = operands
        if data.rank is None:
            return data
        order = cls.order(data.rank, attributes)
        if data.dims is None:
            return data
        return TensorType.of([data.dims[i] for i in order], data.known_element)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (data,) = tensors
        order = cls.order(len(data.shape), attributes)

        def element(*i: Any) -> Any:
            return data(*(i[order.index(dim)] for dim in range(len(order))))

        return te.compute([data.shape[i] for i in order], element, name="T_transpose")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        return np.transpose(arrays[0], cls.order(arrays[0].ndim, attributes))


def is_zero(dim: Any) -> bool:
    """Whether a dim is known to be 0."""
    return isinstance(dim, int) and dim == 0


@irdl_op_definition
class FlipOp(MovingOp):
    """Reverse the order of elements along these axes; `numpy.flip`, `torch.flip`."""

    name = "relax.flip"
    axis = opt_prop_def(Ints())

    @classmethod
    def check(cls, rank: int, attributes: dict[str, Any]) -> None:
        normalize_axes(cls.name, attributes["axis"], rank)

    @classmethod
    def source_index(cls, dims: Sequence[Any], i: Sequence[Any], attributes: dict[str, Any]) -> Any:
        axes = normalize_axes(cls.name, attributes["axis"], len(dims))
        return [dims[a] - 1 - p if a in axes else p for a, p in enumerate(i)]

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        return np.flip(arrays[0], attributes["axis"])


@irdl_op_definition
class RollOp(MovingOp):
    """Rotate the elements along an axis; `numpy.roll`, `torch.roll`."""

    name = "relax.roll"
    shift = opt_prop_def(Int())
    axis = opt_prop_def(Int())

    @classmethod
    def check(cls, rank: int, attributes: dict[str, Any]) -> None:
        normalize_axis(cls.name, attributes["axis"], rank)

    @classmethod
    def source_index(cls, dims: Sequence[Any], i: Sequence[Any], attributes: dict[str, Any]) -> Any:
        axis, shift = normalize_axis(cls.name, attributes["axis"], len(dims)), attributes["shift"]
        return [
            p if a != axis or is_zero(dims[a]) else (p - shift) % dims[a] for a, p in enumerate(i)
        ]

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        return np.roll(arrays[0], attributes["shift"], attributes["axis"])


@irdl_op_definition
class ReverseSequenceOp(OperatorOp):
    """Reverse the first ``seq_lengths[b]`` elements along `seq_axis`; ONNX ``ReverseSequence``.

    ``b`` is the index of `batch_axis`. A length is at most that of the axis.
    """

    name = "relax.reverse_sequence"
    data = operand_def(TensorType)
    seq_lengths = operand_def(TensorType)
    seq_axis = opt_prop_def(Int(default=1))
    batch_axis = opt_prop_def(Int(default=0))
    assembly_format = (
        "$data `,` $seq_lengths attr-dict `:` type($data) `,` type($seq_lengths) `->` type($result)"
    )

    @classmethod
    def _axes(cls, rank: int, attributes: dict[str, Any]) -> tuple[int, int]:
        """The axis of the sequence and that of the batch."""
        pair = (attributes["seq_axis"], attributes["batch_axis"])
        sequence, batch = normalize_axes(cls.name, pair, rank, "seq_axis and batch_axis")
        return sequence, batch

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        data, lengths = operands
        require_dtype(cls.name, [lengths], lambda d: d in ("int32", "int64"), "int32 or int64")
        require_rank(cls.name, "seq_lengths", lengths, 1)
        if data.rank is not None:
            _, batch = cls._axes(data.rank, attributes)
            if None not in (data.dims, lengths.dims) and lengths.dims[0] != data.dims[batch]:  # pyright: ignore[reportOptionalSubscript]
                raise ValueError(
                    f"expected a length of '{cls.name}' for each index of axis {batch}, "
                    f"got {shape_text(lengths)} for {shape_text(data)}"
                )
        return data

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        data, lengths = tensors
        sequence, batch = cls._axes(data.ndim, attributes)

        def element(*i: Any) -> Any:
            length = te.min(te.cast("int64", lengths(i[batch])), data.shape[sequence])
            at = te.cast("int64", i[sequence])
            source = te.select(at < length, length - 1 - at, at)
            return data(*i[:sequence], source, *i[sequence + 1 :])

        return te.compute(data.shape, element, name="T_reverse_sequence")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        data, lengths = arrays
        sequence, batch = cls._axes(data.ndim, attributes)
        size = data.shape[sequence]
        at: NDArray[Any] = np.arange(int(size)).reshape(1, -1)
        length = np.minimum(lengths.astype(np.int64), size)[:, None]
        source: NDArray[Any] = np.where(at < length, length - 1 - at, at)
        moved = np.moveaxis(data, (batch, sequence), (0, 1))
        index = source.reshape((*source.shape, *(1,) * (data.ndim - 2)))
        found = np.take_along_axis(moved, np.broadcast_to(index, moved.shape), 1)
        return np.moveaxis(found, (0, 1), (batch, sequence))


@irdl_op_definition
class PixelShuffleOp(UnaryOp):
    """Move channels (…, c * r², h, w) to pixels (…, c, h * r, w * r); `torch.pixel_shuffle`."""

    name = "relax.nn.pixel_shuffle"
    upscale_factor = opt_prop_def(Int())

    @classmethod
    def _factor(cls, attributes: dict[str, Any]) -> int:
        factor = attributes["upscale_factor"]
        if factor < 1:
            raise ValueError(f"expected upscale_factor of '{cls.name}' of at least 1, got {factor}")
        return factor

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        (x,), r = operands, cls._factor(attributes)
        if x.rank is not None and x.rank < 3:
            raise ValueError(
                f"expected data of '{cls.name}' to have channels and pixels, got {shape_text(x)}"
            )
        if x.dims is None:
            return x
        *outer, channels, height, width = x.dims
        if (channels % (r * r)).constant != 0:
            raise ValueError(
                f"expected channels of '{cls.name}' to be a multiple of {r * r}, got {channels}"
            )
        dims = [*outer, channels // IntExpr.of(r * r), height * r, width * r]
        return TensorType.of(dims, x.known_element)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (x,), r = tensors, cls._factor(attributes)
        *outer, channels, height, width = x.shape

        def element(*i: Any) -> Any:
            *rest, c, h, w = i
            return x(*rest, c * (r * r) + h % r * r + w % r, h // r, w // r)

        shape = [*outer, channels // (r * r), height * r, width * r]
        return te.compute(shape, element, name="T_pixel_shuffle")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        (x,), r = arrays, cls._factor(attributes)
        *outer, channels, height, width = x.shape
        split = x.reshape(*outer, channels // (r * r), r, r, height, width)
        n = len(outer)
        order = [*range(n + 1), n + 3, n + 1, n + 4, n + 2]
        return split.transpose(order).reshape(*outer, channels // (r * r), height * r, width * r)
