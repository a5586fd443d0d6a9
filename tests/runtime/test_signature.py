"""Signatures: dims, validation, and the trip through JSON and pickle."""

from __future__ import annotations

import json
import pickle

import pytest

from xrelax.runtime.dtype import dtype_info
from xrelax.runtime.signature import (
    FunctionSpec,
    PackedSite,
    ParamSpec,
    TensorSpec,
    dim_text,
    evaluate_dim,
    shape_text,
)

SPEC = FunctionSpec(
    "main",
    "main_entry",
    (ParamSpec("x", "float32", (1, "n")), ParamSpec("out", "float32", (("add", "n", 1),), True)),
    ("n",),
    (TensorSpec("int64", (("mul", "n", 4),)),),
    arena_size=("max", 64, ("floordiv", "n", 2)),
    packed_sites=(PackedSite("env.f", (TensorSpec("bool", ("m",)),)),),
    checks=("expected {0}, got {1}",),
)


@pytest.mark.parametrize(
    ("dim", "value", "text"),
    [
        (7, 7, "7"),
        ("n", 10, "n"),
        (("add", ("mul", "n", 4), -1), 39, "(n * 4) + -1"),
        (("mul", ("add", "n", 1), 2), 22, "(n + 1) * 2"),
        (("floordiv", "n", 3), 3, "n // 3"),
        (("floordiv", -7, 2), -4, "-7 // 2"),
        (("floormod", "n", 4), 2, "n % 4"),
        (("min", "n", 3), 3, "min(n, 3)"),
        (("max", "n", ("add", "n", 1)), 11, "max(n, n + 1)"),
    ],
)
def test_dims_evaluate_and_print(dim, value, text):
    assert evaluate_dim(dim, {"n": 10}) == value
    assert dim_text(dim) == text


def test_shapes_print_as_tuples():
    assert [shape_text(s) for s in ((), (3,), ("n", 4))] == ["()", "(3,)", "(n, 4)"]


def test_a_division_by_zero_names_the_dim():
    with pytest.raises(ValueError, match=r"^division by zero in dim 4 % n$"):
        evaluate_dim(("floormod", 4, "n"), {"n": 0})


def test_json_and_pickle_give_an_equal_signature():
    assert FunctionSpec.from_json(json.loads(json.dumps(SPEC.to_json()))) == SPEC
    assert pickle.loads(pickle.dumps(SPEC)) == SPEC


def test_dtypes_are_the_names_that_native_code_compares_by_identity():
    read = FunctionSpec.from_json(json.loads(json.dumps(SPEC.to_json())))
    names = [spec.dtype for spec in (*read.params, *read.results)]
    assert names and all(name is dtype_info(name).name for name in names)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TensorSpec("float99", ()), "expected a dtype (float16, "),
        (lambda: TensorSpec("bool", (-1,)), "expected a dim of at least 0, got -1"),
        (lambda: TensorSpec("bool", (("pow", 1, 2),)), "expected a dim operator (add, "),
        (
            lambda: FunctionSpec("f", "f", (ParamSpec("x", "bool", ()),) * 2),
            "expected distinct parameter names in 'f', got x, x",
        ),
        (
            lambda: FunctionSpec("f", "f", (ParamSpec("x", "bool", (("add", "n", 1),)),), ("n",)),
            "symbol 'n' of 'f' is no dim of a parameter",
        ),
        (
            lambda: FunctionSpec("f", "f", (), results=(TensorSpec("bool", ("n",)),)),
            "symbol 'n' is used in 'f' but not declared",
        ),
        (
            lambda: FunctionSpec("f", "f", (), results=(TensorSpec("bool", ()),) * 2),
            "'f' has 2 results but returns no tuple",
        ),
    ],
)
def test_a_signature_that_contradicts_itself_is_refused(make, message):
    with pytest.raises(ValueError) as caught:
        make()
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)
