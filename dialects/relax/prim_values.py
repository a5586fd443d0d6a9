"""Scalars of unknown value: as tensors of rank 0, and back."""

from __future__ import annotations

from typing import TypeGuard

from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ..irdl import IRDLOperation, irdl_op_definition
from .types import PrimType, TensorType


@irdl_op_definition
class PrimToTensorOp(IRDLOperation):
    """A scalar as a tensor of rank 0, which operators take.

    ``%t = relax.prim_to_tensor %x : !relax.prim<f32> -> !relax.tensor<[], f32>``
    """

    name = "relax.prim_to_tensor"
    prim = operand_def(PrimType)
    result = result_def(TensorType)
    traits = traits_def(Pure())
    assembly_format = "$prim attr-dict `:` type($prim) `->` type($result)"

    def __init__(self, prim: SSAValue):
        super().__init__(operands=[prim], result_types=[tensor_of(prim.type)])

    def verify_(self) -> None:
        if self.result.type != (expected := tensor_of(self.prim.type)):
            raise VerifyException(f"expected {expected}, got {self.result.type}")


@irdl_op_definition
class TensorToPrimOp(IRDLOperation):
    """The element of a tensor of rank 0 as a scalar of unknown value.

    ``%x = relax.tensor_to_prim %t : !relax.tensor<[], f32> -> !relax.prim<f32>``
    """

    name = "relax.tensor_to_prim"
    tensor = operand_def(TensorType)
    result = result_def(PrimType)
    traits = traits_def(Pure())
    assembly_format = "$tensor attr-dict `:` type($tensor) `->` type($result)"

    def __init__(self, tensor: SSAValue):
        super().__init__(operands=[tensor], result_types=[prim_of(tensor.type)])

    def verify_(self) -> None:
        try:
            expected = prim_of(self.tensor.type)
        except ValueError as error:
            raise VerifyException(str(error)) from None
        if self.result.type != expected:
            raise VerifyException(f"expected {expected}, got {self.result.type}")


def tensor_of(type_: Attribute) -> TensorType:
    """The type of a tensor that holds a scalar; raises ValueError for other types."""
    if not isinstance(type_, PrimType):
        raise ValueError(f"expected a scalar, got {type_}")
    return TensorType.of([], type_.element_type)


def prim_of(type_: Attribute) -> PrimType:
    """The type of the element of a tensor; raises ValueError for tensors of another rank."""
    if not isinstance(type_, TensorType) or type_.rank != 0 or type_.known_element is None:
        raise ValueError(f"expected a tensor of rank 0 and known dtype, got {type_}")
    return PrimType.of(type_.element_type)


def is_open(type_: Attribute) -> TypeGuard[PrimType]:
    """Whether a type is that of a scalar of unknown value, which is held as a tensor."""
    return isinstance(type_, PrimType) and type_.expr is None
