"""Calls that reach functions that the module does not have: registered ones, or that users pass."""

from __future__ import annotations

from xdsl.ir import Block, Operation

from ...dialects import relax, tir
from ...dialects.nesting import operations_in
from ...dialects.relax.call import NamedCallOp, SymbolCallOp, callee_of
from ...dialects.tir.calls import PACKED_CALLS


def runs_unused(op: Operation) -> bool:
    """Whether a call is kept that is pure and whose result has no uses.

    A function parameter is pure unless its annotation says otherwise, and registered functions are
    often called for what they print or store, also by functions of the module. In a dataflow block,
    calls are for their results, and so are those in destination-passing style.
    """
    return (
        all(r.first_use is None for r in op.results)
        and not isinstance(op.parent_op(), relax.DataflowOp)
        and _calls_foreign(op, set())
    )


def _calls_foreign(op: Operation, seen: set[Operation]) -> bool:
    """Whether a call is one of a function from elsewhere, or reaches one by functions not seen."""
    match op:
        case relax.CallPurePackedOp() | tir.CallExternOp():
            return True
        case tir.CallIntrinOp():
            return op.intrinsic.data in PACKED_CALLS
        case relax.InvokeOp():
            callee = op.callee.owner
        case SymbolCallOp() | NamedCallOp() | tir.CallOp():
            callee = callee_of(op)
        case _:
            return False
    if isinstance(callee, Block):  # a parameter
        return True
    if callee is None or callee in seen:
        return False
    seen.add(callee)
    return any(
        _calls_foreign(inner, seen)
        for inner in operations_in(callee)
        if not isinstance(inner.parent_op(), relax.DataflowOp)
    )
