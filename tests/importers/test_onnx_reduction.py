"""Reductions of ONNX, their axes in old and new opsets, scans, TopK, and losses."""

import numpy as np
import pytest
from onnx import helper
from onnx_models import check, compare, model

from xrelax.importers.onnx.compiled_model import compile_onnx
from xrelax.importers.unsupported import UnsupportedError

RNG = np.random.default_rng(0)
node = helper.make_node

REDUCTIONS = [
    "ReduceL1",
    "ReduceL2",
    "ReduceLogSum",
    "ReduceLogSumExp",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceProd",
    "ReduceSum",
    "ReduceSumSquare",
]
X = {"x": ("float32", ["n", 3, "m"])}


def positive(*shape):
    return RNG.uniform(0.5, 2, shape).astype(np.float32)


def test_axes_are_an_attribute_in_opset_11():
    nodes = [node(op, ["x"], [op]) for op in REDUCTIONS[:3]]
    nodes += [node(op, ["x"], [f"{op}_1"], axes=[0, -1], keepdims=0) for op in REDUCTIONS]
    made = model(nodes, X, [n.output[0] for n in nodes], opset=11)
    compiled = check(made, {"x": positive(2, 3, 4)})
    x = positive(5, 3, 7)
    np.testing.assert_allclose(compiled.run(["ReduceSum_1"], {"x": x})[0], x.sum((0, 2)), rtol=1e-5)


@pytest.mark.parametrize("opset", [13, 18])
def test_axes_are_an_input_of_sums_from_opset_13_and_of_others_from_18(opset):
    operators = REDUCTIONS if opset == 18 else ["ReduceSum"]
    nodes = [node(op, ["x", "axes"], [op]) for op in operators]
    nodes += [node(op, ["x", "axes"], [f"{op}_drop"], keepdims=0) for op in operators[-2:]]
    nodes += [node(op, ["x"], [f"{op}_all"]) for op in operators[-1:]]
    nodes += [node(op, ["x", "none"], [f"{op}_none"]) for op in operators[-1:]]
    nodes += [node(op, ["x"], [f"{op}_noop"], noop_with_empty_axes=1) for op in operators]
    initializers = {"axes": np.array([-1, 0]), "none": np.zeros(0, np.int64)}
    outputs = [n.output[0] for n in nodes]
    made = model(nodes, X, outputs, opset=opset, initializers=initializers)
    check(made, {"x": positive(2, 3, 4)}, by="reference")


def test_axes_that_are_inputs_are_compiled_for():
    made = model(
        node("ReduceSum", ["x", "axes"], ["y"]), X | {"axes": ("int64", [1])}, ["y"], opset=13
    )
    compiled = check(made, {"x": positive(2, 3, 4), "axes": np.array([1])})
    assert compiled.constant_inputs == ("axes",)
    assert compiled.run(None, {"x": positive(2, 3, 4), "axes": np.array([2])})[0].shape == (2, 3, 1)


