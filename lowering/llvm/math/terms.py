"""Formulas over LLVM values: floats, their bits and masks, in one lane or many.

A formula is written once, with Python's operators, and gives the same instructions for f32, f64 and
vectors of them. Operations on floats are rounded one by one and never reordered: only `fused` lets
the target choose between one rounding and two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from xdsl.dialects import llvm
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, VectorType, f32, f64, i32
from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects import llvm_ext
from ....dialects.llvm_ext import CastKind, FCmpPredicate, FCmpPredicateAttr
from ....dialects.llvm_ext.types import element_type, like
from ..builder import FunctionBuilder
from ..integers import combine, compare, select
from ..types import EQ, NE, SLT, Properties, cast_kind, float_attr, lane_count, mask_like
from .formats import DOUBLE, SINGLE, Format


@dataclass(frozen=True, eq=False, slots=True)
class Term:
    """A value in a function that is being built."""

    f: FunctionBuilder
    value: SSAValue

    def _emit(
        self,
        kind: type[Operation],
        args: Sequence[SSAValue],
        type_: Attribute,
        properties: Properties | None = None,
    ) -> SSAValue:
        return self.f.emit(kind, args, type_, properties or {})

    def _cast(self, kind: CastKind, element: Attribute) -> SSAValue:
        type_ = like(self.value.type, element)
        return self._emit(llvm_ext.CastOp, (self.value,), type_, cast_kind(kind))


class Mask(Term):
    """A condition in each lane."""

    __slots__ = ()

    def __and__(self, other: Mask) -> Mask:
        return Mask(self.f, combine(self.f, llvm.AndOp, self.value, other.value))

    def __or__(self, other: Mask) -> Mask:
        return Mask(self.f, combine(self.f, llvm.OrOp, self.value, other.value))

    def choose(self, then: Real, otherwise: Real | float) -> Real:
        """`then` where it holds, else `otherwise`."""
        other = then.constant(otherwise)
        return Real(self.f, select(self.f, self.value, then.value, other.value))

    def choose_number(self, then: float, otherwise: Real) -> Real:
        """A number where it holds, else `otherwise`."""
        return self.choose(otherwise.constant(then), otherwise)

    def any(self) -> SSAValue:
        """Whether it holds in some lane."""
        if not lane_count(self.value.type):
            return self.value
        return self.f.intrinsic(
            "llvm.vector.reduce.or", (self.value,), element_type(self.value.type)
        )


class Bits(Term):
    """An integer in each lane."""

    __slots__ = ()

    def _with(self, kind: type[Operation], other: Bits | int) -> Bits:
        value = self.f.integer(other, self.value.type) if isinstance(other, int) else other.value
        return Bits(self.f, combine(self.f, kind, self.value, value))

    def __add__(self, other: Bits | int) -> Bits:
        return self._with(llvm.AddOp, other)

    def __sub__(self, other: Bits | int) -> Bits:
        return self._with(llvm.SubOp, other)

    def __mul__(self, other: Bits | int) -> Bits:
        return self._with(llvm.MulOp, other)

    def __and__(self, other: Bits | int) -> Bits:
        return self._with(llvm.AndOp, other)

    def __or__(self, other: Bits | int) -> Bits:
        return self._with(llvm.OrOp, other)

    def __xor__(self, other: Bits | int) -> Bits:
        return self._with(llvm.XOrOp, other)

    def __lshift__(self, count: int) -> Bits:
        return self._with(llvm.ShlOp, count)

    def __rshift__(self, count: int) -> Bits:
        """Shifted right, with the sign."""
        return self._with(llvm.AShrOp, count)

    def equals(self, number: int) -> Mask:
        """Where it is a number."""
        return Mask(self.f, compare(self.f, EQ, self.value, self.f.integer(number, self._type)))

    def differs(self, number: int) -> Mask:
        """Where it is not a number."""
        return Mask(self.f, compare(self.f, NE, self.value, self.f.integer(number, self._type)))

    def is_negative(self) -> Mask:
        """Where the highest bit is on."""
        return Mask(self.f, compare(self.f, SLT, self.value, self.f.integer(0, self._type)))

    @property
    def _type(self) -> Attribute:
        return self.value.type

    def real(self) -> Real:
        """The float with these bits."""
        element = f32 if element_type(self.value.type) == i32 else f64
        return Real(self.f, self._cast(CastKind.BITCAST, element))

    def narrow(self) -> Bits:
        """The low 32 bits of each lane."""
        return Bits(self.f, self._emit(llvm.TruncOp, (self.value,), like(self.value.type, i32)))


class Real(Term):
    """An f32 or f64 in each lane; comparisons are false for NaN."""

    __slots__ = ()

    @property
    def format(self) -> Format:
        """The format of a lane."""
        return DOUBLE if element_type(self.value.type) == f64 else SINGLE

    def constant(self, number: Real | float) -> Real:
        """A number in every lane, rounded to the format."""
        if isinstance(number, Real):
            return number
        type_ = self.value.type
        return Real(self.f, self.f.constant(_constant(float(number), type_), type_))

    def _with(self, kind: type[Operation], other: Real | float, *, swapped: bool = False) -> Real:
        args = (self.value, self.constant(other).value)
        return Real(self.f, self._emit(kind, args[::-1] if swapped else args, self.value.type, {}))

    def __add__(self, other: Real | float) -> Real:
        return self._with(llvm.FAddOp, other)

    def __sub__(self, other: Real | float) -> Real:
        return self._with(llvm.FSubOp, other)

    def __mul__(self, other: Real | float) -> Real:
        return self._with(llvm.FMulOp, other)

    def __truediv__(self, other: Real | float) -> Real:
        return self._with(llvm.FDivOp, other)

    def __radd__(self, other: float) -> Real:
        return self._with(llvm.FAddOp, other, swapped=True)

    def __rsub__(self, other: float) -> Real:
        return self._with(llvm.FSubOp, other, swapped=True)

    def __rmul__(self, other: float) -> Real:
        return self._with(llvm.FMulOp, other, swapped=True)

    def __rtruediv__(self, other: float) -> Real:
        return self._with(llvm.FDivOp, other, swapped=True)

    def __neg__(self) -> Real:
        return Real(self.f, self._emit(llvm.FNegOp, (self.value,), self.value.type))

    def _compare(self, predicate: FCmpPredicate, other: Real | float) -> Mask:
        args = (self.value, self.constant(other).value)
        properties: Properties = {"predicate": FCmpPredicateAttr(predicate)}
        type_ = mask_like(self.value.type)
        return Mask(self.f, self._emit(llvm_ext.FCmpOp, args, type_, properties))

    def __lt__(self, other: Real | float) -> Mask:
        return self._compare(FCmpPredicate.OLT, other)

    def __gt__(self, other: Real | float) -> Mask:
        return self._compare(FCmpPredicate.OGT, other)

    def equals(self, other: Real | float) -> Mask:
        """Where both are equal; 0 and -0 are."""
        return self._compare(FCmpPredicate.OEQ, other)

    def differs(self, other: Real | float) -> Mask:
        """Where they are different or one is NaN."""
        return self._compare(FCmpPredicate.UNE, other)

    def at_least(self, bound: float) -> Real:
        """The larger of it and a number; NaN stays."""
        return (self < bound).choose_number(bound, self)

    def at_most(self, bound: float) -> Real:
        """The smaller of it and a number; NaN stays."""
        return (self > bound).choose_number(bound, self)

    def _intrinsic(self, name: str, *others: Real) -> Real:
        args = (self.value, *(o.value for o in others))
        return Real(self.f, self.f.intrinsic(f"llvm.{name}", args, self.value.type))

    def absolute(self) -> Real:
        """Without its sign."""
        return self._intrinsic("fabs")

    def root(self) -> Real:
        """The square root."""
        return self._intrinsic("sqrt")

    def truncated(self) -> Real:
        """Rounded to an integer, towards 0."""
        return self._intrinsic("trunc")

    def with_sign_of(self, other: Real) -> Real:
        """Its magnitude with another sign."""
        return self._intrinsic("copysign", other)

    def times_plus(self, factor: Real, term: Real) -> Real:
        """``self * factor + term`` rounded once, on every target."""
        return self._intrinsic("fma", factor, term)

    def bits(self) -> Bits:
        """Its bits as an integer."""
        return Bits(self.f, self._cast(CastKind.BITCAST, self.format.integer))

    def double(self) -> Real:
        """As f64."""
        return Real(self.f, self._cast(CastKind.FPEXT, f64))

    def single(self) -> Real:
        """Rounded to f32."""
        return Real(self.f, self._cast(CastKind.FPTRUNC, f32))


def fused(x: Real, y: Real | float, z: Real | float) -> Real:
    """``x * y + z``, rounded once where that is as fast as one operation, else twice."""
    args = (x.value, x.constant(y).value, x.constant(z).value)
    return Real(x.f, x.f.intrinsic("llvm.fmuladd", args, x.value.type))


LONG = 8
"""Coefficients from which a polynomial is computed in halves."""


def polynomial(x: Real, coefficients: Sequence[float]) -> Real:
    """``c0 + c1 x + c2 x² + …``, by Horner's scheme unless it is long."""
    if len(coefficients) < LONG:
        return _horner(x, coefficients)
    return in_halves(x, coefficients)


def in_halves(x: Real, coefficients: Sequence[float]) -> Real:
    """A polynomial as two, of its even and of its odd powers.

    In Horner's scheme each step waits for the one before, and rounds what that has rounded. Half as
    many steps take half the time and lose less, for one more multiplication.
    """
    square = x * x
    return fused(x, _horner(square, coefficients[1::2]), _horner(square, coefficients[::2]))


def _horner(x: Real, coefficients: Sequence[float]) -> Real:
    result = x.constant(coefficients[-1])
    for c in coefficients[-2::-1]:
        result = fused(result, x, c)
    return result


def small_integer(number: Bits, format: Format) -> Real:
    """An integer of few bits as a float; wide integers have no conversion in vectors everywhere."""
    shift = format.bits_of_power(format.fraction) + (1 << (format.fraction - 1))
    return (number + shift).real() - format.shift


@cache
def _constant(number: float, type_: Attribute) -> Attribute:
    if isinstance(type_, VectorType):
        return DenseIntOrFPElementsAttr.from_list(type_, [number])  # pyright: ignore
    return float_attr(number, type_)
