"""`loops`: loops with carried values, conditions on bounds, scalar and vector accesses, masks."""

from __future__ import annotations

import numpy as np

from ..dialects import loops
from ..dialects.sym import exprs_of
from .control import carry_loop, nothing
from .kernel import Frame, Handler, KernelCompiler, Step, for_loop
from .memory import read, vector_index, write
from .values import Array, lanes_of


def _for(compiler: KernelCompiler, op: loops.ForOp) -> Step:
    lower, extent = compiler.numbers([op.lower.data, op.extent.data], op.operands_)
    (body, limit), var = compiler.loop(op, op.body.block), op.loop_var
    inits, carried, step_to, results = list(op.inits), op.carry_vars, op.yielded, list(op.carried)
    if not inits:
        return lambda frame: for_loop(frame, var, lower(frame), extent(frame), body, limit)

    def run(frame: Frame) -> None:
        first = lower(frame)
        carry_loop(
            frame, var, carried, inits, step_to, results, extent(frame), lambda i: first + i, body
        )

    return run


def _if(compiler: KernelCompiler, op: loops.IfOp) -> Step:
    holds, body = compiler.bounds(op.bounds.data, op.operands_), compiler.block(op.body.block)

    def run(frame: Frame) -> None:
        outer = frame.mask
        if frame.narrow(holds(frame)):
            body(frame)
        frame.mask = outer

    return run


def _lane_mask(frame: Frame, mask: Array | None) -> Array | None:
    """The lanes of a vector that are on, in the lanes of the loop that are."""
    if frame.mask is None or mask is None:
        return mask if frame.mask is None else frame.mask[..., None]
    return frame.mask[..., None] & mask


def _load(compiler: KernelCompiler, op: loops.LoadOp) -> Step:
    index = compiler.numbers(exprs_of(op.indices), op.operands_)
    buffer, result, mask, precision = op.buffer, op.result, op.mask, compiler.precision
    lanes = lanes_of(result.type)

    def run(frame: Frame) -> None:
        memory, place = frame.values[buffer], [i(frame) for i in index]
        if lanes is None:
            frame.values[result] = read(memory, place, frame.mask, precision)
            return
        on = None if mask is None else frame.values[mask]
        found = read(
            memory.per_vector(), vector_index(place, lanes), _lane_mask(frame, on), precision
        )
        frame.values[result] = (
            found if on is None else np.where(on, found, np.zeros((), found.dtype))
        )

    return run


def _store(compiler: KernelCompiler, op: loops.StoreOp) -> Step:
    index = compiler.numbers(exprs_of(op.indices), op.operands_)
    buffer, value, mask, precision = op.buffer, op.value, op.mask, compiler.precision
    lanes = lanes_of(value.type)

    def run(frame: Frame) -> None:
        memory, place = frame.values[buffer], [i(frame) for i in index]
        if lanes is None:
            write(memory, place, frame.values[value], frame.mask, precision)
            return
        on = _lane_mask(frame, None if mask is None else frame.values[mask])
        write(memory.per_vector(), vector_index(place, lanes), frame.values[value], on, precision)

    return run


def _view(compiler: KernelCompiler, op: loops.ViewOp) -> Step:
    dims = compiler.numbers(op.result.type.dims, ())
    source, offset, result = op.source, op.offset, op.result

    def run(frame: Frame) -> None:
        shape, start = [int(d(frame)) for d in dims], frame.values[offset]
        frame.values[result] = frame.values[source].reshaped(int(start), shape)

    return run


def _mask(compiler: KernelCompiler, op: loops.MaskOp) -> Step:
    active, result, lanes = (
        compiler.number(op.active.data, op.operands_),
        op.result,
        lanes_of(op.result.type),
    )
    assert lanes is not None

    def run(frame: Frame) -> None:
        frame.values[result] = np.arange(lanes) < np.asarray(active(frame))[..., None]

    return run


LOOPS: dict[str, Handler] = {
    "loops.alloca": lambda compiler, op: compiler.scratch(op.result),
    "loops.for": _for,
    "loops.if": _if,
    "loops.load": _load,
    "loops.mask": _mask,
    "loops.prefetch": nothing,
    "loops.store": _store,
    "loops.view": _view,
    "loops.yield": nothing,
}
"""How each `loops` operation runs."""
