"""Calls, tuples and allocation in the `relax` dialect."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    FlatSymbolRefAttr,
    IntAttr,
    StringAttr,
    SymbolRefAttr,
    TupleType,
)
from xdsl.ir import Attribute, Operation, SSAValue, TypeAttribute
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import EffectInstance, MemoryEffect, Pure, SymbolTable, is_side_effect_free
from xdsl.utils.exceptions import VerifyException

from ..effects import AllocatesResult
from ..nesting import operations_in
from ..sym import ExprAttr
from .types import TensorType, tensors_in


def _verify_outputs(type_: Attribute, op_name: str) -> None:
    tensors = tensors_in(type_)
    if not tensors:
        raise VerifyException(
            f"expected '{op_name}' to give a tensor or a tuple of tensors, got {type_}"
        )
    for tensor in tensors:
        if tensor.dims is None or tensor.dtype is None:
            raise VerifyException(
                f"expected '{op_name}' to give tensors of known shape and dtype, got {tensor}"
            )


@irdl_op_definition
class CallTIROp(IRDLOperation):
    """Call a PrimFunc of the module, which writes tensors that this op allocates.

    ``%y = relax.call_tir @relu0(%x) : (!relax.tensor<[1, n], f32>) -> !relax.tensor<[1, n], f32>``;
    TVM's ``R.call_tir``. Several outputs make a tuple. `tir_vars` are the values of index
    parameters.
    """

    name = "relax.call_tir"
    callee = prop_def(FlatSymbolRefAttr)
    args = var_operand_def()
    tir_vars = opt_prop_def(ArrayAttr[ExprAttr])
    result = result_def()
    traits = traits_def(Pure())
    assembly_format = (
        "$callee `(` $args `)` (`vars` $tir_vars^)? attr-dict `:` functional-type($args, $result)"
    )

    def __init__(
        self,
        callee: str,
        args: Sequence[SSAValue],
        result_type: Attribute,
        tir_vars: ArrayAttr[ExprAttr] | None = None,
    ):
        super().__init__(
            operands=[list(args)],
            properties={"callee": SymbolRefAttr(callee), "tir_vars": tir_vars},
            result_types=[result_type],
        )

    @property
    def callee_name(self) -> str:
        """Name of the PrimFunc."""
        return self.callee.root_reference.data

    def verify_(self) -> None:
        _verify_outputs(self.result.type, self.name)


@irdl_op_definition
class CallDPSPackedOp(IRDLOperation):
    """Call by name in destination-passing style: a PrimFunc of the module, else from the registry.

    ``%y = relax.call_dps_packed "env.relu"(%x) : (…) -> …``; TVM's ``R.call_dps_packed``.
    """

    name = "relax.call_dps_packed"
    callee = prop_def(StringAttr)
    args = var_operand_def()
    result = result_def()
    traits = traits_def(Pure())
    assembly_format = "$callee `(` $args `)` attr-dict `:` functional-type($args, $result)"

    def __init__(self, callee: str, args: Sequence[SSAValue], result_type: Attribute):
        super().__init__(
            operands=[list(args)],
            properties={"callee": StringAttr(callee)},
            result_types=[result_type],
        )

    @property
    def callee_name(self) -> str:
        """Name of the PrimFunc or of the registered function."""
        return self.callee.data

    def verify_(self) -> None:
        _verify_outputs(self.result.type, self.name)


class CalleeEffect(MemoryEffect):
    """A call does what the called function does; without that function it does nothing."""

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance] | None:
        return None if _may_do_something(op, set()) else frozenset()


def _may_do_something(call: Operation, seen: set[Operation]) -> bool:
    callee = _callee_of(call)
    if callee is None or callee in seen:
        return False
    seen.add(callee)
    if callee.properties.get("impure") is not None:
        return True
    for op in operations_in(callee):
        if isinstance(op, CallOp):
            if _may_do_something(op, seen):
                return True
        elif not op.regions and not is_side_effect_free(op):
            return True
    return False


def _callee_of(call: Operation) -> Operation | None:
    module = call.parent_op()
    while module is not None and not module.has_trait(SymbolTable):
        module = module.parent_op()
    if module is None:
        return None
    name = call.properties["callee"]
    assert isinstance(name, SymbolRefAttr)
    return SymbolTable.lookup_symbol(module, name)


@irdl_op_definition
class CallOp(IRDLOperation):
    """Call a graph function of the module: ``%y = relax.call @fused(%x) : (…) -> …``.

    It has the effects of the function.
    """

    name = "relax.call"
    callee = prop_def(FlatSymbolRefAttr)
    args = var_operand_def()
    result = result_def()
    traits = traits_def(CalleeEffect())
    assembly_format = "$callee `(` $args `)` attr-dict `:` functional-type($args, $result)"

    def __init__(self, callee: str, args: Sequence[SSAValue], result_type: Attribute):
        super().__init__(
            operands=[list(args)],
            properties={"callee": SymbolRefAttr(callee)},
            result_types=[result_type],
        )

    @property
    def callee_name(self) -> str:
        """Name of the function."""
        return self.callee.root_reference.data


@irdl_op_definition
class CallPackedOp(IRDLOperation):
    """Call a registered function for its effects, in program order.

    ``relax.call_packed "log"(%x) : (…) -> …``. TVM's ``R.call_packed``; the function may read and
    write its arguments, and its result is an object.
    """

    name = "relax.call_packed"
    callee = prop_def(StringAttr)
    args = var_operand_def()
    result = result_def()
    assembly_format = "$callee `(` $args `)` attr-dict `:` functional-type($args, $result)"

    def __init__(self, callee: str, args: Sequence[SSAValue], result_type: Attribute):
        super().__init__(
            operands=[list(args)],
            properties={"callee": StringAttr(callee)},
            result_types=[result_type],
        )


@irdl_op_definition
class AllocTensorOp(IRDLOperation):
    """A tensor with undefined content.

    ``%0 = relax.alloc_tensor : !relax.tensor<[1, 128], f32>``.
    """

    name = "relax.alloc_tensor"
    result = result_def(TensorType)
    traits = traits_def(AllocatesResult())
    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, type_: TensorType):
        super().__init__(result_types=[type_])

    def verify_(self) -> None:
        _verify_outputs(self.result.type, self.name)


def _tuple_type(fields: Sequence[SSAValue]) -> TupleType:
    return TupleType(ArrayAttr([cast(TypeAttribute, f.type) for f in fields]))


@irdl_op_definition
class TupleOp(IRDLOperation):
    """Several values as one: ``%t = relax.tuple(%a, %b) : (…) -> tuple<…>``."""

    name = "relax.tuple"
    fields = var_operand_def()
    result = result_def(TupleType)
    traits = traits_def(Pure())
    assembly_format = "`(` $fields `)` attr-dict `:` functional-type($fields, $result)"

    def __init__(self, fields: Sequence[SSAValue]):
        super().__init__(operands=[list(fields)], result_types=[_tuple_type(fields)])

    def verify_(self) -> None:
        expected = _tuple_type(self.fields)
        if self.result.type != expected:
            raise VerifyException(f"expected a tuple of type {expected}, got {self.result.type}")


@irdl_op_definition
class TupleGetItemOp(IRDLOperation):
    """One field of a tuple: ``%a = relax.tuple_get_item %t[0] : tuple<…> -> …``."""

    name = "relax.tuple_get_item"
    tuple_value = operand_def(TupleType)
    index = prop_def(IntAttr)
    result = result_def()
    traits = traits_def(Pure())

    def __init__(self, tuple_value: SSAValue, index: int):
        super().__init__(
            operands=[tuple_value],
            properties={"index": IntAttr(index)},
            result_types=[_field_type(tuple_value.type, index)],
        )

    def verify_(self) -> None:
        expected = _field_type(self.tuple_value.type, self.index.data)
        if self.result.type != expected:
            raise VerifyException(
                f"expected field {self.index.data} of type {expected}, got {self.result.type}"
            )

    @classmethod
    def parse(cls, parser: Parser) -> TupleGetItemOp:
        value = parser.parse_unresolved_operand()
        with parser.in_square_brackets():
            index = parser.parse_integer(allow_boolean=False)
        parser.parse_punctuation(":")
        operand = parser.resolve_operand(value, parser.parse_type())
        parser.parse_punctuation("->")
        return TupleGetItemOp.create(
            operands=[operand],
            properties={"index": IntAttr(index)},
            result_types=[parser.parse_type()],
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.tuple_value)
        printer.print_string(f"[{self.index.data}] : ")
        printer.print_attribute(self.tuple_value.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)


def _field_type(type_: Attribute, index: int) -> Attribute:
    if not isinstance(type_, TupleType):
        raise VerifyException(f"expected a tuple, got {type_}")
    fields = type_.types.data
    if not 0 <= index < len(fields):
        raise VerifyException(f"expected a field of a tuple of {len(fields)}, got {index}")
    return fields[index]
