"""Emission of calls: functions, function pointers, intrinsics."""

from collections.abc import Sequence

from xdsl.dialects import llvm
from xdsl.dialects.builtin import BFloat16Type, IntegerAttr
from xdsl.ir import Attribute, Operation, SSAValue

from ..dialects.llvm_ext import CallPtrOp, IntrinsicOp
from ..dialects.llvm_ext.calls import RESULT, SIGNATURES
from ..dialects.llvm_ext.types import element_type
from .errors import BackendError
from .llvm_function import Emitter, FunctionWriter
from .llvm_types import fastmath_text, mangled, symbol_text, type_text


def _append_call(
    w: FunctionWriter, results: Sequence[SSAValue], prefix: str, callee: str, args: str
) -> None:
    """`%5 = tail call fast i32 @f(...)`; `prefix` is the text before the result type."""
    if results:
        line = f"{prefix}{w.type(results[0])} {callee}({args})"
        w.append(f"{w.define(results[0])} = {line}")
    else:
        w.append(f"{prefix}void {callee}({args})")


def _call(w: FunctionWriter, op: llvm.CallOp) -> None:
    if op.op_bundle_operands:
        raise BackendError("operand bundles are not supported")
    args = list(op.args)
    if op.callee is None:
        callee = w.names[args.pop(0)]
    else:
        callee = symbol_text(op.callee.string_value())
    if op.var_callee_type is not None:
        signature = op.var_callee_type
        inputs = ", ".join([*map(type_text, signature.inputs), *["..."] * signature.is_variadic])
        callee = f"({inputs}) {callee}"
    convention = op.CConv.convention.data
    tail = op.TailCallKind.data.value
    prefix = (
        f"{'' if tail == 'none' else tail + ' '}call {fastmath_text(op.fastmathFlags)}"
        f"{'' if convention == 'ccc' else convention + ' '}"
    )
    _append_call(w, op.results, prefix, callee, ", ".join(map(w.typed, args)))


def _call_ptr(w: FunctionWriter, op: CallPtrOp) -> None:
    callee, *args = op.operands
    _append_call(w, op.results, "call ", w.names[callee], ", ".join(map(w.typed, args)))


def _intrinsic(w: FunctionWriter, op: IntrinsicOp) -> None:
    overloads = op.overloads
    _append_intrinsic(w, op, op.intrinsic.data, None if overloads is None else overloads.data)


def _append_intrinsic(
    w: FunctionWriter, op: Operation, name: str, overloads: Sequence[Attribute] | None
) -> None:
    """Append a call of an intrinsic; declare it under its mangled name at its first use."""
    if overloads is None:
        overloads = _mangled_types(op, name)
    full_name = ".".join((name, *map(mangled, overloads)))
    values = [_argument(w, arg, bool(overloads)) for arg in op.operands]
    types = [type for type, _ in values]
    if full_name not in w.module.declarations:
        result = w.type(op.results[0]) if op.results else "void"
        declaration = f"declare {result} @{full_name}({', '.join(types)})"
        w.module.declarations[full_name] = declaration
    align = op.properties.get("alignment")
    suffix = f" align {align.value.data}" if isinstance(align, IntegerAttr) else ""
    args = [f"{type}{suffix if type.startswith('ptr') else ''} {name}" for type, name in values]
    flags = fastmath_text(op.properties.get("fastmathFlags"))
    _append_call(w, op.results, f"call {flags}", f"@{full_name}", ", ".join(args))


def _argument(w: FunctionWriter, arg: SSAValue, is_overloaded: bool) -> tuple[str, str]:
    """The type and name of an argument; instructions take vectors of `bfloat`, not of its bits."""
    type, name = w.type(arg), w.names[arg]
    if is_overloaded or not isinstance(element_type(arg.type), BFloat16Type):
        return type, name
    numbers, bits = type.replace("i16", "bfloat"), name
    name = w.fresh()
    w.append(f"{name} = bitcast {type} {bits} to {numbers}")
    return numbers, name


def _mangled_types(op: Operation, name: str) -> list[Attribute]:
    if (signature := SIGNATURES.get(name)) is None:
        raise BackendError(f"expected a known intrinsic or overloads, got '{name}'")
    return [(op.results[0] if i == RESULT else op.operands[i]).type for i in signature.mangled]


def _llvm_intrinsic(op_type: type[Operation]) -> Emitter:
    name = op_type.name.replace("llvm.intr.", "llvm.")

    def emit(w: FunctionWriter, op: Operation) -> None:
        _append_intrinsic(w, op, name, None)

    return emit


_LLVM_INTRINSICS: tuple[type[Operation], ...] = (
    llvm.FAbsOp,
    llvm.FCeilOp,
    llvm.FCopySignOp,
    llvm.FCosOp,
    llvm.FExp2Op,
    llvm.FExpOp,
    llvm.FFloorOp,
    llvm.FLog2Op,
    llvm.FLogOp,
    llvm.FMAOp,
    llvm.FPowOp,
    llvm.FSinOp,
    llvm.FSqrtOp,
    llvm.MaskedStoreOp,
    llvm.StackRestoreOp,
    llvm.StackSaveOp,
    llvm.VectorFMaxOp,
    llvm.VectorFMinOp,
    llvm.VectorReduceFAddOp,
    llvm.VectorReduceFMulOp,
)

CALL_EMITTERS: dict[type[Operation], Emitter] = {
    llvm.CallOp: _call,
    CallPtrOp: _call_ptr,
    IntrinsicOp: _intrinsic,
    **{op_type: _llvm_intrinsic(op_type) for op_type in _LLVM_INTRINSICS},
}
"""The emitters of calls."""
