"""Activation functions, and softmax along an axis."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce, wraps
from operator import mul
from typing import TypeAlias

from ....dialects.dtypes import FLOATS
from ....dialects.int_expr import ONE
from ..context import Context
from ..formula import Formula
from ..registry import MICROSOFT, converts
from ..tensor import Tensor, axis_of

Activation: TypeAlias = Callable[..., Formula]

SELU = (1.67326319217681884765625, 1.05070102214813232421875)
"""Alpha and gamma of selu, in float32."""


def activation(*names: str, since: int = 1, domain: str = "") -> Callable[[Activation], Activation]:
    """Register a formula of one tensor, which is computed at least in float32."""

    def register(formula: Activation) -> Activation:
        @wraps(formula)
        def convert(ctx: Context, x: Tensor, **attributes: float) -> Tensor:
            found = formula(Formula.wide(ctx, x), **attributes)
            return ctx.astype(found.tensor, x.dtype)

        convert.__annotations__ = {**formula.__annotations__, "x": "Tensor", "return": "Tensor"}
        converts(*names, since=since, domain=domain)(convert)
        return formula

    return register


@converts("Relu")
def relu(ctx: Context, x: Tensor) -> Tensor:
    """``max(x, 0)``."""
    return ctx.emit("nn.relu", x)


@converts("LeakyRelu")
def leaky_relu(ctx: Context, x: Tensor, *, alpha: float = 0.01) -> Tensor:
    """`x`, or ``alpha * x`` below 0."""
    return ctx.emit("nn.leakyrelu", x, alpha=alpha)


@converts("PRelu")
def prelu_of_channels(ctx: Context, x: Tensor, slope: Tensor) -> Tensor:
    """`x`, or below 0 `x` times the slope of its channel, or the only slope."""
    if slope.rank == 1 and slope.dims[0] != ONE and x.rank > 1:
        slope = ctx.reshape(slope, [*slope.dims, *[ONE] * (x.rank - 2)])
    return prelu(ctx, x, slope)


@converts("PRelu", since=7)
def prelu(ctx: Context, x: Tensor, slope: Tensor) -> Tensor:
    """`x`, or below 0 `x` times a slope that is broadcast."""
    data = Formula(ctx, x)
    return (data * slope).where(data < 0, data).tensor


@activation("ThresholdedRelu")
def thresholded_relu(x: Formula, *, alpha: float = 1.0) -> Formula:
    """`x` where it is above `alpha`, else 0."""
    return x.where(x > alpha, 0)


@activation("Elu")
def elu(x: Formula, *, alpha: float = 1.0) -> Formula:
    """`x`, or ``alpha * (exp(x) - 1)`` below 0."""
    return (x.apply("expm1") * alpha).where(x < 0, x)


@activation("Celu")
def celu(x: Formula, *, alpha: float = 1.0) -> Formula:
    """`x`, or ``alpha * (exp(x / alpha) - 1)`` below 0."""
    return x.at_least(0) + ((x / alpha).apply("expm1") * alpha).at_most(0)


@activation("Selu")
def selu_of_opset_1(x: Formula, *, alpha: float = 1.6732, gamma: float = 1.0507) -> Formula:
    """``gamma * elu(x)``."""
    return elu(x, alpha=alpha) * gamma


@activation("Selu", since=6)
def selu(x: Formula, *, alpha: float = SELU[0], gamma: float = SELU[1]) -> Formula:
    """``gamma * elu(x)``."""
    return elu(x, alpha=alpha) * gamma


@activation("HardSigmoid")
def hard_sigmoid(x: Formula, *, alpha: float = 0.2, beta: float = 0.5) -> Formula:
    """``alpha * x + beta`` between 0 and 1."""
    return (x * alpha + beta).at_least(0).at_most(1)


@activation("HardSwish")
def hard_swish(x: Formula) -> Formula:
    """``x * hard_sigmoid(x)`` with slope 1 / 6."""
    return x * hard_sigmoid(x, alpha=1 / 6)


@activation("Softplus")
def softplus(x: Formula) -> Formula:
    """``log(1 + exp(x))``."""
    # Above the threshold the difference from `x` is less than a rounding error.
    return x.apply("nn.softplus", threshold=40.0 if x.dtype == "float64" else 20.0)


@activation("ParametricSoftplus")
def parametric_softplus(x: Formula, *, alpha: float = 1.0, beta: float = 1.0) -> Formula:
    """``alpha * log(1 + exp(beta * x))``; an experimental operator of early opsets."""
    return softplus(x * beta) * alpha


@activation("Softsign")
def softsign(x: Formula) -> Formula:
    """``x / (1 + abs(x))``."""
    return x / (x.apply("abs") + 1)


@activation("Affine")
def affine(x: Formula, *, alpha: float = 1.0, beta: float = 0.0) -> Formula:
    """``alpha * x + beta``; an experimental operator of early opsets."""
    return x * alpha + beta


@activation("ScaledTanh")
def scaled_tanh(x: Formula, *, alpha: float = 1.0, beta: float = 1.0) -> Formula:
    """``alpha * tanh(beta * x)``; an experimental operator of early opsets."""
    return (x * beta).apply("tanh") * alpha


@activation("Shrink")
def shrink(x: Formula, *, bias: float = 0.0, lambd: float = 0.5) -> Formula:
    """`x` moved by `bias` towards 0 beyond `lambd` and ``-lambd``, and 0 between."""
    wide = x if x.dtype in FLOATS else x.to("float64")
    below = (wide + bias).where(wide < -lambd, 0)
    return (wide - bias).where(wide > lambd, below)


@converts("Gelu")
def gelu(ctx: Context, x: Tensor, *, approximate: str = "none") -> Tensor:
    """``x * Φ(x)`` by the error function, or by tanh."""
    if approximate not in ("none", "tanh"):
        raise ValueError(f"expected approximate to be none or tanh, got '{approximate}'")
    return ctx.emit("nn.gelu_tanh" if approximate == "tanh" else "nn.gelu", x)


@converts("Gelu", "BiasGelu", domain=MICROSOFT)
def bias_gelu(ctx: Context, x: Tensor, bias: Tensor | None = None) -> Tensor:
    """Gelu by the error function, of `x` plus a bias."""
    return gelu(ctx, x if bias is None else ctx.elementwise("add", x, bias))


@converts("FastGelu", domain=MICROSOFT)
def fast_gelu(ctx: Context, x: Tensor, bias: Tensor | None = None) -> Tensor:
    """Gelu by tanh, of `x` plus a bias."""
    summed = x if bias is None else ctx.elementwise("add", x, bias)
    return gelu(ctx, summed, approximate="tanh")


@activation("Mish")
def mish(x: Formula) -> Formula:
    """``x * tanh(softplus(x))``."""
    return x * softplus(x).apply("tanh")


@converts("Swish")
def swish(ctx: Context, x: Tensor, *, alpha: float = 1.0) -> Tensor:
    """``x * sigmoid(alpha * x)``."""
    if alpha == 1:
        return ctx.emit("nn.silu", x)
    data = Formula.wide(ctx, x)
    return (data * (data * alpha).apply("sigmoid")).to(x.dtype).tensor


@converts("QuickGelu", domain=MICROSOFT)
def quick_gelu(ctx: Context, x: Tensor, *, alpha: float = 1.702) -> Tensor:
    """``x * sigmoid(alpha * x)``, an approximation of gelu."""
    return swish(ctx, x, alpha=alpha)


def _along(operator: str) -> Callable[..., Tensor]:
    def convert(ctx: Context, x: Tensor, *, axis: int = -1) -> Tensor:
        if not x.rank:
            return ctx.reshape(convert(ctx, ctx.reshape(x, [ONE])), [])
        axis_of(axis, x.rank)  # raises an error for an axis that the tensor does not have
        return ctx.emit(operator, x, axis=axis)

    return convert


def hardmax(ctx: Context, x: Tensor, *, axis: int = -1) -> Tensor:
    """1 at the first largest element along an axis, and 0 elsewhere."""
    place = axis_of(axis, x.rank)
    if x.dims[place].is_constant:
        first = ctx.emit("argmax", x, axis=place)
        options = {"depth": x.dims[place].offset, "axis": place, "dtype": x.dtype}
        return ctx.emit("one_hot", first, on_value=1.0, off_value=0.0, **options)
    dims = [d if a == place else ONE for a, d in enumerate(x.dims)]
    first = ctx.emit("argmax", x, axis=place, keepdims=True)
    indices = ctx.reshape(ctx.emit("arange", start=0, end=x.dims[place], dtype="int64"), dims)
    return ctx.astype(ctx.elementwise("equal", indices, first), x.dtype)


def _of_rows(converter: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A converter for opsets before 13: all dims from `axis` on are one row."""

    def convert(ctx: Context, x: Tensor, *, axis: int = 1) -> Tensor:
        split = axis_of(axis, x.rank) if axis != x.rank else axis
        if split == x.rank - 1:
            return converter(ctx, x, axis=-1)
        sizes = [reduce(mul, part, ONE) for part in (x.dims[:split], x.dims[split:])]
        return ctx.reshape(converter(ctx, ctx.reshape(x, sizes), axis=-1), x.dims)

    return convert


for _name, _converter in {
    "Softmax": _along("nn.softmax"),
    "LogSoftmax": _along("nn.log_softmax"),
    "Hardmax": hardmax,
}.items():
    converts(_name)(_of_rows(_converter))
    converts(_name, since=13)(_converter)
