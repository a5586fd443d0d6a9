"""Graph functions: the meaning of each operation of `relax` but calls of kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np
from xdsl.ir import Block, Operation

from ..dialects import relax
from ..dialects.relax.operators.base import evaluated
from ..dialects.relax.prim_values import tensor_of
from ..dialects.relax.symbols import determined_symbols
from ..dialects.relax.types import TensorType, tensors_in
from .arguments import GraphValue, Shape, bind_values, flatten
from .expressions import number, shape_of
from .graph_calls import CALLS, Graph, arguments, fresh, returned, values_of
from .memory import Buffer
from .session import Session
from .values import EvaluationError


def run_operator(graph: Graph, op: relax.OperatorOp) -> None:
    """Compute the result of an operator by its `reference`."""
    precision = graph.session.precision
    operands = [cast(Buffer, graph.values[v]) for v in op.operands]
    for operand in operands:
        operand.verify_written()
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
    graph: Graph, op: relax.OperatorOp, type_: TensorType, operands: Sequence[Buffer], found: Any
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


def run_graph(session: Session, func: relax.FuncOp, args: Sequence[GraphValue]) -> GraphValue:
    """The value that a graph function returns."""
    try:
        own = [b for a in args for b in flatten(a)] if session.depth == 0 else ()
        graph = Graph(session, _bind(func, args), own=own)
        graph.values.update(zip(func.params, args, strict=True))
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


def _run_block(graph: Graph, block: Block) -> None:
    for op in block.ops:
        if isinstance(op, relax.OperatorOp):
            run_operator(graph, op)
        elif op.name in _RELAX:
            _RELAX[op.name](graph, op)
        else:
            raise EvaluationError(f"expected an operation of a graph, got '{op.name}'")
        if graph.session.observe is not None and len(op.results) == 1:
            graph.session.observe(op, graph.values[op.results[0]], graph.session.terms)


def _print(graph: Graph, op: relax.PrintOp) -> None:
    graph.session.write(op.text, arguments(graph, op.values))
    graph.values[op.result] = ()


def _assert(graph: Graph, op: relax.AssertOp) -> None:
    condition = graph.values[op.condition]
    if not _holds(condition):
        raise EvaluationError(graph.session.formatted(op.text, arguments(graph, op.values)))
    graph.values[op.result] = ()


def _call(graph: Graph, op: relax.CallOp) -> None:
    callee = graph.session.function(op.callee_name)
    if not isinstance(callee, relax.FuncOp):
        raise EvaluationError(
            f"expected '{op.callee_name}' to be a graph function, got '{callee.name}'"
        )
    args = [graph.values[v] for v in op.args]
    with graph.session.nested_call(op.callee_name) as run:
        found = run(lambda: run_graph(graph.session, callee, args))
    graph.values[op.result] = _in_own_memory(found)


def _loop(graph: Graph, op: relax.LoopOp) -> None:
    """Every iteration is a call; outputs are stacked in the memory of the result."""
    callee = graph.session.function(op.callee_name)
    if not isinstance(callee, relax.FuncOp):
        raise EvaluationError(
            f"expected '{op.callee_name}' to be a graph function, got '{callee.name}'"
        )
    count = len(op.carried)
    state = [_in_own_memory(graph.values[v]) for v in op.carried]
    scanned = [cast(Buffer, graph.values[v]) for v in op.scanned]
    given = [graph.values[v] for v in op.given]
    result = cast("tuple[Buffer, ...]", fresh(graph, op.result.type, op.callee_name))
    trips = None if op.trip_count is None else number(op.trip_count, graph.symbols)
    index = 0
    while (trips is None or index < trips) and (op.is_while is None or _holds(state[0])):
        args = [index, *state, *(s.row(index) for s in scanned), *given]
        with graph.session.nested_call(op.callee_name) as run:
            found = run(lambda args=args: run_graph(graph.session, callee, args))
        fields = cast("tuple[Buffer, ...]", _in_own_memory(found))
        state = list(fields[:count])
        for stack, output in zip(result[count:], fields[count:], strict=True):
            row = stack.row(index)
            row.array[...] = output.array
            if row.written is not None:
                row.written[...] = True if output.written is None else output.written
        index += 1
    graph.values[op.result] = (*state, *result[count:])


def _holds(condition: GraphValue) -> bool:
    return bool(condition.array if isinstance(condition, Buffer) else condition)


def _if(graph: Graph, op: relax.IfOp) -> None:
    condition = graph.values[op.condition]
    holds = _holds(condition)
    block, value = list(zip(op.branches, op.yielded, strict=True))[0 if holds else 1]
    symbols, graph.symbols = graph.symbols, dict(graph.symbols)
    _run_block(graph, block)
    graph.symbols = symbols
    graph.values[op.result] = _in_own_memory(graph.values[value])


def _in_own_memory(value: GraphValue) -> GraphValue:
    """The value of a branch or a call: what writes it writes nothing that was there before."""
    if isinstance(value, tuple):
        return tuple(_in_own_memory(v) for v in cast("tuple[GraphValue, ...]", value))
    return value.copy() if isinstance(value, Buffer) else value


def _local_func(graph: Graph, op: relax.LocalFuncOp) -> None:
    def call(args: Sequence[GraphValue]) -> GraphValue:
        inner = Graph(graph.session, dict(graph.symbols), dict(graph.values))
        own = set(determined_symbols(p.type for p in op.params))
        symbols = {n: v for n, v in graph.symbols.items() if n in outer or n not in own}
        bind_values(op.names, [p.type for p in op.params], args, symbols)
        inner.symbols = symbols
        inner.values.update(zip(op.params, args, strict=True))
        _run_block(inner, op.body.block)
        return inner.values[op.returned]

    outer = set(graph.symbols)
    graph.values[op.result] = _Closure(call)


def _own_func(graph: Graph, op: relax.OwnFuncOp) -> None:
    graph.values[op.result] = graph.values[op.function.result]


@dataclass(frozen=True)
class _Closure:
    """A local function; other functions are those that users pass."""

    call: Callable[[Sequence[GraphValue]], GraphValue]


def _invoke(graph: Graph, op: relax.InvokeOp) -> None:
    function = graph.values[op.callee]
    if isinstance(function, _Closure):
        result = _in_own_memory(function.call([graph.values[v] for v in op.args]))
    else:
        args = [function, *values_of(graph, op.args)]
        found = graph.session.call_registered("vm.builtin.invoke_closure", args, ())
        result = returned(graph, op.callee.name_hint or "a function", op.result.type, found)
    graph.values[op.result] = result


def _match_cast(graph: Graph, op: relax.MatchCastOp) -> None:
    name, value = op.value.name_hint or "a value", graph.values[op.value]
    if isinstance(op.value.type, relax.ObjectType) and not isinstance(value, Buffer | Shape):
        value = returned(graph, name, op.result.type, value)
    try:
        bind_values([name], [op.result.type], [value], graph.symbols)
    except EvaluationError as error:
        raise EvaluationError(f"match_cast: {error}") from None
    graph.values[op.result] = value


def _shape_of(graph: Graph, op: relax.ShapeOfOp) -> None:
    graph.values[op.result] = Shape(cast(Buffer, graph.values[op.tensor]).dims)


def _tensor_to_shape(graph: Graph, op: relax.TensorToShapeOp) -> None:
    numbers = [int(n) for n in cast(Buffer, graph.values[op.tensor]).array]
    for value, limit in zip(numbers, shape_of(op.limits, graph.symbols), strict=True):
        if not 0 <= value <= limit:
            raise EvaluationError(f"tensor_to_shape: expected a dim from 0 to {limit}, got {value}")
    graph.values[op.result] = Shape(tuple(numbers))


def _prim_to_tensor(graph: Graph, op: relax.PrimToTensorOp) -> None:
    value = graph.values[op.prim]
    if not isinstance(value, Buffer):
        dtype = tensor_of(op.prim.type).dtype or ""
        value = Buffer(np.array(value, graph.session.precision.storage(dtype)), dtype, "a scalar")
    graph.values[op.result] = value


def _tensor_to_prim(graph: Graph, op: relax.TensorToPrimOp) -> None:
    graph.values[op.result] = graph.values[op.tensor]


def _shape(graph: Graph, op: relax.ShapeOp) -> None:
    graph.values[op.result] = Shape(shape_of(op.result.type.dims or (), graph.symbols))


def _prim_value(graph: Graph, op: relax.PrimValueOp) -> None:
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


def _constant(graph: Graph, op: relax.ConstantOp) -> None:
    data = op.value.data
    graph.values[op.result] = constant_buffer(graph.session, data, op.result.name_hint or data.key)


def _dataflow(graph: Graph, op: relax.DataflowOp) -> None:
    _run_block(graph, op.body.block)
    graph.values.update(
        {r: graph.values[v] for r, v in zip(op.outputs, op.output.values, strict=True)}
    )


def _alloc_tensor(graph: Graph, op: relax.AllocTensorOp | relax.StorageTensorOp) -> None:
    graph.values[op.result] = fresh(graph, op.result.type, op.result.name_hint or "a tensor")


def _storage(graph: Graph, op: Operation) -> None:
    """Every tensor has memory of its own, so that a plan that overwrites one early is wrong."""
    graph.values[op.results[0]] = ()


def _tuple(graph: Graph, op: relax.TupleOp) -> None:
    graph.values[op.result] = tuple(graph.values[v] for v in op.fields)


def _tuple_get_item(graph: Graph, op: relax.TupleGetItemOp) -> None:
    graph.values[op.result] = cast(Any, graph.values[op.tuple_value])[op.index.data]


def _nothing(graph: Graph, op: Operation) -> None:
    return None


_RELAX: dict[str, Callable[[Graph, Any], None]] = {
    **CALLS,
    "relax.alloc_tensor": _alloc_tensor,
    "relax.assert": _assert,
    "relax.call": _call,
    "relax.constant": _constant,
    "relax.dataflow": _dataflow,
    "relax.if": _if,
    "relax.invoke": _invoke,
    "relax.local_func": _local_func,
    "relax.own_func": _own_func,
    "relax.loop": _loop,
    "relax.match_cast": _match_cast,
    "relax.memory.alloc_storage": _storage,
    "relax.memory.alloc_tensor": _alloc_tensor,
    "relax.memory.kill_storage": _storage,
    "relax.memory.kill_tensor": _storage,
    "relax.output": _nothing,
    "relax.prim_to_tensor": _prim_to_tensor,
    "relax.prim_value": _prim_value,
    "relax.print": _print,
    "relax.return": _nothing,
    "relax.shape": _shape,
    "relax.shape_of": _shape_of,
    "relax.tensor_to_prim": _tensor_to_prim,
    "relax.tensor_to_shape": _tensor_to_shape,
    "relax.tuple": _tuple,
    "relax.tuple_get_item": _tuple_get_item,
    "relax.yield": _nothing,
}
