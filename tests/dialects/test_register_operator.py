"""An operator from outside the package: in scripts, `relax.op` and `topi`, built and checked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.irdl import irdl_op_definition, opt_prop_def

from xrelax import relax, te
from xrelax.dialects import get_context
from xrelax.dialects.relax import OPERATORS, register_operator
from xrelax.dialects.relax.operators import UnaryOp
from xrelax.dialects.relax.operators.attributes import Number
from xrelax.script import from_source
from xrelax.tools.located_parser import parse_ir

SCRIPT = """
@R.function
def main(x: R.Tensor(("n",), "float32")):
    return R.my.clamp_above(x, 0.5)
"""


def define(factor: float = 1.0) -> type[UnaryOp]:
    @irdl_op_definition
    class ClampAboveOp(UnaryOp):
        """The minimum of ``data`` and `limit`."""

        name = "relax.my.clamp_above"
        limit = opt_prop_def(Number())

        @classmethod
        def infer(cls, operands: Any, attributes: Any) -> Any:
            return operands[0]

        @classmethod
        def compute(cls, te: Any, tensors: Any, attributes: Any) -> Any:
            limit = attributes["limit"] * factor
            return te.elementwise(lambda x: te.min(x, te.const(limit, x.dtype)), *tensors)

        @classmethod
        def reference(cls, arrays: Any, attributes: Any) -> Any:
            return np.minimum(arrays[0], arrays[0].dtype.type(attributes["limit"]))

    return ClampAboveOp


@pytest.fixture
def operator() -> Iterator[type[UnaryOp]]:
    yield register_operator(define())
    del OPERATORS["relax.my.clamp_above"]


def test_it_is_built_and_checked(operator: type[UnaryOp]):
    x = np.array([0, 1, np.nan], "float32")
    result = relax.build(from_source(SCRIPT), check=True)(x)
    np.testing.assert_array_equal(result.numpy(), np.array([0, 0.5, np.nan], "float32"))


def test_its_kernel_is_compared_with_its_reference(operator: type[UnaryOp]):
    register_operator(define(factor=2.0))
    with pytest.raises(Exception, match="pass 'legalize-ops' changes result 0 of 'main'"):
        relax.build(from_source(SCRIPT), check=True)


def test_it_has_its_names(operator: type[UnaryOp]):
    x = relax.Var("x", relax.TensorStructInfo((4,), "float32"))
    assert str(relax.op.my.clamp_above(x, 2)) == "R.my.clamp_above(x, limit=2)"
    assert "my" in dir(relax.op) and dir(relax.op.my) == ["clamp_above"]
    assert te.topi.clamp_above(te.placeholder((4,), "float32"), 2).shape == (4,)
    assert from_source(from_source(SCRIPT).script()).script() == from_source(SCRIPT).script()
    text = str(ModuleOp([from_source(SCRIPT).op.clone()]))
    assert str(parse_ir(get_context(), text, "text", 0)) == text


def test_names_are_checked(operator: type[UnaryOp]):
    with pytest.raises(ValueError, match=r"to start with 'relax\.', got 'my\.op'"):
        register_operator(type("Other", (UnaryOp,), {"name": "my.op"}))
    with pytest.raises(ValueError, match=r"expected a new name of an operator, got 'relax\.add'"):
        register_operator(type("Other", (UnaryOp,), {"name": "relax.add"}))
    with pytest.raises(AttributeError, match=r"got 'relax\.op\.my\.clamp', did you mean"):
        getattr(relax.op.my, "clamp")
