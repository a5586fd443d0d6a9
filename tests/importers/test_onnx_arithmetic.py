"""Elementwise operators of ONNX: dtypes, broadcasting with symbols, and their older opsets."""

import numpy as np
import pytest
from onnx import TensorProto, helper
from onnx_models import check, compare, model

from xrelax.importers.onnx.compiled_model import compile_onnx
from xrelax.importers.unsupported import UnsupportedError

RNG = np.random.default_rng(0)
node = helper.make_node


def floats(*shape):
    return RNG.standard_normal(shape, np.float32) * 3


def test_binary_operators_broadcast_symbolic_dims():
    arithmetic = ["Add", "Sub", "Mul", "Div", "Max", "Min", "Mean", "Sum", "PRelu"]
    relations = ["Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Equal"]
    nodes = [node(op, ["x", "y"], [op]) for op in arithmetic[:-1] + relations]
    nodes += [node("Pow", ["positive", "y"], ["Pow"]), node("Abs", ["x"], ["positive"])]
    nodes += [node("Where", ["Greater", "x", "y"], ["Where"]), node("PRelu", ["x", "z"], ["PRelu"])]
    nodes += [node("Mod", ["x", "y"], ["Mod"], fmod=1)]
    made = model(
        [nodes[-4], nodes[-5], *nodes[:-5], *nodes[-3:]],
        {
            "x": ("float32", ["n", 4, "m"]),
            "y": ("float32", ["m"]),
            "z": ("float32", [4, 1]),
        },
        [*arithmetic, *relations, "Pow", "Where", "Mod"],
    )
    compiled = check(made, {"x": floats(3, 4, 5), "y": floats(5), "z": floats(4, 1)})
    other = {"x": floats(2, 4, 7), "y": floats(7), "z": floats(4, 1)}
    assert compiled.run(["Sum"], other)[0].shape == (2, 4, 7)


def test_different_symbols_have_to_be_equal_on_calls():
    made = model(
        node("Add", ["x", "y"], ["z"]), {"x": ("float32", ["n"]), "y": ("float32", ["m"])}, ["z"]
    )
    compiled = check(made, {"x": floats(4), "y": floats(4)})
    with pytest.raises(ValueError, match=r"y.*expected|expected.*y"):
        compiled.run(None, {"x": floats(4), "y": floats(3)})


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint64"])
def test_integers(dtype):
    operators = ["Add", "Sub", "Mul", "Div", "Mod", "Max", "Min", "Equal", "Less"]
    unary = ["Abs", "Sign", "Erf"] + ["Neg"] * (dtype[0] == "i")
    nodes = [node(op, ["x", "y"], [op]) for op in operators]
    nodes += [node("Mod", ["x", "y"], ["fmod"], fmod=1)]
    nodes += [node(op, ["x"], [op]) for op in unary]
    kind = (dtype, ["n"])
    made = model(nodes, {"x": kind, "y": kind}, [*operators, "fmod", *unary])
    info = np.iinfo(dtype)
    x = np.array([7, 7, 9, 1, 0, info.max, info.max, info.min, info.min], dtype)
    y = np.array([2, 3, 3, 5, 4, 2, info.max, 2, 7], dtype)
    if dtype[0] == "i":
        x, y = np.concatenate([x, -x[1:6], x[1:6]]), np.concatenate([y, y[1:6], -y[1:6]])
    check(made, {"x": x, "y": y}, by="reference")  # ONNX Runtime's fmod is one of float64


POWERS = [
    ("float32", "float32"),
    ("float32", "int64"),
    ("float64", "int32"),
    ("int32", "float32"),
    ("int64", "int32"),
    ("int32", "int64"),
]


@pytest.mark.parametrize("base,exponent", POWERS)
def test_power_has_the_dtype_of_the_base(base, exponent):
    made = model(
        node("Pow", ["x", "e"], ["y"]), {"x": (base, ["n", 1]), "e": (exponent, ["m"])}, ["y"]
    )
    x = np.array([[1], [2], [3], [5]], base)
    check(made, {"x": x, "e": np.array([0, 1, 2, 3, 5], exponent)})


