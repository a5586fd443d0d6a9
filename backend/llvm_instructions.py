"""Emission of arithmetic, vector and control-flow instructions, one function per syntax."""

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    BFloat16Type,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
)
from xdsl.ir import Attribute, Operation

from ..dialects import llvm_ext
from ..dialects.llvm_ext.types import element_type
from .errors import BackendError
from .llvm_calls import CALL_EMITTERS
from .llvm_casts import CAST_EMITTERS
from .llvm_function import Emitter, FunctionWriter
from .llvm_memory import MEMORY_EMITTERS
from .llvm_types import constant_text, fastmath_text, symbol_text

_OVERFLOW = ("", " nsw", " nuw", " nsw nuw")


def _binary(opcode: str) -> Emitter:
    def emit(w: FunctionWriter, op: Operation) -> None:
        lhs, rhs = op.operands
        names = w.names
        text = f"{w.type(lhs)} {names[lhs]}, {names[rhs]}"
        flags = _integer_flags(op.properties) if op.properties else ""
        w.lines.append(f"  {w.define(op.results[0])} = {opcode}{flags} {text}")

    return emit


def _integer_flags(properties: dict[str, Attribute]) -> str:
    overflow = properties.get("overflowFlags")
    if isinstance(overflow, IntegerAttr):
        return _OVERFLOW[overflow.value.data]
    if "isExact" in properties:
        return " exact"
    return " disjoint" if "isDisjoint" in properties else ""


def _float_binary(opcode: str) -> Emitter:
    def emit(w: FunctionWriter, op: Operation) -> None:
        lhs, rhs = op.operands
        type = w.type(lhs)
        if isinstance(element_type(lhs.type), BFloat16Type):
            raise BackendError(f"expected arithmetic on f16, f32 or f64, got {lhs.type}")
        flags = fastmath_text(op.properties.get("fastmathFlags"))
        text = f"{opcode} {flags}{type} {w.names[lhs]}, {w.names[rhs]}"
        w.lines.append(f"  {w.define(op.results[0])} = {text}")

    return emit


def _fneg(w: FunctionWriter, op: llvm.FNegOp) -> None:
    text = f"fneg {fastmath_text(op.properties.get('fastmathFlags'))}{w.typed(op.arg)}"
    w.append(f"{w.define(op.res)} = {text}")


_ICMP = tuple(flag.value for flag in llvm.ICmpPredicateFlag)
_FCMP = tuple(flag.value.removeprefix("_") for flag in llvm.FCmpPredicateFlag)


def _icmp(w: FunctionWriter, op: llvm.ICmpOp) -> None:
    lhs, rhs = op.operands
    text = f"icmp {_ICMP[op.predicate.value.data]} {w.typed(lhs)}, {w.names[rhs]}"
    w.append(f"{w.define(op.results[0])} = {text}")


def _llvm_fcmp(w: FunctionWriter, op: llvm.FCmpOp) -> None:
    _append_fcmp(w, op, _FCMP[op.predicate.value.data])


def _fcmp(w: FunctionWriter, op: llvm_ext.FCmpOp) -> None:
    _append_fcmp(w, op, op.predicate.data.value)


def _append_fcmp(w: FunctionWriter, op: Operation, predicate: str) -> None:
    lhs, rhs = op.operands
    flags = fastmath_text(op.properties.get("fastmathFlags"))
    text = f"fcmp {flags}{predicate} {w.typed(lhs)}, {w.names[rhs]}"
    w.append(f"{w.define(op.results[0])} = {text}")


def _select(w: FunctionWriter, op: Operation) -> None:
    flags = fastmath_text(op.properties.get("fastmathFlags"))
    text = f"select {flags}{', '.join(map(w.typed, op.operands))}"
    w.append(f"{w.define(op.results[0])} = {text}")


def _constant(w: FunctionWriter, op: llvm.ConstantOp) -> None:
    result = op.results[0]
    w.names[result] = constant_text(op.properties["value"], result.type)


def _zero(w: FunctionWriter, op: llvm.ZeroOp) -> None:
    is_pointer = isinstance(op.res.type, llvm.LLVMPointerType)
    w.names[op.res] = "null" if is_pointer else "zeroinitializer"


def _undef(w: FunctionWriter, op: llvm.UndefOp) -> None:
    w.names[op.res] = "undef"


def _poison(w: FunctionWriter, op: llvm_ext.PoisonOp) -> None:
    w.names[op.res] = "poison"


def _addressof(w: FunctionWriter, op: llvm.AddressOfOp) -> None:
    w.names[op.result] = symbol_text(op.global_name.string_value())


def _extract_element(w: FunctionWriter, op: llvm_ext.ExtractElementOp) -> None:
    text = f"extractelement {w.typed(op.vector)}, {w.typed(op.index)}"
    w.append(f"{w.define(op.res)} = {text}")


def _insert_element(w: FunctionWriter, op: llvm.InsertElementOp) -> None:
    text = f"insertelement {', '.join(map(w.typed, op.operands))}"
    w.append(f"{w.define(op.res)} = {text}")


