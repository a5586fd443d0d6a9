"""`inline-private-functions`: replace calls of private graph functions by their bodies.

::

    %c = relax.call @subroutine(%b) : …      ⇒      %c = relax.concat(%b, %b) {axis = 1} : …

Recursive functions, and those with the attribute ``Primitive`` or ``Composite``, are not inlined.
TVM's ``InlinePrivateFunctions``.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ...dialects import relax
from ..functions import call_graph, graph_functions, is_private, private_calls, recursive_functions
from .inline_functions import inline_functions

_KEPT = ("Primitive", "Composite", "Codegen")
"""Attributes of functions that stand for one operation."""


def inline_private_functions(module: ModuleOp) -> None:
    """Inline the private functions of a module, and remove them, in place."""
    functions = {f.sym_name.data: f for f in graph_functions(module)}
    recursive = recursive_functions(call_graph(functions))
    inlined = {
        name: func
        for name, func in functions.items()
        if name not in recursive and _is_inlined(module, func)
    }
    for name, func in functions.items():
        if name not in inlined:
            inline_functions(func, inlined)
    for func in inlined.values():
        Rewriter.erase_op(func)


def _is_inlined(module: ModuleOp, func: relax.FuncOp) -> bool:
    """Whether calls are the only uses of a function, and it stands for no operation."""
    names = () if func.attrs is None else func.attrs.data.keys()
    is_called = is_private(func) and private_calls(module, func) is not None
    return is_called and not set(_KEPT) & set(names)


@dataclass(frozen=True)
class InlinePrivateFunctionsPass(ModulePass):
    """Inline private functions that are not recursive where they are called, and remove them."""

    name = "inline-private-functions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        inline_private_functions(op)
