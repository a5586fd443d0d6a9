"""Memory of a graph function as its plan states it: storage, tensors in it, and calls on them.

TVM's graph after ``CallTIRRewrite``, ``StaticPlanBlockMemory`` and ``KillAfterLastUse``.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, SymbolRefAttr, TupleType
from xdsl.ir import SSAValue
from xdsl.irdl import operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ..bounds import is_less
from ..dtypes import byte_width
from ..int_expr import IntExpr
from ..irdl import AllocatesResult, IRDLOperation, irdl_op_definition
from ..sym import ExprAttr, parse_expr
from .call import SymbolCallOp, verify_outputs
from .call_inplace import comes_after
from .types import ObjectType, TensorType


@irdl_op_definition
class CallKernelOp(SymbolCallOp):
    """Call a PrimFunc of the module on its inputs and outputs, which are tensors with memory.

    ``relax.call_kernel @relu0(%x, %y) : (!relax.tensor<[4], f32>, …) -> tuple<>``; in scripts
    ``cls.relu0(x, y)``. `tir_vars` are the values of index parameters, as in TVM's
    ``R.vm.call_tir_dyn``. It writes the arguments that the PrimFunc writes.
    """

    name = "relax.call_kernel"
    tir_vars = opt_prop_def(ArrayAttr[ExprAttr])
    assembly_format = (
        "$callee `(` $args `)` (`vars` $tir_vars^)? attr-dict `:` functional-type($args, $result)"
    )

    def __init__(
        self, callee: str, args: Sequence[SSAValue], tir_vars: ArrayAttr[ExprAttr] | None = None
    ):
        super().__init__(
            operands=[list(args)],
            properties={"callee": SymbolRefAttr(callee), "tir_vars": tir_vars},
            result_types=[TupleType(())],
        )

    def verify_(self) -> None:
        if self.result.type != TupleType(()):
            raise VerifyException(f"expected '{self.name}' to give tuple<>, got {self.result.type}")


@irdl_op_definition
class AllocStorageOp(IRDLOperation):
    """Memory of a size in bytes: ``%s = relax.memory.alloc_storage n * 4``.

    TVM's ``R.memory.alloc_storage``. The size is an expression over symbols.
    """

    name = "relax.memory.alloc_storage"
    size = prop_def(ExprAttr)
    result = result_def(ObjectType)
    traits = traits_def(AllocatesResult())

    def __init__(self, size: IntExpr):
        super().__init__(properties={"size": ExprAttr(size)}, result_types=[ObjectType()])

    def verify_(self) -> None:
        size = self.size.data
        if size.args() or is_less(size, 0):
            raise VerifyException(f"expected a size over symbols, at least 0, got {size}")

    @classmethod
    def parse(cls, parser: Parser) -> AllocStorageOp:
        return AllocStorageOp(parse_expr(parser))

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.size.data}")


@irdl_op_definition
class StorageTensorOp(IRDLOperation):
    """A tensor at a byte offset of storage, which other tensors may share.

    ``%y = relax.memory.alloc_tensor %s[0] : !relax.tensor<[1, n], f32>``; TVM's
    ``R.memory.alloc_tensor``. Its elements are undefined until a call writes them, and after a
    call has written another tensor in the same place.
    """

    name = "relax.memory.alloc_tensor"
    storage = operand_def(ObjectType)
    offset = prop_def(ExprAttr)
    result = result_def(TensorType)
    traits = traits_def(AllocatesResult())

    def __init__(self, storage: SSAValue, offset: IntExpr, type_: TensorType):
        super().__init__(
            operands=[storage], properties={"offset": ExprAttr(offset)}, result_types=[type_]
        )

    def verify_(self) -> None:
        verify_outputs(self.result.type, self.name)
        owner, offset = self.storage.owner, self.offset.data
        if not isinstance(owner, AllocStorageOp):
            raise VerifyException(
                f"expected storage of '{AllocStorageOp.name}', got {self.storage.name_hint or '?'}"
            )
        if offset.args() or is_less(offset, 0):
            raise VerifyException(f"expected a byte offset over symbols, at least 0, got {offset}")
        width = byte_width(self.result.type.element_type)
        if (offset % width).constant != 0:
            raise VerifyException(
                f"expected an offset that is a multiple of {width} bytes, got {offset}"
            )
        excess = (offset + self.result.type.size_in_bytes() - owner.size.data).constant
        if excess is not None and excess > 0:
            raise VerifyException(
                f"expected a tensor within {owner.size.data} bytes, got one that ends {excess} "
                "bytes later"
            )

    @classmethod
    def parse(cls, parser: Parser) -> StorageTensorOp:
        storage = parser.parse_unresolved_operand()
        with parser.in_square_brackets():
            offset = parse_expr(parser)
        parser.parse_punctuation(":")
        position = parser.pos
        type_ = parser.parse_type()
        if not isinstance(type_, TensorType):
            parser.raise_error(f"expected a tensor type, got {type_}", position)
        return StorageTensorOp(parser.resolve_operand(storage, ObjectType()), offset, type_)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.storage)
        printer.print_string(f"[{self.offset.data}] : ")
        printer.print_attribute(self.result.type)


class _KillOp(IRDLOperation, ABC):
    """The end of the uses of memory."""

    result = result_def(TupleType)

    def __init__(self, value: SSAValue):
        super().__init__(operands=[value], result_types=[TupleType(())])

    def verify_(self) -> None:
        killed = self.operands[0]
        if comes_after(self, {use.operation for use in killed.uses}):
            name = killed.name_hint or "the value"
            raise VerifyException(f"expected '{name}' not to be used after '{self.name}'")


@irdl_op_definition
class KillTensorOp(_KillOp):
    """No later operation uses the tensor: ``relax.memory.kill_tensor %y : …``.

    TVM's ``R.memory.kill_tensor``, and ``R.vm.kill_object`` of a tensor.
    """

    name = "relax.memory.kill_tensor"
    value = operand_def(TensorType)
    assembly_format = "$value attr-dict `:` functional-type($value, $result)"


@irdl_op_definition
class KillStorageOp(_KillOp):
    """No later operation takes a tensor of the storage: ``relax.memory.kill_storage %s : …``.

    TVM's ``R.memory.kill_storage``. Tensors that it has are not killed.
    """

    name = "relax.memory.kill_storage"
    value = operand_def(ObjectType)
    assembly_format = "$value attr-dict `:` functional-type($value, $result)"
