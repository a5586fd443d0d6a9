"""The converter of ``torch.cond`` to TVM's form, whose branches are functions of the module."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, TupleType
from xdsl.ir import Block, Region

from ....dialects import relax
from ....dialects.relax.symbols import determined_symbols
from ...emitter import Emitter, Value, is_tensor
from ...functions import graph_function
from ..context import Context
from ..node_conversion import Subgraph
from ..registry import converts_as_tvm
from .control import cond


@converts_as_tvm("higher_order.cond")
def cond_of_functions(
    ctx: Context, pred: Any, true: Subgraph, false: Subgraph, operands: Sequence[Any] = ()
) -> tuple[Value, ...]:
    """The results of one of two functions, by a bool."""
    tensors = [v for v in operands if is_tensor(v)]
    known = determined_symbols(v.type for v in tensors)
    used = {s for graph in (true, false) for size in graph.sizes() for s in size.symbols()}
    if not is_tensor(pred) or len(tensors) < len(operands) or not used.issubset(known):
        return cond(ctx, pred, true, false, operands)
    condition = ctx.reshape(ctx.astype(pred, "bool"), [])
    types = [ctx.type_like(t) for t in ctx.result]
    result = types[0] if len(types) == 1 else TupleType(ArrayAttr(types))
    regions: list[Region] = []
    for word, branch in (("true", true), ("false", false)):
        name = f"cond_{word}_branch_{ctx.functions.branches}"
        ctx.functions.branches += 1
        _add_function(ctx, name, branch, tensors, types)
        call = relax.CallOp(name, tensors, result)
        regions.append(Region(Block([call, relax.YieldOp(call.result)])))
    op = relax.IfOp(condition, regions[0], regions[1], result)
    ctx.insert(op)
    return (op.result,) if len(types) == 1 else ctx.fields(op.result)


def _add_function(
    ctx: Context, name: str, branch: Subgraph, operands: Sequence[Value],
    types: Sequence[relax.TensorType],
) -> None:  # fmt: skip
    entry = Block(arg_types=[v.type for v in operands])
    inner = Emitter(Block(), ctx.functions)
    found = zip(branch.run(inner, list(entry.args)), types, strict=True)
    values = [inner.match(v, t) for v, t in found]
    names = [f"x{i}" for i in range(len(operands))]
    ctx.functions.add(
        graph_function(name, names, entry, inner.block, values, unwrap=True, has_dataflow=False)
    )
