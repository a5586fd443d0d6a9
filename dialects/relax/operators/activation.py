"""Activation functions of neural networks: elementwise ones, and softmax along an axis."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from ...int_expr import ONE
from ..types import TensorType, shape_text
from .attributes import Int, Number
from .base import UnaryOp
from .conversion import accumulator, wide
from .elementwise import FLOATS, NUMBERS, Dtypes, in_working_dtype
from .inference import common_element_type, normalize_axis, require_floats, require_rank
from .language import TensorLanguage
from .steps import PlainFormOp, SteppedOp
from .unary import ElementFunctionOp


class ActivationOp(ElementFunctionOp, UnaryOp, ABC):
    """A function of each element of `data`."""


@irdl_op_definition
class ReluOp(ActivationOp):
    """``max(x, 0)``, NaN where the input is NaN; `torch.nn.functional.relu`."""

    name = "relax.nn.relu"

    @classmethod
    def function(cls, te: TensorLanguage, x: Any, attributes: dict[str, Any]) -> Any:
        return te.max(x, te.const(0, x.dtype))

    @classmethod
    def numpy_function(cls, x: NDArray[Any], attributes: dict[str, Any]) -> NDArray[Any]:
        return np.maximum(x, x.dtype.type(0))


@irdl_op_definition
class Relu6Op(ActivationOp):
    """``min(max(x, 0), 6)``; `torch.nn.functional.relu6`."""

    name = "relax.nn.relu6"
    DTYPES: ClassVar[Dtypes] = NUMBERS

    @classmethod
    def function(cls, te: TensorLanguage, x: Any, attributes: dict[str, Any]) -> Any:
        return te.min(te.max(x, te.const(0, x.dtype)), te.const(6, x.dtype))

    @classmethod
    def numpy_function(cls, x: NDArray[Any], attributes: dict[str, Any]) -> NDArray[Any]:
        return np.clip(x, 0, 6)


@irdl_op_definition
class LeakyReluOp(ActivationOp):
    """``x`` above 0, else ``alpha * x``; `torch.nn.functional.leaky_relu`."""

    name = "relax.nn.leakyrelu"
    DTYPES: ClassVar[Dtypes] = FLOATS
    alpha = opt_prop_def(Number(default=0.01))

    @classmethod
    def function(cls, te: TensorLanguage, x: Any, attributes: dict[str, Any]) -> Any:
        return te.Select(te.LT(0, x), x, x * te.const(attributes["alpha"], x.dtype))

    @classmethod
    def numpy_function(cls, x: NDArray[Any], attributes: dict[str, Any]) -> NDArray[Any]:
        return np.where(x > 0, x, x * x.dtype.type(attributes["alpha"]))


@irdl_op_definition
class SiluOp(ActivationOp):
    """``x * sigmoid(x)``; `torch.nn.functional.silu`."""

    name = "relax.nn.silu"
    DTYPES: ClassVar[Dtypes] = FLOATS

    @classmethod
    def function(cls, te: TensorLanguage, x: Any, attributes: dict[str, Any]) -> Any:
        return x / (te.const(1, x.dtype) + te.exp(-x))

    @classmethod
    def numpy_function(cls, x: NDArray[Any], attributes: dict[str, Any]) -> NDArray[Any]:
        return x / (1 + np.exp(-x))


@irdl_op_definition
class SoftplusOp(ActivationOp):
    """``log(1 + exp(beta * x)) / beta``, and ``x`` where ``beta * x`` is above `threshold`.

    `torch.nn.functional.softplus`.
    """

    name = "relax.nn.softplus"
    DTYPES: ClassVar[Dtypes] = FLOATS
    beta = opt_prop_def(Number(default=1.0))
    threshold = opt_prop_def(Number(default=20.0))

    @classmethod
    def function(cls, te: TensorLanguage, x: Any, attributes: dict[str, Any]) -> Any:
        beta, threshold = (te.const(attributes[n], x.dtype) for n in ("beta", "threshold"))
        return te.Select(te.GT(x * beta, threshold), x, te.log1p(te.exp(x * beta)) / beta)

    @classmethod
    def numpy_function(cls, x: NDArray[Any], attributes: dict[str, Any]) -> NDArray[Any]:
        beta, threshold = (x.dtype.type(attributes[n]) for n in ("beta", "threshold"))
        return np.where(x * beta > threshold, x, np.log1p(np.exp(x * beta)) / beta)


class NormalizedExponentialOp(UnaryOp, ABC):
    """Exponentials along an axis, normalized by their sum, and shifted by the maximum.

    The shift avoids overflow. A row of infinities gives NaN.
    """

    KEEPS_POWERS: ClassVar[bool] = False
    """Whether results are made of the exponentials, which are then stored, not recomputed."""
    RESULT: ClassVar[str]
    """The name of the block of the results."""

    @staticmethod
    @abstractmethod
    def element(te: TensorLanguage, own: Any, total: Any) -> Any:
        """The result from ``x - max``, or its exponential, and the sum of all exponentials."""

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        require_floats(cls.name, operands)
        (data,) = operands
        if data.rank is not None:
            normalize_axis(cls.name, attributes["axis"], data.rank)
        return data

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        axis = normalize_axis(cls.name, attributes["axis"], tensors[0].ndim)
        return cls.normalized(te, tensors[0], axis, te.max)

    @classmethod
    def normalized(
        cls,
        te: TensorLanguage,
        data: Any,
        axis: int,
        largest: Any,
        attrs: Mapping[str, Any] | None = None,
    ) -> Any:
        """The results along an axis; `attrs` are annotations of the last block."""
        rows = [d for i, d in enumerate(data.shape) if i != axis]
        working = accumulator(data.dtype)

        def along(
            combine: Callable[..., Any], element: Callable[..., Any], name: str
        ) -> Callable[..., Any]:
            k = te.reduce_axis((0, data.shape[axis]), name="k")

            def row(*i: Any) -> Any:
                return combine(element(*i[:axis], k, *i[axis:]), axis=k)

            return te.compute(rows, row, name=name)

        def value(*i: Any) -> Any:
            return data(*i).astype(working)

        def shifted(*i: Any) -> Any:
            return value(*i) - top(*i[:axis], *i[axis + 1 :])

        def power(*i: Any) -> Any:
            return te.exp(shifted(*i))

        top = along(largest, value, "T_softmax_maxelem")
        kept = te.compute(data.shape, power, name="T_softmax_exp") if cls.KEEPS_POWERS else power
        total = along(te.sum, kept, "T_softmax_expsum")

        def element(*i: Any) -> Any:
            own = kept(*i) if cls.KEEPS_POWERS else shifted(*i)
            return cls.element(te, own, total(*i[:axis], *i[axis + 1 :])).astype(data.dtype)

        return te.compute(data.shape, element, name=cls.RESULT, attrs=attrs)

    @classmethod
    def shifted(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        """`array` minus the maximum of its row, at least in float32."""
        data = wide(arrays[0])
        return data - data.max(axis=attributes["axis"], keepdims=True, initial=-np.inf)


@irdl_op_definition
class SoftmaxOp(NormalizedExponentialOp):
    """``exp(data) / sum(exp(data))`` along an axis; `torch.softmax`."""

    name = "relax.nn.softmax"
    axis = opt_prop_def(Int(default=-1))
    KEEPS_POWERS: ClassVar[bool] = True
    RESULT: ClassVar[str] = "T_softmax_norm"

    @staticmethod
    def element(te: TensorLanguage, own: Any, total: Any) -> Any:
        return own * (te.const(1, total.dtype) / total)

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        powers = np.exp(cls.shifted(arrays, attributes))
        return powers / powers.sum(axis=attributes["axis"], keepdims=True)


@irdl_op_definition
class LogSoftmaxOp(PlainFormOp, NormalizedExponentialOp):
    """The logarithm of softmax along an axis; `torch.log_softmax`.

    TVM's kernel starts the maximum from a finite number, with which infinities give NaN too.
    """

    name = "relax.nn.log_softmax"
    axis = opt_prop_def(Int(default=-1))
    RESULT: ClassVar[str] = "T_log_softmax"

    @staticmethod
    def element(te: TensorLanguage, own: Any, total: Any) -> Any:
        return own - te.log(total)

    @classmethod
    def compute_plain(
        cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]
    ) -> Any:
        axis = normalize_axis(cls.name, attributes["axis"], tensors[0].ndim)
        return cls.normalized(te, tensors[0], axis, te.finite_max, {"axis": axis})

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        shifted = cls.shifted(arrays, attributes)
        return shifted - np.log(np.exp(shifted).sum(axis=attributes["axis"], keepdims=True))


@irdl_op_definition
class PreluOp(SteppedOp):
    """``x`` above 0, else ``alpha * x``, with a slope for each index of an axis.

    `torch.nn.functional.prelu`. A tensor of rank 1 has its elements along `axis` 0.
    """

    name = "relax.nn.prelu"
    data = operand_def(TensorType)
    alpha = operand_def(TensorType)
    axis = opt_prop_def(Int(default=1))
    assembly_format = (
        "$data `,` $alpha attr-dict `:` type($data) `,` type($alpha) `->` type($result)"
    )

    @classmethod
    def _axis(cls, rank: int, attributes: dict[str, Any]) -> int:
        axis = attributes["axis"]
        return 0 if rank == 1 and axis == 1 else normalize_axis(cls.name, axis, rank)

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        data, alpha = operands
        require_floats(cls.name, operands)
        common_element_type(cls.name, operands)
        require_rank(cls.name, "alpha", alpha, 1)
        if data.rank is not None:
            axis = cls._axis(data.rank, attributes)
            known = None in (data.dims, alpha.dims)
            if not known and alpha.dims not in ((ONE,), data.dims[axis : axis + 1]):  # pyright: ignore[reportOptionalSubscript]
                raise ValueError(
                    f"expected a slope of '{cls.name}' for each index of axis {axis}, "
                    f"got {shape_text(alpha)} for {shape_text(data)}"
                )
        return data

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        data, alpha = tensors
        axis = cls._axis(data.ndim, attributes)

        def only(c: Any) -> Any:
            return alpha(0)

        is_one, size = alpha.shape[0] == 1, (data.shape[axis],)
        slopes = te.compute(size, only, name="slope_broadcasted") if is_one else alpha

        def scaled(x: Any, slope: Any) -> Any:
            return te.Select(te.LT(te.const(0, x.dtype), x), x, x * slope)

        def element(*i: Any) -> Any:
            return in_working_dtype(scaled, data(*i), slopes(i[axis]))

        return te.compute(data.shape, element, name="T_prelu")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        data, alpha = (wide(a) for a in arrays)
        axis = cls._axis(data.ndim, attributes)
        slope = alpha.reshape([-1 if a == axis else 1 for a in range(data.ndim)])
        return np.where(data > 0, data, data * slope)
