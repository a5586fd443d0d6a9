"""Replace calls of graph functions by the functions' bodies.

::

    %c = relax.call @subroutine(%b) : …      ⇒      %c = relax.concat(%b, %b) {axis = 1} : …

with ``@subroutine(%x) { %0 = relax.concat(%x, %x) {axis = 1}; relax.return %0 }``. TVM's
``Function.inline_functions`` and ``InlinePrivateFunctions``.
"""

from __future__ import annotations

from collections.abc import Container, Mapping

from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from ...dialects import relax
from ...dialects.diagnostics import Diagnostic
from ...dialects.int_expr import IntExpr
from ...dialects.relax.closure import GraphFunctionOp
from ..functions import call_graph, recursive_functions
from ..substitute import substitute_symbols
from ..verify_calls import unify_graph_call, unify_invoke
from .refresh_types import refresh_types


def inline_functions(func: relax.FuncOp, callees: Mapping[str, relax.FuncOp]) -> None:
    """Replace all calls of these functions, by name, also those in inlined bodies; in place.

    Raises Diagnostic with one line for a function that calls itself, directly or through others.
    """
    recursive = recursive_functions(call_graph(callees))
    while calls := [op for op in func.walk() if _callee(op, callees) is not None]:
        for call in calls:
            assert isinstance(call, relax.CallOp)
            if call.callee_name in recursive:
                raise Diagnostic(
                    f"expected functions that do not call themselves, got '{call.callee_name}'"
                )
            inline_call(call, callees[call.callee_name])
    refresh_types(func)


def _callee(op: Operation, callees: Mapping[str, relax.FuncOp]) -> relax.FuncOp | None:
    return callees.get(op.callee_name) if isinstance(op, relax.CallOp) else None


def inline_call(
    call: relax.CallOp, callee: relax.FuncOp, renamed: Mapping[str, IntExpr] | None = None
) -> None:
    """Replace a call by a copy of the callee's body, for the call's shapes.

    `renamed` are new names of symbols that casts of the callee declare.
    """
    symbols = unify_graph_call(call, callee).symbols | dict(renamed or {})
    body = callee.clone()
    substitute_symbols(body, symbols)
    _replace(call, body)


def inline_invoke(call: relax.InvokeOp, outer: Container[str]) -> None:
    """Replace the call of a local function by a copy of its body, for the call's shapes.

    The `outer` symbols, of the function around it, are what they are.
    """
    symbols = unify_invoke(call.callee, [a.type for a in call.args]).symbols
    local = call.callee.owner
    assert isinstance(local, relax.LocalFuncOp)
    body = local.clone()
    substitute_symbols(body, {n: e for n, e in symbols.items() if n not in outer})
    _replace(call, body)


def _replace(call: relax.CallOp | relax.InvokeOp, body: GraphFunctionOp) -> None:
    """Replace a call by the operations of a function, which is gone then."""
    for param, arg in zip(body.params, call.args, strict=True):
        param.replace_all_uses_with(arg)
    block, last = body.body.block, body.body.block.last_op
    result, before = body.returned, call.parent
    assert last is not None and before is not None
    if isinstance(call.parent_op(), relax.DataflowOp):
        result = _without_dataflow(body, result)
    last.detach()
    last.erase()
    for op in list(block.ops):
        op.detach()
        before.insert_op_before(op, call)
    name = call.result.name_hint
    Rewriter.replace_op(call, [], [result])
    if name is not None and isinstance(result.owner, Operation):
        result.name_hint = name


def _without_dataflow(func: GraphFunctionOp, result: SSAValue) -> SSAValue:
    """The result, after the bindings of dataflow blocks have joined the function's own block."""
    for block in [op for op in func.body.block.ops if isinstance(op, relax.DataflowOp)]:
        end, outputs = block.output, list[SSAValue](block.outputs)
        values = list(end.values)
        if result in outputs:
            result = values[outputs.index(result)]
        end.detach()
        end.erase()
        parent = block.parent
        assert parent is not None
        for op in list(block.body.block.ops):
            op.detach()
            parent.insert_op_before(op, block)
        Rewriter.replace_op(block, [], values)
    return result
