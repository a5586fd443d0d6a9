"""The numbers that LLVM values are."""

from __future__ import annotations

from typing import cast

from xdsl.dialects import llvm
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import SSAValue

from ...dialects import llvm_ext


def number_of(value: SSAValue) -> int | float | None:
    """The number that a value is, in all lanes; `None` if it is no constant."""
    owner = value.owner
    if isinstance(owner, llvm_ext.SplatOp):
        return number_of(owner.value)
    if not isinstance(owner, llvm.ConstantOp):
        return None
    attribute = owner.value
    if isinstance(attribute, IntegerAttr | FloatAttr):
        return attribute.value.data
    return cast("int | float", attribute.get_values()[0]) if attribute.is_splat() else None


def integer_of(value: SSAValue) -> int | None:
    """The integer that a value is, in all lanes; `None` if it is no constant integer."""
    number = number_of(value)
    return number if isinstance(number, int) else None