def test_reductions_of_integers_and_bools():
    integers = ["ReduceL1", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"]
    nodes = [node(op, ["i"], [op]) for op in [*integers, "ReduceL2", "ReduceMean"]]
    nodes += [node(op, ["b", "axes"], [f"b{op}"]) for op in ("ReduceMax", "ReduceMin")]
    made = model(
        nodes,
        {"i": ("int32", ["n", 3]), "b": ("bool", ["n", 3])},
        [n.output[0] for n in nodes],
        opset=20,
        initializers={"axes": np.array([1])},
    )
    i = np.array([[-4, 2, 3], [1, 5, -6]], np.int32)
    found = compile_onnx(made).run(None, {"i": i, "b": i > 1})
    wanted = [abs(i).sum(), i.max(), i.min(), i.prod(), i.sum(), (i * i).sum(), 9, 0]
    wanted = [np.full((1, 1), w, np.int32) for w in wanted]
    compare(found[:8], wanted)
    compare(found[8:], [np.array([[True], [True]]), np.array([[False], [False]])])


def test_means_of_integers_are_rounded_towards_0():
    made = model(node("ReduceMean", ["x"], ["y"], axes=[1]), {"x": ("int64", ["n", 2])}, ["y"])
    x = np.array([[2, 5], [-2, -5], [1, 1]])
    compare(compile_onnx(made).run(None, {"x": x}), [np.array([[3], [-3], [1]])])


def test_empty_sets_have_an_identity():
    nodes = [node(op, ["x"], [op], axes=[1], keepdims=0) for op in REDUCTIONS]
    nodes += [node("ReduceMax", ["i"], ["least"]), node("ReduceMin", ["i"], ["most"])]
    made = model(
        nodes,
        {"x": ("float32", ["n", 0, 2]), "i": ("int8", [0])},
        [*REDUCTIONS, "least", "most"],
        opset=12,
    )
    found = compile_onnx(made).run(
        None, {"x": np.zeros((3, 0, 2), np.float32), "i": np.zeros(0, np.int8)}
    )
    inf = np.inf
    wanted = [0, 0, -inf, -inf, -inf, np.nan, inf, 1, 0, 0]
    compare(found[:-2], [np.full((3, 2), w, np.float32) for w in wanted])
    compare(found[-2:], [np.array([-128], np.int8), np.array([127], np.int8)])


def test_norms_and_logarithms_do_not_overflow():
    nodes = [node(op, ["x"], [op]) for op in ("ReduceL2", "ReduceSumSquare", "ReduceLogSumExp")]
    made = model(nodes, {"x": ("float16", ["n"])}, [n.output[0] for n in nodes])
    x = np.full(3, 400, np.float16)
    found = compile_onnx(made).run(None, {"x": x})
    wanted = [np.sqrt(3) * 400, np.inf, 400 + np.log(3)]
    compare(found, [np.array([w], np.float16) for w in wanted])


def test_logarithms_of_sums_of_infinite_exponentials():
    made = model(
        node("ReduceLogSumExp", ["x"], ["y"], axes=[1]), {"x": ("float32", ["n", 2])}, ["y"]
    )
    x = np.array([[-np.inf, -np.inf], [np.inf, 1], [-np.inf, 2]], np.float32)
    wanted = np.array([[-np.inf], [np.inf], [2]], np.float32)
    compare(compile_onnx(made).run(None, {"x": x}), [wanted])


def test_indices_of_extrema():
    nodes = [
        node(op, ["x"], [f"{op}{axis}{keepdims}{last}"], axis=axis, keepdims=keepdims,
             select_last_index=last)
        for op in ("ArgMax", "ArgMin")
        for axis, keepdims, last in ((0, 1, 0), (-1, 0, 1), (2, 1, 1))
    ]  # fmt: skip
    made = model(nodes, X, [n.output[0] for n in nodes], opset=12)
    check(made, {"x": RNG.integers(0, 3, (4, 3, 5)).astype(np.float32)})


def test_cumulative_sums_and_products():
    nodes = [
        node(op, ["x", "axis"], [f"{op}{e}{r}"], exclusive=e, reverse=r)
        for op in ("CumSum", "CumProd")
        for e in (0, 1)
        for r in (0, 1)
    ]
    nodes.append(node("CumSum", ["i", "first"], ["integers"]))
    initializers = {"axis": np.array(-1, np.int32), "first": np.array(0)}
    outputs = [n.output[0] for n in nodes]
    inputs = X | {"i": ("int32", ["n"])}
    made = model(nodes, inputs, outputs, opset=26, initializers=initializers)
    check(made, {"x": positive(2, 3, 4), "i": np.array([3, 4], np.int32)}, by="reference")


def test_top_k_of_old_opsets():
    made = model(node("TopK", ["x"], ["v", "i"], k=2, axis=1), X, ["v", "i"], opset=9)
    check(made, {"x": positive(2, 3, 4)})
    nodes = [node("TopK", ["x", "k"], ["v", "i"])]
    made = model(nodes, X, ["v", "i"], opset=10, initializers={"k": np.array([3])})
    check(made, {"x": positive(2, 3, 4)})


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_top_k(dtype):
    nodes = [
        node("TopK", ["x", "k"], ["large", "i"], axis=0),
        node("TopK", ["x", "k"], ["small", "j"], largest=0, axis=0, sorted=1),
    ]
    made = model(
        nodes,
        {"x": (dtype, ["n", "m"])},
        ["large", "i", "small", "j"],
        initializers={"k": np.array([2])},
    )
    check(made, {"x": np.array([[1, 3, 3], [1, 2, 5], [0, 3, 5]]).astype(dtype)})


def test_top_k_of_a_size():
    """The number of elements is the least of 3 and of a dim, as detection models have it."""
    nodes = [
        node("Shape", ["x"], ["shape"]),
        node("Gather", ["shape", "one"], ["size"]),
        node("Min", ["size", "most"], ["k"]),
        node("TopK", ["x", "k"], ["v", "i"]),
    ]
    made = model(
        nodes,
        {"x": ("float32", ["n", "m"])},
        ["v", "i"],
        initializers={"one": np.array([1]), "most": np.array([3])},
    )
    compiled = check(made, {"x": positive(2, 5)})
    x = positive(2, 2)
    compare(compiled.run(["v"], {"x": x}), [np.sort(x)[:, ::-1]])


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
def test_losses(reduction):
    options = {"reduction": reduction}
    nodes = [
        node("NegativeLogLikelihoodLoss", ["x", "t"], ["plain"], **options),
        node("NegativeLogLikelihoodLoss", ["x", "t", "w"], ["weighted"], **options),
        node("NegativeLogLikelihoodLoss", ["x", "u"], ["ignored"], ignore_index=-1, **options),
        node("SoftmaxCrossEntropyLoss", ["x", "u", "w"], ["entropy", "log"], ignore_index=-1,
             **options),
    ]  # fmt: skip
    made = model(
        nodes,
        {
            "x": ("float32", ["n", 4, "m"]),
            "t": ("int64", ["n", "k"]),
            "u": ("int64", ["n", "k"]),
            "w": ("float32", [4]),
        },
        ["plain", "weighted", "ignored", "entropy", "log"],
    )
    t = RNG.integers(0, 4, (2, 3))
    feeds = {"x": positive(2, 4, 3), "t": t, "u": np.where(t == 2, -1, t), "w": positive(4)}
    check(made, feeds)


def test_einsum():
    """Products of symbolic dims, a diagonal, and three tensors one after the other."""
    nodes = [
        node("Einsum", ["a", "b"], ["batched"], equation="bij, bjk -> bik"),
        node("Einsum", ["a", "b"], ["outer"], equation="bij,bjk->ik"),
        node("Einsum", ["a"], ["sum"], equation="...ij->..."),
        node("Einsum", ["s"], ["diagonal"], equation="ii->i"),
        node("Einsum", ["a", "b", "s"], ["three"], equation="bij,bjk,jj->bk"),
    ]
    made = model(
        nodes,
        {
            "a": ("float32", ["n", 3, "m"]),
            "b": ("float32", ["p", "m", 2]),
            "s": ("float32", ["m", "m"]),
        },
        ["batched", "outer", "sum", "diagonal", "three"],
    )
    check(made, {"a": positive(2, 3, 4), "b": positive(2, 4, 2), "s": positive(4, 4)})


def test_determinants():
    made = model(node("Det", ["x"], ["y"]), {"x": ("float32", ["n", "m", "k"])}, ["y"])
    compiled = check(made, {"x": positive(2, 3, 3)})
    with pytest.raises(ValueError, match="m"):
        compiled.run(None, {"x": positive(2, 3, 4)})


@pytest.mark.parametrize(
    "made,message",
    [
        (node("ReduceSum", ["x", "x"], ["y"]), "axes of a reduction to be of integers"),
        (node("ReduceSum", ["x", "t"], ["y"]), "axes of a reduction that depends on data"),
        (node("ReduceMax", ["x"], ["y"], axes=[3]), "expected an axis from -3 to 2, got 3"),
        (node("ArgMax", ["x"], ["y"], axis=3), "expected an axis from -3 to 2, got 3"),
        (node("TopK", ["x", "k"], ["y", "i"], axis=1), "at least 4 elements of 'relax.topk'"),
        (node("TopK", ["x", "less"], ["y", "i"]), "expected k of at least 0, got -1"),
        (node("Einsum", ["x"], ["y"], equation="ij->i"), "for tensors of rank 3, got 'ij->i'"),
        (node("NegativeLogLikelihoodLoss", ["x", "t"], ["y"], reduction="max"),
         "expected a reduction of none, sum or mean, got 'max'"),
        (node("Det", ["x"], ["y"]), "square"),
    ],
)  # fmt: skip
def test_errors(made, message):
    inputs = {"x": ("float32", ["n", 3, 4]), "t": ("int64", ["n", 4])}
    constants = {"k": np.array([4]), "less": np.array([-1])}
    with pytest.raises(UnsupportedError) as caught:
        compile_onnx(model(made, inputs, ["y"], initializers=constants))
    (problem,) = caught.value.problems
    assert message in str(problem)
