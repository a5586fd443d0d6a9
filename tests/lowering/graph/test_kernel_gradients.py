"""Gradients of kernels by registered functions on tensors, and of recomputed values."""

from __future__ import annotations

import re

import numpy as np
import pytest

import xrelax as tvm
from xrelax import relax, te
from xrelax.inspection import stage_text
from xrelax.relax.testing import nn
from xrelax.relax.training.utils import register_te_gradient
from xrelax.script import ScriptError, from_source


@register_te_gradient("tests.scaled_product_grad")
def scaled_product_grad(output_grad, x, y, k):
    return [
        te.compute(x.shape, lambda *i: output_grad[i] * y[i] * k, name="by_x"),
        te.compute(y.shape, lambda *i: output_grad[i] * x[i] * k, name="by_y"),
    ]


@register_te_gradient("tests.one_gradient")
def one_gradient(output_grad, x, y, k):
    return [te.compute(x.shape, lambda *i: output_grad[i], name="by_x")]


def product(name="tests.scaled_product_grad"):
    bb = relax.BlockBuilder()
    n = tvm.tir.Var("n", "int64")
    x, y = (relax.Var(v, relax.TensorStructInfo((n, 2), "float64")) for v in "xy")

    def scaled_product(a, b):
        return te.compute(a.shape, lambda *i: a[i] * b[i] * 3.0, name="product")

    with bb.function("main", [x, y]):
        with bb.dataflow():
            keywords = {"te_grad_name": name, "te_grad_kwargs": {"k": 3.0}}
            z = bb.emit(bb.call_te_with_grad(scaled_product, x, y, **keywords))
            z = bb.emit(bb.call_te_with_grad(scaled_product, z, y, **keywords))
            loss = bb.emit_output(relax.op.sum(z))
        bb.emit_func_output(loss)
    return bb.get()


def test_gradient_of_a_kernel():
    mod = product()
    again = from_source(mod.script())
    assert tvm.ir.structural_equal(mod, again)
    call = again["main"].body.blocks[0].bindings[0].value
    assert call.attrs["te_grad_kwargs"] == {"k": 3.0}
    unsigned = from_source(mod.script().replace('{"k": 3.0}', '{"k": T.uint8(200)}'))
    assert tvm.ir.structural_equal(unsigned, from_source(unsigned.script()))
    assert "T.uint8(200)" in unsigned.script()
    adjoint = relax.transform.Gradient("main")(again)
    x, y = (np.random.default_rng(s).standard_normal((5, 2)) for s in range(2))
    loss, (by_x, by_y) = relax.build(adjoint, check=True)["main_adjoint"](x, y)
    np.testing.assert_allclose(loss.numpy(), (9 * x * y * y).sum(), rtol=1e-12)
    np.testing.assert_allclose(by_x.numpy(), 9 * y * y, rtol=1e-12)
    np.testing.assert_allclose(by_y.numpy(), 18 * x * y, rtol=1e-12)


def test_wrong_gradient_functions():
    with pytest.raises(ValueError, match=r"a gradient by each of 2 arguments from '.+', got 1"):
        relax.transform.Gradient("main")(product("tests.one_gradient"))
    with pytest.raises(RuntimeError, match=r"expected a registered gradient, got 'tests\.other'"):
        relax.transform.Gradient("main")(product("tests.other"))
    with pytest.raises(ValueError, match="expected te_grad_name, got none"):
        relax.op.call_tir_with_grad(tvm.ir.GlobalVar("f"), [], out_sinfo=((2,), "float32"))


def chain(segments):
    """Layers one after the other, of which gradients recompute all segments but the last."""
    bb = relax.BlockBuilder()
    x = relax.Var("x", relax.TensorStructInfo((16, 16), "float32"))

    def layer(v):
        return relax.op.tanh(relax.op.matmul(v, v))

    with bb.function("main", [x]):
        with bb.dataflow():
            v = nn.emit_checkpoint_sequential([layer] * 8, segments, x)
            loss = bb.emit_output(relax.op.mean(v))
        bb.emit_func_output(loss)
    return relax.transform.Gradient("main")(bb.get())


def test_recomputation_needs_less_memory():
    x = (np.random.default_rng(0).standard_normal((16, 16)) / 8).astype("float32")
    results, sizes = [], []
    for segments in ([0], 4):
        mod = chain(segments)
        assert ("R.grad.recomputed(R.tanh(" in mod.script()) == (segments == 4)
        mod = from_source(mod.script())
        plan = stage_text(mod, "rt").partition("@main_adjoint")[2]
        sizes.append(int(re.search(r"rt\.arena (\d+)", plan)[1]))
        loss, (by_x,) = relax.build(mod)["main_adjoint"](x)
        results.append((loss.numpy(), by_x.numpy()))
    np.testing.assert_array_equal(results[0][1], results[1][1])
    assert results[0][0] == results[1][0]
    assert sizes[1] < 0.8 * sizes[0]
    for segments in ([1, 2], [0, 4, 2], []):
        with pytest.raises(ValueError, match="expected segments that increase from 0 to 8, got "):
            chain(segments)
    with pytest.raises(ScriptError, match=r"expected R.grad.recomputed\(call\), got "):
        from_source("@R.function\ndef f(x: R.Tensor((2,))):\n    return R.grad.recomputed(x)\n")
