"""Gradients of functions, against PyTorch; and what cannot be differentiated."""

from __future__ import annotations

import numpy as np
import pytest

import xrelax as tvm
from xrelax import relax
from xrelax.script import from_source

torch = pytest.importorskip("torch")
F = torch.nn.functional

CASES = {
    "arithmetic": ("x * w - x / (w + 3) + 2 * w", lambda x, w: x * w - x / (w + 3) + 2 * w),
    "power": ("R.power(R.abs(x) + 1, w)", lambda x, w: (x.abs() + 1) ** w),
    "extrema": (
        "R.maximum(x, w) * R.minimum(x, R.const(0.5, 'float64'))",
        lambda x, w: x.maximum(w) * x.clamp(max=0.5),
    ),
    "functions": (
        "R.exp(R.sin(x)) + R.log1p(R.square(w)) + R.rsqrt(R.abs(x) + 1) + R.erf(w)",
        lambda x, w: x.sin().exp() + (w * w).log1p() + (x.abs() + 1).rsqrt() + w.erf(),
    ),
    "activations": (
        "R.nn.gelu(x) + R.nn.gelu_tanh(w) + R.nn.silu(x) + R.nn.leakyrelu(w) + R.sigmoid(x)",
        lambda x, w: (
            F.gelu(x) + F.gelu(w, approximate="tanh") + F.silu(x) + F.leaky_relu(w) + x.sigmoid()
        ),
    ),
    "exponentials": (
        "R.log_add_exp(x, w * 3) + R.nn.selu(x - w)",
        lambda x, w: x.logaddexp(w * 3) + F.selu(x - w),
    ),
    "softmax": (
        "R.nn.softmax(x, axis=0) * R.nn.log_softmax(w * x, axis=-1)",
        lambda x, w: x.softmax(0) * (w * x).log_softmax(-1),
    ),
    "clip": ("R.clip(x, -0.5, 0.5) * w", lambda x, w: x.clamp(-0.5, 0.5) * w),
    "where": (
        "R.where(R.greater(x, R.const(0.0, 'float64')), x * x, w)",
        lambda x, w: torch.where(x > 0, x * x, w),
    ),
    "reductions": (
        "R.mean(x, axis=1, keepdims=True) * w + R.max(x, axis=0)"
        " + R.variance(x, axis=[1], keepdims=True)",
        lambda x, w: x.mean(1, True) * w + x.amax(0) + x.var(1, correction=0, keepdim=True),
    ),
    "cumsum": ("R.cumsum(x, axis=1) * w", lambda x, w: x.cumsum(1) * w),
    "cumsum of all": ("R.cumsum(x) * R.cumsum(x)", lambda x, w: x.flatten().cumsum(0) ** 2),
    "layout": (
        "R.reshape(R.permute_dims(x), (2, 6)) * R.sum(w)",
        lambda x, w: x.T.reshape(2, 6) * w.sum(),
    ),
    "joining": (
        "R.concat((x, R.expand_dims(w, 0)), axis=0) * R.stack((w, w, w, w), axis=0)",
        lambda x, w: torch.cat((x, w[None])) * torch.stack((w, w, w, w)),
    ),
    "parts": (
        "R.split(x, 2, axis=1)[1] * R.strided_slice(x, [1], [0], [2])",
        lambda x, w: x[:, 2:] * x[:, :2],
    ),
    "take": (
        "R.take(x, R.const([2, 0, 2], 'int64'), axis=0) * w",
        lambda x, w: x[[2, 0, 2]] * w,
    ),
    "matmul": (
        "R.matmul(R.matmul(x, R.permute_dims(x)), x) + R.expand_dims(R.matmul(x, w), 1)",
        lambda x, w: x @ x.T @ x + (x @ w)[:, None],
    ),
    "vectors": (
        "R.matmul(w, w) * R.matmul(R.sum(x, axis=1), x)",
        lambda x, w: (w @ w) * (x.sum(1) @ x),
    ),
    "linear": (
        "R.linear(x, x, R.sum(x, axis=1)) * R.sum(w)",
        lambda x, w: F.linear(x, x, x.sum(1)) * w.sum(),
    ),
    "layer_norm": (
        "R.nn.layer_norm(x, w, R.exp(w), axes=[-1]) * x",
        lambda x, w: F.layer_norm(x, (4,), w, w.exp()) * x,
    ),
    "rms_norm": (
        "R.nn.rms_norm(x, w, axes=[-1]) * x",
        lambda x, w: F.rms_norm(x, (4,), w, eps=1e-5) * x,
    ),
    "no_grad": ("R.grad.no_grad(x) * w * x", lambda x, w: x.detach() * w * x),
    "tuples": ("((x, w)[0], x)[1] * w", lambda x, w: x * w),
}


def module(text: str, x: str = '(3, 4), "float64"', w: str = '(4,), "float64"'):
    return from_source(f"""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor({x}), w: R.Tensor({w})):
        with R.dataflow():
            y = {text}
            loss = R.sum(y)
            R.output(loss)
        return loss
""")


def gradients(mod, *values, **options):
    new = relax.transform.Gradient("main", **options)(mod)
    run = relax.VirtualMachine(relax.build(new), tvm.cpu())["main_adjoint"]
    loss, found = run(*values)
    return loss.numpy(), [g.numpy() for g in found]


