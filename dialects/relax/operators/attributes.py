"""Attributes of graph operators: conversion between Python values and properties, by kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from typing_extensions import TypeVar
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    f64,
    i1,
    i64,
)
from xdsl.ir import Attribute
from xdsl.irdl import AttrConstraint, IntConstraint, VerificationContext
from xdsl.utils.exceptions import VerifyException

from ...dtypes import dtype_name, element_type, is_element_type
from ...int_expr import IntExpr
from ...sym import ExprAttr, expr_array, exprs_of

REQUIRED: Any = object()
"""The default of an attribute without one, which calls must pass."""


@dataclass(frozen=True)
class AttributeKind(AttrConstraint[Attribute], ABC):
    """A kind of attribute; as a constraint, the attributes that its property may have.

    A value equal to `default` is not stored, so that equal operators have equal properties.
    """

    default: Any = REQUIRED

    def is_left_out(self, value: Any) -> bool:
        """Whether a value means that the call omits this attribute, if it is optional."""
        return value is None and self.default is None

    @property
    @abstractmethod
    def what(self) -> str:
        """The accepted values, for messages."""

    @abstractmethod
    def encode(self, value: Any) -> Attribute:
        """Convert a Python value to a property; raises TypeError or ValueError for other values."""

    @abstractmethod
    def decode(self, attribute: Attribute) -> Any:
        """Convert a property to a Python value; raises TypeError for any other attribute."""

    def mapping_type_vars(
        self, type_var_mapping: Mapping[TypeVar, AttrConstraint | IntConstraint]
    ) -> AttributeKind:
        return self

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        try:
            self.decode(attr)
        except (TypeError, ValueError):
            raise VerifyException(f"expected {self.what}, got {attr}") from None


def _type_of(attribute: Any) -> Attribute:
    return attribute.type


def plain_number(value: Any) -> Any:
    """Unwrap a number, such as a NumPy scalar, ``T.float32(1)`` or ``relax.PrimValue(1)``."""
    if isinstance(value, IntExpr):
        return value.constant if value.is_constant else value
    return value.item() if hasattr(value, "item") else getattr(value, "value", value)


def dtype_of_number(value: Any) -> str | None:
    """The dtype of a typed number such as ``T.float32(1)``; `None` for numbers of Python."""
    return (
        str(value.dtype) if hasattr(value, "dtype") and not getattr(value, "weak", False) else None
    )


def _integer(value: Any) -> int:
    value = plain_number(value)
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError
    return value.__index__()


@dataclass(frozen=True)
class Int(AttributeKind):
    """An integer, held as i64."""

    @property
    def what(self) -> str:
        return "an int"

    def encode(self, value: Any) -> Attribute:
        return IntegerAttr(_integer(value), i64)

    def decode(self, attribute: Attribute) -> Any:
        if isinstance(attribute, IntegerAttr) and _type_of(attribute) == i64:
            return attribute.value.data
        raise TypeError


@dataclass(frozen=True)
class Bool(AttributeKind):
    """A truth value, held as i1."""

    @property
    def what(self) -> str:
        return "a bool"

    def encode(self, value: Any) -> Attribute:
        value = plain_number(value)
        if value not in (True, False):
            raise TypeError
        return IntegerAttr(int(value), i1)

    def decode(self, attribute: Attribute) -> Any:
        if isinstance(attribute, IntegerAttr) and _type_of(attribute) == i1:
            return bool(attribute.value.data)
        raise TypeError


@dataclass(frozen=True)
class Number(AttributeKind):
    """An int (i64) or a float (f64); an int that equals a default that is a float is this one."""

    @property
    def what(self) -> str:
        return "a number"

    def encode(self, value: Any) -> Attribute:
        value = plain_number(value)
        if isinstance(self.default, float) and value == self.default:
            value = float(value)
        if isinstance(value, float):
            return FloatAttr(value, f64)
        return IntegerAttr(int(value) if isinstance(value, bool) else _integer(value), i64)

    def decode(self, attribute: Attribute) -> Any:
        if isinstance(attribute, IntegerAttr | FloatAttr) and _type_of(attribute) in (i64, f64):
            return cast("IntegerAttr[Any] | FloatAttr[Any]", attribute).value.data
        raise TypeError


@dataclass(frozen=True)
class Text(AttributeKind):
    """One of several strings."""

    choices: tuple[str, ...] = ()

    @property
    def what(self) -> str:
        return f"one of {', '.join(self.choices)}" if self.choices else "a string"

    def encode(self, value: Any) -> Attribute:
        if not isinstance(value, str) or (self.choices and value not in self.choices):
            raise TypeError
        return StringAttr(value)

    def decode(self, attribute: Attribute) -> Any:
        if isinstance(attribute, StringAttr) and (
            not self.choices or attribute.data in self.choices
        ):
            return attribute.data
        raise TypeError


@dataclass(frozen=True)
class DType(AttributeKind):
    """The name of a dtype, held as an element type."""

    @property
    def what(self) -> str:
        return "a dtype"

    def encode(self, value: Any) -> Attribute:
        own = getattr(value, "dtype", None)  # of a type such as relax.PrimType("float32")
        return element_type(own if isinstance(own, str) else str(value))

    def decode(self, attribute: Attribute) -> Any:
        if is_element_type(attribute):
            return dtype_name(attribute)
        raise TypeError


@dataclass(frozen=True)
class OutDType(DType):
    """The optional dtype of a result; TVM's scripts may use a keyword for the default."""

    default: Any = None

    def is_left_out(self, value: Any) -> bool:
        return value in (None, "", "void")


