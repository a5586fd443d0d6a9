"""Reshapes, which keep the row-major order: reshape, flatten, batch_flatten."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from ...int_expr import ONE, ZERO, IntExpr
from ..types import TensorType, python_shape
from .attributes import Exprs
from .base import OperatorOp
from .language import TensorLanguage
from .plain_reshaping import plain_element
from .steps import PlainFormOp


class ReshapingOp(PlainFormOp, ABC):
    """An operator whose result has the operand's elements in the same row-major order.

    If the operand has no other use, the result may reuse its memory.
    """

    x = operand_def(TensorType)
    assembly_format = "$x attr-dict `:` type($x) `->` type($result)"

    @classmethod
    @abstractmethod
    def new_dims(cls, dims: Sequence[IntExpr], attributes: dict[str, Any]) -> Sequence[IntExpr]:
        """The dims of the result; raises ValueError if the operand does not match."""

    @classmethod
    @abstractmethod
    def unknown_type(cls, operand: TensorType, attributes: dict[str, Any]) -> TensorType:
        """The type of the result for an operand of unknown dims."""

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        (x,) = operands
        if x.dims is None:
            return cls.unknown_type(x, attributes)
        return TensorType.of(cls.new_dims(x.dims, attributes), x.known_element)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        return cls._reshaped(te, tensors, attributes, element_at)

    @classmethod
    def compute_plain(
        cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]
    ) -> Any:
        return cls._reshaped(te, tensors, attributes, plain_element)

    @classmethod
    def _reshaped(
        cls,
        te: TensorLanguage,
        tensors: Sequence[Any],
        attributes: dict[str, Any],
        read: Callable[..., Any],
    ) -> Any:
        (x,) = tensors
        source = [te.dim_expr(d) for d in x.shape]
        target = cls.new_dims(source, _in_exprs(te, attributes))

        def element(*i: Any) -> Any:
            return read(te, x, target, i)

        return te.compute(te.shape_of(target), element, name=f"T_{cls.name.split('.')[-1]}")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        dims = [IntExpr.of(d) for d in arrays[0].shape]
        exprs = {n: _exprs(v) if n == "shape" else v for n, v in attributes.items()}
        shape = [d.constant for d in cls.new_dims(dims, exprs)]
        return np.reshape(arrays[0], [d for d in shape if d is not None])


def _exprs(dims: Sequence[int]) -> tuple[IntExpr, ...]:
    return tuple(IntExpr.of(d) for d in dims)


def _in_exprs(te: TensorLanguage, attributes: dict[str, Any]) -> dict[str, Any]:
    """Attributes with a shape over te's dims converted to one over integer expressions."""
    return {
        n: tuple(te.dim_expr(d) for d in v) if n == "shape" else v for n, v in attributes.items()
    }


def product(dims: Sequence[IntExpr]) -> IntExpr:
    """The number of elements of a tensor with these dims."""
    total = ONE
    for dim in dims:
        total = total * dim
    return total


def element_at(te: TensorLanguage, x: Any, dims: Sequence[IntExpr], i: Sequence[Any]) -> Any:
    """The element of a tensor at `i`, if its elements are reshaped to these dims.

    Equal dims keep their index; divisions occur only where dims have no common factorization.
    """
    source = [te.dim_expr(d) for d in x.shape]
    if ZERO in source:
        return te.const(0, x.dtype)
    indices: list[Any] = [0] * len(source)
    for own, other in _groups(source, dims):
        flat: Any = 0
        for axis in other:
            flat = flat * te.shape_of(dims)[axis] + i[axis]
        for axis in own[:0:-1]:
            indices[axis] = flat % x.shape[axis]
            flat = flat // x.shape[axis]
        indices[own[0]] = flat
    return x(*indices)


def only_splits(source: Sequence[IntExpr], target: Sequence[IntExpr]) -> bool:
    """Whether a reshape splits dims and merges none, so that indices have no divisions."""
    return all(len(own) <= 1 for own, _ in _groups(source, target))


def _groups(
    source: Sequence[IntExpr], target: Sequence[IntExpr]
) -> list[tuple[list[int], list[int]]]:
    """Groups of axes of both sides with the same elements, as small as factors show."""
    own = [a for a, d in enumerate(source) if d != ONE]
    other = [a for a, d in enumerate(target) if d != ONE]
    last: list[tuple[list[int], list[int]]] = []
    while own and other and source[own[-1]] == target[other[-1]]:
        last.insert(0, ([own.pop()], [other.pop()]))
    first: list[tuple[list[int], list[int]]] = []
    while own and other:
        lengths = _smallest_group([source[a] for a in own], [target[a] for a in other])
        first.append((own[: lengths[0]], other[: lengths[1]]))
        own, other = own[lengths[0] :], other[lengths[1] :]
    return [*first, *last]


