"""Means, variances and standard deviations over axes."""

from __future__ import annotations

from abc import ABC
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition, opt_prop_def

from .accumulation import accumulator
from .attributes import Bool, Int, Ints
from .elementwise import FLOATS, Dtypes, short_name
from .language import TensorLanguage
from .reduction import ReductionOp, number_of_elements, reduced


def _averaged(te: TensorLanguage, total: Any, divisor: Any, name: str) -> Any:
    return te.elementwise(lambda t: t / te.cast(total.dtype, divisor), total, name=name)


def _mean(te: TensorLanguage, x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    working = accumulator(x.dtype)

    def total(read: Any, ks: Any, i: Any) -> Any:
        return te.sum(read(x).astype(working), axis=ks) if ks else read(x).astype(working)

    summed = reduced(te, x, axes, keepdims, total, "T_sum")
    return _averaged(te, summed, number_of_elements(te, x, axes), "T_mean")


@irdl_op_definition
class MeanOp(ReductionOp):
    """The mean of floats, NaN where there are none; `numpy.mean`, `torch.mean`."""

    name = "relax.mean"
    DTYPES: ClassVar[Dtypes] = FLOATS
    axis = opt_prop_def(Ints(default=None))
    keepdims = opt_prop_def(Bool(default=False))

    @classmethod
    def reduce(
        cls, te: TensorLanguage, x: Any, axes: tuple[int, ...], attributes: dict[str, Any]
    ) -> Any:
        return _mean(te, x, axes, attributes["keepdims"])

    @classmethod
    def numpy_function(cls, x: NDArray[Any], attributes: dict[str, Any], **options: Any) -> Any:
        total = np.sum(x, **options)
        return total / (x.size / total.size if total.size else 1)


class SpreadOp(ReductionOp, ABC):
    """A mean square distance from the mean: its sum over the number of elements - `correction`.

    The mean is that of distances from the first element, so that no digits are lost where all are
    far from 0; what it loses when it is rounded is taken from the squares again.
    """

    DTYPES: ClassVar[Dtypes] = FLOATS

    @classmethod
    def finish(cls, te: TensorLanguage, square: Any) -> Any:
        """The result from the mean square."""
        return square

    @classmethod
    def reduce(
        cls, te: TensorLanguage, x: Any, axes: tuple[int, ...], attributes: dict[str, Any]
    ) -> Any:
        working, count = accumulator(x.dtype), number_of_elements(te, x, axes)
        number = te.cast(working, count)

        def start(read: Any, ks: Any, i: Any) -> Any:
            if isinstance(count, int) and count:
                return read(x, 0).astype(working)
            return te.if_then_else(
                te.GT(count, 0), read(x, 0).astype(working), te.const(0, working)
            )

        def distances(read: Any, ks: Any, i: Any) -> Any:
            distance = read(x).astype(working) - first(*i)
            return te.sum(distance, axis=ks) if ks else distance

        def squares(read: Any, ks: Any, i: Any) -> Any:
            distance = read(x).astype(working) - mean(*i)
            return te.sum(distance * distance, axis=ks) if ks else distance * distance

        def result(read: Any, ks: Any, i: Any) -> Any:
            off = above(*i) - (mean(*i) - first(*i))
            square = te.max(total(*i) - number * (off * off), te.const(0, working))
            divisor = te.cast(working, count - attributes["correction"])
            return cls.finish(te, square / te.max(divisor, te.const(0, working)))

        first = reduced(te, x, axes, False, start, "T_first")
        above = _averaged(te, reduced(te, x, axes, False, distances, "T_sum"), count, "T_above")
        mean = te.elementwise(lambda f, a: f + a, first, above, name="T_mean")
        total = reduced(te, x, axes, False, squares, "T_squares")
        return reduced(te, x, axes, attributes["keepdims"], result, f"T_{short_name(cls.name)}")

    @classmethod
    def numpy_function(cls, x: NDArray[Any], attributes: dict[str, Any], **options: Any) -> Any:
        total = np.sum(x, axis=options["axis"], keepdims=True)
        count = x.size // total.size if total.size else 1
        square = np.sum((x - total / x.dtype.type(count)) ** 2, **options)
        return square / x.dtype.type(max(0, count - attributes["correction"]))


@irdl_op_definition
class VarianceOp(SpreadOp):
    """The variance; `numpy.var` with `correction` as its `ddof`, `torch.var`."""

    name = "relax.variance"
    axis = opt_prop_def(Ints(default=None))
    keepdims = opt_prop_def(Bool(default=False))
    correction = opt_prop_def(Int(default=0))


@irdl_op_definition
class StdOp(SpreadOp):
    """The square root of the variance; `numpy.std`, `torch.std`."""

    name = "relax.std"
    axis = opt_prop_def(Ints(default=None))
    keepdims = opt_prop_def(Bool(default=False))
    correction = opt_prop_def(Int(default=0))

    @classmethod
    def finish(cls, te: TensorLanguage, square: Any) -> Any:
        return te.sqrt(square)

    @classmethod
    def numpy_function(cls, x: NDArray[Any], attributes: dict[str, Any], **options: Any) -> Any:
        return np.sqrt(super().numpy_function(x, attributes, **options))
