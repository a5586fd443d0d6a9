"""Planned functions: an arena of real bytes with views at their offsets, calls in order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from xdsl.ir import Block, SSAValue

from ..dialects import rt
from ..dialects.sym import exprs_of
from ..dialects.tir import BufferType
from .binding import Expected, bind_symbols
from .expressions import number, shape_of
from .memory import Buffer
from .relax import constant_buffer
from .session import Session, check_apart
from .values import POISON_BYTE, EvaluationError
from .views import cell_bytes, place_view


@dataclass
class _Plan:
    session: Session
    symbols: Mapping[str, int]
    values: dict[SSAValue, Buffer] = field(default_factory=lambda: {})

    def buffers(self, values: Sequence[SSAValue]) -> list[Buffer]:
        """The memory of several values."""
        return [self.values[v] for v in values]


def run_planned(session: Session, func: rt.FuncOp, args: Sequence[Buffer]) -> list[Buffer]:
    """Run a planned function on its parameters; returns its results in fresh memory."""
    try:
        symbols = _bind(func, args)
        types = [cast(BufferType, r.type) for r in func.results_]
        results = [
            Buffer(
                session.precision.fresh(t.dtype, shape_of(t.dims, symbols)), t.dtype, f"result {i}"
            )
            for i, t in enumerate(types)
        ]
        _run_on(session, func, [*args, *results], symbols)
        return results
    except EvaluationError as error:
        raise EvaluationError(f"in '{func.sym_name.data}': {error}") from None


def _run_on(
    session: Session, func: rt.FuncOp, memory: Sequence[Buffer], symbols: Mapping[str, int]
) -> None:
    plan = _Plan(session, symbols, dict(zip(func.args, memory, strict=True)))
    _run_block(plan, func.body.block)


def _bind(func: rt.FuncOp, args: Sequence[Buffer]) -> dict[str, int]:
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
    symbols: dict[str, int] = {}
    bind_symbols(expected, [a.array for a in args], symbols)
    return symbols


def _run_block(plan: _Plan, block: Block) -> None:
    for op in block.ops:
        if op.name not in _RT:
            raise EvaluationError(f"expected an operation of a planned function, got '{op.name}'")
        _RT[op.name](plan, op)


def _check(plan: _Plan, op: rt.CheckOp) -> None:
    type_ = cast(BufferType, op.buffer.type)
    wanted = Expected(op.arg_name.data, type_.dims, type_.dtype)
    bind_symbols([wanted], [plan.values[op.buffer].array], dict(plan.symbols))


def _fresh(plan: _Plan, value: SSAValue) -> Buffer:
    type_ = cast(BufferType, value.type)
    array = plan.session.precision.fresh(type_.dtype, shape_of(type_.dims, plan.symbols))
    return Buffer(array, type_.dtype, value.name_hint or "a buffer")


def _alloc(plan: _Plan, op: rt.AllocOp) -> None:
    plan.values[op.result] = _fresh(plan, op.result)


def _arena(plan: _Plan, op: rt.ArenaOp) -> None:
    (size,) = shape_of([op.size.data], plan.symbols)
    content = np.full(size * cell_bytes(plan.session.precision), POISON_BYTE, np.uint8)
    plan.values[op.result] = Buffer(content, "int8", op.result.name_hint or "the arena")


def _view(plan: _Plan, op: rt.ViewOp) -> None:
    source = plan.values[op.source]
    plan.values[op.result] = place_view(source, op, plan.symbols, plan.session.precision)


def _constant(plan: _Plan, op: rt.ConstantOp) -> None:
    data = op.value.data
    plan.values[op.result] = constant_buffer(plan.session, data, op.result.name_hint or data.key)


def _call_dps(plan: _Plan, op: rt.CallDPSOp) -> None:
    inputs, outputs = plan.buffers(op.inputs), plan.buffers(op.outputs)
    check_apart(op.callee_name, outputs, inputs)
    callee = plan.session.function(op.callee_name)
    if isinstance(callee, rt.FuncOp):
        count = len(callee.params)
        symbols = _bind(callee, [*inputs, *outputs][:count])
        _run_on(plan.session, callee, [*inputs, *outputs], symbols)
        return
    kernel = plan.session.kernel_named(op.callee_name)
    if kernel is None:
        raise EvaluationError(f"expected '{op.callee_name}' to be a kernel, got '{callee.name}'")
    variables = [number(e, plan.symbols) for e in exprs_of(op.vars)]
    plan.session.run_kernel(kernel, [*inputs, *outputs], variables)


def _call_packed(plan: _Plan, op: rt.CallPackedOp) -> None:
    inputs, outputs = plan.buffers(op.inputs), plan.buffers(op.outputs)
    check_apart(op.callee.data, outputs, inputs)
    plan.session.call_registered(op.callee.data, [*inputs, *outputs], outputs or inputs)


def _copy(plan: _Plan, op: rt.CopyOp) -> None:
    source, target = plan.values[op.source], plan.values[op.target]
    if not target.array.flags.writeable:
        raise EvaluationError(f"expected '{target.name}' to be writable, got constant memory")
    target.array[...] = source.array


def _dataflow(plan: _Plan, op: rt.DataflowOp) -> None:
    _run_block(plan, op.body.block)


_RT: dict[str, Callable[[_Plan, Any], None]] = {
    "rt.alloc": _alloc,
    "rt.arena": _arena,
    "rt.call_dps": _call_dps,
    "rt.call_packed": _call_packed,
    "rt.check": _check,
    "rt.constant": _constant,
    "rt.copy": _copy,
    "rt.dataflow": _dataflow,
    "rt.view": _view,
}
