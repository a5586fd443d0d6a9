"""Elementwise operators of one tensor: base classes, signs, rounding, classification."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition, operand_def

from ...dtypes import element_type, is_float
from ..types import TensorType
from .base import OperatorOp
from .conversion import wide
from .elementwise import (
    ANY,
    INTEGERS_AND_BOOLS,
    NUMBERS,
    Dtypes,
    in_working_dtype,
    short_name,
)
from .inference import require_dtype
from .language import TensorLanguage


class ElementFunctionOp(OperatorOp, ABC):
    """An elementwise function of one tensor; floats are computed at least in float32."""

    DTYPES: ClassVar[Dtypes] = ANY
    RESULT: ClassVar[str | None] = None
    """The dtype of results; `None` for that of the operand."""
    NUMPY: ClassVar[str] = ""
    """The NumPy function, if its name differs."""

    @classmethod
    def function(cls, te: TensorLanguage, x: Any, attributes: dict[str, Any]) -> Any:
        """The result element; by default the scalar function of the operator's name."""
        return getattr(te, short_name(cls.name))(x)

    @classmethod
    def numpy_function(cls, x: NDArray[Any], attributes: dict[str, Any]) -> NDArray[Any]:
        """The operator in NumPy; by default the function of that name."""
        return getattr(np, cls.NUMPY or short_name(cls.name))(x)

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        require_dtype(cls.name, operands, *cls.DTYPES)
        (x,) = operands
        return x if cls.RESULT is None else TensorType(x.shape, element_type(cls.RESULT))

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        def function(x: Any) -> Any:
            return cls.function(te, x, attributes)

        def element(x: Any) -> Any:
            return function(x) if cls.RESULT is not None else in_working_dtype(function, x)

        return te.elementwise(element, tensors[0], name=f"T_{short_name(cls.name)}")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        return cls.numpy_function(wide(arrays[0]), attributes)


class UnaryElementwiseOp(ElementFunctionOp, ABC):
    """A function of each element of `x`."""

    x = operand_def(TensorType)
    assembly_format = "$x attr-dict `:` type($x) `->` type($result)"


class NumberFunctionOp(UnaryElementwiseOp, ABC):
    """A function of floats and integers."""

    DTYPES: ClassVar[Dtypes] = NUMBERS


@irdl_op_definition
class NegativeOp(NumberFunctionOp):
    """``-x``; integers wrap; `numpy.negative`, `torch.neg`."""

    name = "relax.negative"

    @classmethod
    def function(cls, te: TensorLanguage, x: Any, attributes: dict[str, Any]) -> Any:
        return -x


@irdl_op_definition
class AbsOp(NumberFunctionOp):
    """The absolute value, which wraps for the smallest integer; `numpy.abs`, `torch.abs`."""

    name = "relax.abs"


@irdl_op_definition
class SquareOp(NumberFunctionOp):
    """``x * x``; integers wrap; `numpy.square`, `torch.square`."""

    name = "relax.square"

    @classmethod
    def function(cls, te: TensorLanguage, x: Any, attributes: dict[str, Any]) -> Any:
        return x * x


@irdl_op_definition
class SignOp(NumberFunctionOp):
    """-1, 0 or 1, and 0 for NaN; `torch.sign`."""

    name = "relax.sign"

    @classmethod
    def numpy_function(cls, x: NDArray[Any], attributes: dict[str, Any]) -> NDArray[Any]:
        return np.where(x > 0, 1, np.where(x < 0, -1, 0)).astype(x.dtype)

    @classmethod
    def function(cls, te: TensorLanguage, x: Any, attributes: dict[str, Any]) -> Any:
        return te.GT(x, 0).astype(x.dtype) - te.LT(x, 0).astype(x.dtype)


class RoundingOp(NumberFunctionOp, ABC):
    """Rounding to an integral value; integers are returned unchanged."""

    @classmethod
    def function(cls, te: TensorLanguage, x: Any, attributes: dict[str, Any]) -> Any:
        return super().function(te, x, attributes) if is_float(x.dtype) else x


@irdl_op_definition
class FloorOp(RoundingOp):
    """The largest integral value not above `x`; `numpy.floor`, `torch.floor`."""

    name = "relax.floor"


@irdl_op_definition
class CeilOp(RoundingOp):
    """The smallest integral value not below `x`; `numpy.ceil`, `torch.ceil`."""

    name = "relax.ceil"


@irdl_op_definition
class RoundOp(RoundingOp):
    """Round to the nearest integral value, ties to even; `numpy.round`, `torch.round`."""

    name = "relax.round"


@irdl_op_definition
class TruncOp(RoundingOp):
    """Round towards 0; `numpy.trunc`, `torch.trunc`."""

    name = "relax.trunc"


class PredicateOp(NumberFunctionOp, ABC):
    """A predicate on numbers; results are bools."""

    RESULT: ClassVar[str | None] = "bool"


@irdl_op_definition
class IsNanOp(PredicateOp):
    """True for NaN; `numpy.isnan`, `torch.isnan`."""

    name = "relax.isnan"


@irdl_op_definition
class IsInfOp(PredicateOp):
    """True for infinities; `numpy.isinf`, `torch.isinf`."""

    name = "relax.isinf"


@irdl_op_definition
class IsFiniteOp(PredicateOp):
    """True except for NaN and infinities; `numpy.isfinite`, `torch.isfinite`."""

    name = "relax.isfinite"


@irdl_op_definition
class LogicalNotOp(UnaryElementwiseOp):
    """True for false and 0; `numpy.logical_not`, `torch.logical_not`."""

    name = "relax.logical_not"
    RESULT: ClassVar[str | None] = "bool"

    @classmethod
    def function(cls, te: TensorLanguage, x: Any, attributes: dict[str, Any]) -> Any:
        return te.Not(x)


@irdl_op_definition
class BitwiseNotOp(UnaryElementwiseOp):
    """The bitwise complement of an integer or bool; `numpy.bitwise_not`, `torch.bitwise_not`."""

    name = "relax.bitwise_not"
    DTYPES: ClassVar[Dtypes] = INTEGERS_AND_BOOLS
