"""Runs the body of a kernel: each operation becomes a Python function that works on all lanes.

A *lane* is one iteration of the loops that run as array axes. Each such loop adds a leading axis,
so that values of outer loops broadcast against values of inner ones. Control flow that differs from
lane to lane runs under a mask. Other loops, reductions among them, run one iteration after the
other, so that floats are rounded in the order of the program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, TypeAlias

import numpy as np
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ..dialects import tir
from ..dialects.int_expr import Arg, IntExpr
from .expressions import compile_expr, shape_of, substitute_symbols
from .jumps import Jumps
from .legality import independent_loops
from .math_ops import MATH
from .memory import Buffer
from .scalars import SCALARS
from .values import Array, EvaluationError, Precision, ScalarFunction, Value, choose, lanes_of
from .vectors import VECTORS

Step: TypeAlias = "Callable[[Frame], None]"
"""What an operation does to the values of a frame."""
Number: TypeAlias = "Callable[[Frame], Any]"
"""The value of an integer expression in a frame."""

MAX_STEPS = 1 << 20
"""How often the bodies of a kernel's loops may run in one call; `STEP_LANES` at once are one."""
STEP_LANES = 1 << 10
MAX_LANES = 1 << 18
"""Lanes that run at once; a longer axis runs in pieces, which keeps arrays in the cache."""


@dataclass(slots=True)
class Frame:
    """The state of one call: values, the lengths of the lane axes, and which lanes are on."""

    values: dict[SSAValue, Value] = field(default_factory=lambda: {})
    lanes: tuple[int, ...] = ()
    mask: Array | None = None
    steps: int = 0
    jumps: list[Jumps] = field(default_factory=lambda: [])
    """Those of the loops with jumps around."""

    def count_step(self) -> None:
        """Raise EvaluationError where the call takes more steps than anyone would wait for."""
        self.steps += 1 + prod(self.lanes) // STEP_LANES
        if self.steps > MAX_STEPS:
            raise EvaluationError(f"expected a kernel of at most {MAX_STEPS} steps, got more")

    def narrow(self, condition: Value) -> bool:
        """Switch off the lanes where the condition is false; returns whether a lane is still on.

        The caller keeps the old mask and puts it back.
        """
        if np.ndim(condition) == 0:
            return bool(condition)
        mask: Array = condition if self.mask is None else self.mask & condition
        self.mask = mask
        return bool(mask.any())

    def merge(self, on: Value, new: Value, old: Value, type_: Attribute) -> Value:
        """`new` in the lanes that are `on`, `old` in the others."""
        if np.ndim(on) == 0:
            return new if on else old
        spread: Array = np.asarray(on)[..., None] if lanes_of(type_) is not None else on
        return choose(spread, new, old)


Handler: TypeAlias = "Callable[[KernelCompiler, Any], Step | None]"
"""Translates one operation with regions or effects; `None` for what its parent reads."""


