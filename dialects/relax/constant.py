"""Constant tensors: the IR has key, hash, shape and dtype; the data is outside of its text."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from math import prod
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition, prop_def, result_def, traits_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, Pure
from xdsl.utils.exceptions import VerifyException

from ..dtypes import DTYPES, element_type
from ..irdl import IRDLOperation, irdl_op_definition
from .types import TensorType

INLINE_ELEMENTS = 16
"""The maximum number of elements of constants that are printed inline.

Larger ones are stored in a sidecar file.
"""

SAMPLED_ELEMENTS = 64
"""The approximate number of elements that are hashed to distinguish constants."""

_SIDECAR: ContextVar[Mapping[str, NDArray[Any]]] = ContextVar("sidecar", default={})


def storage_dtype(dtype: str) -> np.dtype[Any]:
    """The NumPy dtype of a tensor's memory; bfloat16 is stored as uint16."""
    return np.dtype("uint16" if dtype == "bfloat16" else dtype)


@dataclass(frozen=True, eq=False)
class TensorData:
    """A read-only constant array with its dtype, compared by content.

    `array` is `None` for a constant that was parsed without its sidecar: it can be printed and
    verified; an access to its values raises an error with its name.
    """

    dtype: str
    shape: tuple[int, ...]
    array: NDArray[Any] | None = field(repr=False)
    key: str = ""
    known_digest: str = ""
    _digest: str = field(default="", init=False, repr=False)
    _number: int | None = field(default=None, init=False, repr=False)

    @staticmethod
    def of(array: NDArray[Any], dtype: str | None = None, key: str = "") -> TensorData:
        """Wrap an array, without a copy."""
        data = np.ascontiguousarray(array).reshape(np.shape(array))
        return TensorData(dtype or str(data.dtype), data.shape, data, key)

    @property
    def digest(self) -> str:
        """The SHA-256 of dtype, shape and content, computed once."""
        if self.array is None:
            return self.known_digest
        if not self.is_hashed:  # `cached_property` in Python 3.11 shares one lock
            object.__setattr__(self, "_digest", self._hash(self.array))
        return self._digest

    @property
    def is_hashed(self) -> bool:
        """Whether `digest` is cached or cheap to compute."""
        return self.array is None or self._digest != ""

    def _hash(self, array: NDArray[Any]) -> str:
        found = hashlib.sha256(f"{self.dtype}{self.shape}".encode())  # processors have code for it
        found.update(memoryview(cast(Any, _bytes(array))))
        return found.hexdigest()[:32]

    @property
    def values(self) -> NDArray[Any]:
        """The array; raises ValueError if the data is not available."""
        if self.array is None:
            raise ValueError(
                f"expected the data of constant '{self.key}' in a sidecar file, got none"
            )
        return self.array

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, TensorData):
            return False
        if (self.dtype, self.shape) != (other.dtype, other.shape):
            return False
        if self.array is None or other.array is None:
            return self.digest == other.digest
        return hash(self) == hash(other) and np.array_equal(_bytes(self.array), _bytes(other.array))

    def __hash__(self) -> int:
        """Hash a sample of the content, so that a lookup does not read all constants.

        A lookup of a constant without data therefore finds only constants without data.
        """
        if self._number is None:
            content = self.known_digest if self.array is None else _sample(self.array)
            object.__setattr__(self, "_number", hash((self.dtype, self.shape, content)))
        assert self._number is not None
        return self._number

    @property
    def is_inline(self) -> bool:
        """Whether the values are printed inline."""
        return self.array is not None and self.array.size <= INLINE_ELEMENTS

    @property
    def label(self) -> str:
        """The key of the data in a sidecar file."""
        return self.key or self.digest[:12]

    def number(self) -> int | float | bool:
        """The value of a constant of one element; raises ValueError if the data is not available.

        A bfloat16 is returned as its bits.
        """
        return self.values.reshape(-1)[0].item()

    def tensor_type(self) -> TensorType:
        """The type of the constant."""
        return TensorType.of(self.shape, element_type(self.dtype))


def _bytes(array: NDArray[Any]) -> NDArray[np.uint8]:
    return array.reshape(-1).view(np.uint8)


