"""Comparisons, logical and bitwise operators of two tensors, with NumPy broadcasting."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition

from ...dtypes import common_dtype, is_float, is_unsigned
from ..types import TensorType
from .elementwise import (
    INTEGERS,
    INTEGERS_AND_BOOLS,
    BinaryElementwiseOp,
    Dtypes,
    short_name,
)
from .language import TensorLanguage


def compared_dtype(a: str, b: str) -> str | None:
    """The dtype in which tensors of two dtypes are compared.

    Integers and floats at least in float32, signed and unsigned integers in int64. `None` for
    uint64 and a signed integer, since no dtype has all their values.
    """
    if a == b:
        return a
    if is_float(a) or is_float(b):
        return "float64" if "float64" in (a, b) else "float32"
    kinds = {is_unsigned(d) for d in (a, b) if d != "bool"}
    if len(kinds) == 1:
        return common_dtype(a, b)
    return None if "uint64" in (a, b) else "int64"


class ComparisonOp(BinaryElementwiseOp, ABC):
    """A comparison of two tensors: bools; NaN is unequal to everything.

    Tensors of different dtypes are compared in the one that both are converted to.
    """

    RESULT: ClassVar[str | None] = "bool"

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        return super().infer([TensorType.of(o.dims, None, o.rank) for o in operands], attributes)

    @classmethod
    def compare(cls, te: TensorLanguage, lhs: Any, rhs: Any) -> Any:
        """Compare two elements of one dtype."""
        return super().combine(te, lhs, rhs)

    @classmethod
    def combine(cls, te: TensorLanguage, lhs: Any, rhs: Any) -> Any:
        if lhs.dtype == rhs.dtype:
            return cls.compare(te, lhs, rhs)
        dtype = compared_dtype(lhs.dtype, rhs.dtype)
        if dtype is not None:
            return cls.compare(te, lhs.astype(dtype), rhs.astype(dtype))
        # A negative number is less than all of uint64, the others are in it.
        is_left = is_unsigned(rhs.dtype)
        signed = lhs if is_left else rhs
        below = cls.numpy_function(*map(np.asarray, (0, 1) if is_left else (1, 0)))
        result = cls.compare(te, lhs.astype("uint64"), rhs.astype("uint64"))
        return te.select(signed < 0, te.const(bool(below), "bool"), result)

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        dtype = compared_dtype(*(str(a.dtype) for a in arrays))
        compared = arrays if dtype is None else [a.astype(dtype) for a in arrays]
        return super().reference(compared, attributes)


@irdl_op_definition
class EqualOp(ComparisonOp):
    """``lhs == rhs``; `numpy.equal`, `torch.eq`."""

    name = "relax.equal"
    FUNCTION: ClassVar[str] = "EQ"


@irdl_op_definition
class NotEqualOp(ComparisonOp):
    """``lhs != rhs``; `numpy.not_equal`, `torch.ne`."""

    name = "relax.not_equal"
    FUNCTION: ClassVar[str] = "NE"


@irdl_op_definition
class LessOp(ComparisonOp):
    """``lhs < rhs``; `numpy.less`, `torch.lt`."""

    name = "relax.less"
    FUNCTION: ClassVar[str] = "LT"


@irdl_op_definition
class LessEqualOp(ComparisonOp):
    """``lhs <= rhs``; `numpy.less_equal`, `torch.le`."""

    name = "relax.less_equal"
    FUNCTION: ClassVar[str] = "LE"


@irdl_op_definition
class GreaterOp(ComparisonOp):
    """``lhs > rhs``; `numpy.greater`, `torch.gt`. The kernel has ``rhs < lhs``, as in TVM."""

    name = "relax.greater"

    @classmethod
    def compare(cls, te: TensorLanguage, lhs: Any, rhs: Any) -> Any:
        return te.LT(rhs, lhs)


@irdl_op_definition
class GreaterEqualOp(ComparisonOp):
    """``lhs >= rhs``; `numpy.greater_equal`, `torch.ge`. The kernel has ``rhs <= lhs``."""

    name = "relax.greater_equal"

    @classmethod
    def compare(cls, te: TensorLanguage, lhs: Any, rhs: Any) -> Any:
        return te.LE(rhs, lhs)


class LogicalOp(BinaryElementwiseOp, ABC):
    """A logical operator on truth values; nonzero numbers are true."""

    RESULT: ClassVar[str | None] = "bool"


@irdl_op_definition
class LogicalAndOp(LogicalOp):
    """True if both are true; `numpy.logical_and`, `torch.logical_and`."""

    name = "relax.logical_and"
    FUNCTION: ClassVar[str] = "all"


@irdl_op_definition
class LogicalOrOp(LogicalOp):
    """True if at least one is true; `numpy.logical_or`, `torch.logical_or`."""

    name = "relax.logical_or"
    FUNCTION: ClassVar[str] = "any"


@irdl_op_definition
class LogicalXorOp(LogicalOp):
    """True if exactly one is true; `numpy.logical_xor`, `torch.logical_xor`."""

    name = "relax.logical_xor"

    @classmethod
    def combine(cls, te: TensorLanguage, lhs: Any, rhs: Any) -> Any:
        return te.NE(te.all(lhs), te.all(rhs))


class BitwiseOp(BinaryElementwiseOp, ABC):
    """A bitwise operator on integers or bools."""

    DTYPES: ClassVar[Dtypes] = INTEGERS_AND_BOOLS


@irdl_op_definition
class BitwiseAndOp(BitwiseOp):
    """``lhs & rhs``; `numpy.bitwise_and`, `torch.bitwise_and`."""

    name = "relax.bitwise_and"


@irdl_op_definition
class BitwiseOrOp(BitwiseOp):
    """``lhs | rhs``; `numpy.bitwise_or`, `torch.bitwise_or`."""

    name = "relax.bitwise_or"


@irdl_op_definition
class BitwiseXorOp(BitwiseOp):
    """``lhs ^ rhs``; `numpy.bitwise_xor`, `torch.bitwise_xor`."""

    name = "relax.bitwise_xor"


class ShiftOp(BinaryElementwiseOp, ABC):
    """A shift of integers; a negative count, or one of at least the width, shifts every bit out."""

    DTYPES: ClassVar[Dtypes] = INTEGERS

    @classmethod
    def numpy_function(cls, lhs: NDArray[Any], rhs: NDArray[Any]) -> NDArray[Any]:
        width = lhs.dtype.itemsize * 8
        count = np.where((rhs < 0) | (rhs >= width), width - 1, rhs).astype(lhs.dtype)
        shifted = getattr(np, short_name(cls.name))(lhs, count)
        return np.where(count == rhs, shifted, cls.shifted_out(lhs)).astype(lhs.dtype)

    @classmethod
    def shifted_out(cls, lhs: NDArray[Any]) -> NDArray[Any]:
        """The result for numbers whose bits are all shifted out."""
        return np.zeros_like(lhs)


@irdl_op_definition
class LeftShiftOp(ShiftOp):
    """``lhs << rhs``; `numpy.left_shift`, `torch.bitwise_left_shift`."""

    name = "relax.left_shift"

    @classmethod
    def combine(cls, te: TensorLanguage, lhs: Any, rhs: Any) -> Any:
        return lhs << rhs


@irdl_op_definition
class RightShiftOp(ShiftOp):
    """``lhs >> rhs``, filled with the sign; `numpy.right_shift`, `torch.bitwise_right_shift`."""

    name = "relax.right_shift"

    @classmethod
    def shifted_out(cls, lhs: NDArray[Any]) -> NDArray[Any]:
        return np.where(lhs < 0, -1, 0)

    @classmethod
    def combine(cls, te: TensorLanguage, lhs: Any, rhs: Any) -> Any:
        return lhs >> rhs
