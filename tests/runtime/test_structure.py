"""Arguments and results that are no single tensor, and their place in a signature."""

import json

import pytest

from xrelax.runtime.signature import FunctionSpec, ParamSpec, Signature
from xrelax.runtime.structure import Returned, Size, flatten, unflatten
from xrelax.runtime.tensor import array

NODE = ("tuple", 0, ("tuple", 1, ("shape", "n", 4)), ("prim", "bool", "b"))


def apart(node, value, objects=None):
    tensors, sizes = [], []
    flatten(node, "a", value, tensors, sizes, [] if objects is None else objects)
    return tensors, sizes


def together(node, tensors, symbols=None, **given):
    return unflatten(node, Returned(iter(tensors), symbols or {}, **given))


def test_apart_and_together():
    tensors, sizes = apart(NODE, ["x", ("y", [7, 4]), True])
    assert tensors == ["x", "y"]
    assert sizes == [
        Size("dim 0 of argument 'a.1.1'", "n", 7),
        Size("dim 1 of argument 'a.1.1'", 4, 4),
        Size("argument 'a.2'", "b", 1),
    ]
    found = together(NODE, tensors, {"n": 7, "b": 1})
    assert found == ("x", ("y", (7, 4)), True) and found[2] is True
    assert together(("prim", "int64", ("add", "n", -1)), (), {"n": 7}) == 6


@pytest.mark.parametrize(
    "node, value, message",
    (
        (("tuple", 0), 3, "expected argument 'a' to be a tuple, got int"),
        (("tuple", 0), (), "expected 1 fields of argument 'a', got 0"),
        (("shape", "n"), ("4",), "expected dim 0 of argument 'a' to be an integer, got str"),
        (("shape", "n"), (-1,), "expected dim 0 of argument 'a' to be at least 0, got -1"),
        (("prim", "int64", "n"), 1.5, "expected argument 'a' to be an integer, got float"),
        (("prim", "bool", "b"), 2, "expected argument 'a' to be a bool, got 2"),
    ),
)
def test_arguments_that_do_not_fit(node, value, message):
    with pytest.raises((TypeError, ValueError)) as failure:
        apart(node, value)
    assert str(failure.value) == message


def test_a_signature_survives_json():
    spec = FunctionSpec(
        name="f",
        entry="f",
        params=(ParamSpec("t.0", "float32", ("m",)), ParamSpec("t.1.0", "float32", (2,))),
        symbols=("n", "b", "m"),
        signature=Signature(("t",), (NODE,), ("tuple", ("shape", ("mul", "n", 2)))),
        takes_memory=True,
    )
    assert FunctionSpec.from_json(json.loads(json.dumps(spec.to_json()))) == spec
    assert spec.argument_names == ("t",)


def test_a_symbol_that_nothing_gives():
    with pytest.raises(ValueError, match="symbol 'k' of 'f' is no dim of a parameter"):
        FunctionSpec("f", "f", (), ("k",), signature=Signature(("t",), (("shape", 4),), ("tuple",)))


def test_scalars_are_tensors_of_rank_0():
    node = ("tuple", ("scalar", "float32", 0), ("scalar", "bool", 1))
    tensors, sizes = apart(node, (1.5, True))
    assert (tensors[0].dtype, tensors[0].shape, tensors[0].numpy().item()) == ("float32", (), 1.5)
    assert tensors[1] == 1 and not sizes
    assert together(node, [tensors[0], array(True)]) == (1.5, True)
    with pytest.raises(TypeError, match=r"expected argument 'a.0' to be a number, got str"):
        apart(node, ("x", True))
    with pytest.raises(TypeError, match=r"expected argument 'a.1' to be an integer, got float"):
        apart(node, (1, 1.5))


def test_objects_are_numbers_and_written_parameters_are_results():
    objects = ["first"]
    node = ("tuple", ("object", 0), 1)
    tensors, _ = apart(node, ("second", "x"), objects)
    assert objects == ["first", "second"] and tensors[0].numpy().item() == 1
    results = ("tuple", ("object", 0), ("argument", 1), 1)
    given = {"objects": objects, "arguments": tensors}
    assert together(results, [tensors[0], "y"], **given) == ("second", "x", "y")
