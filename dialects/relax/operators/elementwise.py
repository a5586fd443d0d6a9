"""Elementwise operators: dtypes, broadcasting, float32 for half precision; arithmetic."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Sequence
from operator import mod
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition, operand_def

from ...dtypes import DTYPES, element_type, is_float
from ..types import TensorType, shape_text
from .base import BinaryOp, OperatorOp
from .conversion import accumulator, wide
from .inference import broadcast_types, require_dtype
from .language import TensorLanguage


class Dtypes(NamedTuple):
    """The dtypes that an operator accepts, and their description in messages."""

    accepts: Callable[[str], bool]
    what: str


def _among(*dtypes: str) -> Callable[[str], bool]:
    return dtypes.__contains__


_FLOATS = tuple(d for d in DTYPES if is_float(d))
_INTEGERS = tuple(d for d in DTYPES if not is_float(d) and d != "bool")

FLOATS = Dtypes(is_float, "floats")
NUMBERS = Dtypes(_among(*_FLOATS, *_INTEGERS), "numbers")
INTEGERS = Dtypes(_among(*_INTEGERS), "integers")
INTEGERS_AND_BOOLS = Dtypes(_among(*_INTEGERS, "bool"), "integers or bools")
ANY = Dtypes(_among(*DTYPES), "of any dtype")


def in_working_dtype(function: Callable[..., Any], *elements: Any) -> Any:
    """Apply an elementwise function; half precision is computed in float32 and rounded once."""
    dtype = elements[0].dtype
    if not is_float(dtype) or accumulator(dtype) == dtype:
        return function(*elements)
    return function(*(e.astype(accumulator(dtype)) for e in elements)).astype(dtype)


def short_name(op_name: str) -> str:
    """The last part of an operator's name: "relu" of "relax.nn.relu"."""
    return op_name.rpartition(".")[2]


class BinaryElementwiseOp(BinaryOp, ABC):
    """An elementwise operator of two tensors of one dtype with broadcasting.

    Floats are computed at least in float32.
    """

    DTYPES: ClassVar[Dtypes] = ANY
    RESULT: ClassVar[str | None] = None
    """The dtype of results; `None` for that of the operands."""
    FUNCTION: ClassVar[str] = ""
    """The scalar function, if its name differs from the operator's."""

    @classmethod
    def combine(cls, te: TensorLanguage, lhs: Any, rhs: Any) -> Any:
        """The result element from the operands' elements; by default a scalar function."""
        return getattr(te, cls.FUNCTION or short_name(cls.name))(lhs, rhs)

    @classmethod
    def numpy_function(cls, lhs: NDArray[Any], rhs: NDArray[Any]) -> NDArray[Any]:
        """The operator in NumPy; by default the function of that name."""
        return getattr(np, short_name(cls.name))(lhs, rhs)

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        require_dtype(cls.name, operands, *cls.DTYPES)
        result = broadcast_types(cls.name, *operands)
        return result if cls.RESULT is None else TensorType(result.shape, element_type(cls.RESULT))

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        lhs, rhs = tensors

        def element(x: Any, y: Any) -> Any:
            return cls.combine(te, x, y)

        return te.elementwise(element, lhs, rhs, name=f"T_{short_name(cls.name)}")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        lhs, rhs = (wide(a) for a in arrays)
        return cls.numpy_function(lhs, rhs)


class ArithmeticOp(BinaryElementwiseOp, ABC):
    """An elementwise operator of two tensors of numbers."""

    DTYPES: ClassVar[Dtypes] = NUMBERS


@irdl_op_definition
class AddOp(BinaryElementwiseOp):
    """``lhs + rhs``, of bools whether one is true; `numpy.add`, `torch.add`."""

    name = "relax.add"

    @classmethod
    def combine(cls, te: TensorLanguage, lhs: Any, rhs: Any) -> Any:
        return te.any(lhs, rhs) if lhs.dtype == "bool" else lhs + rhs


@irdl_op_definition
class SubtractOp(ArithmeticOp):
    """``lhs - rhs``; `numpy.subtract`, `torch.sub`."""

    name = "relax.subtract"

    @classmethod
    def combine(cls, te: TensorLanguage, lhs: Any, rhs: Any) -> Any:
        return lhs - rhs


