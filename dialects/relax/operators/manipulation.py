"""Permutations of elements: permute_dims, flip, roll."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition, opt_prop_def

from ..types import TensorType
from .attributes import Int, Ints
from .base import UnaryOp
from .inference import normalize_axes, normalize_axis
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
