"""`lift-transform-params`: move what depends on parameters alone to a function of its own.

::

    relax.func @main(%x, %w) attributes {num_input = 1 : i64} {
      %0 = relax.permute_dims %w : …
      %1 = relax.matmul %x, %0 : …

⇒

::

    relax.func @main(%x, %0) attributes {num_input = 1 : i64} {
      %1 = relax.matmul %x, %0 : …

    relax.func @main_transform_params(%params: tuple<…>) -> tuple<…> attributes {num_input = 0} {
      %w = relax.tuple_get_item %params[0] : …
      %0 = relax.permute_dims %w : …

Parameters that are still needed come first. What depends on nothing, such as zeros, stays.
Functions without `num_input` are unchanged. If @main_transform_params exists already, parameters
are what it returns. With `shared_transform` functions of the same parameters share one function
@transform_params, of what all of them compute. TVM's ``LiftTransformParams``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TupleType
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ...dialects import relax
from ...dialects.diagnostics import Diagnostic
from ...dialects.int_expr import sym
from ...dialects.relax.operators.inference import tuple_type
from ..functions import functions_by_name, graph_functions, unique_name
from .compile_time import CompileTime, num_input
from .lifted_params import missing_symbols, needed_values, read_lifted, transform_function
from .shared_transform_params import share_transform_params


def lift_transform_params(module: ModuleOp) -> None:
    """Lift from every public function with inputs, in place.

    Raises Diagnostic with one line if the function that parameters would be lifted to exists, and
    does not map a tuple to the tuple of the parameters.
    """
    for func in graph_functions(module):
        count = num_input(func)
        if count is not None and count > 0:
            _lift(module, func, count)


def _lift(module: ModuleOp, func: relax.FuncOp, count: int) -> None:
    known = CompileTime.of(func)
    name = f"{func.sym_name.data}_transform_params"
    lifted = [op for op in _lines(func) if op.results and known.uses_parameters(op.results[0])]
    first = functions_by_name(module).get(name)
    if first is not None and not lifted:
        return
    given = tuple_type([p.type for p in func.params[count:]])
    if first is not None and not (isinstance(first, relax.FuncOp) and _maps_to(first, given)):
        shown = first.result_type if isinstance(first, relax.FuncOp) else first.name
        raise Diagnostic(f"expected '{name}' to map a tuple to a {given}, got {shown}", first)
    outputs = needed_values(func, known, count)
    transform = transform_function(name, func.params[count:], outputs, known)
    read_lifted(func, count, outputs)
    _pass_symbols(func, transform)
    if isinstance(first, relax.FuncOp):
        _append(first, transform)
    else:
        module.body.block.insert_op_after(transform, func)


def _maps_to(func: relax.FuncOp, result: TupleType) -> bool:
    takes_tuple = len(func.params) == 1 and isinstance(func.params[0].type, TupleType)
    return takes_tuple and func.result_type == result


def _append(first: relax.FuncOp, transform: relax.FuncOp) -> None:
    """Let a function return what another one makes of its result."""
    block, following = first.body.block, transform.body.block
    following.args[0].replace_all_uses_with(first.returned)
    assert block.last_op is not None
    block.erase_op(block.last_op)
    for op in list(following.ops):
        op.detach()
        block.add_op(op)
    first.result_type = transform.result_type


def _lines(func: relax.FuncOp) -> Iterator[Operation]:
    for op in func.body.block.ops:
        yield from op.body.block.ops if isinstance(op, relax.DataflowOp) else (op,)


def _pass_symbols(func: relax.FuncOp, transform: relax.FuncOp) -> None:
    """Pass the symbols that lifted parameters declared as one more result, a shape."""
    missing = missing_symbols(func)
    if not missing:
        return
    dims = [sym(s) for s in missing]
    name = unique_name("symbols", func.names)
    func.insert_param(len(func.params), name, relax.ShapeType.of(dims))
    dataflow = next(op for op in transform.body.block.ops if isinstance(op, relax.DataflowOp))
    old = dataflow.output.values[0].owner
    assert isinstance(old, relax.TupleOp)
    shape = relax.ShapeOp(dims)
    new = relax.TupleOp([*old.fields, shape.result])
    Rewriter.replace_op(old, [shape, new], [new.result])
    replaced = relax.DataflowOp(dataflow.detach_region(dataflow.body), [new.result.type])
    Rewriter.replace_op(dataflow, replaced)
    transform.result_type = new.result.type


@dataclass(frozen=True)
class LiftTransformParamsPass(ModulePass):
    """Move what depends on parameters alone to functions that run before the inputs are known."""

    name = "lift-transform-params"
    shared_transform: bool | tuple[str, ...] = False
    """Whether functions share what they lift, or the names of those that do."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if not self.shared_transform:
            lift_transform_params(op)
        elif isinstance(self.shared_transform, bool):
            share_transform_params(op)
        else:
            share_transform_params(op, self.shared_transform)
