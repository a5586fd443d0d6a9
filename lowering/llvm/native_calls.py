"""Calls of functions by their native symbol, and the fields of their arguments on the stack."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import llvm
from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.ir import Attribute, SSAValue

from .builder import FunctionBuilder
from .types import NO_WRAP, PTR, UNIT, Properties, i32_array

_CALL: Properties = {
    key: value
    for key, value in llvm.CallOp("f").properties.items()
    if key not in ("callee", "operandSegmentSizes")
}


def add_call(
    f: FunctionBuilder, symbol: str, args: Sequence[SSAValue], type_: Attribute | None
) -> llvm.CallOp:
    """Call a function of the module, or a C function that was declared."""
    op = llvm.CallOp.create(
        operands=args,
        result_types=[] if type_ is None else [type_],
        properties={
            "callee": SymbolRefAttr(symbol),
            "operandSegmentSizes": i32_array(len(args), 0),
            **_CALL,
        },
    )
    f.add(op)
    return op


def call_symbol(
    f: FunctionBuilder, symbol: str, args: Sequence[SSAValue], type_: Attribute
) -> SSAValue:
    """The result of a call."""
    return add_call(f, symbol, args, type_).results[0]


def field_address(
    f: FunctionBuilder, base: SSAValue, aggregate: Attribute, position: int
) -> SSAValue:
    """The address of a field of a struct, or of an element of an array."""
    properties: Properties = {
        "rawConstantIndices": i32_array(0, position),
        "elem_type": aggregate,
        "noWrapFlags": NO_WRAP,
        "inbounds": UNIT,
    }
    return f.emit(llvm.GEPOp, (base,), PTR, properties)
