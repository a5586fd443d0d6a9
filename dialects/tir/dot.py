"""Dot products of the numbers in words of 32 bits, for which processors have an instruction."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import UnitAttr, VectorType, f32, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AnyAttr,
    ParsePropInAttrDict,
    VarConstraint,
    operand_def,
    opt_prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ..irdl import IRDLOperation, irdl_op_definition


@irdl_op_definition
class DotOp(IRDLOperation):
    """The sum of the products of the bytes of two words; TVM's ``tir.dp4a``.

    ``%d = tir.dp4a %a, %b {lhs_unsigned} : i32``. Bytes are signed integers, or unsigned ones where
    an attribute says so. The sum is exact, and lies in 32 bits. It works on each lane of vectors.
    """

    name = "tir.dp4a"
    T: ClassVar = VarConstraint("T", AnyAttr())
    lhs = operand_def(T)
    rhs = operand_def(T)
    lhs_unsigned = opt_prop_def(UnitAttr)
    rhs_unsigned = opt_prop_def(UnitAttr)
    result = result_def(T)
    traits = traits_def(Pure())
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$lhs `,` $rhs attr-dict `:` type($result)"

    def __init__(
        self, lhs: SSAValue, rhs: SSAValue, lhs_unsigned: bool = False, rhs_unsigned: bool = False
    ):
        super().__init__(
            operands=[lhs, rhs],
            properties={
                "lhs_unsigned": UnitAttr() if lhs_unsigned else None,
                "rhs_unsigned": UnitAttr() if rhs_unsigned else None,
            },
            result_types=[lhs.type],
        )

    def verify_(self) -> None:
        _lanes_of_words(self.lhs.type)


@irdl_op_definition
class BFDotOp(IRDLOperation):
    """The sum of the products of the two bf16 in each of two words, as f32; Arm's ``BFDOT``.

    ``%d = tir.bfdot %a, %b : i32 -> f32``. The first number is in the low half of a word. It works
    on each lane of vectors. Instructions may add in another order, with other operations in
    between, and flush denormal numbers to zero.
    """

    name = "tir.bfdot"
    T: ClassVar = VarConstraint("T", AnyAttr())
    lhs = operand_def(T)
    rhs = operand_def(T)
    result = result_def()
    traits = traits_def(Pure())
    assembly_format = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)"

    def __init__(self, lhs: SSAValue, rhs: SSAValue):
        super().__init__(operands=[lhs, rhs], result_types=[_type_of_sums(lhs.type)])

    def verify_(self) -> None:
        expected = _type_of_sums(self.lhs.type)
        if self.result.type != expected:
            raise VerifyException(f"expected a result of {expected}, got {self.result.type}")


@irdl_op_definition
class MatrixDotOp(IRDLOperation):
    """The product of a matrix of two rows and one of two columns; Arm's ``SMMLA``, ``BFMMLA``.

    ``%d = tir.mmla %a, %b {lhs_unsigned} : vector<4xi32> -> vector<4xi32>``. The four words of the
    left operand are its rows, two words each, those of the right one its columns. Words hold four
    bytes if the result has i32, as in `tir.dp4a`, and two bf16 if it has f32, as in `tir.bfdot`.
    The result is the product by rows.
    """

    name = "tir.mmla"
    T: ClassVar = VarConstraint("T", AnyAttr())
    lhs = operand_def(T)
    rhs = operand_def(T)
    lhs_unsigned = opt_prop_def(UnitAttr)
    rhs_unsigned = opt_prop_def(UnitAttr)
    result = result_def(VectorType)
    traits = traits_def(Pure())
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)"

    def __init__(
        self,
        lhs: SSAValue,
        rhs: SSAValue,
        element: Attribute,
        lhs_unsigned: bool = False,
        rhs_unsigned: bool = False,
    ):
        super().__init__(
            operands=[lhs, rhs],
            properties={
                "lhs_unsigned": UnitAttr() if lhs_unsigned else None,
                "rhs_unsigned": UnitAttr() if rhs_unsigned else None,
            },
            result_types=[VectorType(element, [4])],
        )

    def verify_(self) -> None:
        if self.lhs.type != VectorType(i32, [4]):
            raise VerifyException(f"expected operands of vector<4xi32>, got {self.lhs.type}")
        if self.result.type not in (VectorType(i32, [4]), VectorType(f32, [4])):
            raise VerifyException(f"expected a result of four i32 or f32, got {self.result.type}")
        is_float = self.result.type == VectorType(f32, [4])
        if is_float and (self.lhs_unsigned is not None or self.rhs_unsigned is not None):
            raise VerifyException("expected operands of bf16 without 'unsigned', got one with it")


def _type_of_sums(words: Attribute) -> Attribute:
    """The type of one f32 for each word."""
    lanes = _lanes_of_words(words)
    return VectorType(f32, lanes) if lanes else f32


def _lanes_of_words(type_: Attribute) -> tuple[int, ...]:
    """The lanes of a vector of words, or nothing; raises VerifyException for other types."""
    lanes = type_.get_shape() if isinstance(type_, VectorType) else ()
    if type_ != (VectorType(i32, lanes) if len(lanes) == 1 else i32):
        raise VerifyException(f"expected words of i32 or vectors of them, got {type_}")
    return lanes
