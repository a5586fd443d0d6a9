"""`dead-code-elimination`: remove unused operations, dataflow outputs and functions.

::

    %o, %p = relax.dataflow -> T, T {
      %a = relax.call_tir @f(%x) : …
      %b = relax.call_tir @g(%a) : …
      %c = relax.call_tir @h(%x) : …
      relax.output %b, %c : T, T
    }
    relax.return %o : T

⇒

::

    %o = relax.dataflow -> T {
      %a = relax.call_tir @f(%x) : …
      %b = relax.call_tir @g(%a) : …
      relax.output %b : T
    }
    relax.return %o : T

It removes pure operations without uses, unread outputs of dataflow blocks, and private functions
that no other function calls. Operations with effects, casts with run-time checks, and calls that
`runs_unused` are kept. TVM's ``DeadCodeElimination``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.traits import IsTerminator

from ...dialects import relax, tir
from ...dialects.diagnostics import Diagnostic
from ...dialects.relax.closure import is_pure
from ..functions import (
    call_graph,
    functions_by_name,
    graph_functions,
    is_private,
    names_text,
    reached_from,
)
from .foreign_calls import runs_unused


def eliminate_dead_code(module: ModuleOp, entry_functions: Sequence[str] = ()) -> None:
    """Remove unused code from the graph functions of the module, in place.

    Private functions that neither public ones nor those named `entry_functions` call are removed.
    Raises Diagnostic for a name that is not there.
    """
    for func in graph_functions(module):
        remove_all_unused(func)
    _remove_uncalled(module, entry_functions)


def remove_all_unused(func: relax.FuncOp) -> None:
    """Remove the unused pure operations and dataflow outputs of a graph function, in place."""
    _clean_block(func.body.block)


def _clean_block(block: Block) -> None:
    for op in reversed(list(block.ops)):
        if isinstance(op, relax.DataflowOp):
            op = trim_outputs(op)
        if _is_unused(op):
            Rewriter.erase_op(op)
        else:
            for region in op.regions:
                _clean_block(region.block)


def _is_unused(op: Operation) -> bool:
    if any(r.first_use is not None for r in op.results) or op.has_trait(IsTerminator):
        return False
    if isinstance(op, relax.MatchCastOp):
        return op.value.type == op.result.type
    return is_pure(op) and not runs_unused(op)


def trim_outputs(op: relax.DataflowOp) -> relax.DataflowOp:
    """The block with only the outputs that are used outside of it."""
    kept = [i for i, r in enumerate(op.outputs) if r.first_use is not None]
    if len(kept) == len(op.outputs):
        return op
    output, values = op.output, [op.output.values[i] for i in kept]
    Rewriter.replace_op(output, relax.OutputOp(values))
    trimmed = relax.DataflowOp(op.detach_region(op.body), [v.type for v in values])
    trimmed.location = op.location
    replacements = dict(zip(kept, trimmed.outputs, strict=True))
    for position, new in replacements.items():
        new.name_hint = op.outputs[position].name_hint
    Rewriter.replace_op(op, trimmed, [replacements.get(i) for i in range(len(op.outputs))])
    return trimmed


def _remove_uncalled(module: ModuleOp, entry_functions: Sequence[str]) -> None:
    """Remove functions that are reached neither from entries nor from those that are public."""
    functions = functions_by_name(module)
    calls = call_graph(functions)
    for name in entry_functions:
        if name not in functions:
            known = names_text(functions)
            raise Diagnostic(f"expected a function of the module ({known}), got '{name}'")
    roots = [*entry_functions, *(n for n, f in functions.items() if not is_private(f))]
    if not roots:  # a library module, whose functions others may use
        return
    live = {*roots, *(n for root in roots for n in reached_from(calls, root))}
    for name, func in functions.items():
        if name not in live and isinstance(func, relax.FuncOp | tir.PrimFuncOp):
            Rewriter.erase_op(func)


@dataclass(frozen=True)
class DeadCodeEliminationPass(ModulePass):
    """Remove unused pure operations, dataflow outputs and private functions.

    Those named `entry_functions`, and what they call, are used.
    """

    name = "dead-code-elimination"
    entry_functions: tuple[str, ...] | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        eliminate_dead_code(op, self.entry_functions or ())
