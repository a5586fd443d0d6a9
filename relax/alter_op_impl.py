"""`relax.transform.AlterOpImpl`: other kernels for operators, on other layouts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import StringAttr, TupleType, UnitAttr
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from ..dialects import relax, tir
from ..dialects.diagnostics import Diagnostic
from ..dialects.relax.types import TensorType, tensors_in
from ..ir.base_function import BaseFunc
from ..ir.module import IRModule
from ..ir.transform import Pass, PassContext, PassInfo
from ..lowering.functions import PRIVATE, functions_by_name, graph_functions, unique_name
from ..lowering.graph.graph_builder import GraphBuilder
from ..tir.index_map import IndexMap

OPERATOR_NAME = "operator_name"
"""The attribute of a kernel with the name of the operator that it implements."""

Layout = IndexMap | Callable[..., Any] | None


class AlterOpImpl(Pass):
    """Calls of kernels become calls of others, which take tensors in other layouts.

    `op_impl_map` has the new kernel by the attribute ``operator_name`` of those that are replaced.
    `op_buffer_transforms` has a map of indices for each tensor of the call, inputs first: a
    function or an `IndexMap`, or `None` for a tensor as it is; an empty list is none for all.
    Inputs are transformed before the call, and outputs back after it. Calling it raises Diagnostic
    with one line for another number of maps, or of indices, for a map of outputs that leaves gaps,
    and for types that the new kernel does not take. Memory is flat here, so that separators of axes
    have no effect. TVM's ``relax.transform.AlterOpImpl``.
    """

    info = PassInfo("alter-op-impl")

    def __init__(
        self,
        op_impl_map: Mapping[str, BaseFunc],
        op_buffer_transforms: Mapping[str, Sequence[Layout] | None],
        op_buffer_axis_separators: object = None,
        op_buffer_input_axis_separators: object = None,
    ):
        self.kernels, self.layouts = dict(op_impl_map), dict(op_buffer_transforms)

    def transform(self, mod: IRModule, ctx: PassContext) -> IRModule:
        functions, added = functions_by_name(mod.op), dict[str, str]()
        for func in graph_functions(mod.op):
            for op in list(func.walk()):
                if isinstance(op, relax.CallTIROp):
                    name = _operator(functions.get(op.callee_name))
                    if name in self.kernels:
                        self._replace(mod, op, name, added)
        return mod

    def _replace(
        self, mod: IRModule, op: relax.CallTIROp, name: str, added: dict[str, str]
    ) -> None:
        types = [a.type for a in op.args] + list(tensors_in(op.result.type))
        layouts = list(self.layouts.get(name) or [None] * len(types))
        if len(layouts) != len(types):
            raise Diagnostic(
                f"expected {len(types)} maps of indices for '{name}', got {len(layouts)}", op
            )
        if name not in added:
            added[name] = self._add(mod, name)
        _Call(op, layouts).replace(added[name])

    def _add(self, mod: IRModule, name: str) -> str:
        """Add the kernel of an operator to the module; its name there."""
        kernel = self.kernels[name].op.clone()
        assert isinstance(kernel, tir.PrimFuncOp)
        wanted = f"{name.replace('.', '_')}_replacement"
        unique = unique_name(wanted, functions_by_name(mod.op))
        kernel.sym_name = StringAttr(unique)
        kernel.set_attr("global_symbol", None)
        kernel.set_attr(PRIVATE, UnitAttr())
        kernel.set_attr(OPERATOR_NAME, name)
        mod.op.body.block.add_op(kernel)
        return unique


def _operator(func: Operation | None) -> str:
    """The operator that a kernel says it implements."""
    value = func.attr(OPERATOR_NAME) if isinstance(func, tir.PrimFuncOp) else None
    return value.data if isinstance(value, StringAttr) else ""


class _Call:
    """A call whose tensors get other layouts."""

    def __init__(self, op: relax.CallTIROp, layouts: Sequence[Layout]):
        self.op, self.g = op, GraphBuilder(op)
        self.inputs, self.outputs = layouts[: len(op.args)], layouts[len(op.args) :]

    def replace(self, callee: str) -> None:
        """Call the kernel between transformations of inputs and outputs."""
        op, is_tuple = self.op, isinstance(self.op.result.type, TupleType)
        args = [self._transformed(a, m) for a, m in zip(op.args, self.inputs, strict=True)]
        old = tensors_in(op.result.type)
        new = [_moved(t, m) for t, m in zip(old, self.outputs, strict=True)]
        type_ = TupleType(tuple(new)) if is_tuple else new[0]
        call = relax.CallTIROp(callee, args, type_, op.tir_vars)
        result = self.g.inserted(call)
        if is_tuple:
            fields = [
                self._restored(self.g.inserted(relax.TupleGetItemOp(result, i)), t, m)
                for i, (t, m) in enumerate(zip(old, self.outputs, strict=True))
            ]
            value = self.g.inserted(relax.TupleOp(fields))
        else:
            value = self._restored(result, old[0], self.outputs[0])
        value.name_hint = op.result.name_hint
        Rewriter.replace_op(op, [], [value])

    def _transformed(self, value: SSAValue, layout: Layout) -> SSAValue:
        if layout is None:
            return value
        index_map = _map_of(layout, value.type)
        return self.g("layout_transform", value, index_map=index_map)

    def _restored(self, value: SSAValue, type_: TensorType, layout: Layout) -> SSAValue:
        """A tensor in its original layout."""
        if layout is None:
            return value
        try:
            inverse = _map_of(layout, type_).inverse([*(type_.dims or ())])
        except ValueError as error:
            raise Diagnostic(str(error), self.op) from None
        found = self.g("layout_transform", value, index_map=inverse)
        if found.type != type_:
            raise Diagnostic(
                f"expected {layout} to leave no gaps, got {value.type} for {type_}", self.op
            )
        return found


def _map_of(layout: Layout, type_: Any) -> IndexMap:
    rank = type_.rank if isinstance(type_, TensorType) else None
    if layout is None or rank is None:
        raise Diagnostic(f"expected a tensor of known rank to change its layout, got {type_}")
    try:
        return IndexMap.of(layout, rank)
    except TypeError as error:
        raise Diagnostic(str(error)) from None


def _moved(type_: TensorType, layout: Layout) -> TensorType:
    """The type of a tensor in another layout."""
    if layout is None:
        return type_
    attributes = {"index_map": _map_of(layout, type_)}
    operator = relax.OPERATORS["relax.layout_transform"]
    found = operator.infer([type_], operator.decode(operator.encode(attributes)))
    assert isinstance(found, TensorType)
    return found
