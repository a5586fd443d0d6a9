"""Graph functions: operators by their `reference`, calls that allocate what they return."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, TupleType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ..dialects import relax
from ..dialects.relax.operators.base import evaluated
from ..dialects.relax.symbols import determined_symbols
from ..dialects.relax.types import TensorType, tensors_in
from ..dialects.sym import ExprAttr, exprs_of
from .expressions import number, shape_of
from .graph_arguments import GraphValue, Shape, bind_values, flatten
from .memory import Buffer
from .session import Session
from .values import EvaluationError


@dataclass
class _Graph:
    session: Session
    symbols: dict[str, int]
    values: dict[SSAValue, GraphValue] = field(default_factory=lambda: {})


def run_graph(session: Session, func: relax.FuncOp, args: Sequence[GraphValue]) -> GraphValue:
    """The value that a graph function returns."""
    try:
        graph = _Graph(session, _bind(func, args), dict(zip(func.params, args, strict=True)))
        _run_block(graph, func.body.block)
        return graph.values[func.returned]
    except EvaluationError as error:
        raise EvaluationError(f"in '{func.sym_name.data}': {error}") from None


def _bind(func: relax.FuncOp, args: Sequence[GraphValue]) -> dict[str, int]:
    if len(args) != len(func.params):
        raise EvaluationError(f"expected {len(func.params)} arguments, got {len(args)}")
    symbols: dict[str, int] = {}
    bind_values(func.names, [p.type for p in func.params], args, symbols)
    return symbols


def _run_block(graph: _Graph, block: Block) -> None:
    for op in block.ops:
        if isinstance(op, relax.OperatorOp):
            _operator(graph, op)
        elif op.name in _RELAX:
            _RELAX[op.name](graph, op)
        else:
            raise EvaluationError(f"expected an operation of a graph, got '{op.name}'")


def _operator(graph: _Graph, op: relax.OperatorOp) -> None:
    precision = graph.session.precision
    operands = [cast(Buffer, graph.values[v]) for v in op.operands]
    arrays = [
        precision.load(b.dtype, b.array) if b.dtype == "bfloat16" else b.array for b in operands
    ]
    attributes = evaluated(op.attribute_values(), partial(number, symbols=graph.symbols))
    found = op.reference(arrays, attributes)
    if isinstance(op.result.type, TensorType):
        result = _operator_result(graph, op, op.result.type, operands, found)
    else:
        types = tensors_in(op.result.type)
        result = tuple(
            _operator_result(graph, op, t, operands, f) for t, f in zip(types, found, strict=True)
        )
    graph.values[op.result] = result


def _operator_result(
    graph: _Graph, op: relax.OperatorOp, type_: TensorType, operands: Sequence[Buffer], found: Any
) -> Buffer:
    """The memory of what an operator's reference found, of the dtype and shape that it infers."""
    precision, found = graph.session.precision, np.asarray(found)
    dtype = type_.dtype or (operands[0].dtype if operands else str(found.dtype))
    stored = (
        precision.store(dtype, precision.narrow(dtype, found)) if dtype == "bfloat16" else found
    )
    array = np.array(stored, precision.storage(dtype))
    if type_.dims is not None:
        shape = shape_of(type_.dims, graph.symbols)
        if shape != array.shape:
            raise EvaluationError(f"expected '{op.name}' to give shape {shape}, got {array.shape}")
    longest = max(
        (n for b in operands for n in (*b.array.shape, b.array.size // max(1, array.size))),
        default=1,
    )
    elementwise = all(
        b.array.size <= array.size and b.array.shape in (array.shape, ()) for b in operands
    )
    graph.session.terms = max(graph.session.terms, 1 if elementwise else longest)
    return Buffer(array, dtype, op.result.name_hint or op.name)


def _fresh(graph: _Graph, type_: Attribute, name: str) -> GraphValue:
    """Undefined memory for a tensor type, or for each tensor of a tuple type."""
    if isinstance(type_, TupleType):
        return tuple(_fresh(graph, t, name) for t in cast(Sequence[Attribute], type_.types.data))
    assert isinstance(type_, TensorType) and type_.dims is not None and type_.dtype is not None
    shape = shape_of(type_.dims, graph.symbols)
    return Buffer(graph.session.precision.fresh(type_.dtype, shape), type_.dtype, name)


def _numbers(graph: _Graph, exprs: ArrayAttr[ExprAttr] | None) -> list[int]:
    return [] if exprs is None else [number(e, graph.symbols) for e in exprs_of(exprs)]


def _arguments(graph: _Graph, operands: Sequence[SSAValue]) -> list[Buffer]:
    return [leaf for v in operands for leaf in flatten(graph.values[v])]


def _call_tir(graph: _Graph, op: relax.CallTIROp) -> None:
    kernel = graph.session.kernel_named(op.callee_name)
    if kernel is None:
        raise EvaluationError(f"expected a PrimFunc '{op.callee_name}' in the module, got none")
    result = _fresh(graph, op.result.type, op.result.name_hint or op.callee_name)
    inputs, outputs = _arguments(graph, op.args), flatten(result)
    graph.session.run_kernel(kernel, [*inputs, *outputs], _numbers(graph, op.tir_vars))
    graph.values[op.result] = result


def _call_tir_inplace(graph: _Graph, op: relax.CallTIRInplaceOp) -> None:
    kernel = graph.session.kernel_named(op.callee_name)
    if kernel is None:
        raise EvaluationError(f"expected a PrimFunc '{op.callee_name}' in the module, got none")
    args, fresh = _arguments(graph, op.args), flatten(_fresh(graph, op.result.type, op.callee_name))
    outputs = list(fresh)
    for index, position in enumerate(op.positions):
        if position != -1:
            source = args[position]
            args[position] = outputs[index] = replace(source, array=source.array.copy())
    own = [o for o, position in zip(outputs, op.positions, strict=True) if position == -1]
    graph.session.run_kernel(kernel, [*args, *own], _numbers(graph, op.tir_vars))
    is_tuple = isinstance(op.result.type, TupleType)
    graph.values[op.result] = tuple(outputs) if is_tuple else outputs[0]


def _call_dps_packed(graph: _Graph, op: relax.CallDPSPackedOp) -> None:
    result = _fresh(graph, op.result.type, op.result.name_hint or op.callee_name)
    buffers, outputs = _arguments(graph, op.args), flatten(result)
    kernel = graph.session.kernel_named(op.callee_name)
    if kernel is not None:
        graph.session.run_kernel(kernel, [*buffers, *outputs], ())
    else:
        graph.session.call_registered(op.callee_name, [*buffers, *outputs], outputs)
    graph.values[op.result] = result


def _call_pure_packed(graph: _Graph, op: relax.CallPurePackedOp | relax.CallPackedOp) -> None:
    result = _fresh(graph, op.result.type, op.result.name_hint or op.callee.data)
    inputs = _arguments(graph, op.args)
    graph.session.call_for_result(op.callee.data, inputs, flatten(result))
    graph.values[op.result] = result


def _print(graph: _Graph, op: relax.PrintOp) -> None:
    graph.session.write(op.format.data, _arguments(graph, op.values))
    graph.values[op.result] = ()


def _assert(graph: _Graph, op: relax.AssertOp) -> None:
    condition = graph.values[op.condition]
    if not bool(condition.array if isinstance(condition, Buffer) else condition):
        text = graph.session.formatted(op.format.data, _arguments(graph, op.values))
        raise EvaluationError(text or "assertion failed")
    graph.values[op.result] = ()


def _call_packed(graph: _Graph, op: relax.CallPackedOp) -> None:
    if op.result.first_use is not None and tensors_in(op.result.type):
        _call_pure_packed(graph, op)
        return
    buffers = _arguments(graph, op.args)
    graph.values[op.result] = graph.session.call_registered(op.callee.data, buffers, buffers)


def _call(graph: _Graph, op: relax.CallOp) -> None:
    callee = graph.session.function(op.callee_name)
    if not isinstance(callee, relax.FuncOp):
        raise EvaluationError(
            f"expected '{op.callee_name}' to be a graph function, got '{callee.name}'"
        )
    args = [graph.values[v] for v in op.args]
    with graph.session.nested_call(op.callee_name) as run:
        graph.values[op.result] = run(lambda: run_graph(graph.session, callee, args))


def _if(graph: _Graph, op: relax.IfOp) -> None:
    condition = graph.values[op.condition]
    holds = bool(condition.array if isinstance(condition, Buffer) else condition)
    block, value = list(zip(op.branches, op.yielded, strict=True))[0 if holds else 1]
    symbols, graph.symbols = graph.symbols, dict(graph.symbols)
    _run_block(graph, block)
    graph.symbols = symbols
    graph.values[op.result] = graph.values[value]


def _local_func(graph: _Graph, op: relax.LocalFuncOp) -> None:
    def call(args: Sequence[GraphValue]) -> GraphValue:
        inner = _Graph(graph.session, dict(graph.symbols), dict(graph.values))
        own = set(determined_symbols(p.type for p in op.params))
        symbols = {n: v for n, v in graph.symbols.items() if n in outer or n not in own}
        bind_values(op.names, [p.type for p in op.params], args, symbols)
        inner.symbols = symbols
        inner.values.update(zip(op.params, args, strict=True))
        _run_block(inner, op.body.block)
        return inner.values[op.returned]

    outer = set(graph.symbols)
    graph.values[op.result] = call


def _invoke(graph: _Graph, op: relax.InvokeOp) -> None:
    call = cast(Callable[..., GraphValue], graph.values[op.callee])
    graph.values[op.result] = call([graph.values[v] for v in op.args])


def _match_cast(graph: _Graph, op: relax.MatchCastOp) -> None:
    name, value = op.value.name_hint or "a value", graph.values[op.value]
    try:
        bind_values([name], [op.result.type], [value], graph.symbols)
    except EvaluationError as error:
        raise EvaluationError(f"match_cast: {error}") from None
    graph.values[op.result] = value


def _shape_of(graph: _Graph, op: relax.ShapeOfOp) -> None:
    graph.values[op.result] = Shape(cast(Buffer, graph.values[op.tensor]).dims)


def _shape(graph: _Graph, op: relax.ShapeOp) -> None:
    graph.values[op.result] = Shape(shape_of(op.result.type.dims or (), graph.symbols))


def _prim_value(graph: _Graph, op: relax.PrimValueOp) -> None:
    assert op.result.type.expr is not None
    graph.values[op.result] = number(op.result.type.expr, graph.symbols)


def constant_buffer(session: Session, data: relax.TensorData, name: str) -> Buffer:
    """The memory of a constant, which cannot be written."""
    try:
        array = session.precision.widen(data.dtype, data.values).view()
    except ValueError as error:
        raise EvaluationError(str(error)) from None
    array.flags.writeable = False
    return Buffer(array, data.dtype, name)


def _constant(graph: _Graph, op: relax.ConstantOp) -> None:
    data = op.value.data
    graph.values[op.result] = constant_buffer(graph.session, data, op.result.name_hint or data.key)


def _dataflow(graph: _Graph, op: relax.DataflowOp) -> None:
    _run_block(graph, op.body.block)
    graph.values.update(
        {r: graph.values[v] for r, v in zip(op.outputs, op.output.values, strict=True)}
    )


def _alloc_tensor(graph: _Graph, op: relax.AllocTensorOp) -> None:
    graph.values[op.result] = _fresh(graph, op.result.type, op.result.name_hint or "a tensor")


def _tuple(graph: _Graph, op: relax.TupleOp) -> None:
    graph.values[op.result] = tuple(graph.values[v] for v in op.fields)


def _tuple_get_item(graph: _Graph, op: relax.TupleGetItemOp) -> None:
    graph.values[op.result] = cast(Any, graph.values[op.tuple_value])[op.index.data]


def _nothing(graph: _Graph, op: Operation) -> None:
    return None


_RELAX: dict[str, Callable[[_Graph, Any], None]] = {
    "relax.alloc_tensor": _alloc_tensor,
    "relax.assert": _assert,
    "relax.call": _call,
    "relax.call_dps_packed": _call_dps_packed,
    "relax.call_packed": _call_packed,
    "relax.call_pure_packed": _call_pure_packed,
    "relax.call_tir": _call_tir,
    "relax.call_tir_inplace": _call_tir_inplace,
    "relax.constant": _constant,
    "relax.dataflow": _dataflow,
    "relax.if": _if,
    "relax.invoke": _invoke,
    "relax.local_func": _local_func,
    "relax.match_cast": _match_cast,
    "relax.output": _nothing,
    "relax.prim_value": _prim_value,
    "relax.print": _print,
    "relax.return": _nothing,
    "relax.shape": _shape,
    "relax.shape_of": _shape_of,
    "relax.tuple": _tuple,
    "relax.tuple_get_item": _tuple_get_item,
    "relax.yield": _nothing,
}