def _sample(array: NDArray[Any]) -> bytes:
    """The bytes of elements at regular positions of an array."""
    flat = array.reshape(-1)
    return flat[:: max(1, flat.size // SAMPLED_ELEMENTS)].tobytes()


@contextmanager
def sidecar(arrays: Mapping[str, NDArray[Any]]) -> Generator[None]:
    """Within this context, parsed constants take their data from `arrays` by key."""
    token = _SIDECAR.set(arrays)
    try:
        yield
    finally:
        _SIDECAR.reset(token)


@irdl_attr_definition
class DataAttr(Data[TensorData]):
    """The value of a constant tensor.

    Small: ``#relax.data<float32, [2], [1.0, nan]>``. Large: ``#relax.data<float32, [128, 784],
    "w0", "9f…">``.
    """

    name = "relax.data"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> TensorData:
        with parser.in_angle_brackets():
            position = parser.pos
            dtype = parser.parse_identifier()
            if dtype not in DTYPES:
                parser.raise_error(f"expected a dtype, got '{dtype}'", position)
            parser.parse_punctuation(",")
            shape = tuple(
                parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _size(parser))
            )
            parser.parse_punctuation(",")
            if (key := parser.parse_optional_str_literal()) is None:
                return _parse_inline(parser, dtype, shape)
            parser.parse_punctuation(",")
            return _from_sidecar(parser, dtype, shape, key, parser.parse_str_literal())

    def print_parameter(self, printer: Printer) -> None:
        data = self.data
        with printer.in_angle_brackets():
            printer.print_string(f"{data.dtype}, {list(data.shape)}, ")
            if data.is_inline and data.array is not None:
                printer.print_string(
                    "[" + ", ".join(_literal(v) for v in data.array.reshape(-1)) + "]"
                )
            else:
                printer.print_string_literal(data.label)
                printer.print_string(", ")
                printer.print_string_literal(data.digest)


def _size(parser: AttrParser) -> int:
    return parser.parse_integer(allow_boolean=False, allow_negative=False)


def _literal(value: Any) -> str:
    if not isinstance(value, np.floating):
        return str(int(value))
    text = repr(float(cast("np.floating[Any]", value)))
    if text in ("nan", "inf", "-inf"):
        return f'"{text}"'
    mantissa, exponent, power = text.partition("e")
    return f"{mantissa}{'' if '.' in mantissa else '.0'}{exponent}{power}"


def _parse_inline(parser: AttrParser, dtype: str, shape: tuple[int, ...]) -> TensorData:
    def element() -> float | int:
        position = parser.pos
        if (special := parser.parse_optional_str_literal()) is None:
            return parser.parse_number(allow_boolean=False)
        if special not in ("nan", "inf", "-inf"):
            parser.raise_error(f"expected a number, nan, inf or -inf, got '{special}'", position)
        return float(special)

    position = parser.pos
    values = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, element)
    if len(values) != prod(shape):
        parser.raise_error(
            f"expected {prod(shape)} values for shape {list(shape)}, got {len(values)}", position
        )
    for value in values:
        if not _fits(value, storage_dtype(dtype)):
            parser.raise_error(f"expected values of {dtype}, got {value}", position)
    return TensorData(dtype, shape, np.array(values, storage_dtype(dtype)).reshape(shape))


def _fits(value: float | int, dtype: np.dtype[Any]) -> bool:
    if dtype.kind == "f":
        return True
    if dtype.kind == "b":
        return value in (0, 1)
    limits = np.iinfo(dtype)
    return isinstance(value, int) and limits.min <= value <= limits.max


def _from_sidecar(
    parser: AttrParser, dtype: str, shape: tuple[int, ...], key: str, digest: str
) -> TensorData:
    array = _SIDECAR.get().get(key)
    data = TensorData(dtype, shape, array, key, digest)
    if array is not None and (
        (array.shape, array.dtype) != (shape, storage_dtype(dtype)) or data.digest != digest
    ):
        parser.raise_error(
            f"expected the sidecar's '{key}' to be {dtype} of shape {list(shape)} with hash "
            f"{digest}, got {array.dtype} of shape {list(array.shape)} with hash {data.digest}"
        )
    return data


@irdl_op_definition
class ConstantOp(IRDLOperation):
    """A constant tensor: ``%0 = relax.constant <float32, [], [1.0]> : !relax.tensor<[], f32>``."""

    name = "relax.constant"
    value = prop_def(DataAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure(), ConstantLike())
    assembly_format = "$value attr-dict `:` type($result)"

    def __init__(self, data: TensorData):
        super().__init__(properties={"value": DataAttr(data)}, result_types=[data.tensor_type()])

    def verify_(self) -> None:
        expected = self.value.data.tensor_type()
        if self.result.type != expected:
            raise VerifyException(f"expected a constant of type {expected}, got {self.result.type}")
