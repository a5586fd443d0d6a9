"""Emission of address arithmetic, stack allocation, loads and stores."""

from collections.abc import Sequence

from xdsl.dialects import llvm
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, i32
from xdsl.ir import Attribute, Operation, SSAValue

from ..dialects import llvm_ext
from .errors import BackendError
from .llvm_function import Emitter, FunctionWriter
from .llvm_types import type_text

_ONE_DYNAMIC_INDEX = DenseArrayBase.from_list(i32, [llvm.GEP_USE_SSA_VAL])
_GEP_INBOUNDS, _GEP_NUSW, _GEP_NUW = 1, 2, 4


def _gep(w: FunctionWriter, op: llvm.GEPOp) -> None:
    pointer, *dynamic = op.operands
    properties = op.properties
    flags = _gep_flags(properties)
    if len(dynamic) == 1 and properties["rawConstantIndices"] == _ONE_DYNAMIC_INDEX:
        indices = w.typed(dynamic[0])
    else:
        indices = _gep_indices(w, op, dynamic)
    text = f"{flags}{w.type_text(properties['elem_type'])}, {w.typed(pointer)}, {indices}"
    w.lines.append(f"  {w.define(op.results[0])} = getelementptr {text}")


def _gep_flags(properties: dict[str, Attribute]) -> str:
    attr = properties["noWrapFlags"]
    flags = attr.value.data if isinstance(attr, IntegerAttr) else 0
    if not flags:
        return "inbounds " if "inbounds" in properties else ""
    words = "inbounds " if flags & _GEP_INBOUNDS or "inbounds" in properties else ""
    return words + "nusw " * bool(flags & _GEP_NUSW and not words) + "nuw " * bool(flags & _GEP_NUW)


def _gep_indices(w: FunctionWriter, op: llvm.GEPOp, dynamic: Sequence[SSAValue]) -> str:
    values = iter(dynamic)
    return ", ".join(
        w.typed(next(values)) if index == llvm.GEP_USE_SSA_VAL else f"i32 {index}"
        for index in op.rawConstantIndices.iter_values()
    )


def _alloca(w: FunctionWriter, op: llvm.AllocaOp) -> None:
    text = f"alloca {type_text(op.elem_type)}, {w.typed(op.size)}{_align(op.properties)}"
    w.append(f"{w.define(op.res)} = {text}")


def _align(properties: dict[str, Attribute]) -> str:
    align = properties.get("alignment")
    return f", align {align.value.data}" if isinstance(align, IntegerAttr) else ""


def _ordering(properties: dict[str, Attribute]) -> str:
    ordering = properties.get("ordering")
    if not isinstance(ordering, IntegerAttr) or ordering.value.data == 0:
        return ""
    if "alignment" not in properties:
        raise BackendError("expected an atomic access to have an alignment")
    return f" {llvm.ATOMIC_ORDERING_KEYWORDS[ordering.value.data]}"


def _load(w: FunctionWriter, op: llvm.LoadOp) -> None:
    ordering = _ordering(op.properties)
    (result,) = op.results
    text = f"{'atomic ' if ordering else ''}{w.type(result)}, {w.typed(op.operands[0])}{ordering}"
    tail = _align(op.properties)
    if llvm_ext.INVARIANT in op.attributes:
        tail += f", !invariant.load {w.module.metadata('!{}')}"
    w.append(f"{w.define(result)} = load {text}{tail}")


def _store(w: FunctionWriter, op: llvm.StoreOp) -> None:
    value, pointer = op.operands
    ordering = _ordering(op.properties)
    words = f"store {'atomic ' if ordering else ''}"
    if "volatile_" in op.properties:
        words += "volatile "
    tail = _align(op.properties)
    if "nontemporal" in op.properties:
        tail += f", !nontemporal {w.module.metadata('!{i32 1}')}"
    w.append(f"{words}{w.typed(value)}, {w.typed(pointer)}{ordering}{tail}")


MEMORY_EMITTERS: dict[type[Operation], Emitter] = {
    llvm.AllocaOp: _alloca,
    llvm.GEPOp: _gep,
    llvm.LoadOp: _load,
    llvm.StoreOp: _store,
}
"""The emitters of memory operations."""