@irdl_op_definition
class MultiplyOp(BinaryElementwiseOp):
    """``lhs * rhs``, of bools whether both are true; `numpy.multiply`, `torch.mul`."""

    name = "relax.multiply"

    @classmethod
    def combine(cls, te: TensorLanguage, lhs: Any, rhs: Any) -> Any:
        return te.all(lhs, rhs) if lhs.dtype == "bool" else lhs * rhs


def truncated_quotient(lhs: Any, rhs: Any) -> Any:
    """The quotients of arrays of integers, rounded towards 0; 0 for those divided by 0."""
    whole = np.floor_divide(lhs, rhs)
    return whole + ((whole < 0) & (np.fmod(lhs, rhs) != 0))


@irdl_op_definition
class DivideOp(ArithmeticOp):
    """``lhs / rhs``, of integers rounded towards 0, 0 for those divided by 0; `numpy.divide`."""

    name = "relax.divide"

    @classmethod
    def numpy_function(cls, lhs: NDArray[Any], rhs: NDArray[Any]) -> NDArray[Any]:
        if lhs.dtype.kind == "f":
            return np.divide(lhs, rhs)
        return truncated_quotient(lhs, rhs)

    @classmethod
    def combine(cls, te: TensorLanguage, lhs: Any, rhs: Any) -> Any:
        return lhs / rhs if is_float(lhs.dtype) else te.truncdiv(lhs, rhs)


@irdl_op_definition
class FloorDivideOp(ArithmeticOp):
    """``lhs // rhs``, 0 for integers divided by 0; `numpy.floor_divide`, `torch.floor_divide`."""

    name = "relax.floor_divide"

    @classmethod
    def combine(cls, te: TensorLanguage, lhs: Any, rhs: Any) -> Any:
        if not is_float(lhs.dtype):
            return lhs // rhs

        def divided(x: Any, y: Any) -> Any:
            return te.let(lambda rest: _floor_quotient(te, x, y, rest), te.fmod(x, y))

        return in_working_dtype(divided, lhs, rhs)


def _floor_quotient(te: TensorLanguage, x: Any, y: Any, rest: Any) -> Any:
    """Floor division of floats: exact even if ``floor(x / y)`` is off by one by rounding."""
    is_apart = te.And(rest != 0, (rest < 0) != (y < 0))
    exact = te.Select(is_apart, (x - rest) / y - 1, (x - rest) / y)
    whole = te.let(lambda q: te.let(lambda f: te.Select(q - f > 0.5, f + 1, f), te.floor(q)), exact)
    return te.Select(y == 0, x / y, whole)


@irdl_op_definition
class ModOp(ArithmeticOp):
    """The remainder with the sign of `lhs`; `numpy.fmod`, `torch.fmod`.

    0 for integers divided by 0.
    """

    name = "relax.mod"

    @classmethod
    def numpy_function(cls, lhs: NDArray[Any], rhs: NDArray[Any]) -> NDArray[Any]:
        return np.fmod(lhs, rhs)

    @classmethod
    def combine(cls, te: TensorLanguage, lhs: Any, rhs: Any) -> Any:
        return in_working_dtype(te.fmod, lhs, rhs)


@irdl_op_definition
class FloorModOp(ArithmeticOp):
    """``lhs % rhs``, with the sign of `rhs`; `numpy.remainder`, `torch.remainder`.

    0 for integers divided by 0.
    """

    name = "relax.floor_mod"

    @classmethod
    def numpy_function(cls, lhs: NDArray[Any], rhs: NDArray[Any]) -> NDArray[Any]:
        if lhs.dtype.kind != "f":
            return np.remainder(lhs, rhs)
        rest = np.fmod(lhs, rhs)
        return np.where((rest != 0) & ((rest < 0) != (rhs < 0)), rest + rhs, rest)

    @classmethod
    def combine(cls, te: TensorLanguage, lhs: Any, rhs: Any) -> Any:
        return in_working_dtype(mod, lhs, rhs)


