"""Elementwise math functions: exponentials, logarithms, roots, trigonometry, erf."""

from __future__ import annotations

import math
from abc import ABC
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition

from .elementwise import FLOATS, Dtypes
from .unary import UnaryElementwiseOp


class FloatFunctionOp(UnaryElementwiseOp, ABC):
    """A function of floats."""

    DTYPES: ClassVar[Dtypes] = FLOATS


@irdl_op_definition
class ExpOp(FloatFunctionOp):
    """The exponential; `numpy.exp`, `torch.exp`."""

    name = "relax.exp"


@irdl_op_definition
class ExpM1Op(FloatFunctionOp):
    """``exp(x) - 1`` without cancellation; `numpy.expm1`, `torch.expm1`."""

    name = "relax.expm1"


@irdl_op_definition
class LogOp(FloatFunctionOp):
    """The natural logarithm; `numpy.log`, `torch.log`."""

    name = "relax.log"


@irdl_op_definition
class Log2Op(FloatFunctionOp):
    """The logarithm to base 2; `numpy.log2`, `torch.log2`."""

    name = "relax.log2"


@irdl_op_definition
class Log1pOp(FloatFunctionOp):
    """``log(1 + x)`` without cancellation; `numpy.log1p`, `torch.log1p`."""

    name = "relax.log1p"


@irdl_op_definition
class SqrtOp(FloatFunctionOp):
    """The square root; `numpy.sqrt`, `torch.sqrt`."""

    name = "relax.sqrt"


@irdl_op_definition
class RsqrtOp(FloatFunctionOp):
    """``1 / sqrt(x)``; `torch.rsqrt`."""

    name = "relax.rsqrt"

    @classmethod
    def numpy_function(cls, x: NDArray[Any], attributes: dict[str, Any]) -> NDArray[Any]:
        return 1 / np.sqrt(x)


@irdl_op_definition
class SigmoidOp(FloatFunctionOp):
    """``1 / (1 + exp(-x))``; `torch.sigmoid`."""

    name = "relax.sigmoid"

    @classmethod
    def numpy_function(cls, x: NDArray[Any], attributes: dict[str, Any]) -> NDArray[Any]:
        return 1 / (1 + np.exp(-x))


@irdl_op_definition
class SinOp(FloatFunctionOp):
    """The sine; `numpy.sin`, `torch.sin`."""

    name = "relax.sin"


@irdl_op_definition
class CosOp(FloatFunctionOp):
    """The cosine; `numpy.cos`, `torch.cos`."""

    name = "relax.cos"


@irdl_op_definition
class TanOp(FloatFunctionOp):
    """The tangent; `numpy.tan`, `torch.tan`."""

    name = "relax.tan"


@irdl_op_definition
class AsinOp(FloatFunctionOp):
    """The inverse sine; `numpy.arcsin`, `torch.asin`."""

    name = "relax.asin"
    NUMPY: ClassVar[str] = "arcsin"


@irdl_op_definition
class AcosOp(FloatFunctionOp):
    """The inverse cosine; `numpy.arccos`, `torch.acos`."""

    name = "relax.acos"
    NUMPY: ClassVar[str] = "arccos"


@irdl_op_definition
class AtanOp(FloatFunctionOp):
    """The inverse tangent; `numpy.arctan`, `torch.atan`."""

    name = "relax.atan"
    NUMPY: ClassVar[str] = "arctan"


@irdl_op_definition
class SinhOp(FloatFunctionOp):
    """The hyperbolic sine; `numpy.sinh`, `torch.sinh`."""

    name = "relax.sinh"


@irdl_op_definition
class CoshOp(FloatFunctionOp):
    """The hyperbolic cosine; `numpy.cosh`, `torch.cosh`."""

    name = "relax.cosh"


@irdl_op_definition
class TanhOp(FloatFunctionOp):
    """The hyperbolic tangent; `numpy.tanh`, `torch.tanh`."""

    name = "relax.tanh"


@irdl_op_definition
class AsinhOp(FloatFunctionOp):
    """The inverse hyperbolic sine; `numpy.arcsinh`, `torch.asinh`."""

    name = "relax.asinh"
    NUMPY: ClassVar[str] = "arcsinh"


@irdl_op_definition
class AcoshOp(FloatFunctionOp):
    """The inverse hyperbolic cosine; `numpy.arccosh`, `torch.acosh`."""

    name = "relax.acosh"
    NUMPY: ClassVar[str] = "arccosh"


@irdl_op_definition
class AtanhOp(FloatFunctionOp):
    """The inverse hyperbolic tangent; `numpy.arctanh`, `torch.atanh`."""

    name = "relax.atanh"
    NUMPY: ClassVar[str] = "arctanh"


_erf_of_each: Any = np.frompyfunc(math.erf, 1, 1)


def erf(x: NDArray[Any]) -> NDArray[Any]:
    """The error function, in the dtype of `x`."""
    return np.asarray(_erf_of_each(x)).astype(x.dtype)


@irdl_op_definition
class ErfOp(FloatFunctionOp):
    """The error function; `torch.erf`."""

    name = "relax.erf"

    @classmethod
    def numpy_function(cls, x: NDArray[Any], attributes: dict[str, Any]) -> NDArray[Any]:
        return erf(x)
