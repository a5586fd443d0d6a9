"""Formulas of complex numbers: parts, polar coordinates, arithmetic, comparisons."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from math import pi
from typing import Any

from ...emitter import Value
from ...unsupported import Unsupported
from ..complex_numbers import Complex, as_complex, is_complex, part_dtype, plus
from ..complex_operators import bilinear, of_complex
from ..context import Context
from ..formulas import Formula
from ..registry import CONVERTERS

_MOST_FACTORS = 64
"""The largest integral exponent that becomes multiplications."""


def _made(real: Formula, imag: Formula) -> Complex:
    return Complex(real.ctx, real.value, imag.value)


def _operands(ctx: Context, *values: Any) -> list[Complex]:
    """Operands with parts of the dtype of a complex result, else that of the operands."""
    if is_complex(ctx.result):
        dtype = part_dtype(ctx.result)
    else:
        dtypes = {v.dtype for v in values if isinstance(v, Complex)}
        dtype = "float64" if "float64" in dtypes else dtypes.pop()
    return [as_complex(ctx, v, dtype) for v in values]


@of_complex("aten.view_as_real.default")
def view_as_real(ctx: Context, x: Complex) -> Value:
    """The parts along a new last dim."""
    return x.pairs


@of_complex("aten.view_as_complex.default")
def view_as_complex(ctx: Context, x: Value) -> Complex:
    """The tensor whose last dim has the parts."""
    return Complex(ctx, pairs=x)


@of_complex("aten.complex.default")
def complex_(ctx: Context, real: Value, imag: Value) -> Complex:
    """Both parts as one tensor."""
    real, imag = (ctx.astype(part, part_dtype(ctx.result)) for part in (real, imag))
    return Complex(ctx, ctx.broadcast(real, ctx.dims), ctx.broadcast(imag, ctx.dims))


@of_complex("aten.polar.default")
def polar(ctx: Context, abs: Value, angle: Value) -> Complex:
    """The numbers of these magnitudes and angles."""
    size, turn = Formula(ctx, abs), Formula(ctx, angle)
    return _made(size * turn.op("cos"), size * turn.op("sin"))


@of_complex("aten.real.default")
def real(ctx: Context, x: Complex) -> Value:
    """The real part."""
    return x.real


@of_complex("aten.imag.default")
def imag(ctx: Context, x: Complex) -> Value:
    """The imaginary part."""
    return x.imag


@of_complex(
    "aten._conj.default",
    "aten._conj_physical.default",
    "aten.conj.default",
    "aten.conj_physical.default",
)
def conjugate(ctx: Context, x: Any) -> Any:
    """The imaginary part negated."""
    if not isinstance(x, Complex) or x.is_real:
        return x
    return Complex(ctx, x.real, ctx.op("negative", x.imag))


@of_complex("aten.resolve_conj.default", "aten.resolve_neg.default")
def resolved(ctx: Context, x: Any) -> Any:
    """The same values."""
    return x


@of_complex(
    "aten._to_copy.default", "aten.to.device", "aten.to.dtype", "aten.to.dtype_layout",
    "aten.to.other", "aten.type_as.default",
)  # fmt: skip
def to(ctx: Context, x: Any, *_: Any, **__: Any) -> Any:
    """The values in the dtype of the result; real numbers are the real parts."""
    if is_complex(ctx.result):
        return as_complex(ctx, x, part_dtype(ctx.result))
    return ctx.astype(x.real if isinstance(x, Complex) else x, ctx.dtype)


@of_complex("aten.ones_like.default", "aten.new_ones.default")
def ones(ctx: Context, x: Any, *_: Any, **__: Any) -> Any:
    """A tensor of ones."""
    dtype = part_dtype(ctx.result)
    return ctx.broadcast(ctx.number(1, dtype), ctx.symbols.dims(ctx.result))


@of_complex("aten.abs.default")
def absolute(ctx: Context, x: Complex) -> Value:
    """The magnitudes, without overflow of the squares."""
    return _size(x).value


def _size(x: Complex) -> Formula:
    a, b = (abs(part) for part in x.formulas)
    most, least = a.op("maximum", b), a.op("minimum", b)
    ratio = least / most
    found = most * (ratio * ratio + 1).op("sqrt")
    is_usual = (most > 0) & most.op("isfinite")
    return is_usual.where(found, most)


@of_complex("aten.angle.default")
def angle(ctx: Context, x: Any) -> Value:
    """The angles; of real numbers 0 or pi."""
    if isinstance(x, Complex):
        return ctx.op("atan2", x.imag, x.real)
    number = Formula(ctx, ctx.astype(x, ctx.dtype))
    chosen = (number < 0).where(number.number(pi), 0.0)
    return number.op("isnan").where(number, chosen).value


@of_complex("aten.exp.default")
def exp(ctx: Context, x: Complex) -> Complex:
    """``exp(x)``."""
    a, b = x.formulas
    size = a.op("exp")
    return _made(size * b.op("cos"), size * b.op("sin"))


@of_complex("aten.log.default")
def log(ctx: Context, x: Complex) -> Complex:
    """The logarithm with the imaginary part from -pi to pi."""
    return Complex(ctx, _size(x).op("log").value, ctx.op("atan2", x.imag, x.real))


@of_complex("aten.sgn.default")
def sign(ctx: Context, x: Complex) -> Complex:
    """The numbers of magnitude 1 with the same angles; 0 of 0."""
    size = _size(x)
    divisor = size.equals(0).where(size.number(1), size)
    return x.mapped(lambda part: ctx.op("divide", part, divisor.value))


@of_complex("aten.add.Tensor", "aten.add.Scalar")
def add(ctx: Context, x: Any, other: Any, alpha: Any = 1) -> Complex:
    """``x + alpha * other``."""
    x, other = _operands(ctx, x, other)
    return plus(x, _scaled(ctx, other, alpha))


@of_complex("aten.sub.Tensor", "aten.sub.Scalar")
def subtract(ctx: Context, x: Any, other: Any, alpha: Any = 1) -> Complex:
    """``x - alpha * other``."""
    return add(ctx, x, other, -alpha)


@of_complex("aten.rsub.Tensor", "aten.rsub.Scalar")
def reverse_subtract(ctx: Context, x: Any, other: Any, alpha: Any = 1) -> Complex:
    """``other - alpha * x``."""
    return add(ctx, other, x, -alpha)


def _scaled(ctx: Context, x: Complex, factor: Any) -> Complex:
    if factor == 1:
        return x
    if factor == -1:
        return x.mapped(lambda part: ctx.op("negative", part))
    return _product(x, as_complex(ctx, factor, x.dtype))


def _product(x: Complex, y: Complex) -> Complex:
    ctx = x.ctx
    return bilinear(lambda a, b: ctx.op("multiply", a, b), x, y)


@of_complex("aten.square.default")
def square(ctx: Context, x: Complex) -> Complex:
    """``x * x``."""
    return _product(x, x)


@of_complex("aten.addcmul.default")
def addcmul(ctx: Context, x: Any, tensor1: Any, tensor2: Any, value: Any = 1) -> Complex:
    """``x + value * tensor1 * tensor2``."""
    first, second = _operands(ctx, tensor1, tensor2)
    return add(ctx, x, _product(first, second), value)


@of_complex("aten.addcdiv.default")
def addcdiv(ctx: Context, x: Any, tensor1: Any, tensor2: Any, value: Any = 1) -> Complex:
    """``x + value * tensor1 / tensor2``."""
    return add(ctx, x, divide(ctx, tensor1, tensor2), value)


@of_complex("aten.div.Tensor", "aten.div.Scalar")
def divide(ctx: Context, x: Any, other: Any) -> Complex:
    """``x / other``, without overflow of the divisor's square."""
    dividend, divisor = _operands(ctx, x, other)
    if divisor.is_real:
        return dividend.mapped(lambda part: ctx.op("divide", part, divisor.real))
    c, d = divisor.formulas
    scale = abs(c).op("maximum", abs(d))
    c, d = c / scale, d / scale
    square = (c * c + d * d) * scale
    product = _product(dividend, _made(c, -d))
    return product.mapped(lambda part: ctx.op("divide", part, square.value))


