"""`expand-tuple-arguments`: private functions get the fields of tuples as parameters.

::

    %t = relax.tuple(%a, %b) : …                     %t = relax.tuple(%a, %b) : …
    %y = relax.call @func(%t) : …             ⇒      %y = relax.call @func(%a, %b) : …
    relax.func private @func(%t: tuple<…>)           relax.func private @func(%t_0: …, %t_1: …)

Tuples in tuples are expanded too. TVM's ``ExpandTupleArguments``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TupleType
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import relax
from ..functions import graph_functions, private_calls, unique_name
from .canonicalize_bindings import canonicalize_bindings
from .values import tuple_fields


def expand_tuple_arguments(func: relax.FuncOp, calls: Sequence[relax.CallOp]) -> None:
    """Replace the tuples among the parameters of a function by their fields, in place."""
    while (index := _first_tuple(func)) is not None:
        param, name = func.params[index], func.names[index]
        assert isinstance(param.type, TupleType)
        fields: list[SSAValue] = []
        for place, type_ in enumerate(param.type.types.data, index + 1):
            own = unique_name(f"{name}_{len(fields)}", func.names)
            fields.append(func.insert_param(place, own, type_))
        made = relax.TupleOp(fields)
        Rewriter.insert_op(made, InsertPoint.at_start(func.body.block))
        param.replace_all_uses_with(made.result)
        func.erase_params([index])
    for call in calls:
        _expand_call(call)


def _first_tuple(func: relax.FuncOp) -> int | None:
    """The position of the first parameter that is a tuple; `None` if there is none."""
    found = (i for i, p in enumerate(func.params) if isinstance(p.type, TupleType))
    return next(found, None)


def _expand_call(call: relax.CallOp) -> None:
    made: list[Operation] = []
    args = [field for arg in call.args for field in tuple_fields(arg, made)]
    new = relax.CallOp(call.callee_name, args, call.result.type)
    new.location, new.result.name_hint = call.location, call.result.name_hint
    Rewriter.insert_op(made, InsertPoint.before(call))
    Rewriter.replace_op(call, new)


@dataclass(frozen=True)
class ExpandTupleArgumentsPass(ModulePass):
    """Replace tuples among the parameters of private functions by their fields."""

    name = "expand-tuple-arguments"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in graph_functions(op):
            calls = private_calls(op, func)
            if calls and _first_tuple(func) is not None:
                callers = dict.fromkeys(_caller(call) for call in calls)
                expand_tuple_arguments(func, calls)
                for changed in (func, *callers):
                    canonicalize_bindings(changed)


def _caller(op: Operation) -> relax.FuncOp:
    while not isinstance(op, relax.FuncOp):
        parent = op.parent_op()
        assert parent is not None
        op = parent
    return op
