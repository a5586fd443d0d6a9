"""Cases of elementwise operators of one tensor, and of activation functions."""

from __future__ import annotations

import numpy as np
from drawing import ALL, FLOATS, INTEGERS, NUMBERS, Draw, as_dtype
from harness import Case, torch


def within(low: float, high: float, special: bool = True):
    """One operand in a range, and often close to 0 where the range has it."""

    def draw(d: Draw):
        shape = d.shape()
        if d.dtype not in FLOATS:
            return [d.array(shape, low, high, special=special)], {}
        values = d.numpy.uniform(low, high, shape)
        tiny = np.where(d.numpy.random(shape) < 0.3, values * 10.0 ** -d.integer(2, 6), values)
        values = np.where((tiny >= low) & (tiny <= high), tiny, values)
        rare = d.array(shape, low, high, "float64", special=True)
        values = np.where(np.isfinite(rare) & (rare != 0) | (not special), values, rare)
        return [as_dtype(values, d.dtype)], {}

    return draw


def named(name: str, low: float = -4, high: float = 4, dtypes=FLOATS, **options):
    """An operator whose PyTorch function has the same name."""
    return Case(
        f"relax.{name}", within(low, high), lambda x: getattr(torch, name)(x), dtypes, **options
    )


def leaky(d: Draw):
    arrays, _ = within(-4, 4)(d)
    return arrays, {"alpha": d.pick((0.01, 0.25))}


def softplus(d: Draw):
    arrays, _ = within(-30, 30)(d)
    return arrays, {"beta": d.pick((1.0, 2)), "threshold": d.pick((20.0, 5))}


def row(d: Draw):
    """Rows along some axis, of which one is all -inf."""
    shape = d.shape(1, 3, least=1)
    values = d.array(shape, -9, 9, "float64", special=d.chance(30))
    axis = d.axis(len(shape))
    if d.chance(30):
        np.moveaxis(values, axis, 0)[:, ...] = -np.inf
    return [as_dtype(values, d.dtype)], {"axis": axis}


functional = torch.nn.functional if torch is not None else None

CASES = (
    named("exp", -9, 9),
    named("expm1", -9, 9),
    named("log", 0, 9),
    named("log2", 0, 9),
    named("log1p", -1, 9),
    named("sqrt", 0, 9),
    named("rsqrt", 0, 9),
    named("sigmoid", -20, 20),
    named("sin", -20, 20),
    named("cos", -20, 20),
    named("tan", -1.5, 1.5),
    named("asin", -1, 1),
    named("acos", -1, 1),
    named("atan", -9, 9),
    named("sinh", -9, 9),
    named("cosh", -9, 9),
    named("tanh", -9, 9),
    named("asinh", -99, 99),
    named("acosh", 1, 99),
    named("atanh", -1, 1),
    named("erf"),
    named("negative", dtypes=NUMBERS),
    named("abs", dtypes=NUMBERS),
    named("square", dtypes=NUMBERS),
    named("sign", dtypes=NUMBERS),
    named("floor", -99, 99, dtypes=NUMBERS),
    named("ceil", -99, 99, dtypes=NUMBERS),
    named("trunc", -99, 99, dtypes=NUMBERS),
    Case(
        "relax.round",
        lambda d: (
            ([as_dtype(np.round(d.array(d.shape(), -9, 9, "float64") * 2) / 2, d.dtype)], {})
            if d.dtype in FLOATS
            else within(-9, 9)(d)
        ),
        lambda x: torch.round(x),
        NUMBERS,
    ),
    named("isnan", dtypes=NUMBERS),
    named("isinf", dtypes=NUMBERS),
    named("isfinite", dtypes=NUMBERS),
    named("logical_not", -1, 1, dtypes=ALL),
    named("bitwise_not", dtypes=(*INTEGERS, "bool")),
    Case("relax.nn.relu", within(-4, 4), lambda x: torch.relu(x), NUMBERS),
    Case("relax.nn.relu6", within(-9, 9), lambda x: functional.relu6(x), FLOATS),
    Case(
        "relax.nn.leakyrelu",
        leaky,
        lambda x, alpha: functional.leaky_relu(x, alpha),
        FLOATS,
    ),
    # PyTorch's gelu of an infinite bfloat16 is NaN in vectors and infinite in the rest of a tensor.
    Case("relax.nn.gelu", within(-4, 4, special=False), lambda x: functional.gelu(x), FLOATS),
    Case(
        "relax.nn.gelu_tanh",
        within(-4, 4),
        lambda x: functional.gelu(x, approximate="tanh"),
        FLOATS,
    ),
    Case("relax.nn.selu", within(-9, 9), lambda x: functional.selu(x), FLOATS),
    Case("relax.nn.silu", within(-9, 9), lambda x: functional.silu(x), FLOATS),
    Case(
        "relax.nn.softplus",
        softplus,
        lambda x, beta, threshold: functional.softplus(x, beta, threshold),
        FLOATS,
    ),
    Case("relax.nn.softmax", row, lambda x, axis: torch.softmax(x, axis), FLOATS),
    Case("relax.nn.log_softmax", row, lambda x, axis: torch.log_softmax(x, axis), FLOATS),
)
