"""`remove-unused-outputs`: remove fields of a result that no call of a private function uses.

::

    %t = relax.call @f(%x) : … -> tuple<T, U>          %u = relax.call @f(%x) : … -> U
    %u = relax.tuple_get_item %t[1] : …         ⇒
    relax.func private @f(%x) -> tuple<T, U>           relax.func private @f(%x) -> U

A single field that is left is returned without a tuple. What only made removed fields is removed
too. TVM's ``RemoveUnusedOutputs``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TupleType
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import relax
from ...dialects.relax.operators.inference import tuple_type
from ..functions import call_graph, functions_by_name, graph_functions, private_calls
from .dead_code import remove_all_unused
from .refresh_types import refresh_types


def remove_unused_outputs(module: ModuleOp) -> None:
    """Change all private graph functions that are only called, and their calls, in place.

    What callers compute of the results has the types that follow from the new ones.
    """
    changed: set[str] = set()
    for func in graph_functions(module):
        calls = private_calls(module, func)
        if calls and isinstance(func.result_type, TupleType) and _remove(func, calls):
            changed.add(func.sym_name.data)
    functions = functions_by_name(module)
    for name, called in call_graph(functions).items():
        caller = functions[name]
        if isinstance(caller, relax.FuncOp) and changed.intersection(called):
            refresh_types(caller, functions)


def _remove(func: relax.FuncOp, calls: Sequence[relax.CallOp]) -> bool:
    users = [use.operation for call in calls for use in call.result.uses]
    fields = [op for op in users if isinstance(op, relax.TupleGetItemOp)]
    used = sorted({f.index.data for f in fields})
    assert isinstance(func.result_type, TupleType)
    if len(fields) != len(users) or not used or len(used) == len(func.result_type.types.data):
        return False
    result = _selected(func.end, used)
    func.end.operands[0] = result
    func.result_type = result.type
    remove_all_unused(func)
    for call in calls:
        _use_fields(call, used)
    return True


def _selected(last: relax.ReturnOp, used: Sequence[int]) -> SSAValue:
    """What the function returns of the used fields."""
    made, point = last.value.owner, InsertPoint.before(last)
    values: list[SSAValue] = []
    for index in used:
        if isinstance(made, relax.TupleOp):
            values.append(made.fields[index])
            continue
        field = relax.TupleGetItemOp(last.value, index)
        Rewriter.insert_op(field, point)
        values.append(field.result)
    if len(values) == 1:
        return values[0]
    fields = relax.TupleOp(values)
    Rewriter.insert_op(fields, point)
    return fields.result


def _use_fields(call: relax.CallOp, used: Sequence[int]) -> None:
    assert isinstance(call.result.type, TupleType)
    types = [call.result.type.types.data[i] for i in used]
    new = relax.CallOp(
        call.callee_name, call.args, types[0] if len(types) == 1 else tuple_type(types)
    )
    new.location = call.location
    new.result.name_hint = call.result.name_hint
    Rewriter.insert_op(new, InsertPoint.before(call))
    for use in list(call.result.uses):
        field = use.operation
        assert isinstance(field, relax.TupleGetItemOp)
        if len(types) == 1:
            new.result.name_hint = field.result.name_hint
            field.result.replace_all_uses_with(new.result)
            Rewriter.erase_op(field)
        else:
            Rewriter.replace_op(
                field, relax.TupleGetItemOp(new.result, used.index(field.index.data))
            )
    Rewriter.erase_op(call)


@dataclass(frozen=True)
class RemoveUnusedOutputsPass(ModulePass):
    """Remove fields of results that no call of a private function uses."""

    name = "remove-unused-outputs"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        remove_unused_outputs(op)
