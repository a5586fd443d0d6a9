"""Repetition of elements: broadcast_to, repeat, tile; and sums of what broadcasting repeats."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from ...int_expr import ONE, IntExpr
from ..types import TensorType, python_shape, shape_text
from .attributes import Exprs, Int, Ints
from .base import OperatorOp, UnaryOp
from .conversion import accumulator, rounded, wide
from .inference import broadcast_dims, normalize_axis, require_dtype
from .language import TensorLanguage
from .manipulation import MovingOp, is_zero
from .plain_reshaping import plain_element
from .reshaping import element_at, product
from .steps import PlainFormOp


@irdl_op_definition
class BroadcastToOp(OperatorOp):
    """Repeat dims of 1 and missing leading ones; `numpy.broadcast_to`, `torch.broadcast_to`.

    A symbolic dim must equal that of the shape.
    """

    name = "relax.broadcast_to"
    x = operand_def(TensorType)
    shape = opt_prop_def(Exprs())
    assembly_format = "$x attr-dict `:` type($x) `->` type($result)"

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        (x,) = operands
        shape: tuple[IntExpr, ...] = attributes["shape"]
        if any((d.constant or 0) < 0 for d in shape):
            raise ValueError(
                f"expected dims of '{cls.name}' to be at least 0, got {python_shape(shape)}"
            )
        own = x.dims or ()
        fits = (x.rank or 0) <= len(shape) and all(
            d in (ONE, wanted) for d, wanted in zip(own[::-1], shape[::-1], strict=False)
        )
        if not fits:
            raise ValueError(
                f"expected a tensor that '{cls.name}' can broadcast to {python_shape(shape)}, "
                f"got {shape_text(x)}"
            )
        return TensorType.of(shape, x.known_element)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (x,) = tensors

        def element(*i: Any) -> Any:
            return x(*te.broadcast_index(x.shape, i, attributes["shape"]))

        return te.compute(attributes["shape"], element, name="T_broadcast_to")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        return np.broadcast_to(arrays[0], attributes["shape"])


@irdl_op_definition
class RepeatOp(PlainFormOp, UnaryOp):
    """Repeat each element in a row, along an axis or of the flattened tensor.

    `numpy.repeat`, `torch.repeat_interleave`.
    """

    name = "relax.repeat"
    repeats = opt_prop_def(Int())
    axis = opt_prop_def(Int(default=None))

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        (data,), repeats, axis = operands, attributes["repeats"], attributes["axis"]
        if repeats < 0:
            raise ValueError(f"expected repeats of '{cls.name}' to be at least 0, got {repeats}")
        if data.rank is not None and axis is not None:
            axis = normalize_axis(cls.name, axis, data.rank)
        if data.dims is None:
            return TensorType.of(None, data.known_element, 1 if axis is None else data.rank)
        if axis is None:
            return TensorType.of([product(data.dims) * repeats], data.known_element)
        dims = [d * repeats if a == axis else d for a, d in enumerate(data.dims)]
        return TensorType.of(dims, data.known_element)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (data,), repeats, axis = tensors, attributes["repeats"], attributes["axis"]
        source = [te.dim_expr(d) for d in data.shape]
        dims = [product(source)] if axis is None else source
        axis = 0 if axis is None else normalize_axis(cls.name, axis, len(dims))

        def element(*i: Any) -> Any:
            own = [p // max(repeats, 1) if a == axis else p for a, p in enumerate(i)]
            return element_at(te, data, dims, own)

        shape = te.shape_of([d * repeats if a == axis else d for a, d in enumerate(dims)])
        return te.compute(shape, element, name="T_repeat")

    @classmethod
    def compute_plain(
        cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]
    ) -> Any:
        (data,) = tensors
        if attributes["axis"] is None:
            dims = [product([te.dim_expr(d) for d in data.shape])]

            def element(i: Any) -> Any:
                return plain_element(te, data, dims, [i])

            data = te.compute(te.shape_of(dims), element, name="T_reshape")
        axis = 0 if attributes["axis"] is None else attributes["axis"]
        return cls.compute(te, [data], attributes | {"axis": axis})

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        return np.repeat(arrays[0], attributes["repeats"], attributes["axis"])


@irdl_op_definition
class TileOp(PlainFormOp, MovingOp):
    """Repeat the whole tensor along each dim; `numpy.tile`, `torch.tile`.

    The shorter of dims and repeats is padded with leading ones.
    """

    name = "relax.tile"
    repeats = opt_prop_def(Ints())

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        if min(attributes["repeats"], default=0) < 0:
            raise ValueError(
                f"expected repeats of '{cls.name}' to be at least 0, got {attributes['repeats']}"
            )
        return super().infer(operands, attributes)

    @classmethod
    def rank_of(cls, rank: int | None, attributes: dict[str, Any]) -> int | None:
        return None if rank is None else max(rank, len(attributes["repeats"]))

    @classmethod
    def moved_dims(cls, dims: Sequence[Any], attributes: dict[str, Any]) -> list[Any]:
        repeats: tuple[int, ...] = attributes["repeats"]
        rank = max(len(dims), len(repeats))
        pairs = zip(
            [*[1] * (rank - len(dims)), *dims],
            [*[1] * (rank - len(repeats)), *repeats],
            strict=True,
        )
        return [dim * count for dim, count in pairs]

    @classmethod
    def source_index(cls, dims: Sequence[Any], i: Sequence[Any], attributes: dict[str, Any]) -> Any:
        repeats = [1] * len(dims) + list(attributes["repeats"])
        counts = repeats[len(repeats) - len(dims) :]
        own = zip(i[len(i) - len(dims) :], _within(dims, i), counts, strict=True)
        return [whole if count == 1 else part for whole, part, count in own]

    @classmethod
    def compute_plain(
        cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]
    ) -> Any:
        (x,) = tensors

        def element(*i: Any) -> Any:
            return x(*_within(x.shape, i))

        return te.compute(cls.moved_dims(x.shape, attributes), element, name="T_tile")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        return np.tile(arrays[0], attributes["repeats"])


def _within(dims: Sequence[Any], i: Sequence[Any]) -> list[Any]:
    """The indices of what repeats in each of the last dims."""
    own = i[len(i) - len(dims) :]
    return [p if is_zero(dim) else p % dim for p, dim in zip(own, dims, strict=True)]


class CollapseSumOp(OperatorOp, ABC):
    """The sum over the axes that broadcasting repeats: the gradient of `broadcast_to`."""

    @classmethod
    @abstractmethod
    def target(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        """The type of the result, whose shape broadcasts to that of the data."""

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        data, target = operands[0], cls.target(operands, attributes)
        require_dtype(cls.name, [data], lambda d: d != "bool", "numbers")
        if data.dims is not None and target.dims is not None:
            try:
                fits = broadcast_dims(target.dims, data.dims) == list(data.dims)
            except ValueError:
                fits = False
            if not fits:
                raise ValueError(
                    f"expected a shape of '{cls.name}' that broadcasts to {shape_text(data)}, "
                    f"got {shape_text(target)}"
                )
        return TensorType(target.shape, data.element_type)

    @classmethod
    @abstractmethod
    def shape_of(cls, tensors: Sequence[Any], attributes: dict[str, Any]) -> Sequence[Any]:
        """The dims of the result of these tensors, which are expressions or arrays."""

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        data, shape = tensors[0], cls.shape_of(tensors, attributes)
        added = data.ndim - len(shape)
        kept = [d == e for d, e in zip(data.shape[added:], shape, strict=True)]
        axes = [
            None if n >= added and kept[n - added] else te.reduce_axis((0, d), f"k{n}")
            for n, d in enumerate(data.shape)
        ]
        summed = [a for a in axes if a is not None]

        def element(*i: Any) -> Any:
            places = [i[n - added] if axis is None else axis for n, axis in enumerate(axes)]
            value = data(*places).astype(accumulator(data.dtype))
            return te.sum(value, axis=summed) if summed else value

        return rounded(te, te.compute(shape, element, name="T_collapse_sum"), data.dtype)

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        data, shape = wide(arrays[0]), tuple(cls.shape_of(arrays, attributes))
        added = data.ndim - len(shape)
        pairs = enumerate(zip(data.shape[added:], shape, strict=True), added)
        axes = (*range(added), *(n for n, (d, e) in pairs if d != e))
        return data.sum(axis=axes, keepdims=True, dtype=data.dtype).reshape(shape)


@irdl_op_definition
class CollapseSumToOp(CollapseSumOp):
    """Sum the repeated axes of `data` to a shape that broadcasts to it; `torch.Tensor.sum_to_size`.

    A symbolic dim must equal that of the shape.
    """

    name = "relax.collapse_sum_to"
    data = operand_def(TensorType)
    shape = opt_prop_def(Exprs())
    assembly_format = "$data attr-dict `:` type($data) `->` type($result)"

    @classmethod
    def target(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        return TensorType.of(attributes["shape"], None)

    @classmethod
    def shape_of(cls, tensors: Sequence[Any], attributes: dict[str, Any]) -> Sequence[Any]:
        return attributes["shape"]


@irdl_op_definition
class CollapseSumLikeOp(CollapseSumOp):
    """`collapse_sum_to` the shape of another tensor."""

    name = "relax.collapse_sum_like"
    data = operand_def(TensorType)
    collapse_target = operand_def(TensorType)
    assembly_format = (
        "$data `,` $collapse_target attr-dict `:` type($data) `,` type($collapse_target) "
        "`->` type($result)"
    )

    @classmethod
    def target(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        return operands[1]

    @classmethod
    def shape_of(cls, tensors: Sequence[Any], attributes: dict[str, Any]) -> Sequence[Any]:
        return tensors[1].shape
