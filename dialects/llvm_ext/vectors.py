"""Comparisons and selects of scalars or vectors, splat, element extraction, and poison."""

from typing import ClassVar

from xdsl.dialects.builtin import (
    I1,
    ArrayAttr,
    IntAttr,
    SignlessIntegerConstraint,
    VectorType,
    i1,
)
from xdsl.dialects.llvm import FastMathAttr
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Operation, SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    RangeOf,
    VarConstraint,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from .types import FLOAT_LIKE, element_type, lanes, like, verify_fastmath

_ONE_DIM = ArrayAttr.constr(RangeOf(IntAttr).of_length(1))


class FCmpPredicate(StrEnum):
    """Float comparisons: if an operand is NaN, `o…` is false and `u…` is true."""

    OEQ = "oeq"
    OGT = "ogt"
    OGE = "oge"
    OLT = "olt"
    OLE = "ole"
    ONE = "one"
    ORD = "ord"
    UEQ = "ueq"
    UGT = "ugt"
    UGE = "uge"
    ULT = "ult"
    ULE = "ule"
    UNE = "une"
    UNO = "uno"


@irdl_attr_definition
class FCmpPredicateAttr(EnumAttribute[FCmpPredicate], SpacedOpaqueSyntaxAttribute):
    """The predicate of a float comparison: `#llvm_ext<fcmp_predicate olt>`."""

    name = "llvm_ext.fcmp_predicate"


@irdl_op_definition
class FCmpOp(IRDLOperation):
    """Comparison of floats or of vectors of floats.

    `%r = llvm_ext.fcmp olt %a, %b : vector<8xf32>` gives `vector<8xi1>`.
    """

    name = "llvm_ext.fcmp"

    T: ClassVar = VarConstraint("T", FLOAT_LIKE)

    predicate = prop_def(FCmpPredicateAttr)
    lhs = operand_def(T)
    rhs = operand_def(T)
    fastmath = opt_prop_def(FastMathAttr, prop_name="fastmathFlags")
    res = result_def(I1 | VectorType[I1])

    traits = traits_def(Pure())

    assembly_format = (
        "$predicate $lhs `,` $rhs (`fastmath` $fastmathFlags^)? attr-dict"
        " `:` type($lhs) `->` type($res)"
    )

    def __init__(
        self,
        predicate: FCmpPredicate,
        lhs: SSAValue | Operation,
        rhs: SSAValue | Operation,
        fastmath: FastMathAttr | None = None,
    ):
        super().__init__(
            operands=[lhs, rhs],
            result_types=[like(SSAValue.get(lhs).type, i1)],
            properties={"predicate": FCmpPredicateAttr(predicate), "fastmathFlags": fastmath},
        )

    def verify_(self) -> None:
        expected = like(self.lhs.type, i1)
        if self.res.type != expected:
            raise VerifyException(
                f"expected the result of fcmp on {self.lhs.type} to be {expected},"
                f" got {self.res.type}"
            )


@irdl_op_definition
class SelectOp(IRDLOperation):
    """A select: whole values by an `i1`, lane by lane by a vector of `i1`.

    `%r = llvm_ext.select %c, %a, %b : vector<8xi1>, vector<8xf32>`
    """

    name = "llvm_ext.select"

    T: ClassVar = VarConstraint("T", AnyAttr())

    cond = operand_def(I1 | VectorType[I1])
    lhs = operand_def(T)
    rhs = operand_def(T)
    fastmath = opt_prop_def(FastMathAttr, prop_name="fastmathFlags")
    res = result_def(T)

    traits = traits_def(Pure())

    assembly_format = (
        "$cond `,` $lhs `,` $rhs (`fastmath` $fastmathFlags^)? attr-dict"
        " `:` type($cond) `,` type($res)"
    )

    def __init__(
        self,
        cond: SSAValue | Operation,
        lhs: SSAValue | Operation,
        rhs: SSAValue | Operation,
        fastmath: FastMathAttr | None = None,
    ):
        super().__init__(
            operands=[cond, lhs, rhs],
            result_types=[SSAValue.get(lhs).type],
            properties={"fastmathFlags": fastmath},
        )

    def verify_(self) -> None:
        expected = lanes(self.cond.type)
        if expected and expected != lanes(self.res.type):
            raise VerifyException(
                "expected condition and values to have the same lanes,"
                f" got {self.cond.type} and {self.res.type}"
            )
        verify_fastmath("select", self.fastmath, self.res.type)


@irdl_op_definition
class ExtractElementOp(IRDLOperation):
    """One lane of a vector. `%r = llvm_ext.extractelement %v[%i : i64] : vector<8xf32>`"""

    name = "llvm_ext.extractelement"

    E: ClassVar = VarConstraint("E", AnyAttr())

    vector = operand_def(VectorType.constr(E, shape=_ONE_DIM))
    index = operand_def(SignlessIntegerConstraint)
    res = result_def(E)

    traits = traits_def(Pure())

    assembly_format = "$vector `[` $index `:` type($index) `]` attr-dict `:` type($vector)"

    def __init__(self, vector: SSAValue | Operation, index: SSAValue | Operation):
        super().__init__(
            operands=[vector, index], result_types=[element_type(SSAValue.get(vector).type)]
        )


@irdl_op_definition
class SplatOp(IRDLOperation):
    """A vector with one scalar in every lane. `%r = llvm_ext.splat %x : f32 -> vector<8xf32>`"""

    name = "llvm_ext.splat"

    E: ClassVar = VarConstraint("E", AnyAttr())

    value = operand_def(E)
    res = result_def(VectorType.constr(E, shape=_ONE_DIM))

    traits = traits_def(Pure())

    assembly_format = "$value attr-dict `:` type($value) `->` type($res)"

    def __init__(self, value: SSAValue | Operation, result_type: Attribute):
        super().__init__(operands=[value], result_types=[result_type])


@irdl_op_definition
class PoisonOp(IRDLOperation):
    """LLVM's poison; the initial value of a vector that is built lane by lane.

    `%r = llvm_ext.poison : vector<8xf32>`
    """

    name = "llvm_ext.poison"

    res = result_def()

    traits = traits_def(Pure())

    assembly_format = "attr-dict `:` type($res)"

    def __init__(self, result_type: Attribute):
        super().__init__(result_types=[result_type])