def test_powers_of_unsigned_numbers():
    made = model(
        node("Pow", ["x", "e"], ["y"]), {"x": ("uint64", ["n"]), "e": ("int32", ["n"])}, ["y"]
    )
    feeds = {"x": np.array([0, 1, 2, 2**32], np.uint64), "e": np.array([3, -2, -1, 1], np.int32)}
    compare(compile_onnx(made).run(None, feeds), [np.array([0, 1, 0, 2**32], np.uint64)])


def test_constant_exponents():
    exponents = [1.0, 2.0, 3.0, 0.5, -0.5, -1.0, 2.5]
    nodes = [node("Pow", ["x", f"e{i}"], [f"y{i}"]) for i in range(len(exponents))]
    constants = {f"e{i}": np.float32(e) for i, e in enumerate(exponents)}
    outputs = [f"y{i}" for i in range(len(exponents))]
    made = model(nodes, {"x": ("float32", ["n"])}, outputs, initializers=constants)
    compiled = check(made, {"x": np.abs(floats(7)) + 0.1})
    text = str(compiled.module)
    assert text.count("power") == 1
    assert "R.sqrt" in text


def test_remainders_of_floats_have_the_sign_of_the_dividend():
    made = model(
        node("Mod", ["x", "y"], ["z"], fmod=1),
        {"x": ("float64", ["n"]), "y": ("float64", ["n"])},
        ["z"],
    )
    x = np.array([5.5, -5.5, 5.5, -5.5, 3, np.inf, np.nan, 1])
    y = np.array([2, 2, -2, -2, np.inf, 2, 2, np.nan])
    check(made, {"x": x, "y": y})


@pytest.mark.parametrize("opset", [1, 6])
def test_second_operands_are_aligned_by_an_axis_before_opset_7(opset):
    nodes = [
        node("Add", ["x", "y"], ["a"], broadcast=1, axis=1),
        node("Mul", ["x", "z"], ["m"], broadcast=1),
        node("Pow", ["x", "y"], ["p"], broadcast=1, axis=1),
        node("Greater", ["x", "y"], ["g"], broadcast=1, axis=1),
    ]
    made = model(
        nodes,
        {
            "x": ("float32", ["n", 3, 4]),
            "y": ("float32", [3]),
            "z": ("float32", [4]),
        },
        ["a", "m", "p", "g"],
        opset=opset,
    )
    x, y, z = np.abs(floats(2, 3, 4)), floats(3), floats(4)
    wide = y[:, None]
    found = compile_onnx(made).run(None, {"x": x, "y": y, "z": z})
    compare(found, [x + wide, x * z, x**wide, x > wide])


def test_constants_are_aligned_too():
    made = model(
        [node("Add", ["a", "b"], ["sum"], broadcast=1, axis=0), node("Mul", ["sum", "x"], ["y"])],
        {"x": ("float32", [2, 2])},
        ["y"],
        opset=6,
        initializers={"a": np.zeros((2, 2), np.float32), "b": np.array([1, 2], np.float32)},
    )
    found = compile_onnx(made).run(None, {"x": np.ones((2, 2), np.float32)})
    compare(found, [np.array([[1, 1], [2, 2]], np.float32)])


def test_clip():
    nodes = [
        node("Clip", ["x", "low", "high"], ["both"]),
        node("Clip", ["x", "", "high"], ["above"]),
        node("Clip", ["x", "low"], ["below"]),
        node("Clip", ["x"], ["same"]),
        node("Clip", ["x", "least", "most"], ["known"]),
        node("Clip", ["x", "least", "infinite"], ["half"]),
        node("Clip", ["i", "three", "five"], ["integers"]),
    ]
    scalar = ("float32", [])
    made = model(
        nodes,
        {"x": ("float32", ["n", 4]), "i": ("int64", ["n"]), "low": scalar, "high": scalar},
        ["both", "above", "below", "same", "known", "half", "integers"],
        opset=13,
        initializers={
            "least": np.float32(-1),
            "most": np.float32(0.5),
            "infinite": np.float32(np.inf),
            "three": np.int64(3),
            "five": np.int64(5),
        },
    )
    x = np.array([[-4, -0.1, 2, np.inf], [-np.inf, 0.3, 5, 1]], np.float32)
    feeds = {"x": x, "i": np.array([1, 9]), "low": np.float32(-1), "high": np.float32(3)}
    # ONNX Runtime makes infinities finite where a bound is missing.
    check(made, feeds, by="reference")


