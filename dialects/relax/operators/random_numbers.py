"""Random numbers that are functions of a key: the same key gives the same numbers.

The key of a call is two integers, a seed and the number of the call. Each operator of a program has
its own `stream`. An element is a function of one block of Philox 4x32-10, whose counter is the
number of the block, the stream and the number of the call, and whose key is the seed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from math import pi, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from ...dtypes import element_type, integer_range, is_float
from ...int_expr import IntExpr
from ..types import TensorType, shape_text
from .attributes import DType, Exprs, Int, Number
from .base import OperatorOp
from .conversion import accumulator
from .creation import require_sizes
from .language import TensorLanguage
from .philox import Words, philox

WORDS = 4
"""The number of words in a block."""

_TWO = (IntExpr.of(2),)


class _NumPy:
    """The functions of `te` that operators here use, on arrays."""

    sqrt, log, cos, select = np.sqrt, np.log, np.cos, np.where

    @staticmethod
    def let(function: Callable[[Any], Any], value: Any) -> Any:
        return function(value)

    @staticmethod
    def cast(dtype: str, value: Any) -> Any:
        # The caller rounds to bfloat16, which NumPy does not have.
        return value if dtype == "bfloat16" else np.asarray(value).astype(dtype)

    @staticmethod
    def const(value: Any, dtype: str) -> Any:
        return np.array(value, dtype)


class RandomOp(OperatorOp, ABC):
    """A tensor of random numbers."""

    key = operand_def(TensorType)
    assembly_format = "$key attr-dict `:` type($key) `->` type($result)"

    @classmethod
    @abstractmethod
    def words(cls, dtype: str) -> int:
        """The number of random words that an element uses: 1, 2 or 4."""

    @classmethod
    @abstractmethod
    def element(cls, te: Any, words: Words, attributes: dict[str, Any]) -> Any:
        """An element from its words, in `te` or in `_NumPy`."""

    @classmethod
    def require_attributes(cls, attributes: dict[str, Any]) -> None:
        """Raise ValueError for a dtype or for bounds that the operator does not have."""

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        (key,) = operands
        if (
            key.dtype not in (None, "int64")
            or key.rank not in (None, 1)
            or (key.dims or _TWO) != _TWO
        ):
            raise ValueError(
                f"expected key of '{cls.name}' to be int64 of shape (2,), "
                f"got {key.dtype} of shape {shape_text(key)}"
            )
        if not 0 <= attributes["stream"] < 1 << 32:
            raise ValueError(
                f"expected stream of '{cls.name}' in [0, 2**32), got {attributes['stream']}"
            )
        require_sizes(cls.name, attributes["shape"])
        cls.require_attributes(attributes)
        return TensorType.of(attributes["shape"], element_type(attributes["dtype"]))

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (key,), shape = tensors, attributes["shape"]

        def element(*i: Any) -> Any:
            number = te.const(0, "int64")
            for index, dim in zip(i, shape, strict=True):
                number = number * dim + te.cast("int64", index)
            words = [te.cast("uint64", key(n)) for n in (0, 1)]
            return cls._element(te, words, te.cast("uint64", number), attributes)

        return te.compute(shape, element, name=f"T_{cls.name.rpartition('.')[2]}")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        key, shape = arrays[0].astype(np.uint64), attributes["shape"]
        numbers = np.arange(prod(shape), dtype=np.uint64)
        return cls._element(_NumPy, [key[:1], key[1:]], numbers, attributes).reshape(shape)

    @classmethod
    def _element(cls, te: Any, key: Sequence[Any], number: Any, attributes: dict[str, Any]) -> Any:
        """The element of a number, counted in row-major order."""
        (seed, call), count = key, cls.words(attributes["dtype"])
        block, slot = number // (WORDS // count), number % (WORDS // count)
        stream = te.const(attributes["stream"], "uint64")
        counter = block & 0xFFFFFFFF, stream, call & 0xFFFFFFFF, call >> 32

        def finish(words: Words) -> Any:
            chosen = words[-count:]
            for n in reversed(range(WORDS // count - 1)):
                own = words[n * count : (n + 1) * count]
                pairs = zip(own, chosen, strict=True)
                chosen = [te.select(slot < n + 1, a, b) for a, b in pairs]
            return cls.element(te, chosen, attributes)

        return philox(counter, (seed & 0xFFFFFFFF, seed >> 32), finish, te.let)


def _fraction(te: Any, words: Words, dtype: str) -> Any:
    """A number of [0, 1), a multiple of a power of two that is exact in `dtype`."""
    digits = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}[dtype]
    bits = words[0] if len(words) == 1 else (words[0] << 32) | words[1]
    whole = te.cast("int64", bits >> (32 * len(words) - digits))
    return te.cast(accumulator(dtype), whole) * te.const(2.0**-digits, accumulator(dtype))


def _require_float(op_name: str, dtype: str) -> None:
    if not is_float(dtype):
        raise ValueError(f"expected dtype of '{op_name}' to be a float, got {dtype}")


@irdl_op_definition
class BitsOp(RandomOp):
    """Random words of 32 bits, those of successive blocks."""

    name = "relax.random.bits"
    shape = opt_prop_def(Exprs())
    dtype = opt_prop_def(DType(default="uint32"))
    stream = opt_prop_def(Int(default=0))

    @classmethod
    def require_attributes(cls, attributes: dict[str, Any]) -> None:
        if attributes["dtype"] != "uint32":
            raise ValueError(
                f"expected dtype of '{cls.name}' to be uint32, got {attributes['dtype']}"
            )

    @classmethod
    def words(cls, dtype: str) -> int:
        return 1

    @classmethod
    def element(cls, te: Any, words: Words, attributes: dict[str, Any]) -> Any:
        return te.cast("uint32", words[0])


@irdl_op_definition
class UniformOp(RandomOp):
    """Floats of the uniform distribution over ``[low, high)``; `torch.rand`.

    They are multiples of ``(high - low) / 2**digits``, by the digits of the dtype.
    """

    name = "relax.random.uniform"
    shape = opt_prop_def(Exprs())
    dtype = opt_prop_def(DType(default="float32"))
    low = opt_prop_def(Number(default=0.0))
    high = opt_prop_def(Number(default=1.0))
    stream = opt_prop_def(Int(default=0))

    @classmethod
    def require_attributes(cls, attributes: dict[str, Any]) -> None:
        _require_float(cls.name, attributes["dtype"])

    @classmethod
    def words(cls, dtype: str) -> int:
        return 2 if dtype == "float64" else 1

    @classmethod
    def element(cls, te: Any, words: Words, attributes: dict[str, Any]) -> Any:
        dtype, low, high = (attributes[n] for n in ("dtype", "low", "high"))
        value, inner = _fraction(te, words, dtype), accumulator(dtype)
        if (low, high) != (0, 1):
            value = value * te.const(high - low, inner) + te.const(low, inner)
        return te.cast(dtype, value)


@irdl_op_definition
class NormalOp(RandomOp):
    """Floats of the normal distribution, by the Box-Muller transform; `torch.randn`."""

    name = "relax.random.normal"
    shape = opt_prop_def(Exprs())
    dtype = opt_prop_def(DType(default="float32"))
    mean = opt_prop_def(Number(default=0.0))
    std = opt_prop_def(Number(default=1.0))
    stream = opt_prop_def(Int(default=0))

    @classmethod
    def require_attributes(cls, attributes: dict[str, Any]) -> None:
        _require_float(cls.name, attributes["dtype"])

    @classmethod
    def words(cls, dtype: str) -> int:
        return 4 if dtype == "float64" else 2

    @classmethod
    def element(cls, te: Any, words: Words, attributes: dict[str, Any]) -> Any:
        dtype, mean, std = (attributes[n] for n in ("dtype", "mean", "std"))
        inner = accumulator(dtype)
        value = _normal(te, words, inner)
        if (mean, std) != (0, 1):
            value = value * te.const(std, inner) + te.const(mean, inner)
        return te.cast(dtype, value)


def _normal(te: Any, words: Words, dtype: str) -> Any:
    """The real part of a normal complex number: a radius above 0, and an angle in [-pi, pi)."""
    if len(words) == 2:
        first, angle, bits = words[0] + 1, te.cast("int32", words[1]), 32
    else:
        first = (((words[0] << 32) | words[1]) >> 11) + 1
        angle, bits = te.cast("int64", (words[2] << 32) | words[3]), 64
    scale = 2.0 ** -(32 if bits == 32 else 53)
    fraction = te.cast(dtype, te.cast("int64", first)) * te.const(scale, dtype)
    radius = te.sqrt(te.log(fraction) * te.const(-2.0, dtype))
    return radius * te.cos(te.cast(dtype, angle) * te.const(2 * pi * 2.0**-bits, dtype))


@irdl_op_definition
class RandintOp(RandomOp):
    """Integers of the uniform distribution over ``[low, high)``; `torch.randint`.

    Of 64 random bits, frequencies differ by less than one part in ``2**64 / (high - low)``.
    """

    name = "relax.random.randint"
    shape = opt_prop_def(Exprs())
    low = opt_prop_def(Int(default=0))
    high = opt_prop_def(Int())
    dtype = opt_prop_def(DType(default="int64"))
    stream = opt_prop_def(Int(default=0))

    @classmethod
    def require_attributes(cls, attributes: dict[str, Any]) -> None:
        dtype, low, high = (attributes[n] for n in ("dtype", "low", "high"))
        if is_float(dtype) or dtype == "bool":
            raise ValueError(f"expected dtype of '{cls.name}' to be an integer, got {dtype}")
        least, most = integer_range(dtype)
        if not least <= low < high <= most + 1:
            raise ValueError(
                f"expected {least} <= low < high <= {most + 1} of '{cls.name}', "
                f"got {low} and {high}"
            )

    @classmethod
    def words(cls, dtype: str) -> int:
        return 2

    @classmethod
    def element(cls, te: Any, words: Words, attributes: dict[str, Any]) -> Any:
        dtype, low, high = (attributes[n] for n in ("dtype", "low", "high"))
        offset = _upper_word(te, words, high - low)
        return te.cast(dtype, te.cast("int64", offset) + te.const(low, "int64"))


def _upper_word(te: Any, words: Words, count: int) -> Any:
    """The upper 64 bits of the product of two words, the first one above, and a number."""
    (high, low), (c1, c0) = words, divmod(count, 1 << 32)

    def upper(middle: Any) -> Any:
        return high * c1 + (middle >> 32) + ((low * c1 + (middle & 0xFFFFFFFF)) >> 32)

    return te.let(upper, high * c0 + ((low * c0) >> 32))
