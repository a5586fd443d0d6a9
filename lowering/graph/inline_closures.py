"""Calls that take or return local functions, replaced by the bodies of what they call.

::

    relax.func @add_to(%y: T) -> !relax.func<(T) -> T> {
      %f = relax.local_func @inner(%a: T) -> T { … %y … }
      relax.return %f : …
    relax.func @main(%x: T, %y: T) -> T {
      %g = relax.call @add_to(%y) : …
      %z = relax.invoke %g(%x) : …

⇒

    relax.func @main(%x: T, %y: T) -> T {
      %f = relax.local_func @inner(%a: T) -> T { … %y … }
      %z = relax.invoke %f(%x) : …

A function that returns a function is removed then: users cannot call it.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.rewriter import Rewriter

from ...dialects import relax
from ...dialects.diagnostics import Diagnostic
from ...dialects.relax.symbols import declared_in
from ..functions import call_graph, graph_functions, recursive_functions
from .inline_functions import inline_call, inline_invoke


def inline_closures(module: ModuleOp) -> None:
    """Inline the calls that take or return local functions, in place.

    Raises Diagnostic with one line for a function that returns functions and calls itself.
    """
    functions = {f.sym_name.data: f for f in graph_functions(module)}
    recursive = recursive_functions(call_graph(functions))
    changed: dict[relax.FuncOp, None] = {}
    inlined: set[str] = set()
    for func in functions.values():
        while (call := _first(func, functions)) is not None:
            changed[func] = None
            if isinstance(call, relax.InvokeOp):
                _verify_not_recursive(call)
                outer = {*func.declared_symbols(), *declared_in(func.body.block)}
                inline_invoke(call, outer)
            elif call.callee_name in recursive:
                raise _calls_itself(call.callee_name, call)
            else:
                inlined.add(call.callee_name)
                inline_call(call, functions[call.callee_name])
    for func in changed:
        _erase_unused(func)
    for name in inlined:
        if isinstance(functions[name].result_type, relax.FuncType):
            Rewriter.erase_op(functions[name])


def _verify_not_recursive(call: relax.InvokeOp) -> None:
    local = call.callee.owner
    assert isinstance(local, relax.LocalFuncOp)
    if any(isinstance(op, relax.OwnFuncOp) for op in local.body.block.ops):
        raise _calls_itself(local.func_name.data, call)


def _calls_itself(name: str, call: Operation) -> Diagnostic:
    message = f"expected '{name}', which takes or returns functions, not to call itself"
    return Diagnostic(message, call)


def _first(
    func: relax.FuncOp, functions: Mapping[str, relax.FuncOp]
) -> relax.CallOp | relax.InvokeOp | None:
    """The first call in a function that takes or returns a local function."""
    for op in func.walk():
        match op:
            case relax.CallOp() if op.callee_name in functions and _is_of_functions(op):
                return op
            case relax.InvokeOp() if isinstance(op.callee.owner, relax.LocalFuncOp):
                if _is_of_functions(op):
                    return op
            case _:
                pass
    return None


def _is_of_functions(call: relax.CallOp | relax.InvokeOp) -> bool:
    takes = any(isinstance(a.owner, relax.LocalFuncOp) for a in call.args)
    return takes or isinstance(call.result.type, relax.FuncType)


def _erase_unused(func: relax.FuncOp) -> None:
    """Remove local functions that nothing calls any more."""
    for op in list(func.walk()):
        if isinstance(op, relax.LocalFuncOp) and op.result.first_use is None and _is_in(op, func):
            Rewriter.erase_op(op)


def _is_in(op: Operation, func: relax.FuncOp) -> bool:
    """Whether an operation is still in a function."""
    parent = op.parent_op()
    while parent is not None and parent is not func:
        parent = parent.parent_op()
    return parent is func
