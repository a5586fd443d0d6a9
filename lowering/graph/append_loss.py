"""Put a loss after a model: a function of the model's inputs and of targets, with one result more.

::

    relax.func @main(%x, %state) -> tuple<%out, %new_state>       relax.func @loss(%out, %target)

⇒ with a third function, whose dataflow block has the operations of both

::

    relax.func @main_loss(%x, %state, %target) -> tuple<%loss, %new_state>

TVM's ``AppendLoss``.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import relax
from ...dialects.diagnostics import Diagnostic
from ..functions import functions_by_name, graph_function, unique_name
from .one_dataflow import only_dataflow
from .values import canonical, returned_fields


def append_loss(
    module: ModuleOp, func_name: str, loss: relax.FuncOp, num_backbone_outputs: int, new_name: str
) -> None:
    """Add the function `new_name` to the module, in place.

    The first results of the function `func_name` are the first arguments of the loss, the other
    parameters of the loss follow those of the function, and its other results follow the loss. Both
    are one dataflow block. Raises Diagnostic with one line for other functions, for a name that
    exists, and for results that do not fit the loss.
    """
    func = graph_function(module, func_name)
    if new_name in functions_by_name(module):
        raise Diagnostic(f"expected no function '{new_name}' yet, got one")
    new = func.clone()
    _append(new, loss.clone(), num_backbone_outputs)
    new.sym_name = type(new.sym_name)(new_name)
    new.properties.pop("attrs", None)
    module.body.block.insert_op_after(new, func)


def _append(func: relax.FuncOp, loss: relax.FuncOp, count: int) -> None:
    dataflow, own = only_dataflow(func), only_dataflow(loss)
    results = returned_fields(func)
    _verify(func, loss, results, count)
    if len(returned_fields(loss)) != 1 or loss.returned.owner is not own:
        raise Diagnostic(f"expected '{loss.sym_name.data}' to return a value of its dataflow block")
    inside = [_inside(v, dataflow) for v in results]
    mapper: dict[SSAValue, SSAValue] = dict(zip(loss.params, inside, strict=False))
    for param, name in list(zip(loss.params, loss.names, strict=True))[count:]:
        own_name = unique_name(name, func.names)
        mapper[param] = func.insert_param(len(func.params), own_name, param.type)
    inner = dataflow.body.block
    constants = [op for op in loss.body.block.ops if isinstance(op, relax.ConstantOp)]
    inner.insert_ops_before(
        [op.clone(mapper) for op in (*constants, *own.body.block.ops) if op is not own.output],
        dataflow.output,
    )
    value = canonical(loss.returned)
    _return(func, dataflow, results[count:], mapper.get(value, value))


def _verify(
    func: relax.FuncOp, loss: relax.FuncOp, results: Sequence[SSAValue], count: int
) -> None:
    name, own = func.sym_name.data, loss.sym_name.data
    if not 0 < count <= min(len(results), len(loss.params)):
        raise Diagnostic(
            f"expected {count} results of '{name}' that are parameters of '{own}', "
            f"got {len(results)} and {len(loss.params)}"
        )
    for result in results:
        if isinstance(result.owner, relax.TupleOp):
            raise Diagnostic(f"expected '{name}' to return tensors, got {result.type} among them")
    for result, param, label in zip(results[:count], loss.params, loss.names, strict=False):
        if result.type != param.type:
            raise Diagnostic(
                f"expected parameter '{label}' of '{own}' to be {result.type}, got {param.type}"
            )
    type_ = loss.result_type
    if not isinstance(type_, relax.TensorType) or type_.rank != 0:
        raise Diagnostic(f"expected '{own}' to return a tensor of rank 0, got {type_}")


def _inside(value: SSAValue, dataflow: relax.DataflowOp) -> SSAValue:
    return canonical(value) if value.owner is dataflow else value


def _return(
    func: relax.FuncOp,
    dataflow: relax.DataflowOp,
    states: Sequence[SSAValue],
    value: SSAValue,
) -> None:
    """Return a value of the dataflow block, and after it states."""
    used = [n for n, o in enumerate(dataflow.outputs) if o in states]
    old = [dataflow.outputs[n] for n in used]
    inner = [*(dataflow.output.values[n] for n in used), value]
    Rewriter.replace_op(dataflow.output, relax.OutputOp(inner))
    new = relax.DataflowOp(dataflow.detach_region(dataflow.body), [v.type for v in inner])
    for before, result in zip([*old, value], new.outputs, strict=True):
        result.name_hint = before.name_hint
    outer: dict[SSAValue, SSAValue] = dict(zip(old, new.outputs, strict=False))
    kept = [outer.get(s, s) for s in states]
    result = new.outputs[-1]
    if kept:
        pair = relax.TupleOp([result, *kept])
        Rewriter.insert_op(pair, InsertPoint.before(func.end))
        result = pair.result
    returned = func.returned.owner
    func.end.operands[0] = result
    if isinstance(returned, relax.TupleOp):
        Rewriter.erase_op(returned)
    assert dataflow.parent is not None
    dataflow.parent.insert_op_before(new, dataflow)
    for before, after in outer.items():
        before.replace_all_uses_with(after)
    Rewriter.erase_op(dataflow)
    func.result_type = result.type
