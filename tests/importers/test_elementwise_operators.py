"""Elementwise operators of PyTorch give what PyTorch gives."""

from typing import Any

import pytest
from drawn_tensors import SOME, B, M, N, X, Y, each

torch = pytest.importorskip("torch")
F = torch.nn.functional
FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
ARITHMETIC = each(
    add=lambda x, y: x + y,
    alpha=lambda x, y: torch.add(x, y, alpha=2),
    number=lambda x, y: 3 - x * 0.1 + y / 3,
    sub=lambda x, y: torch.sub(x, y, alpha=3),
    rsub=lambda x, y: torch.rsub(x, y),
    div=lambda x, y: x / y,
    floor=lambda x, y: torch.div(x, y, rounding_mode="floor"),
    trunc=lambda x, y: torch.div(x, y, rounding_mode="trunc"),
    remainder=lambda x, y: torch.remainder(x, y),
    fmod=lambda x, y: torch.fmod(x, y),
    maximum=lambda x, y: torch.maximum(x, y),
    minimum=lambda x, y: torch.minimum(x, y),
    squares=lambda x, y: x**2 + y**3,
    addcmul=lambda x, y: torch.addcmul(x, x, y, value=2),
)
COMPARISONS = each(
    eq=lambda x, y: x == y,
    ne=lambda x, y: x != 2,
    lt=lambda x, y: x < y,
    le=lambda x, y: x <= 0,
    gt=lambda x, y: x > 0.5,
    ge=lambda x, y: x >= y,
    logical=lambda x, y: torch.logical_and(x, y) | torch.logical_or(x, y),
    xor=lambda x, y: torch.logical_xor(x > 0, y),
    negated=lambda x, y: torch.logical_not(x),
    where=lambda x, y: torch.where(x > y, x, y),
    number=lambda x, y: torch.where(x > y, x, 0),
    filled=lambda x, y: x.masked_fill(y > 0, -1),
    clamp=lambda x, y: x.clamp(-1, 1),
    clamp_min=lambda x, y: x.clamp(min=0) + y.clamp(max=0),
    bounds=lambda x, y: torch.clamp(x, max=y),
    relu=lambda x, y: torch.relu(x),
    abs=lambda x, y: abs(x) - torch.sign(y) - (-x),
)


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_arithmetic(check, dtype: Any):
    check(ARITHMETIC, X.to(dtype), Y.to(dtype))


def test_arithmetic_of_integers(check):
    check(ARITHMETIC, N, M)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int64], ids=str)
def test_comparisons(check, dtype: Any):
    check(COMPARISONS, (X * 2).to(dtype), (Y * 2).to(dtype))


def test_bits_and_bools(check):
    model = each(
        bits=lambda i, j, b: (i & j) | (i ^ 3),
        negated=lambda i, j, b: ~i,
        shifts=lambda i, j, b: (i << 2) + (i >> 1),
        bools=lambda i, j, b: (b & (i > 0)) | ~b,
        added=lambda i, j, b: b + (i > 0),
        counted=lambda i, j, b: b + i,
        compared=lambda i, j, b: b == (j > 2),
    )
    check(model, N, M, B)


def test_dtypes_are_promoted_as_in_pytorch(check):
    model = each(
        mixed=lambda x, i, b, h, s: x + i,
        bool=lambda x, i, b, h, s: x * b,
        half=lambda x, i, b, h, s: h + i,
        wide=lambda x, i, b, h, s: h * x,
        weak=lambda x, i, b, h, s: i * 0.5,
        scalar=lambda x, i, b, h, s: h + s,
        integer=lambda x, i, b, h, s: i / 2,
        rounded=lambda x, i, b, h, s: h * 0.1,
        truth=lambda x, i, b, h, s: b + 1,
        compared=lambda x, i, b, h, s: i < 0.5,
        root=lambda x, i, b, h, s: torch.sqrt(i * i),
        power=lambda x, i, b, h, s: i**2,
    )
    check(model, X, N, B, X.half(), torch.tensor(1.5, dtype=torch.float64))


@pytest.mark.parametrize("dtype", SOME, ids=str)
def test_functions(check, dtype: Any):
    names = "cos exp erf sigmoid sin tan tanh atan sinh cosh asinh square reciprocal".split()
    functions = {n: getattr(torch, n) for n in names}
    positive = {n: (lambda x, n=n: getattr(torch, n)(x.abs() + 0.5))
                for n in ("log", "log2", "log10", "rsqrt", "sqrt")}  # fmt: skip
    inside = {n: (lambda x, n=n: getattr(torch, n)(torch.tanh(x) * 0.9))
              for n in ("acos", "asin", "atanh")}  # fmt: skip
    rounding = {n: (lambda x, n=n: getattr(torch, n)(x * 3))
                for n in ("ceil", "floor", "round", "trunc")}  # fmt: skip
    check(each(**functions, **positive, **inside, **rounding), X.to(dtype))


def test_functions_near_zero(check):
    x = torch.tensor([0.0, 1e-8, -1e-6, 1e-3, 0.3, -0.7, 5.0, 40.0])
    check(each(expm1=torch.expm1, log1p=torch.log1p, softplus=F.softplus, elu=F.elu), x)


def test_special_numbers(check):
    x = torch.tensor([float("nan"), float("inf"), -float("inf"), -0.0, 1.0])
    check(
        each(
            isnan=torch.isnan, isinf=torch.isinf, isfinite=torch.isfinite, relu=torch.relu,
            clamp=lambda x: x.clamp(-1, 1), log1p=torch.log1p, tanh=torch.tanh,
            maximum=lambda x: torch.maximum(x, -x),
        ),
        x,
    )  # fmt: skip


@pytest.mark.parametrize("dtype", FLOATS[1:3], ids=str)
def test_activations(check, dtype: Any):
    weight = torch.tensor([0.1, 0.2, 0.3, 0.4]).to(dtype)
    check(
        each(
            gelu=F.gelu,
            gelu_tanh=lambda x: F.gelu(x, approximate="tanh"),
            silu=F.silu,
            leaky=lambda x: F.leaky_relu(x, 0.2),
            random_leaky=lambda x: F.rrelu(x, 0.1, 0.5),
            hardtanh=F.hardtanh,
            relu6=F.relu6,
            hardswish=F.hardswish,
            hardsigmoid=F.hardsigmoid,
            elu=lambda x: F.elu(x, 1.5),
            softplus=F.softplus,
            mish=F.mish,
            prelu=lambda x: F.prelu(x, weight),
            softmax=lambda x: F.softmax(x, -1),
            log_softmax=lambda x: F.log_softmax(x, 0),
            dropout=lambda x: F.dropout(x, 0.5, training=False),
        ),
        (X * 2).to(dtype),
    )


def test_conversions(check):
    check(
        each(
            float=lambda x, i, b: i.float() + b.float(),
            half=lambda x, i, b: x.half(),
            integer=lambda x, i, b: x.to(torch.int32),
            bool=lambda x, i, b: i.bool(),
            like=lambda x, i, b: i.type_as(x),
            double=lambda x, i, b: x.to(torch.float64),
            back=lambda x, i, b: x.bfloat16().float(),
        ),
        X * 3, N, B,
    )  # fmt: skip
