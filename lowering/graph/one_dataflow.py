"""Graph functions that are one dataflow block: what gradients and losses are made of."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from ...dialects import relax
from ...dialects.diagnostics import Diagnostic


def only_dataflow(func: relax.FuncOp) -> tuple[relax.DataflowOp, relax.func.ReturnOp]:
    """The dataflow block and the end of a function; raises Diagnostic if it has other code."""
    blocks: list[relax.DataflowOp] = []
    others: list[Operation] = []
    for op in func.body.block.ops:
        if isinstance(op, relax.DataflowOp):
            blocks.append(op)
        elif not isinstance(op, relax.TupleOp | relax.ConstantOp | relax.func.ReturnOp):
            others.append(op)
    last = func.body.block.last_op
    assert isinstance(last, relax.func.ReturnOp)
    if len(blocks) != 1 or others:
        got = f"'{others[0].name}' outside" if others else f"{len(blocks)} blocks"
        raise Diagnostic(f"expected one dataflow block in '{func.sym_name.data}', got {got}", func)
    return blocks[0], last


def returned_fields(last: relax.func.ReturnOp) -> list[SSAValue]:
    """The values that a function returns: one, or the fields of a tuple that it ends with."""
    owner = last.value.owner
    return list(owner.fields) if isinstance(owner, relax.TupleOp) else [last.value]