def test_clip_of_opset_6_has_attributes():
    made = model(
        [node("Clip", ["x"], ["y"], min=-1.0, max=0.5), node("Clip", ["x"], ["z"], max=0.5)],
        {"x": ("float32", ["n"])},
        ["y", "z"],
        opset=6,
    )
    x = np.array([-4, -0.1, 2, -np.inf], np.float32)
    compare(compile_onnx(made).run(None, {"x": x}), [np.clip(x, -1, 0.5), np.minimum(x, 0.5)])


def test_infinities_of_one_sign():
    signs = {"both": (1, 1), "positive": (0, 1), "negative": (1, 0), "neither": (0, 0)}
    nodes = [
        node("IsInf", ["x"], [name], detect_negative=n, detect_positive=p)
        for name, (n, p) in signs.items()
    ]
    made = model(nodes, {"x": ("float32", ["n"])}, list(signs), opset=10)
    check(made, {"x": np.array([1, np.inf, -np.inf, np.nan], np.float32)})


def test_variadic_operators_propagate_nan_and_round_once():
    operators = ["Max", "Min", "Sum", "Mean"]
    nodes = [node(op, ["x", "y", "z"], [op]) for op in operators]
    made = model(
        nodes,
        {"x": ("float16", ["n", 3]), "y": ("float16", [3]), "z": ("float16", [])},
        operators,
    )
    x = np.array([[1, np.nan, 3], [2048, -1, 4]], np.float16)
    feeds = {"x": x, "y": np.array([2048, 2, 0.1], np.float16), "z": np.float16(1)}
    found = compile_onnx(made).run(None, feeds)
    y, z = (feeds[n].astype(np.float32) for n in "yz")
    wide = x.astype(np.float32)
    assert (found[3] == ((wide + y + z) / 3).astype(np.float16)).sum() == 5
    check(made, feeds, by="reference")


WRONG = {
    "expected direction LEFT or RIGHT, got 'UP'": node(
        "BitShift", ["u", "u"], ["y"], direction="UP"
    ),
    "expected a dtype as wide as uint32, got float64": node(
        "BitCast", ["u"], ["y"], to=TensorProto.DOUBLE
    ),
    "expected operands of 'relax.add' to have one dtype": node("Add", ["u", "x"], ["y"]),
    "expected operands of 'relax.exp' to be floats, got uint32": node("Exp", ["u"], ["y"]),
    "attribute 'base'": node("Log", ["x"], ["y"], base=2.0),
    "expected at least 1 inputs, got 0": node("Max", [], ["y"]),
    "expected a bound that is one number, got shape (n)": node("Clip", ["x", "x"], ["y"]),
    "tensors of type FLOAT8E4M3FN": node("Cast", ["x"], ["y"], to=TensorProto.FLOAT8E4M3FN),
}


@pytest.mark.parametrize("message", WRONG)
def test_errors(message):
    made = model(WRONG[message], {"u": ("uint32", ["n"]), "x": ("float32", ["n"])}, ["y"], opset=26)
    with pytest.raises(UnsupportedError) as caught:
        compile_onnx(made)
    (problem,) = caught.value.problems
    assert message in str(problem)
    assert str(problem).startswith(f"{WRONG[message].op_type} ('y') at the model, node 1: ")


def test_constants_between_several_bounds():
    """It is no number that folds away."""
    constants = {"w": np.arange(8, dtype=np.float32).reshape(4, 2), "b": np.float32([1, 2])}
    made = model(
        [node("Clip", ["w", "b"], ["v"]), node("MatMul", ["x", "v"], ["y"])],
        {"x": ("float32", [3, 4])}, ["y"], 17, constants,
    )  # fmt: skip
    with pytest.raises(UnsupportedError, match=r"Clip .*a bound that is one number, got shape"):
        compile_onnx(made)
