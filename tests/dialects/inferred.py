"""What an operator infers, and what it says where operands do not fit."""

from typing import Any

import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException

from xrelax.dialects import get_context
from xrelax.dialects.relax import OPERATORS, OperatorOp, TensorType


def tensor(text: str) -> TensorType:
    """``"[n, 4], f32"`` as a type."""
    type_ = Parser(get_context(), f"!relax.tensor<{text}>").parse_type()
    assert isinstance(type_, TensorType)
    return type_


def values(*types: Attribute) -> list[SSAValue]:
    """Values of these types, of an operation that nobody looks into."""
    return list(test.TestOp(result_types=list(types)).results)


def operator(name: str, *operands: str, **attributes: Any) -> OperatorOp:
    """An operator by its name without ``relax.``, on operands of types given as texts."""
    return OPERATORS[f"relax.{name}"].of(values(*map(tensor, operands)), attributes)


def infer(name: str, *operands: str, **attributes: Any) -> str:
    """The text of the type that `of` infers, with which the verifier must agree."""
    op = operator(name, *operands, **attributes)
    op.verify()
    type_ = op.result.type
    fields = type_.types.data if isinstance(type_, TupleType) else [type_]
    return "; ".join(str(f).removeprefix("!relax.tensor<").removesuffix(">") for f in fields)


def error_of(name: str, *operands: str, **attributes: Any) -> str:
    """The message of `of`, which the verifier must give too."""
    cls, inputs = OPERATORS[f"relax.{name}"], values(*map(tensor, operands))
    with pytest.raises(ValueError) as caught:
        cls.of(inputs, attributes)
    op = cls.create(
        operands=inputs, properties=cls.encode(attributes), result_types=[tensor("*, ?")]
    )
    with pytest.raises(VerifyException) as verified:
        op.verify_()
    assert str(verified.value) == str(caught.value)
    assert "\n" not in str(caught.value)
    return str(caught.value)
