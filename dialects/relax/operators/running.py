"""Cumulative maxima and cumulative sums of exponentials, along one axis."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition, opt_prop_def

from ..types import TensorType
from .attributes import Int
from .base import UnaryOp
from .conversion import accumulator, rounded
from .elementwise import FLOATS, NUMBERS, Dtypes, short_name
from .inference import normalize_axis, require_dtype
from .language import TensorLanguage


class RunningOp(UnaryOp, ABC):
    """The elements up to each one along `axis`, combined."""

    DTYPES: ClassVar[Dtypes] = FLOATS

    @classmethod
    @abstractmethod
    def combine(cls, te: TensorLanguage, x: Any, y: Any) -> Any:
        """Two elements combined."""

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        require_dtype(cls.name, operands, *cls.DTYPES)
        (data,) = operands
        if data.rank is not None:
            normalize_axis(cls.name, attributes["axis"], data.rank)
        return data

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (data,) = tensors
        working = accumulator(data.dtype)
        axis = normalize_axis(cls.name, attributes["axis"], data.ndim)

        def element(before: Any, *i: Any) -> Any:
            last = [v - 1 if n == axis else v for n, v in enumerate(i)]
            own = data(*i).astype(working)
            return te.if_then_else(
                te.GT(i[axis], 0), te.let(lambda x: cls.combine(te, before(*last), x), own), own
            )

        name = f"T_{short_name(cls.name)}"
        return rounded(te, te.recurrence(data.shape, axis, element, working, name=name), data.dtype)


@irdl_op_definition
class CummaxOp(RunningOp):
    """The cumulative maximum, NaN from the first NaN on; `numpy.maximum.accumulate`."""

    name = "relax.cummax"
    axis = opt_prop_def(Int(default=0))
    DTYPES: ClassVar[Dtypes] = NUMBERS

    @classmethod
    def combine(cls, te: TensorLanguage, x: Any, y: Any) -> Any:
        return te.max(x, y)

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        return np.maximum.accumulate(arrays[0], axis=attributes["axis"])


@irdl_op_definition
class LogcumsumexpOp(RunningOp):
    """The logarithm of the cumulative sum of exponentials; `torch.logcumsumexp`."""

    name = "relax.logcumsumexp"
    axis = opt_prop_def(Int(default=0))

    @classmethod
    def combine(cls, te: TensorLanguage, x: Any, y: Any) -> Any:
        low, high = te.min(x, y), te.max(x, y)
        total = high + te.log1p(te.exp(low - high))
        # The difference of equal infinities is NaN.
        return te.Select(te.EQ(x, y) & te.isinf(x), x, total)

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        return np.logaddexp.accumulate(arrays[0], axis=attributes["axis"])