def _splat(w: FunctionWriter, op: llvm_ext.SplatOp) -> None:
    name, type, scalar = w.names[op.value], w.type(op.res), w.typed(op.value)
    if not name.startswith(("%", "@")):
        w.names[op.res] = f"splat ({scalar})"
        return
    first = w.fresh()
    w.append(f"{first} = insertelement {type} poison, {scalar}, i64 0")
    mask = f"<{type[1:].partition(' ')[0]} x i32> zeroinitializer"
    w.append(f"{w.define(op.res)} = shufflevector {type} {first}, {type} poison, {mask}")


def _shuffle(w: FunctionWriter, op: llvm.ShuffleVectorOp) -> None:
    lanes = ["poison" if i < 0 else str(i) for i in op.mask.iter_values()]
    mask = f"<{len(lanes)} x i32> <{', '.join(f'i32 {lane}' for lane in lanes)}>"
    w.append(f"{w.define(op.res)} = shufflevector {w.typed(op.v1)}, {w.typed(op.v2)}, {mask}")


def _extract_value(w: FunctionWriter, op: llvm.ExtractValueOp) -> None:
    position = "".join(f", {i}" for i in op.position.iter_values())
    w.append(f"{w.define(op.res)} = extractvalue {w.typed(op.container)}{position}")


def _insert_value(w: FunctionWriter, op: llvm.InsertValueOp) -> None:
    position = "".join(f", {i}" for i in op.position.iter_values())
    text = f"insertvalue {w.typed(op.container)}, {w.typed(op.value)}{position}"
    w.append(f"{w.define(op.res)} = {text}")


def _br(w: FunctionWriter, op: llvm.BrOp) -> None:
    w.append(f"br label {w.edge(op.successor, tuple(op.operands))}{_metadata(w, op)}")


def _cond_br(w: FunctionWriter, op: llvm.CondBrOp) -> None:
    then = w.edge(op.then_block, tuple(op.then_arguments))
    other = w.edge(op.else_block, tuple(op.else_arguments))
    w.append(f"br {w.typed(op.cond)}, label {then}, label {other}{_metadata(w, op)}")


def _metadata(w: FunctionWriter, op: Operation) -> str:
    if not op.attributes:
        return ""
    text = ""
    if isinstance(loop := op.attributes.get(llvm_ext.LOOP), DictionaryAttr):
        text += f", !llvm.loop {w.module.loop_metadata(loop)}"
    if isinstance(weights := op.attributes.get(llvm_ext.BRANCH_WEIGHTS), DenseArrayBase):
        numbers = ", ".join(f"i32 {weight}" for weight in weights.iter_values())
        node = w.module.metadata(f'!{{!"branch_weights", {numbers}}}')
        text += f", !prof {node}"
    return text


def _switch(w: FunctionWriter, op: llvm_ext.SwitchOp) -> None:
    type = w.type(op.value)
    default = w.edge(op.default_block, tuple(op.default_operands))
    cases = [f"{type} {value}, label {w.edge(block, args)}" for value, block, args in op.cases()]
    w.append(f"switch {w.typed(op.value)}, label {default} [ {' '.join(cases)} ]")


def _return(w: FunctionWriter, op: llvm.ReturnOp) -> None:
    operands = op.operands
    w.append(f"ret {w.typed(operands[0])}" if operands else "ret void")


def _unreachable(w: FunctionWriter, op: llvm.UnreachableOp) -> None:
    w.append("unreachable")


_INTEGER_OPS: tuple[type[Operation], ...] = (
    llvm.AddOp,
    llvm.SubOp,
    llvm.MulOp,
    llvm.UDivOp,
    llvm.SDivOp,
    llvm.URemOp,
    llvm.SRemOp,
    llvm.AndOp,
    llvm.OrOp,
    llvm.XOrOp,
    llvm.ShlOp,
    llvm.LShrOp,
    llvm.AShrOp,
)
_FLOAT_OPS: tuple[type[Operation], ...] = (
    llvm.FAddOp,
    llvm.FSubOp,
    llvm.FMulOp,
    llvm.FDivOp,
    llvm.FRemOp,
)

EMITTERS: dict[type[Operation], Emitter] = {
    **{op: _binary(op.name.removeprefix("llvm.")) for op in _INTEGER_OPS},
    **{op: _float_binary(op.name.removeprefix("llvm.")) for op in _FLOAT_OPS},
    **CAST_EMITTERS,
    **CALL_EMITTERS,
    **MEMORY_EMITTERS,
    llvm.AddressOfOp: _addressof,
    llvm.BrOp: _br,
    llvm.CondBrOp: _cond_br,
    llvm.ConstantOp: _constant,
    llvm.ExtractValueOp: _extract_value,
    llvm.FCmpOp: _llvm_fcmp,
    llvm.FNegOp: _fneg,
    llvm.ICmpOp: _icmp,
    llvm.InsertElementOp: _insert_element,
    llvm.InsertValueOp: _insert_value,
    llvm.ReturnOp: _return,
    llvm.SelectOp: _select,
    llvm.ShuffleVectorOp: _shuffle,
    llvm.UndefOp: _undef,
    llvm.UnreachableOp: _unreachable,
    llvm.ZeroOp: _zero,
    llvm_ext.ExtractElementOp: _extract_element,
    llvm_ext.FCmpOp: _fcmp,
    llvm_ext.PoisonOp: _poison,
    llvm_ext.SelectOp: _select,
    llvm_ext.SplatOp: _splat,
    llvm_ext.SwitchOp: _switch,
}
"""The emitters of all operations inside a function."""
