"""Small ONNX models, and the messages of the errors that they give."""

import numpy as np
import pytest
from onnx import helper
from onnx_models import model

from xrelax.importers.onnx.frontend import from_onnx
from xrelax.importers.unsupported import UnsupportedError

ERRORS = (ValueError, OSError)


def small():
    """A model of two nodes with an initializer."""
    return model(
        [
            helper.make_node("Add", ["x", "w"], ["sum"], name="plus"),
            helper.make_node("Relu", ["sum"], ["y"]),
        ],
        {"x": ("float32", ["n", 4])},
        ["y"],
        initializers={"w": np.arange(4, dtype="float32")},
    )


def node(operator, inputs=("x",), outputs=("y",), **attributes):
    """A model of one node."""
    made = helper.make_node(operator, list(inputs), list(outputs), **attributes)
    return model(made, {"x": ("float32", [2, 4])}, ["y"])


def message(given, **options):
    """The message of the error that a model gives, of which each problem is one line."""
    with pytest.raises(ERRORS) as caught:
        from_onnx(given, **options)
    text = str(caught.value)
    if isinstance(caught.value, UnsupportedError):
        head, *problems = text.split("\n")
        assert head.endswith("without a conversion:") and len(problems) == len(
            caught.value.problems
        )
        return "\n".join(problems)
    assert "\n" not in text
    return text