def _smallest_group(source: Sequence[IntExpr], target: Sequence[IntExpr]) -> tuple[int, int]:
    """The numbers of leading dims with equal products; all dims if it cannot be shown."""
    i, j = 1, 1
    left, right = source[0], target[0]
    while left != right:
        if i < len(source) and _divides(left, right):
            left, i = left * source[i], i + 1
        elif j < len(target) and _divides(right, left):
            right, j = right * target[j], j + 1
        else:
            return len(source), len(target)
    return i, j


def _divides(divisor: IntExpr, dividend: IntExpr) -> bool:
    if divisor.constant == 0:
        return False
    if divisor.is_constant and dividend.is_constant:
        return (divisor.constant or 0) <= (dividend.constant or 0)
    return (dividend // divisor) * divisor == dividend


class GivenShapeOp(ReshapingOp, ABC):
    """An operator with the result's shape as an attribute; one dim may be -1, to be inferred.

    The attribute keeps the inferred dim.
    """

    shape = opt_prop_def(Exprs())

    @classmethod
    def of(
        cls, operands: Sequence[SSAValue], attributes: Mapping[str, Any] | None = None
    ) -> OperatorOp:
        op = super().of(operands, attributes)
        type_ = op.result.type
        if isinstance(type_, TensorType) and type_.dims is not None:
            op.properties["shape"] = type_.shape
        return op

    @classmethod
    def new_dims(cls, dims: Sequence[IntExpr], attributes: dict[str, Any]) -> Sequence[IntExpr]:
        return given_dims(cls.name, dims, attributes["shape"])

    @classmethod
    def unknown_type(cls, operand: TensorType, attributes: dict[str, Any]) -> TensorType:
        wanted: tuple[IntExpr, ...] = attributes["shape"]
        _require_one_free(cls.name, wanted)
        known = None if any(d.constant == -1 for d in wanted) else wanted
        return TensorType.of(known, operand.known_element, len(wanted))


def given_dims(
    op_name: str, dims: Sequence[IntExpr], wanted: Sequence[IntExpr]
) -> Sequence[IntExpr]:
    """The dims of a reshape, with one of -1 inferred; raises ValueError for other elements."""
    _require_one_free(op_name, wanted)
    known, total = [d for d in wanted if d.constant != -1], product(dims)
    found, misfit = list(wanted), product(known) != total
    if len(known) < len(wanted):
        rest = None if product(known).constant == 0 else total // product(known)
        misfit = rest is None or rest * product(known) != total
        found = [rest if d.constant == -1 and rest is not None else d for d in wanted]
    if misfit:
        decided = total.is_constant and product(known).is_constant
        raise ValueError(
            f"expected shape of '{op_name}' to have the elements of {python_shape(dims)}, "
            f"got {python_shape(wanted)}" + ("" if decided else ": use R.match_cast on the operand")
        )
    return found


def _require_one_free(op_name: str, wanted: Sequence[IntExpr]) -> None:
    negative = [d for d in wanted if (d.constant or 0) < 0]
    if len(negative) > 1 or any(d.constant != -1 for d in negative):
        raise ValueError(
            f"expected dims of '{op_name}' to be at least 0 and at most one of them -1, "
            f"got {python_shape(wanted)}"
        )


@irdl_op_definition
class ReshapeOp(GivenShapeOp):
    """Reshape; one dim may be -1, which is inferred; `numpy.reshape`, `torch.reshape`.

    Raises ValueError if the numbers of elements are not provably equal: `match_cast` the operand to
    suitable dims first.
    """

    name = "relax.reshape"


@irdl_op_definition
class FlattenOp(ReshapingOp):
    """Flatten all dims into one; `numpy.ravel`, `torch.flatten`."""

    name = "relax.flatten"

    @classmethod
    def new_dims(cls, dims: Sequence[IntExpr], attributes: dict[str, Any]) -> Sequence[IntExpr]:
        return [product(dims)]

    @classmethod
    def unknown_type(cls, operand: TensorType, attributes: dict[str, Any]) -> TensorType:
        return TensorType.of(None, operand.known_element, 1)


@irdl_op_definition
class BatchFlattenOp(ReshapingOp):
    """Flatten all dims but the first; `torch.flatten` from dim 1."""

    name = "relax.nn.batch_flatten"

    @classmethod
    def new_dims(cls, dims: Sequence[IntExpr], attributes: dict[str, Any]) -> Sequence[IntExpr]:
        if not dims:
            raise ValueError(f"expected x of '{cls.name}' to have a batch, got shape ()")
        return [dims[0], product(dims[1:])]

    @classmethod
    def unknown_type(cls, operand: TensorType, attributes: dict[str, Any]) -> TensorType:
        return TensorType.of(None, operand.known_element, 2)
