"""Random numbers of ONNX models: their distributions, seeds and sizes."""

import numpy as np
import pytest
from onnx import helper
from onnx.helper import make_node as node
from onnx_models import model

import xrelax
from xrelax.importers.onnx.compiled_model import compile_onnx
from xrelax.relax.frontend.onnx import UnsupportedError

SIZE = 1 << 14
X = np.zeros(SIZE, np.float32)


def run(made, x=X, **options):
    return compile_onnx(made, **options).run(None, {"x": x})


def test_distributions():
    nodes = [
        node("RandomUniform", [], ["uniform"], shape=[SIZE], low=-1.0, high=3.0),
        node("RandomUniformLike", ["x"], ["wide"], dtype=11),
        node("RandomNormal", [], ["normal"], shape=[SIZE], mean=2.0, scale=0.5),
        node("RandomNormalLike", ["x"], ["standard"]),
        node("Bernoulli", ["x"], ["events"], dtype=7),
    ]
    made = model(
        nodes, {"x": ("float32", ["n"])}, ["uniform", "wide", "normal", "standard", "events"]
    )
    uniform, wide, normal, standard, events = run(made, X + np.float32(0.25))
    assert (wide.dtype, events.dtype) == (np.float64, np.int64)
    known = ((uniform, 1, 2 / np.sqrt(3)), (wide, 0.5, 1 / np.sqrt(12)), (normal, 2, 0.5),
             (standard, 0, 1), (events, 0.25, np.sqrt(3) / 4))  # fmt: skip
    for found, mean, std in known:
        assert found.shape == (SIZE,)
        assert abs(found.mean() - mean) < 5 * std / np.sqrt(SIZE)
        assert abs(found.std() - std) < 5 * std / np.sqrt(SIZE)


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
def test_classes_by_their_weights(dtype):
    nodes = [
        node("Multinomial", ["x"], ["y"], sample_size=SIZE, seed=3.0),
        node("Multinomial", ["x"], ["wide"], sample_size=2, dtype=7),
    ]
    made = model(nodes, {"x": (dtype, ["n", 4])}, ["y", "wide"])
    weights = np.array([[1, 2, 0, 1], [0, 0, 0, 5], [1, 1e-4, 3, 1]])
    with np.errstate(divide="ignore"):
        x = (np.log(weights) + np.array([[50], [0], [-9]])).astype(dtype)
    y, wide = run(made, x)
    assert (y.dtype, y.shape, wide.dtype, wide.shape) == (np.int32, (3, SIZE), np.int64, (3, 2))
    assert (wide[1] == 3).all() and (run(made, x)[0] == y).all()
    for row, expected in zip(y, weights / weights.sum(1, keepdims=True), strict=True):
        found = np.bincount(row, minlength=4) / SIZE
        assert (found[expected == 0] == 0).all()
        assert (abs(found - expected) < 5 * np.sqrt(expected / SIZE) + 1e-9).all()


def test_seeds_of_models_and_of_nodes():
    nodes = [
        node("RandomNormalLike", ["x"], ["a"], seed=1.0),
        node("RandomNormalLike", ["x"], ["b"], seed=1.0),
        node("RandomNormalLike", ["x"], ["c"], seed=2.0),
        node("RandomNormalLike", ["x"], ["d"]),
    ]
    made = model(nodes, {"x": ("float32", ["n"])}, ["a", "b", "c", "d"])
    compiled = xrelax.compile(made, seed=5)
    a, b, c, d = compiled.run(None, {"x": X[:4]})
    np.testing.assert_array_equal(a, b)
    assert len({*a, *c, *d}) == 12
    assert not {*compiled.run(None, {"x": X[:4]})[0]} & {*a}
    compiled.manual_seed(5)
    np.testing.assert_array_equal(compiled(X[:4])[3].numpy(), d)
    assert compiled.debug(X[:4]).first_bad is None


def test_sizes_may_be_random():
    nodes = [
        node("RandomUniform", [], ["u"], shape=[1], high=9.0),
        node("Cast", ["u"], ["sizes"], to=7),
        node("Expand", ["x", "sizes"], ["y"]),
    ]
    compiled = compile_onnx(model(nodes, {"x": ("float32", [1])}, ["y", "sizes"]))
    runs = [compiled.run(None, {"x": X[:1]}) for _ in range(20)]
    assert all(y.shape == tuple(sizes) for y, sizes in runs)
    assert len({len(y) for y, _ in runs}) > 1


def body(*nodes, inputs=(), outputs=("r",)):
    """A graph of a node, whose inputs and outputs have no types."""
    given, made = ([helper.make_empty_tensor_value_info(n) for n in ns] for ns in (inputs, outputs))
    return helper.make_graph(nodes, "body", given, made)


RANDOM = node("RandomNormalLike", ["x"], ["r"])


def test_numbers_of_each_iteration():
    same = node("Identity", ["c"], ["again"])
    graph = body(RANDOM, same, inputs=("i", "c"), outputs=("again", "r"))
    made = node("Loop", ["count", "flag"], ["y"], body=graph)
    inputs = {"x": ("float32", [3]), "flag": ("bool", []), "count": ("int64", [])}
    feeds = {"x": X[:3], "flag": np.array(True), "count": np.array(4)}
    (rows,) = compile_onnx(model([made], inputs, ["y"])).run(None, feeds)
    assert rows.shape == (4, 3) and len({*rows.flat}) == 12


def test_random_numbers_of_branches_are_errors():
    nodes = [
        node("ReduceMax", ["x"], ["most"], keepdims=0),
        node("Cast", ["most"], ["flag"], to=9),
        node("If", ["flag"], ["y"], then_branch=body(RANDOM), else_branch=body(RANDOM)),
    ]
    with pytest.raises(UnsupportedError, match="random numbers in a branch or a loop"):
        compile_onnx(model(nodes, {"x": ("float32", ["n", 3])}, ["y"]))
