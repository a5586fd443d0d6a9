"""The activation of self-normalizing networks."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition

from .activation import ActivationOp
from .elementwise import FLOATS, Dtypes
from .language import TensorLanguage

SELU_ALPHA, SELU_SCALE = 1.6732632423543772, 1.0507009873554805
"""The numbers for which activations keep mean 0 and variance 1 from layer to layer."""


@irdl_op_definition
class SeluOp(ActivationOp):
    """``scale * x`` above 0, else ``scale * alpha * (exp(x) - 1)``; `torch.nn.functional.selu`."""

    name = "relax.nn.selu"
    DTYPES: ClassVar[Dtypes] = FLOATS

    @classmethod
    def function(cls, te: TensorLanguage, x: Any, attributes: dict[str, Any]) -> Any:
        zero, scale, below = (
            te.const(c, x.dtype) for c in (0, SELU_SCALE, SELU_SCALE * SELU_ALPHA)
        )
        return te.Select(te.LT(zero, x), x * scale, te.expm1(x) * below)

    @classmethod
    def numpy_function(cls, x: NDArray[Any], attributes: dict[str, Any]) -> NDArray[Any]:
        return np.where(x > 0, x * SELU_SCALE, np.expm1(x) * (SELU_SCALE * SELU_ALPHA))
