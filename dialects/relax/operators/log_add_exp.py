"""Sums of numbers that are given by their logarithms."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition

from .elementwise import FLOATS, BinaryElementwiseOp, Dtypes, in_working_dtype
from .language import TensorLanguage


@irdl_op_definition
class LogAddExpOp(BinaryElementwiseOp):
    """``log(exp(lhs) + exp(rhs))`` without overflow; `numpy.logaddexp`, `torch.logaddexp`."""

    name = "relax.log_add_exp"
    DTYPES: ClassVar[Dtypes] = FLOATS

    @classmethod
    def combine(cls, te: TensorLanguage, lhs: Any, rhs: Any) -> Any:
        def function(x: Any, y: Any) -> Any:
            # Equal numbers may be infinite, which have no difference.
            twice = x + te.const(math.log(2), x.dtype)
            sum_ = te.max(x, y) + te.log1p(te.exp(-te.abs(x - y)))
            return te.Select(te.EQ(x, y), twice, sum_)

        return in_working_dtype(function, lhs, rhs)

    @classmethod
    def numpy_function(cls, lhs: NDArray[Any], rhs: NDArray[Any]) -> NDArray[Any]:
        return np.logaddexp(lhs, rhs)