@of_complex("aten.reciprocal.default")
def reciprocal(ctx: Context, x: Complex) -> Complex:
    """``1 / x``."""
    return divide(ctx, 1.0, x)


@of_complex("aten.pow.Tensor_Scalar")
def power(ctx: Context, x: Any, exponent: Any) -> Complex:
    """Integral powers, by multiplication."""
    if isinstance(exponent, complex) or exponent != int(exponent) or abs(exponent) > _MOST_FACTORS:
        raise Unsupported(
            f"expected an integral power of complex numbers, up to {_MOST_FACTORS}, got {exponent}",
            "use torch.exp(torch.log(x) * exponent)",
        )
    (x,) = _operands(ctx, x)
    powers = [x]
    for _ in range(abs(int(exponent)).bit_length() - 1):
        powers.append(_product(powers[-1], powers[-1]))
    chosen = [p for i, p in enumerate(powers) if abs(int(exponent)) >> i & 1]
    if not chosen:
        return Complex(ctx, ones(ctx, x))
    found = reduce(_product, chosen)
    return found if exponent > 0 else reciprocal(ctx, found)


def _comparison(operator: str, both: str) -> Callable[..., Value]:
    def convert(ctx: Context, x: Any, other: Any) -> Value:
        x, other = _operands(ctx, x, other)
        of_parts = [ctx.op(operator, x.real, other.real), ctx.op(operator, x.imag, other.imag)]
        return ctx.op(both, *of_parts)

    return convert


for _name, _operator, _both in (("eq", "equal", "logical_and"), ("ne", "not_equal", "logical_or")):
    of_complex(f"aten.{_name}.Tensor", f"aten.{_name}.Scalar")(_comparison(_operator, _both))


def _test(operator: str, both: str) -> Callable[..., Value]:
    def convert(ctx: Context, x: Complex) -> Value:
        return ctx.op(both, ctx.op(operator, x.real), ctx.op(operator, x.imag))

    return convert


for _name, _both in (("isfinite", "logical_and"), ("isinf", "logical_or"), ("isnan", "logical_or")):
    of_complex(f"aten.{_name}.default")(_test(_name, _both))


@of_complex("aten.linalg_vector_norm.default")
def vector_norm(ctx: Context, x: Complex, *args: Any, **kwargs: Any) -> Value:
    """The norm of the magnitudes."""
    return CONVERTERS["aten.linalg_vector_norm.default"](ctx, _size(x).value, *args, **kwargs)


@of_complex("aten.addmm.default", "aten.baddbmm.default", "aten.addmv.default")
def addmm(ctx: Context, x: Any, a: Any, b: Any, beta: Any = 1, alpha: Any = 1) -> Complex:
    """``beta * x + alpha * (a @ b)``."""
    bias, first, second = _operands(ctx, x, a, b)
    product = bilinear(lambda p, q: ctx.op("matmul", p, q), first, second)
    return plus(_scaled(ctx, product, alpha), _scaled(ctx, bias, beta))
