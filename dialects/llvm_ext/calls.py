"""Calls that `llvm.call` does not do: of intrinsics, and through pointers."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, IntegerType, StringAttr
from xdsl.dialects.llvm import FastMathAttr, LLVMPointerType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    opt_result_def,
    prop_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import EffectInstance, MemoryEffect
from xdsl.utils.exceptions import VerifyException

from .intrinsics import SIGNATURES
from .types import verify_fastmath


class _IntrinsicEffects(MemoryEffect):
    """Effects of an intrinsic from the table; unknown for one that names its own overloads."""

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance] | None:
        assert isinstance(op, IntrinsicOp)
        signature = SIGNATURES.get(op.intrinsic.data)
        return None if signature is None else {EffectInstance(kind) for kind in signature.effects}


@irdl_op_definition
class IntrinsicOp(IRDLOperation):
    """Call of an LLVM intrinsic by its name without types; the backend appends them.

    `%r = llvm_ext.intrinsic "llvm.maximum"(%a, %b) fastmath<nsz> : (f32, f32) -> f32`

    `intrinsics.SIGNATURES` lists those whose types are checked here. Any other one says which
    types are part of its name: `overloads [f32]`, or `overloads []` for none. `align n` is the
    alignment in bytes of every pointer operand.
    """

    name = "llvm_ext.intrinsic"

    intrinsic = prop_def(StringAttr)
    args = var_operand_def()
    fastmath = opt_prop_def(FastMathAttr, prop_name="fastmathFlags")
    alignment = opt_prop_def(IntegerAttr[IntegerType])
    overloads = opt_prop_def(ArrayAttr[Attribute])
    res = opt_result_def()

    traits = traits_def(_IntrinsicEffects())

    assembly_format = (
        "$intrinsic `(` $args `)` (`fastmath` $fastmathFlags^)? (`align` $alignment^)?"
        " (`overloads` $overloads^)? attr-dict `:` functional-type($args, results)"
    )

    def __init__(
        self,
        intrinsic: str,
        args: Sequence[SSAValue | Operation],
        result_type: Attribute | None = None,
        *,
        fastmath: FastMathAttr | None = None,
        alignment: int | None = None,
        overloads: Sequence[Attribute] | None = None,
    ):
        super().__init__(
            operands=[args],
            result_types=[result_type],
            properties={
                "intrinsic": StringAttr(intrinsic),
                "fastmathFlags": fastmath,
                "alignment": None if alignment is None else IntegerAttr(alignment, 64),
                "overloads": None if overloads is None else ArrayAttr(overloads),
            },
        )

    def verify_(self) -> None:
        name = self.intrinsic.data
        signature = SIGNATURES.get(name)
        if self.overloads is None and signature is None:
            raise VerifyException(f"expected a known intrinsic or overloads, got '{name}'")
        if self.overloads is None and signature is not None:
            signature.verify(name, self.operand_types, self.result_types)
        if self.alignment is not None and self.alignment.value.data.bit_count() != 1:
            raise VerifyException(
                f"expected the alignment of '{name}' to be a power of two,"
                f" got {self.alignment.value.data}"
            )
        verify_fastmath(name, self.fastmath, self.res.type if self.res is not None else None)


@irdl_op_definition
class CallPtrOp(IRDLOperation):
    """Call through a pointer, in the C calling convention.

    `%r = llvm_ext.call_ptr %f(%a, %b) : (i64, !llvm.ptr) -> i32`
    """

    name = "llvm_ext.call_ptr"

    callee = operand_def(LLVMPointerType())
    args = var_operand_def()
    res = opt_result_def()

    assembly_format = "$callee `(` $args `)` attr-dict `:` functional-type($args, results)"

    def __init__(
        self,
        callee: SSAValue | Operation,
        args: Sequence[SSAValue | Operation],
        result_type: Attribute | None = None,
    ):
        super().__init__(operands=[callee, args], result_types=[result_type])
