"""Calls of kernels: C functions, and intrinsics of TensorIR by name."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerType, StringAttr, UnitAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    operand_def,
    opt_prop_def,
    opt_result_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ..irdl import IRDLOperation, irdl_op_definition
from .types import BufferType, HandleType

STATED = "stated"
"""The dtype of an intrinsic that each call states, as ``dtype="handle"``."""
FIRST = "first"
"""The dtype of an intrinsic that each call states as its first argument."""

LLVM_INTRINSICS = ("call_llvm_intrin", "call_llvm_pure_intrin")
"""Intrinsics whose first argument names one of LLVM."""

PACKED_CALLS = ("call_packed", "tvm_call_packed", "call_cpacked", "tvm_call_cpacked")
"""Intrinsics that call the registered function that their first argument names."""

INTRINSICS: dict[str, str | int] = {
    **dict.fromkeys(LLVM_INTRINSICS, FIRST),
    **dict.fromkeys(PACKED_CALLS, "int32"),
    **dict.fromkeys(("tvm_struct_get", "type_annotation"), STATED),
    **dict.fromkeys(("tvm_struct_set", "tvm_storage_sync", "tvm_throw_last_error"), "int32"),
    **dict.fromkeys(
        ("tvm_stack_alloca", "tvm_stack_make_shape", "tvm_stack_make_array", "tvm_tuple"), "handle"
    ),
    **dict.fromkeys(
        ("tvm_fill_fragment", "tvm_load_matrix_sync", "tvm_store_matrix_sync", "tvm_mma_sync"),
        "handle",
    ),
    **dict.fromkeys(("tvm_bmma_sync", "tvm_thread_allreduce", "tvm_access_ptr"), "handle"),
    **dict.fromkeys(("tvm_warp_shuffle", "tvm_warp_shuffle_up", "tvm_warp_shuffle_down"), 1),
    "tvm_warp_activemask": "uint32",
    **dict.fromkeys(("lookup_param", "undef"), STATED),
    "isnullptr": "bool",
}
"""The dtype of the result of each intrinsic: a dtype, that of an argument, or as a call says."""


class OpaqueCallOp(IRDLOperation, ABC):
    """A call whose effects on the buffers that it takes are not known."""

    args = var_operand_def()
    result = opt_result_def()


@irdl_op_definition
class CallExternOp(OpaqueCallOp):
    """A call of a C function in the process; TVM's ``T.call_extern``.

    ``%0 = tir.call_extern "fmaf"(%a, %b, %c) : (f32, f32, f32) -> f32``.
    """

    name = "tir.call_extern"
    callee = prop_def(StringAttr)
    assembly_format = "$callee `(` $args `)` attr-dict `:` functional-type($args, results)"

    def __init__(self, callee: str, args: Sequence[SSAValue], result_type: Attribute | None):
        super().__init__(
            operands=[args],
            result_types=[[] if result_type is None else [result_type]],
            properties={"callee": StringAttr(callee)},
        )


@irdl_op_definition
class CallIntrinOp(OpaqueCallOp):
    """A call of an intrinsic of TensorIR, ``T.call_llvm_intrin`` or ``T.call_packed``.

    ``%1 = tir.call_intrin "call_llvm_intrin"(%name, %x) : (!tir.handle, f32) -> f32``. Conversion
    to loops accepts those of LLVM, and calls of registered functions, which get buffers as arrays.
    `unsigned` says so of an integer result.
    """

    name = "tir.call_intrin"
    intrinsic = prop_def(StringAttr)
    unsigned = opt_prop_def(UnitAttr)
    assembly_format = (
        "$intrinsic (`unsigned` $unsigned^)? `(` $args `)` attr-dict `:` "
        "functional-type($args, results)"
    )

    def __init__(
        self,
        intrinsic: str,
        args: Sequence[SSAValue],
        result_type: Attribute,
        unsigned: bool = False,
    ):
        super().__init__(
            operands=[args],
            result_types=[[result_type]],
            properties={
                "intrinsic": StringAttr(intrinsic),
                "unsigned": UnitAttr() if unsigned else None,
            },
        )

    def verify_(self) -> None:
        name = self.intrinsic.data
        if name not in INTRINSICS:
            raise VerifyException(f"expected an intrinsic of TensorIR, got '{name}'")
        if self.unsigned is not None and not isinstance(_type_of(self.result), IntegerType):
            raise VerifyException(f"expected an unsigned integer of '{name}', got another result")
        if name in LLVM_INTRINSICS and self.callee is None:
            raise VerifyException(f"expected the name of an intrinsic of LLVM first for '{name}'")

    @property
    def is_pure(self) -> bool:
        """Whether the call only computes a value."""
        return self.intrinsic.data == "call_llvm_pure_intrin"

    @property
    def callee(self) -> str | None:
        """The name of the intrinsic of LLVM, such as "llvm.sqrt.f32", where it is one."""
        return self._first_text() if self.intrinsic.data in LLVM_INTRINSICS else None

    @property
    def packed_callee(self) -> str | None:
        """The name of the registered function that the call is of, where it is of one."""
        return self._first_text() if self.intrinsic.data in PACKED_CALLS else None

    def _first_text(self) -> str | None:
        first = self.args[0].owner if self.args else None
        return first.text.data if isinstance(first, StringOp) else None


def _type_of(value: SSAValue | None) -> Attribute | None:
    return None if value is None else value.type


@irdl_op_definition
class StringOp(IRDLOperation):
    """A string as an argument of intrinsics: ``%0 = tir.string "warp"``; TVM's ``StringImm``."""

    name = "tir.string"
    text = prop_def(StringAttr)
    result = result_def(HandleType.of())
    traits = traits_def(Pure())
    assembly_format = "$text attr-dict"

    def __init__(self, text: str):
        super().__init__(result_types=[HandleType.of()], properties={"text": StringAttr(text)})


@irdl_op_definition
class DeclBufferOp(IRDLOperation):
    """The memory at a pointer as a buffer; TVM's ``T.decl_buffer(…, data=pointer)``.

    ``%X = tir.decl_buffer %data : !tir.handle<f32> to !tir.buffer<[n], f32>``.
    """

    name = "tir.decl_buffer"
    data = operand_def(HandleType)
    result = result_def(BufferType)
    traits = traits_def(Pure())
    assembly_format = "$data attr-dict `:` type($data) `to` type($result)"

    def __init__(self, data: SSAValue, type_: BufferType):
        super().__init__(operands=[data], result_types=[type_])
