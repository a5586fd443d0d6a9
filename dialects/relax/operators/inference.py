"""Shared rules of type inference: dtypes, broadcasting, axes, tuples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, TupleType
from xdsl.ir import Attribute, TypeAttribute

from ...dtypes import holds, is_float
from ...int_expr import ONE, IntExpr
from ..types import TensorType, python_shape, shape_text


def common_element_type(op_name: str, operands: Sequence[TensorType]) -> Attribute | None:
    """The common element type of all operands.

    `None` if one is unknown; raises ValueError if they differ.
    """
    known = [o for o in operands if o.dtype is not None]
    for operand in known[1:]:
        if operand.dtype != known[0].dtype:
            raise ValueError(
                f"expected operands of '{op_name}' to have one dtype, "
                f"got {known[0].dtype} and {operand.dtype}"
            )
    return known[0].element_type if len(known) == len(operands) else None


def require_dtype(
    op_name: str, operands: Sequence[TensorType], accepts: Callable[[str], bool], what: str
) -> None:
    """Raise ValueError unless every operand of known dtype is one of `what`."""
    for operand in operands:
        if operand.dtype is not None and not accepts(operand.dtype):
            raise ValueError(f"expected operands of '{op_name}' to be {what}, got {operand.dtype}")


def require_floats(op_name: str, operands: Sequence[TensorType]) -> None:
    """Raise ValueError unless every operand of known dtype has floats."""
    require_dtype(op_name, operands, is_float, "floats")


def require_number(op_name: str, name: str, data: TensorType, value: float) -> None:
    """Raise ValueError for a number that is no element of data of a known integer dtype."""
    dtype = data.dtype
    if dtype is None or is_float(dtype):
        return
    if not holds(dtype, value) or value != int(value):
        raise ValueError(f"expected {name} of '{op_name}' to be one of {dtype}, got {value}")


def require_rank(op_name: str, subject: str, type_: TensorType, *ranks: int) -> None:
    """Raise ValueError unless the rank of a tensor is unknown or one of these."""
    if type_.rank is not None and type_.rank not in ranks:
        expected = " or ".join(str(r) for r in ranks)
        raise ValueError(
            f"expected {subject} of '{op_name}' to have rank {expected}, got {shape_text(type_)}"
        )


def broadcast_types(op_name: str, *operands: TensorType) -> TensorType:
    """The NumPy broadcast of tensor types; raises ValueError if it is provably impossible.

    If dims may or may not match, such as n and n + 1, only the rank is known, as in TVM.
    """
    element = common_element_type(op_name, operands)
    result = operands[0]
    for operand in operands[1:]:
        result = _broadcast_pair(op_name, result, operand)
    return TensorType(result.shape, TensorType.of(None, element).element_type)


def _broadcast_pair(op_name: str, lhs: TensorType, rhs: TensorType) -> TensorType:
    ranks = (lhs.rank, rhs.rank)
    unknown = TensorType.of(
        None, None, None if None in ranks else max(r for r in ranks if r is not None)
    )
    if lhs.dims is None or rhs.dims is None:
        return unknown
    try:
        return TensorType.of(broadcast_dims(lhs.dims, rhs.dims), None)
    except ValueError:
        if _may_broadcast(lhs.dims, rhs.dims):
            return unknown
        raise ValueError(
            f"expected shapes of '{op_name}' to broadcast, "
            f"got {shape_text(lhs)} and {shape_text(rhs)}"
        ) from None


def _may_broadcast(lhs: Sequence[IntExpr], rhs: Sequence[IntExpr]) -> bool:
    """Whether no two corresponding dims are different constants other than 1."""
    pairs = zip(reversed(lhs), reversed(rhs), strict=False)
    return not any(
        a.is_constant and b.is_constant and a != b and ONE not in (a, b) for a, b in pairs
    )


def broadcast_dims(lhs: Sequence[IntExpr], rhs: Sequence[IntExpr]) -> list[IntExpr]:
    """The broadcast shape.

    Two symbolic dims are assumed to be equal only if they are the same expression.
    """
    rank = max(len(lhs), len(rhs))
    padded = ([ONE] * (rank - len(side)) + list(side) for side in (lhs, rhs))
    dims: list[IntExpr] = []
    for a, b in zip(*padded, strict=True):
        if a == b or b == ONE:
            dims.append(a)
        elif a == ONE:
            dims.append(b)
        else:
            raise ValueError(f"{python_shape(lhs)} and {python_shape(rhs)} do not broadcast")
    return dims


def normalize_axis(op_name: str, axis: int, rank: int, name: str = "axis") -> int:
    """Normalize an axis to be non-negative; raises ValueError if it is out of range for `rank`."""
    if not -rank <= axis < rank:
        raise ValueError(f"expected {name} of '{op_name}' in [{-rank}, {rank}), got {axis}")
    return axis + rank if axis < 0 else axis


def normalize_axes(
    op_name: str, axes: Sequence[int] | None, rank: int, name: str = "axis"
) -> tuple[int, ...]:
    """Normalize distinct axes to be non-negative, in the given order; by default all.

    Raises ValueError for an axis that is out of range for `rank`, and for a repeated one.
    """
    if axes is None:
        return tuple(range(rank))
    found = tuple(normalize_axis(op_name, a, rank, name) for a in axes)
    if len(set(found)) != len(found):
        raise ValueError(f"expected distinct {name} of '{op_name}', got {tuple(axes)}")
    return found


def divides(divisor: IntExpr, dim: IntExpr) -> bool:
    """Whether a dim is provably a multiple of the divisor."""
    return divisor == dim or (dim % divisor).constant == 0


def tuple_type(fields: Sequence[Attribute]) -> TupleType:
    """The type of several results."""
    return TupleType(ArrayAttr([cast(TypeAttribute, f) for f in fields]))
