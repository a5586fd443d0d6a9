"""Gelu: ``x`` times the probability that a normal variable is below it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition

from .activation import ActivationOp
from .conversion import accumulator, rounded
from .elementwise import FLOATS, Dtypes, short_name
from .float_functions import erf
from .language import TensorLanguage
from .steps import SteppedOp

_TANH_FACTORS = (0.044715, math.sqrt(2 / math.pi))


class SteppedActivationOp(SteppedOp, ActivationOp, ABC):
    """An activation of several steps, which are tensors of at least float32."""

    DTYPES: ClassVar[Dtypes] = FLOATS

    @staticmethod
    @abstractmethod
    def factors(te: TensorLanguage, x: Any) -> tuple[Any, Any]:
        """The tensors of which the result is the product."""

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (data,) = tensors

        def product(a: Any, b: Any) -> Any:
            return (a * b).astype(data.dtype)

        factors = cls.factors(te, rounded(te, data, accumulator(data.dtype)))
        return te.elementwise(product, *factors, name=f"T_{short_name(cls.name)}")


def _applied(function: str, te: TensorLanguage, x: Any) -> Any:
    """A scalar function of each element of a tensor."""
    return te.elementwise(getattr(te, function), x)


@irdl_op_definition
class GeluOp(SteppedActivationOp):
    """``x / 2 * (1 + erf(x / sqrt(2)))``; `torch.nn.functional.gelu`."""

    name = "relax.nn.gelu"

    @staticmethod
    def factors(te: TensorLanguage, x: Any) -> tuple[Any, Any]:
        return x, 0.5 + _applied("erf", te, x * math.sqrt(0.5)) * 0.5

    @classmethod
    def numpy_function(cls, x: NDArray[Any], attributes: dict[str, Any]) -> NDArray[Any]:
        half, scale = x.dtype.type(0.5), x.dtype.type(math.sqrt(0.5))
        return x * half * (1 + erf(x * scale))


@irdl_op_definition
class GeluTanhOp(SteppedActivationOp):
    """Gelu by tanh; `torch.nn.functional.gelu` with ``approximate="tanh"``."""

    name = "relax.nn.gelu_tanh"

    @staticmethod
    def factors(te: TensorLanguage, x: Any) -> tuple[Any, Any]:
        cubic, scale = _TANH_FACTORS
        half = 0.5 * x
        return half, 1 + _applied("tanh", te, scale * x * (1 + cubic * x * x))

    @classmethod
    def numpy_function(cls, x: NDArray[Any], attributes: dict[str, Any]) -> NDArray[Any]:
        half, cubic, scale = (x.dtype.type(c) for c in (0.5, *_TANH_FACTORS))
        return x * half * (1 + np.tanh(scale * (x + cubic * x * x * x)))