@dataclass
class KernelCompiler:
    """Translates a kernel for fixed symbols; without `choose_axes` it runs point by point."""

    symbols: Mapping[str, int]
    precision: Precision
    handlers: Mapping[str, Handler]
    externs: Mapping[str, Callable[..., Any]]
    axes: set[Operation] = field(default_factory=lambda: set())
    terms: int = 1
    """How many roundings follow each other in the longest reduction that was translated."""
    tracks: bool = False
    """Whether a load of scratch memory that nothing has stored to is an error."""
    allocated: int = 0
    """Elements of scratch memory that were translated."""
    jumping: frozenset[Operation] = frozenset()
    """Operations after which lanes may be off until the end of an iteration."""
    loops_with_jumps: frozenset[Operation] = frozenset()

    def loop(self, op: Operation, body: Block) -> tuple[Step, int]:
        """The body of a loop, and how many lanes may run at once; 0 where they need their order."""
        before = self.allocated
        step = self.block(body)
        own = max(1, self.allocated - before)
        if op in self.loops_with_jumps:
            return iteration(step), 0
        return step, max(1, MAX_LANES // own) if op in self.axes else 0

    def choose_axes(self, body: Block, known: Mapping[SSAValue, int]) -> None:
        """Let the loops that are provably independent run as array axes."""
        self.axes = independent_loops(body, self.symbols, known)

    def block(self, block: Block) -> Step:
        """The operations of a block, one after the other."""
        translated = [(op, self.operation(op)) for op in block.ops]
        steps = [step for _, step in translated if step is not None]
        if not any(op in self.jumping for op, _ in translated):
            return run_all(steps)
        return run_until_jump(
            [(step, op in self.jumping) for op, step in translated if step is not None]
        )

    def operation(self, op: Operation) -> Step | None:
        """One operation; `None` for a terminator, which its parent reads."""
        if op.name in self.handlers:
            return self.handlers[op.name](self, op)
        maker = SCALARS.get(op.name) or MATH.get(op.name) or VECTORS.get(op.name)
        if maker is None:
            raise EvaluationError(f"expected an operation with a reference, got '{op.name}'")
        function = maker(op, self.precision)
        return _apply(op, function)

    def number(self, expr: IntExpr, operands: Sequence[SSAValue]) -> Number:
        """The value of an expression whose ``arg(i)`` is ``operands[i]``."""
        expr = substitute_symbols(expr, self.symbols)
        if (constant := expr.constant) is not None:
            return lambda frame: constant
        used = sorted(expr.args())
        compiled = compile_expr(expr.substitute({Arg(i): Arg(p) for p, i in enumerate(used)}))
        values = [operands[i] for i in used]
        return lambda frame: compiled([frame.values[v] for v in values])

    def numbers(self, exprs: Sequence[IntExpr], operands: Sequence[SSAValue]) -> list[Number]:
        """The values of several expressions."""
        return [self.number(e, operands) for e in exprs]

    def bounds(self, bounds: Sequence[tir.BoundAttr], operands: Sequence[SSAValue]) -> Number:
        """Whether ``lhs < rhs`` holds for all of the bounds."""
        margins = [self.number(b.rhs.data - b.lhs.data, operands) for b in bounds]

        def hold(frame: Frame) -> Value:
            result: Value = True
            for margin in margins:
                result = (margin(frame) > 0) & result
            return result

        return hold

    def scratch(self, value: SSAValue) -> Step:
        """Fresh memory for a buffer; each lane has its own."""
        assert isinstance(value.type, tir.BufferType)
        shape, dtype = shape_of(value.type.dims, self.symbols), value.type.dtype
        name = value.name_hint or "a buffer"
        self.allocated += int(np.prod(shape))

        def run(frame: Frame) -> None:
            array = self.precision.fresh(dtype, (*frame.lanes, *shape))
            written = np.zeros(array.shape, np.bool_) if self.tracks else None
            frame.values[value] = Buffer(
                array, dtype, name, tuple(np.ix_(*map(np.arange, frame.lanes))), written
            )

        return run


def run_all(steps: Sequence[Step]) -> Step:
    """The steps in order, as one."""
    if len(steps) == 1:
        return steps[0]

    def run(frame: Frame) -> None:
        for step in steps:
            step(frame)

    return run


def run_until_jump(steps: Sequence[tuple[Step, bool]]) -> Step:
    """The steps in order, each in the lanes that have not jumped; True for those that may jump."""

    def run(frame: Frame) -> None:
        outer = frame.mask
        for step, may_jump in steps:
            step(frame)
            if may_jump and not frame.narrow(np.logical_not(frame.jumps[-1].skipped)):
                break
        frame.mask = outer

    return run


def iteration(body: Step) -> Step:
    """An iteration of a loop with jumps, in the lanes that have not left it."""

    def run(frame: Frame) -> None:
        jumps, outer = frame.jumps[-1], frame.mask
        jumps.skipped = jumps.left
        if frame.narrow(np.logical_not(jumps.left)):
            body(frame)
        frame.mask = outer

    return run


def _apply(op: Operation, function: ScalarFunction) -> Step:
    operands, (result,) = list(op.operands), op.results

    def run(frame: Frame) -> None:
        values = frame.values
        values[result] = function(*[values[v] for v in operands])

    return run


def for_loop(
    frame: Frame, var: SSAValue, lower: Value, extent: Value, body: Step, limit: int
) -> None:
    """Run `body` for ``[lower, lower + extent)``, up to `limit` at once, 0 for in order."""
    if np.ndim(extent) == 0:
        _uniform_loop(frame, var, lower, int(extent), body, limit)
        return
    active = extent if frame.mask is None else np.where(frame.mask, extent, 0)
    count = int(active.max(initial=0))
    mask, values = frame.mask, frame.values

    def masked(inner: Frame) -> None:
        position = values[var] - lower
        outer = inner.mask
        if inner.narrow(position < extent):
            body(inner)
        inner.mask = outer

    _uniform_loop(frame, var, lower, count, masked, limit)
    frame.mask = mask


def _uniform_loop(
    frame: Frame, var: SSAValue, lower: Value, count: int, body: Step, limit: int
) -> None:
    values = frame.values
    if not limit or count <= 1:
        for position in range(count):
            frame.count_step()
            values[var] = lower + position
            body(frame)
        return
    outer = frame.lanes
    piece = max(1, limit // int(np.prod(outer)))
    for start in range(0, count, piece):
        size = min(piece, count - start)
        frame.lanes = (size, *outer)
        positions = np.arange(start, start + size).reshape(size, *(1 for _ in outer))
        values[var] = lower + positions
        frame.count_step()
        body(frame)
    frame.lanes = outer
