"""`bundle-model-params`: pass the parameters of a model as one tuple.

::

    relax.func @main(%x: T, %w: U, %b: V) -> … attributes {num_input = 1} {
      %0 = relax.add %w, %b : …

⇒

    relax.func @main(%x: T, %model_params: tuple<U, V>) -> … attributes {num_input = 1} {
      %w = relax.tuple_get_item %model_params[0] : …
      %b = relax.tuple_get_item %model_params[1] : …
      %0 = relax.add %w, %b : …

The first `num_input` parameters of a function are its inputs, the others those of the model.
Functions without the attribute are unchanged. Public functions are changed, which callers outside
of the module see. TVM's ``BundleModelParams``.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import relax
from ...dialects.diagnostics import Diagnostic
from ...dialects.parameters import value_hint
from ...dialects.relax.operators.inference import tuple_type
from ..functions import graph_functions, unique_name
from .compile_time import num_input


def bundle_model_params(module: ModuleOp, param_tuple_name: str = "model_params") -> None:
    """Bundle the parameters of all functions with `num_input`, in place.

    Raises Diagnostic with one line for a function with fewer parameters than inputs, and for one
    that the module calls.
    """
    called = {op.callee_name for op in module.walk() if isinstance(op, relax.CallOp)}
    for func in graph_functions(module):
        count = num_input(func)
        if count is None:
            continue
        if count > len(func.params):
            raise Diagnostic(f"expected at least {count} parameters, got {len(func.params)}", func)
        if func.sym_name.data in called:
            raise Diagnostic("expected a function that the module does not call", func)
        _bundle(func, count, param_tuple_name)


def _bundle(func: relax.FuncOp, count: int, wanted: str) -> None:
    params, names = func.params[count:], func.names
    name = unique_name(wanted, names[:count])
    bundle = func.insert_param(len(func.params), name, tuple_type([p.type for p in params]))
    for index, (param, own) in enumerate(zip(params, names[count:], strict=True)):
        if param.first_use is not None:
            field = relax.TupleGetItemOp(bundle, index)
            field.result.name_hint = value_hint(own)
            Rewriter.insert_op(field, InsertPoint.before(_first_user(func, list(param.uses))))
            param.replace_all_uses_with(field.result)
    func.erase_params(range(count, len(func.params) - 1))


def _first_user(func: relax.FuncOp, uses: list[object]) -> Operation:
    """Where a field is needed first: in a dataflow block if all uses are in that one."""
    users = {use.operation for use in uses}  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]
    lines = [op for op in func.body.block.ops if any(inner in users for inner in op.walk())]
    first = lines[0]
    if len(lines) > 1 or not isinstance(first, relax.DataflowOp):
        return first
    return next(op for op in first.body.block.ops if any(inner in users for inner in op.walk()))


@dataclass(frozen=True)
class BundleModelParamsPass(ModulePass):
    """Pass the parameters of a model as one tuple."""

    name = "bundle-model-params"
    param_tuple_name: str = "model_params"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        bundle_model_params(op, self.param_tuple_name)
