"""Values of graph functions that calls may mutate.

Passes may move, share or fold the computation of a tensor, since it is a value. That is wrong for
a tensor that an impure call or one in place gets: it needs memory of its own, and its readers
must stay before or after the call.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.traits import is_side_effect_free

from ...dialects import relax
from ..functions import graph_functions

Written: TypeAlias = frozenset[SSAValue]


def written_values(module: ModuleOp) -> Written:
    """The values of the module's graph functions that calls may write, with their aliases."""
    operations = [op for func in graph_functions(module) for op in func.walk()]
    waiting = [value for op in operations for value in _written_by(op)]
    if not waiting:
        return frozenset()
    shared: dict[SSAValue, list[SSAValue]] = {}
    for op in operations:
        for a, b in _same_memory(op):
            shared.setdefault(a, []).append(b)
            shared.setdefault(b, []).append(a)
    found: set[SSAValue] = set()
    while waiting:
        value = waiting.pop()
        if value not in found:
            found.add(value)
            waiting += shared.get(value, ())
    return frozenset(found)


def touches(op: Operation, written: Written) -> bool:
    """Whether an operation defines or uses a value that calls may write."""
    return any(v in written for v in (*op.operands, *op.results))


def _written_by(op: Operation) -> Iterator[SSAValue]:
    match op:
        case relax.CallTIRInplaceOp() | relax.CallPurePackedOp():
            yield from (op.args[i] for i in op.positions if i != -1)
        case relax.CallKernelOp():
            yield from op.args
        case relax.CallPackedOp() | relax.CallOp() | relax.LoopOp() | relax.InvokeOp():
            yield from () if is_side_effect_free(op) else op.operands
        case _:
            pass


def _same_memory(op: Operation) -> Iterator[tuple[SSAValue, SSAValue]]:
    match op:
        case relax.TupleOp() | relax.TupleGetItemOp() | relax.MatchCastOp():
            yield from ((operand, op.results[0]) for operand in op.operands)
        case relax.OperatorOp() if op.is_view:
            yield op.operands[0], op.result
        case relax.StorageTensorOp():
            yield op.storage, op.result
        case relax.DataflowOp():
            yield from zip(op.output.values, op.outputs, strict=True)
        case relax.IfOp():
            yield from ((value, op.result) for value in op.yielded)
        case _:
            pass
