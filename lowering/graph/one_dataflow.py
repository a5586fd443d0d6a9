"""Graph functions that are one dataflow block: what gradients and losses are made of."""

from __future__ import annotations

from xdsl.ir import Operation

from ...dialects import relax
from ...dialects.diagnostics import Diagnostic


def only_dataflow(func: relax.FuncOp) -> relax.DataflowOp:
    """The dataflow block of a function; raises Diagnostic if the function has other code."""
    blocks: list[relax.DataflowOp] = []
    others: list[Operation] = []
    for op in func.body.block.ops:
        if isinstance(op, relax.DataflowOp):
            blocks.append(op)
        elif not isinstance(op, relax.TupleOp | relax.ConstantOp | relax.ReturnOp):
            others.append(op)
    if len(blocks) != 1 or others:
        got = f"'{others[0].name}' outside" if others else f"{len(blocks)} blocks"
        raise Diagnostic(f"expected one dataflow block in '{func.sym_name.data}', got {got}", func)
    return blocks[0]
