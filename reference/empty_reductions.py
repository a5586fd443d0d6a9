"""The result of an empty reduction: the initial values.

A block of TensorIR initializes in its first iteration. Where there is none the initialization runs
nevertheless, as it does in native code, for every point of the axes that are not reduced.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Operation, SSAValue

from ..dialects import tir
from ..dialects.sym import exprs_of
from .kernel import MAX_LANES, Frame, KernelCompiler, Step, for_loop, run_all
from .values import Value


def empty_reduction(compiler: KernelCompiler, op: tir.ForOp) -> Step | None:
    """The initialization for a loop over reduce axes alone; `None` for any other loop.

    Where a loop over other axes, too, has no iterations, there is no element to initialize.
    """
    blocks = [b for b in _blocks_in(op) if op.loop_var in _only_reduce_values(b)]
    return _step(compiler, op, blocks) if blocks else None


def run_where_empty(frame: Frame, extent: Value, step: Step) -> None:
    """Run the initialization in the lanes where the loop has no iterations."""
    if not np.any(np.asarray(extent) <= 0):
        return
    mask = frame.mask
    if frame.narrow(extent <= 0):
        step(frame)
    frame.mask = mask


def _blocks_in(op: tir.ForOp) -> list[tir.BlockOp]:
    """The blocks with an initialization that have only loops between them and the loop."""
    found: list[tir.BlockOp] = []
    for inner in op.body.block.ops:
        if isinstance(inner, tir.ForOp):
            found += _blocks_in(inner)
        elif isinstance(inner, tir.BlockOp) and inner.init is not None:
            found.append(inner)
    return found


def _reduce_values(block: tir.BlockOp) -> set[SSAValue]:
    """The loop variables that the reduce axes are bound to."""
    return _values_of_axes(block, True)


def _only_reduce_values(block: tir.BlockOp) -> set[SSAValue]:
    """The loop variables that reduce axes are bound to, and no other axes."""
    return _values_of_axes(block, True) - _values_of_axes(block, False)


def _values_of_axes(block: tir.BlockOp, reduces: bool) -> set[SSAValue]:
    operands = block.numbering()
    pairs = zip(exprs_of(block.bindings), block.axis_kinds, strict=True)
    return {operands[i] for e, kind in pairs if (kind == "reduce") == reduces for i in e.args()}


def _step(compiler: KernelCompiler, op: Operation, blocks: Sequence[tir.BlockOp]) -> Step | None:
    if isinstance(op, tir.BlockOp):
        return _initialize(compiler, op) if op in blocks else None
    if not isinstance(op, tir.ForOp):
        return None
    steps = [s for o in op.body.block.ops if (s := _step(compiler, o, blocks)) is not None]
    if not steps:
        return None
    lower, extent = compiler.numbers([op.min.data, op.extent.data], op.operands_)
    body, var = run_all(steps), op.loop_var
    if any(var in _only_reduce_values(b) for b in blocks):

        def first(frame: Frame) -> None:
            frame.values[var] = lower(frame)
            body(frame)

        return first
    limit = MAX_LANES if op in compiler.axes else 0
    return lambda frame: for_loop(frame, var, lower(frame), extent(frame), body, limit)


def _initialize(compiler: KernelCompiler, op: tir.BlockOp) -> Step:
    assert op.init is not None
    operands, reduced = op.numbering(), _reduce_values(op)
    axes = list(zip(op.axis_vars, compiler.numbers(exprs_of(op.bindings), operands), strict=True))
    kept = [p for p in op.predicates.data if not reduced & _values_of(p, operands)]
    holds, init = compiler.bounds(kept, operands), compiler.block(op.init.body.block)
    extents = [a.extent.data for a in op.axes.data if a.kind.data != "reduce"]
    counts = compiler.numbers(extents, operands)

    def run(frame: Frame) -> None:
        outer = frame.mask
        for var, binding in axes:
            frame.values[var] = binding(frame)
        if all(frame.narrow(c(frame) > 0) for c in counts) and frame.narrow(holds(frame)):
            init(frame)
        frame.mask = outer

    return run


def _values_of(bound: tir.BoundAttr, operands: Sequence[SSAValue]) -> set[SSAValue]:
    return {operands[i] for i in bound.lhs.data.args() | bound.rhs.data.args()}