@dataclass(frozen=True)
class Ints(AttributeKind):
    """A sequence of integers; a single integer is a sequence of one."""

    @property
    def what(self) -> str:
        return "ints"

    def encode(self, value: Any) -> Attribute:
        values = cast("Sequence[Any]", value) if isinstance(value, list | tuple) else (value,)
        return DenseArrayBase.from_list(i64, [_integer(v) for v in values])

    def decode(self, attribute: Attribute) -> Any:
        array = cast("DenseArrayBase[Any]", attribute)
        if isinstance(attribute, DenseArrayBase) and array.elt_type == i64:
            return tuple(array.get_values())
        raise TypeError


@dataclass(frozen=True)
class SpatialInts(Ints):
    """An integer for each spatial dim, as many as the default has; one integer is repeated.

    Those below `least` are unchanged, for the message of the operator.
    """

    least: int = 1

    def encode(self, value: Any) -> Attribute:
        values = super().decode(super().encode(value))
        valid = all(v >= self.least for v in values)
        return super().encode(self._complete(values) if valid else values)

    def _complete(self, values: tuple[int, ...]) -> tuple[int, ...]:
        return values * len(self.default) if len(values) == 1 else values


@dataclass(frozen=True)
class Padding(SpatialInts):
    """The padding before each spatial dim and then after each; one or half of them are repeated."""

    least: int = 0

    def _complete(self, values: tuple[int, ...]) -> tuple[int, ...]:
        half = len(self.default) // 2
        return values * 2 if len(values) == half else super()._complete(values)


@dataclass(frozen=True)
class Floats(AttributeKind):
    """A sequence of floats; a single number is a sequence of one."""

    @property
    def what(self) -> str:
        return "numbers"

    def encode(self, value: Any) -> Attribute:
        values = cast("Sequence[Any]", value) if isinstance(value, list | tuple) else (value,)
        return DenseArrayBase.from_list(f64, [float(plain_number(v)) for v in values])

    def decode(self, attribute: Attribute) -> Any:
        array = cast("DenseArrayBase[Any]", attribute)
        if isinstance(attribute, DenseArrayBase) and array.elt_type == f64:
            return tuple(array.get_values())
        raise TypeError


@dataclass(frozen=True)
class Exprs(AttributeKind):
    """A shape, or other integers over the symbols of the function: a tuple of `IntExpr`."""

    @property
    def what(self) -> str:
        return "a tuple of ints or expressions of symbols"

    def encode(self, value: Any) -> Attribute:
        values: Any = getattr(value, "values", value)
        if not isinstance(values, list | tuple):
            raise TypeError
        return expr_array([_expression(v) for v in cast("Sequence[Any]", values)])

    def decode(self, attribute: Attribute) -> Any:
        array = cast("ArrayAttr[Any]", attribute)
        if isinstance(attribute, ArrayAttr) and all(
            isinstance(a, ExprAttr) and not a.data.args() for a in array.data
        ):
            return exprs_of(array)
        raise TypeError


@dataclass(frozen=True)
class SpatialExprs(Exprs):
    """A number for each of `count` spatial dims, which may use symbols; one number is repeated."""

    count: int = 1

    def encode(self, value: Any) -> Attribute:
        if not isinstance(getattr(value, "values", value), list | tuple):
            value = (value,) * self.count
        return super().encode(value)


@dataclass(frozen=True)
class Scalar(AttributeKind):
    """A number: a float, or an integer over the symbols of the function, an `IntExpr`."""

    @property
    def what(self) -> str:
        return "a number or an expression of symbols"

    def encode(self, value: Any) -> Attribute:
        value = plain_number(value)
        return FloatAttr(value, f64) if isinstance(value, float) else ExprAttr(_expression(value))

    def decode(self, attribute: Attribute) -> Any:
        if isinstance(attribute, FloatAttr) and _type_of(attribute) == f64:
            return cast("FloatAttr[Any]", attribute).value.data
        if isinstance(attribute, ExprAttr) and not attribute.data.args():
            return attribute.data
        raise TypeError


def _expression(value: Any) -> IntExpr:
    value = plain_number(value)
    inner = getattr(value, "expr", value)
    return inner if isinstance(inner, IntExpr) else IntExpr.of(_integer(inner))
