"""`to-non-dataflow`: operations of dataflow blocks become operations of their function.

::

    %y = relax.dataflow -> … {
      %lv = relax.call_tir @relu(%x) : …          ⇒       %lv = relax.call_tir @relu(%x) : …
      relax.output %lv : …                                relax.return %lv : …
    }
    relax.return %y : …

TVM's ``ToNonDataflow``.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import relax
from ..functions import graph_functions


def inline_dataflow(op: relax.DataflowOp) -> None:
    """Replace a dataflow block by its operations."""
    output, outputs = op.output, op.outputs
    values = list(output.values)
    for value, result in zip(values, outputs, strict=True):
        value.name_hint = result.name_hint or value.name_hint
    Rewriter.erase_op(output)
    Rewriter.inline_block(op.body.block, InsertPoint.before(op))
    Rewriter.replace_op(op, [], values)


@dataclass(frozen=True)
class ToNonDataflowPass(ModulePass):
    """Inline every dataflow block of the graph functions."""

    name = "to-non-dataflow"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in graph_functions(op):
            for inner in list(func.walk()):
                if isinstance(inner, relax.DataflowOp):
                    inline_dataflow(inner)
