"""Matmuls and their fused forms against ONNX Runtime, with symbolic dims and other opsets."""

import numpy as np
import pytest
from onnx import helper
from onnx_models import check, model

from xrelax.importers.onnx.compiled_model import compile_onnx
from xrelax.importers.onnx.frontend import from_onnx
from xrelax.importers.unsupported import UnsupportedError

RNG = np.random.default_rng(0)
MICROSOFT = "com.microsoft"


def drawn(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def dims(name, shape, symbolic):
    return [f"{name}{i}" if symbolic and d > 1 else d for i, d in enumerate(shape)]


def one_node(operator, feeds, constants=None, opset=17, symbolic=True, domain="", **given):
    names = [*feeds, *(constants or {})]
    node = helper.make_node(operator, names, ["y"], domain=domain, **given)
    inputs = {name: (x.dtype.name, dims(name, x.shape, symbolic)) for name, x in feeds.items()}
    return model(node, inputs, ["y"], opset, constants, {domain: 1} if domain else None)


def run(operator, feeds, constants=None, **given):
    return check(one_node(operator, feeds, constants, **given), feeds, tolerance=2e-5)


@pytest.mark.parametrize(
    ("a", "b"),
    [((3, 4), (4, 5)), ((4,), (4, 5)), ((3, 4), (4,)), ((4,), (4,)), ((2, 1, 3, 4), (6, 4, 5)),
     ((2, 3, 4), (4, 5)), ((4,), (2, 4, 5))],
)  # fmt: skip
def test_matmul_of_any_ranks(a, b):
    feeds = {"a": drawn(*a), "b": drawn(*b)}
    run("MatMul", feeds)
    run("MatMul", {"a": feeds["a"]}, {"b": feeds["b"]})


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint32", "uint64", "float64", "float16"])
def test_dtypes(dtype):
    """Products of small numbers are exact in each dtype."""
    feeds = {n: RNG.integers(0, 4, s).astype(dtype) for n, s in (("a", (3, 4)), ("b", (4, 5)))}
    (found,) = compile_onnx(one_node("MatMul", feeds)).run(None, feeds)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, feeds["a"].astype(np.float64) @ feeds["b"])


def test_lengths_are_checked_on_calls():
    compiled = compile_onnx(one_node("MatMul", {"a": drawn(3, 4), "b": drawn(4, 5)}))
    with pytest.raises(ValueError, match="5"):
        compiled.run(None, {"a": drawn(3, 4), "b": drawn(5, 6)})


@pytest.mark.sampled
@pytest.mark.parametrize("trans_b", [0, 1])
@pytest.mark.parametrize("trans_a", [0, 1])
@pytest.mark.parametrize("shape", [None, (5,), (1, 5), (3, 5), (3, 1), (1,), ()])
def test_gemm(shape, trans_a, trans_b):
    a, b = drawn(*((4, 3) if trans_a else (3, 4))), drawn(*((5, 4) if trans_b else (4, 5)))
    constants = {"b": b} | ({} if shape is None else {"c": drawn(*shape)})
    for factors in ({}, {"alpha": 0.5, "beta": 0.25}):
        made = one_node("Gemm", {"a": a}, constants, transA=trans_a, transB=trans_b, **factors)
        wanted = (a.T if trans_a else a) @ (b.T if trans_b else b) * factors.get("alpha", 1)
        if shape is not None:
            wanted = wanted + constants["c"] * factors.get("beta", 1)
        (found,) = compile_onnx(made).run(None, {"a": a})
        np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=2e-5)


def test_gemm_of_older_opsets():
    feeds = {"a": drawn(3, 4), "b": drawn(4, 5), "c": drawn(5)}
    run("Gemm", feeds, opset=7)
    made = one_node("Gemm", feeds, opset=6, broadcast=1)
    (found,) = compile_onnx(made).run(None, feeds)
    np.testing.assert_allclose(found, feeds["a"] @ feeds["b"] + feeds["c"], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("given", "a", "b"),
    [
        ({"alpha": 0.5, "transB": 1}, (2, 3, 4), (2, 5, 4)),
        ({"transA": 1}, (2, 4, 3), (2, 4, 5)),
        ({"transBatchA": 1, "transBatchB": 1}, (3, 2, 4), (4, 2, 5)),
        ({"transBatchA": 1, "transA": 1}, (4, 2, 3), (2, 4, 5)),
    ],
)
def test_fused_matmul(given, a, b):
    feeds = {"a": drawn(*a), "b": drawn(*b)}
    run("FusedMatMul", feeds, domain=MICROSOFT, **given)


@pytest.mark.parametrize("activation", ["Relu", "Tanh", "LeakyRelu", "HardSigmoid"])
def test_fused_gemm(activation):
    numbers = {"LeakyRelu": (0.3,), "HardSigmoid": (0.3, 0.4)}.get(activation, ())
    names = ("activation_alpha", "activation_beta")
    given = dict(zip(names, numbers, strict=False))
    feeds, constants = {"a": drawn(3, 4)}, {"b": drawn(4, 5), "c": drawn(5)}
    run("FusedGemm", feeds, constants, domain=MICROSOFT, activation=activation, **given)


@pytest.mark.parametrize(
    ("operator", "shapes", "given", "message"),
    [
        ("MatMul", [(3, 4), (5, 6)], {}, "expected dims of one size, got 4 and 5"),
        ("MatMul", [(), (5, 6)], {}, "expected operands of at least one dim, got a number"),
        ("MatMul", [(2, 3, 4), (5, 4, 6)], {}, "expected shapes that broadcast, got (2,) and (5,)"),
        ("Gemm", [(3, 4, 1), (4, 6)], {}, "expected matrices, got rank 3"),
        ("Gemm", [(3, 4), (4, 6), (1, 1, 6)], {},
         "expected C to broadcast to a matrix, got rank 3"),
        ("FusedGemm", [(3, 4), (4, 6)], {"activation": "Swoosh", "domain": MICROSOFT},
         "expected the name of an activation function, got 'Swoosh'"),
    ],
)  # fmt: skip
def test_wrong_models(operator, shapes, given, message):
    feeds = {name: drawn(*shape) for name, shape in zip("abc", shapes, strict=False)}
    with pytest.raises(UnsupportedError) as caught:
        from_onnx(one_node(operator, feeds, symbolic=False, **given))
    (problem,) = caught.value.problems
    assert problem.reason == message


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean"])
def test_distances(metric):
    run("CDist", {"a": drawn(4, 3), "b": drawn(5, 3)}, domain=MICROSOFT, metric=metric)


@pytest.mark.parametrize("operator", ["Inverse", "Trilu"])
def test_operators_that_pytorch_exports_to_onnx_runtime(operator):
    matrices = drawn(2, 3, 3) + 4 * np.eye(3, dtype=np.float32)
    run(operator, {"a": matrices}, domain=MICROSOFT, symbolic=False)