def expected(function, *values):
    leaves = [torch.from_numpy(v).requires_grad_() for v in values]
    loss = function(*leaves).sum()
    loss.backward()
    zeros = (np.zeros_like(v) for v in values)
    parts = zip(leaves, zeros, strict=True)
    return loss.detach().numpy(), [z if v.grad is None else v.grad.numpy() for v, z in parts]


SYMBOLIC = ("arithmetic", "reductions", "matmul", "layer_norm", "take")


@pytest.mark.parametrize(
    ("name", "is_symbolic"), [*((n, False) for n in CASES), *((n, True) for n in SYMBOLIC)]
)
def test_gradient(name, is_symbolic):
    text, function = CASES[name]
    rng = np.random.default_rng(len(name))
    x, w = rng.standard_normal((3, 4)), rng.standard_normal(4)
    types = ('("n", "m"), "float64"', '("m",), "float64"') if is_symbolic else ()
    loss, found = gradients(module(text, *types), x, w)
    wanted_loss, wanted = expected(function, x, w)
    np.testing.assert_allclose(loss, wanted_loss, rtol=1e-12)
    for f, e in zip(found, wanted, strict=True):
        np.testing.assert_allclose(f, e, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "options",
    [
        {"strides": 1, "padding": 0},
        {"strides": 2, "padding": 1},
        {"strides": (1, 3), "padding": (1, 2), "dilation": (2, 1)},
        {"strides": 3, "padding": 1, "groups": 2},
    ],
)
def test_convolution(options):
    groups = options.get("groups", 1)
    rng = np.random.default_rng(3)
    x, w = rng.standard_normal((2, 4, 9, 8)), rng.standard_normal((6, 4 // groups, 3, 2))
    text = ", ".join(f"{k}={v!r}" for k, v in options.items())
    shapes = [f'{v.shape}, "float64"' for v in (x, w)]
    mod = module(f"R.square(R.nn.conv2d(x, w, {text}))", *shapes)
    names = {"strides": "stride"}
    keywords = {names.get(k, k): v for k, v in options.items()}
    wanted_loss, wanted = expected(lambda x, w: F.conv2d(x, w, **keywords) ** 2, x, w)
    loss, found = gradients(mod, x, w)
    np.testing.assert_allclose(loss, wanted_loss, rtol=1e-10)
    for f, e in zip(found, wanted, strict=True):
        np.testing.assert_allclose(f, e, rtol=1e-9, atol=1e-10)


def test_chosen_values():
    mod = module("x * w")
    x, w = np.ones((3, 4)), np.full(4, 2.0)
    _, (by_w, by_y) = gradients(mod, x, w, require_grads=["w", "y"])
    np.testing.assert_array_equal(by_w, np.full(4, 3.0))
    np.testing.assert_array_equal(by_y, np.ones((3, 4)))
    _, (by_x,) = gradients(mod, x, w, require_grads=mod["main"].params[0])
    np.testing.assert_array_equal(by_x, np.full((3, 4), 2.0))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"func_name": "other"}, r"expected a graph function of the module \(main\), got 'other'"),
        ({"require_grads": ["v"]}, "expected a value of 'main' to differentiate by, got 'v'"),
        ({"require_grads": ["x", "x"]}, "expected 'x' once among require_grads, got it twice"),
        ({"target_index": 1}, "expected target_index of 'main' below 1, got 1"),
    ],
)
def test_errors(options, message):
    mod = module("x * w")
    with pytest.raises(RuntimeError, match=message):
        relax.transform.Gradient(**{"func_name": "main", **options})(mod)


def test_registered_gradient():
    """A gradient of the program replaces that of an operator."""
    from xrelax.lowering.graph.gradient_rules import RULES

    before = RULES["relax.floor"]
    try:

        @relax.op.base.register_gradient("relax.floor")
        def straight_through(orig_var, orig_call, output_grad, ctx):
            return [output_grad * relax.op.full_like(orig_var, relax.const(1.0, "float64"))]

        _, (by_x, _) = gradients(module("R.floor(x) * w"), np.ones((3, 4)), np.full(4, 2.0))
    finally:
        RULES["relax.floor"] = before
    np.testing.assert_array_equal(by_x, np.full((3, 4), 2.0))
    with pytest.raises(ValueError, match=r"expected an operator of the graph, got 'relax\.flor'"):
        relax.op.base.register_gradient("relax.flor")


@pytest.mark.parametrize("is_symbolic", [False, True])
def test_batch_norm_in_training_after_its_decomposition(is_symbolic):
    types = ('("n", 4), "float64"',) if is_symbolic else ()
    text = "R.nn.batch_norm(x, w, R.exp(w), w, w, axis=1, training=True)[0] * R.sin(x)"
    mod = relax.transform.DecomposeOpsForTraining("main")(module(text, *types))
    rng = np.random.default_rng(1)
    x, w = rng.standard_normal((3, 4)), rng.standard_normal(4)
    loss, found = gradients(mod, x, w)
    wanted_loss, wanted = expected(
        lambda x, w: F.batch_norm(x, None, None, w, w.exp(), training=True) * x.sin(), x, w
    )
    np.testing.assert_allclose(loss, wanted_loss, rtol=1e-12)
    for f, e in zip(found, wanted, strict=True):
        np.testing.assert_allclose(f, e, rtol=1e-9, atol=1e-12)
