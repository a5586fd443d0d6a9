"""`scf` under masks: conditions and trip counts that differ from lane to lane."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.dialects import scf
from xdsl.ir import Block, Region, SSAValue

from .jumps import Jumps
from .kernel import Frame, Handler, KernelCompiler, Step, iteration
from .values import Value, value_dtype


def yielded(block: Block) -> tuple[SSAValue, ...]:
    """The operands of a block's terminator."""
    last = block.last_op
    assert last is not None
    return tuple(last.operands)


def _arm(compiler: KernelCompiler, region: Region) -> tuple[Step, tuple[SSAValue, ...]]:
    if not region.blocks:
        return (lambda frame: None), ()
    return compiler.block(region.block), yielded(region.block)


def _if(compiler: KernelCompiler, op: scf.IfOp) -> Step:
    (on_true, true_values), (on_false, false_values) = (
        _arm(compiler, region) for region in (op.true_region, op.false_region)
    )
    condition, results = op.cond, list(op.results)
    poison = [
        compiler.precision.load(d, compiler.precision.fresh(d, ()))
        for d in map(value_dtype, (r.type for r in results))
    ]

    def arm(frame: Frame, on: Value, run: Step, values: Sequence[SSAValue]) -> list[Value]:
        mask = frame.mask
        found = poison
        if frame.narrow(on):
            run(frame)
            found = [frame.values[v] for v in values]
        frame.mask = mask
        return found

    def run(frame: Frame) -> None:
        on = frame.values[condition]
        if np.ndim(on) == 0:
            (on_true if on else on_false)(frame)
            for result, value in zip(results, true_values if on else false_values, strict=False):
                frame.values[result] = frame.values[value]
            return
        first = arm(frame, on, on_true, true_values)
        second = arm(frame, ~on, on_false, false_values)
        for result, a, b in zip(results, first, second, strict=False):
            frame.values[result] = frame.merge(on, a, b, result.type)

    return run


def _for(compiler: KernelCompiler, op: scf.ForOp) -> Step:
    lower, upper, step = op.lb, op.ub, op.step
    body, inits = compiler.block(op.body.block), list(op.iter_args)
    var, *carried = op.body.block.args
    step_to, results = yielded(op.body.block), list(op.results)

    def run(frame: Frame) -> None:
        values = frame.values
        first, last, stride = (values[v] for v in (lower, upper, step))
        extent = -((first - last) // stride)
        carry_loop(
            frame, var, carried, inits, step_to, results, extent, lambda i: first + i * stride, body
        )

    return run


def carry_loop(
    frame: Frame,
    var: SSAValue,
    carried: Sequence[SSAValue],
    inits: Sequence[SSAValue],
    step_to: Sequence[SSAValue],
    results: Sequence[SSAValue],
    extent: Value,
    position: Callable[[int], Value],
    body: Step,
) -> None:
    """A loop with carried values, in order; lanes that are done keep their values."""
    values, mask = frame.values, frame.mask
    active: Any = extent if mask is None else np.where(mask, extent, 0)
    state = [values[v] for v in inits]
    for i in range(int(np.max(active, initial=0))):
        values.update(zip(carried, state, strict=True))
        values[var] = position(i)
        on = i < extent
        if frame.narrow(on):
            body(frame)
            state = [
                frame.merge(on, values[new], old, new.type)
                for new, old in zip(step_to, state, strict=True)
            ]
        frame.mask = mask
    values.update(zip(results, state, strict=True))


def _while(compiler: KernelCompiler, op: scf.WhileOp) -> Step:
    before, after = op.before_region.block, op.after_region.block
    test, body = compiler.block(before), compiler.block(after)
    condition, *forwarded = yielded(before)
    step_to, inits, results = yielded(after), list(op.arguments), list(op.results)
    if op in compiler.loops_with_jumps:
        body = iteration(body)

    def run(frame: Frame) -> None:
        values, mask = frame.values, frame.mask
        jumps = Jumps()
        frame.jumps.append(jumps)
        state = [values[v] for v in inits]
        found: list[Value] = [0 for _ in results]
        running = True
        on: Value = True
        while running and frame.narrow(np.logical_not(jumps.left)):
            values.update(zip(before.args, state, strict=True))
            test(frame)
            passed = [values[v] for v in forwarded]
            found = [
                frame.merge(on, p, f, v.type)
                for v, p, f in zip(forwarded, passed, found, strict=True)
            ]
            on = on & values[condition]
            running = frame.narrow(on)
            if running:
                values.update(zip(after.args, passed, strict=True))
                body(frame)
                state = [
                    frame.merge(on, values[v], s, v.type)
                    for v, s in zip(step_to, state, strict=True)
                ]
        frame.mask = mask
        frame.jumps.pop()
        values.update(zip(results, found, strict=True))

    return run


def nothing(compiler: KernelCompiler, op: Any) -> None:
    """What its parent runs needs no step of its own."""
    return None


CONTROL: dict[str, Handler] = {
    "scf.condition": nothing,
    "scf.for": _for,
    "scf.if": _if,
    "scf.while": _while,
    "scf.yield": nothing,
}
"""How each `scf` operation runs."""
