"""Planned functions: an arena of real bytes with views at their offsets, calls in order."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute, Block, SSAValue

from ..dialects import rt
from ..dialects.relax.types import ObjectType, PrimType, ShapeType, TensorType, type_symbols
from ..dialects.rt.call_packed import OWN_FUNCTIONS
from ..dialects.sym import exprs_of
from ..dialects.tir import BufferType
from .arguments import Expected, GraphValue, Shape, bind_symbols, bind_values, flatten
from .expressions import number, shape_of
from .memory import Buffer, cell_bytes, place_view, view_of
from .objects import call_own, store_value, with_handles, without_buffers
from .relax import constant_buffer
from .session import Session, check_apart
from .values import POISON_BYTE, Array, EvaluationError


@dataclass
class _Plan:
    session: Session
    symbols: dict[str, int]
    values: dict[SSAValue, Buffer] = field(default_factory=lambda: {})
    kept: dict[int, Buffer] = field(default_factory=lambda: {})
    """Results of unknown shape, by their numbers."""

    def buffer(self, value: SSAValue) -> Buffer:
        """The memory of a value; views as another dtype have what their source has now."""
        owner = value.owner
        if value in self.values or not isinstance(owner, rt.ReinterpretOp):
            return self.values[value]
        source, type_ = self.values[owner.source], owner.result.type
        exact = self.session.precision.native(source.dtype, source.array)
        shape = shape_of(type_.dims, self.symbols)
        array = np.ascontiguousarray(exact).view(type_.dtype).reshape(shape)
        return Buffer(array, type_.dtype, value.name_hint or "a view")

    def buffers(self, values: Sequence[SSAValue]) -> list[Buffer]:
        """The memory of several values."""
        return [self.buffer(v) for v in values]


def run_planned(session: Session, func: rt.FuncOp, args: Sequence[GraphValue]) -> GraphValue:
    """Run a planned function on what users pass; returns its result, or several as a tuple."""
    try:
        known: dict[str, int] = {}
        if func.signature is not None:
            names, types = zip(*func.user_params, strict=True) if args else ((), ())
            bind_values(names, types, args, known)
        types = [type_ for _, type_ in func.user_params]
        held = [with_handles(session, t, a) for t, a in zip(types, args, strict=True)]
        memory = [leaf for arg in held for leaf in flatten(arg) if isinstance(leaf, Buffer)]
        symbols = _bind(func, memory, known)
        results = _results(session, func, symbols)
        plan = _run_on(session, func, [*memory, *results], symbols)
        if func.signature is None or not func.signature.outputs.data:
            return tuple(results)
        (type_,) = func.signature.outputs.data
        kept = iter([plan.kept[number] for number in sorted(plan.kept)])
        own = iter(results)
        stored = [next(own) if i == -1 else memory[i] for _, i in func.stored_results]
        return _result(plan, type_, iter(stored), kept, func.reported_symbols)
    except EvaluationError as error:
        raise EvaluationError(f"in '{func.sym_name.data}': {error}") from None


def _results(session: Session, func: rt.FuncOp, symbols: Mapping[str, int]) -> list[Buffer]:
    """Fresh memory for the results of a function."""
    found: list[Buffer] = []
    for position, (result, type_) in enumerate(zip(func.results_, func.graph_results, strict=True)):
        memory, name = cast(BufferType, result.type), f"result {position}"
        shape = shape_of(memory.dims, symbols)
        if type_ is not None and type_symbols(type_) & set(func.reported_symbols):
            found.append(Buffer(_bytes(session, shape[0]), memory.dtype, name))
        else:
            found.append(Buffer(session.precision.fresh(memory.dtype, shape), memory.dtype, name))
    return found


def _bytes(session: Session, size: int) -> Array:
    return np.full(size * cell_bytes(session.precision), POISON_BYTE, np.uint8)


def _result(
    plan: _Plan,
    type_: Attribute,
    memory: Iterator[Buffer],
    kept: Iterator[Buffer],
    reported: Collection[str],
) -> GraphValue:
    """A value of a type of the graph, with tensors taken from memory in order."""
    symbols, session = plan.symbols, plan.session
    match type_:
        case TupleType(types=fields):
            return tuple(_result(plan, f, memory, kept, reported) for f in fields.data)
        case TensorType() if not type_.is_known:
            return next(kept)
        case TensorType(dims=dims) if dims is not None and type_symbols(type_) & set(reported):
            dense = BufferType.of(dims, type_.element_type)
            return view_of(next(memory), dense, 0, "a result", symbols, session.precision)
        case ShapeType():
            return Shape(shape_of(type_.dims or (), symbols))
        case PrimType() if type_.expr is not None:
            return number(type_.expr, symbols)
        case ObjectType():
            return session.objects[int(next(memory).array)]
        case _:
            return next(memory)


def _run_on(
    session: Session, func: rt.FuncOp, memory: Sequence[Buffer], symbols: Mapping[str, int]
) -> _Plan:
    """Run a function on memory; returns its symbols, also those of the sizes that it read."""
    plan = _Plan(session, dict(symbols), dict(zip(func.args, memory, strict=True)))
    _run_block(plan, func.body.block)
    return plan


def _bind(
    func: rt.FuncOp, args: Sequence[Buffer], known: Mapping[str, int] | None = None
) -> dict[str, int]:
    if len(args) != len(func.params):
        raise EvaluationError(f"expected {len(func.params)} arguments, got {len(args)}")
    expected: list[Expected] = []
    for name, param, arg in zip(func.names, func.params, args, strict=True):
        type_ = cast(BufferType, param.type)
        if arg.dtype != type_.dtype:
            raise EvaluationError(
                f"expected argument '{name}' to have dtype {type_.dtype}, got {arg.dtype}"
            )
        expected.append(Expected(name, type_.dims, type_.dtype))
    symbols = dict(known or {})
    bind_symbols(expected, [a.array for a in args], symbols)
    return symbols


def _run_block(plan: _Plan, block: Block) -> None:
    for op in block.ops:
        if op.name not in _RT:
            raise EvaluationError(f"expected an operation of a planned function, got '{op.name}'")
        _RT[op.name](plan, op)
        is_call = isinstance(op, rt.CallDPSOp | rt.CallPackedOp | rt.ForOp)
        if plan.session.observe is not None and is_call:
            found = plan.buffers(rt.results_of(op))
            plan.session.observe(op, tuple(found), plan.session.terms)


def _check(plan: _Plan, op: rt.CheckOp) -> None:
    type_ = cast(BufferType, op.buffer.type)
    wanted = Expected(op.arg_name.data, type_.dims, type_.dtype)
    bind_symbols([wanted], [plan.values[op.buffer].array], dict(plan.symbols))


def _fresh(plan: _Plan, value: SSAValue) -> Buffer:
    type_ = cast(BufferType, value.type)
    array = plan.session.precision.fresh(type_.dtype, shape_of(type_.dims, plan.symbols))
    return Buffer(array, type_.dtype, value.name_hint or "a buffer")


def _alloc(plan: _Plan, op: rt.AllocOp) -> None:
    if any(isinstance(use.operation, rt.ViewOp) for use in op.result.uses):
        (size,) = shape_of(op.result.type.dims, plan.symbols)
        content, name = _bytes(plan.session, size), op.result.name_hint or "storage"
        plan.values[op.result] = Buffer(content, op.result.type.dtype, name)
    else:
        plan.values[op.result] = _fresh(plan, op.result)


def _read_sizes(plan: _Plan, op: rt.ReadSizesOp) -> None:
    for (name, _), value in zip(op.symbols, plan.values[op.source].array, strict=True):
        plan.symbols[name] = int(value)


def _arena(plan: _Plan, op: rt.ArenaOp) -> None:
    (size,) = shape_of([op.size.data], plan.symbols)
    content, name = _bytes(plan.session, size), op.result.name_hint or "the arena"
    plan.values[op.result] = Buffer(content, "int8", name)


def _view(plan: _Plan, op: rt.ViewOp) -> None:
    source = plan.values[op.source]
    plan.values[op.result] = place_view(source, op, plan.symbols, plan.session.precision)


def _reinterpret(plan: _Plan, op: rt.ReinterpretOp) -> None:
    source, name = plan.values[op.source], op.result.name_hint or "a view"
    if op.result.type.dtype != source.dtype:  # elements are held in other ways: see `_Plan.buffer`
        return
    shape = shape_of(op.result.type.dims, plan.symbols)
    if source.array.size != np.prod(shape, dtype=np.int64):
        raise EvaluationError(
            f"expected '{name}' to have the elements of {source.array.shape}, got {shape}"
        )
    array = source.array.reshape(shape, copy=False)
    plan.values[op.result] = Buffer(array, source.dtype, name)


def _constant(plan: _Plan, op: rt.ConstantOp) -> None:
    data = op.value.data
    plan.values[op.result] = constant_buffer(plan.session, data, op.result.name_hint or data.key)


def _loaded(plan: _Plan, op: rt.LoadedOp) -> None:
    """A result of a function that has run before, or runs now, as there is no loading here."""
    session, name = plan.session, op.function_name
    func = session.function(name)
    if not isinstance(func, rt.FuncOp) or func.on_load is None:
        raise EvaluationError(f"expected '{name}' to run on load")
    if name not in session.loaded:
        results = _results(session, func, {})
        _run_on(session, func, results, {})
        for result in results:
            result.array.flags.writeable = False
        session.loaded[name] = results
    plan.values[op.result] = session.loaded[name][op.index.data]


def _call_dps(plan: _Plan, op: rt.CallDPSOp) -> None:
    inputs, outputs = plan.buffers(op.inputs), plan.buffers(op.outputs)
    check_apart(op.callee_name, outputs, inputs)
    callee = plan.session.function(op.callee_name)
    if isinstance(callee, rt.FuncOp):
        memory = [*inputs, *outputs]
        given = [number(e, plan.symbols) for e in exprs_of(op.vars)]
        known = dict(zip(callee.symbol_names, given, strict=True))
        symbols = _bind(callee, memory[: len(callee.params)], known)
        with plan.session.nested_call(op.callee_name) as run:
            run(lambda: _run_on(plan.session, callee, memory, symbols))
        return
    kernel = plan.session.kernel_named(op.callee_name)
    if kernel is None:
        raise EvaluationError(f"expected '{op.callee_name}' to be a kernel, got '{callee.name}'")
    variables = [number(e, plan.symbols) for e in exprs_of(op.vars)]
    plan.session.run_kernel(kernel, [*inputs, *outputs], variables)


def _call_packed(plan: _Plan, op: rt.CallPackedOp) -> None:
    inputs, outputs = plan.buffers(op.inputs), plan.buffers(op.outputs)
    check_apart(op.callee.data, outputs, inputs)
    session, name = plan.session, op.callee.data
    if op.text is not None and name in OWN_FUNCTIONS:
        call_own(session, op.text.data, name, inputs, outputs)
        return
    args: list[GraphValue] = list(inputs)
    if op.signature is not None:
        memory = iter(inputs)
        args = [_result(plan, t, memory, iter(()), ()) for t in op.signature.inputs.data]
        args = [without_buffers(t, a) for t, a in zip(op.signature.inputs.data, args, strict=True)]
    if op.kept is not None:
        found = session.returned_buffers(name, args, len(op.kept))
        for numbers, value in zip(op.kept_results, found, strict=True):
            plan.kept |= dict.fromkeys(numbers, value)
        return
    if op.returns is None:
        session.call_registered(name, [*args, *outputs], outputs or inputs)
    elif op.signature is None:
        session.call_for_result(name, args, outputs)
    else:
        value = session.call_registered(name, args, ())
        store_value(session, name, op.signature.outputs.data[0], value, iter(outputs))


def _copy(plan: _Plan, op: rt.CopyOp) -> None:
    source, target = plan.buffers([op.source, op.target])
    if not target.array.flags.writeable:
        raise EvaluationError(f"expected '{target.name}' to be writable, got constant memory")
    target.array[...] = source.array


def _for(plan: _Plan, op: rt.ForOp) -> None:
    trips = None if op.trips is None else number(op.trips.data, plan.symbols)
    outer, index = plan.symbols, 0
    own, spare = plan.buffers(op.carried), plan.buffers(op.spare)
    pair = own, spare
    while trips is None or index < trips:
        if op.condition is not None and not bool(plan.values[op.condition].array):
            break
        plan.symbols = {**outer, op.var.data: index}
        plan.values.update(zip(op.body.block.args, (*pair[0], *pair[1]), strict=True))
        _run_block(plan, op.body.block)
        pair = pair[::-1]
        index += 1
    plan.symbols = outer
    if pair[0] is spare:
        for target, source in zip(own, spare, strict=True):
            target.array[...] = source.array


def _slice(plan: _Plan, op: rt.SliceOp) -> None:
    plan.values[op.result] = plan.values[op.source].row(number(op.index.data, plan.symbols))


def _if(plan: _Plan, op: rt.IfOp) -> None:
    if op.condition is not None:
        holds = bool(plan.values[op.condition].array)
    else:
        assert op.expr is not None
        holds = number(op.expr.data, plan.symbols) != 0
    _run_block(plan, (op.true_region if holds else op.false_region).block)


def _assert(plan: _Plan, op: rt.AssertOp) -> None:
    lhs, rhs = number(op.lhs.data, plan.symbols), number(op.rhs.data, plan.symbols)
    if not (lhs == rhs if op.predicate.data == "eq" else lhs >= rhs):
        message = op.message.data.replace("{0}", str(lhs)).replace("{1}", str(rhs))
        raise EvaluationError(message)


def _dataflow(plan: _Plan, op: rt.DataflowOp) -> None:
    _run_block(plan, op.body.block)


_RT: dict[str, Callable[[_Plan, Any], None]] = {
    "rt.alloc": _alloc,
    "rt.arena": _arena,
    "rt.assert": _assert,
    "rt.call_dps": _call_dps,
    "rt.call_packed": _call_packed,
    "rt.check": _check,
    "rt.constant": _constant,
    "rt.copy": _copy,
    "rt.dataflow": _dataflow,
    "rt.for": _for,
    "rt.if": _if,
    "rt.loaded": _loaded,
    "rt.read_sizes": _read_sizes,
    "rt.reinterpret": _reinterpret,
    "rt.slice": _slice,
    "rt.view": _view,
}