@irdl_op_definition
class PowerOp(ArithmeticOp):
    """``lhs ** rhs``; `numpy.power`, `torch.pow`.

    A negative power of an integer is rounded towards 0.
    """

    name = "relax.power"

    @classmethod
    def numpy_function(cls, lhs: NDArray[Any], rhs: NDArray[Any]) -> NDArray[Any]:
        if lhs.dtype.kind != "i":
            return np.power(lhs, rhs)
        reciprocal = np.where(np.abs(lhs) == 1, np.where(rhs % 2 == 0, lhs * lhs, lhs), 0)
        return np.where(rhs < 0, reciprocal, np.power(lhs, np.maximum(rhs, 0)))


@irdl_op_definition
class Atan2Op(BinaryElementwiseOp):
    """The angle of the point ``(rhs, lhs)`` in -π to π; `numpy.arctan2`, `torch.atan2`."""

    name = "relax.atan2"
    DTYPES: ClassVar[Dtypes] = FLOATS

    @classmethod
    def numpy_function(cls, lhs: NDArray[Any], rhs: NDArray[Any]) -> NDArray[Any]:
        return np.arctan2(lhs, rhs)

    @classmethod
    def combine(cls, te: TensorLanguage, lhs: Any, rhs: Any) -> Any:
        return in_working_dtype(te.atan2, lhs, rhs)


@irdl_op_definition
class MaximumOp(BinaryElementwiseOp):
    """The elementwise maximum, NaN if either is NaN; `numpy.maximum`, `torch.maximum`."""

    name = "relax.maximum"
    FUNCTION: ClassVar[str] = "max"

    @classmethod
    def numpy_function(cls, lhs: NDArray[Any], rhs: NDArray[Any]) -> NDArray[Any]:
        return _extremum(np.maximum, np.logical_and, lhs, rhs)


@irdl_op_definition
class MinimumOp(BinaryElementwiseOp):
    """The elementwise minimum, NaN if either is NaN; `numpy.minimum`, `torch.minimum`."""

    name = "relax.minimum"
    FUNCTION: ClassVar[str] = "min"

    @classmethod
    def numpy_function(cls, lhs: NDArray[Any], rhs: NDArray[Any]) -> NDArray[Any]:
        return _extremum(np.minimum, np.logical_or, lhs, rhs)


def _extremum(
    function: np.ufunc, are_negative: np.ufunc, lhs: NDArray[Any], rhs: NDArray[Any]
) -> NDArray[Any]:
    """NumPy's function, with IEEE 754's signs of zeros, which depend on the dtype in NumPy."""
    result = function(lhs, rhs)
    if not np.issubdtype(result.dtype, np.floating):
        return result
    zero = np.where(are_negative(np.signbit(lhs), np.signbit(rhs)), -0.0, 0.0)
    return np.where((lhs == 0) & (rhs == 0), zero.astype(result.dtype), result)


@irdl_op_definition
class EwiseFMAOp(OperatorOp):
    """``x * y + z``, for floats rounded once; TVM's ``R.ewise_fma``, `math.fma`.

    Operands have equal ranks, as in TVM; dims of 1 broadcast.
    """

    name = "relax.ewise_fma"
    x = operand_def(TensorType)
    y = operand_def(TensorType)
    z = operand_def(TensorType)
    assembly_format = (
        "$x `,` $y `,` $z attr-dict `:` type($x) `,` type($y) `,` type($z) `->` type($result)"
    )

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        require_dtype(cls.name, operands, *NUMBERS)
        ranks = [o.rank for o in operands if o.rank is not None]
        if len(set(ranks)) > 1:
            raise ValueError(
                f"expected operands of '{cls.name}' to have one rank, "
                f"got {', '.join(map(shape_text, operands))}"
            )
        same_rank = [
            o if o.rank is not None or not ranks else TensorType.of(None, o.known_element, ranks[0])
            for o in operands
        ]
        return broadcast_types(cls.name, *same_rank)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        x, y, z = tensors
        return te.elementwise(te.fma, x, y, z, name="T_fma")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        x, y, z = arrays
        if x.dtype.kind != "f":
            return x * y + z
        extended = np.longdouble if x.dtype == np.float64 else np.float64
        return (x.astype(extended) * y.astype(extended) + z.astype(extended)).astype(x.dtype)
