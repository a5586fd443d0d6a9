"""Runs the graph of a loop: unrolled where that is short, else as an operation that loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...dialects.int_expr import ZERO, IntExpr
from .context import Context
from .graphs import node_count
from .nested import has_failed, inner_context, run
from .parts import row, stacked
from .scope import Failed
from .tensor import Tensor

MAX_COPIES = 256
"""The most nodes that a loop becomes when it is unrolled."""


class Stopped(Exception):
    """A node of the body cannot be imported, which is noted."""


class Step(NamedTuple):
    """The condition and the carried items before or after an iteration.

    `others` are the elements of scanned tensors before it, and its outputs after it.
    """

    condition: Tensor
    carried: list[Any]
    others: list[Any]


@dataclass
class Iteration:
    """A loop: the graph of an iteration, and the items that it starts with.

    The graph of ``Loop``, which `counts`, has the number of the iteration and the condition before
    the carried items, and the condition among its outputs. The elements of `scanned` tensors along
    the first axis are inputs of iterations. The loop ends where the condition is false if it
    `ends`, and after `trips` iterations.
    """

    ctx: Context
    graph: Any
    counts: bool
    carried: list[Any]
    scanned: Sequence[Tensor] = ()
    condition: Tensor | None = None
    trips: IntExpr | None = None

    @property
    def ends(self) -> bool:
        """Whether the condition may end the loop."""
        return self.condition is not None

    @property
    def first(self) -> Step:
        """The state before the loop."""
        condition = self.condition or self.ctx.array(True, "bool")
        return Step(condition, self.carried, [])

    def used_outputs(self) -> list[int]:
        """The numbers of an iteration's outputs whose stack is used."""
        count = len(self.graph.output) - self.counts - len(self.carried)
        flags = self.ctx.outputs[len(self.carried) :]
        return [i for i in range(count) if i < len(flags) and flags[i]]

    def run(self, ctx: Context, step: Step, index: Tensor) -> Step | None:
        """Run an iteration in a context; `None` if a node cannot be imported."""
        first = [index, step.condition] if self.counts else []
        names = [given.name for given in self.graph.input]
        values = [*first, *step.carried, *step.others]
        if len(names) != len(values) or len(self.graph.output) < self.counts + len(self.carried):
            raise ValueError(
                f"expected a body of {len(values)} inputs, got {len(names)} and "
                f"{len(self.graph.output)} outputs"
            )
        found = run(ctx, self.graph, dict(zip(names, values, strict=True)))
        if has_failed(found):
            return None
        condition = found.pop(0) if self.counts else step.condition
        return Step(condition, found[: len(self.carried)], found[len(self.carried) :])

    def rows(self, ctx: Context, index: int) -> list[Tensor]:
        """The elements of scanned tensors at an index."""
        return [row(ctx, x, 0, IntExpr.of(index)) for x in self.scanned]

    def failed(self) -> tuple[Any, ...]:
        """Results that could not be imported."""
        return tuple(Failed() for _ in self.ctx.outputs)

    def results(self, carried: Sequence[Any], stacks: dict[int, Tensor]) -> tuple[Any, ...]:
        """The results of the node, from the last carried items and the stacks that are used."""
        count = len(self.graph.output) - self.counts - len(self.carried)
        return (*carried, *(stacks.get(i) for i in range(count)))


def unrolled(loop: Iteration) -> tuple[Any, ...] | None:
    """The results of a loop as copies of its graph; `None` for one that is long.

    That is one of many iterations, or whose end is not known.
    """
    importer = loop.ctx.importer
    most = MAX_COPIES // (max(node_count(loop.graph), 1) * importer.copies)
    limit = most if loop.trips is None and loop.ends else None
    if loop.trips is not None and loop.trips.is_constant:
        limit = max(loop.trips.offset, 0)
    if limit is None or limit > most:
        return None
    before = importer.copies
    importer.copies = before * max(limit, 1)
    try:
        steps = _steps(loop, limit)
        if steps is None:
            return None
        return loop.results(steps[-1].carried, _stacks(loop, steps[1:]))
    except Stopped:
        return loop.failed()
    finally:
        importer.copies = before


def _steps(loop: Iteration, limit: int) -> list[Step] | None:
    """The states before and after all iterations; `None` if a condition is not known."""
    steps, number = [loop.first], loop.ctx.importer.count
    while not (loop.ends and _is_over(steps[-1].condition)):
        is_unknown = loop.ends and steps[-1].condition.known is None
        if is_unknown or (loop.trips is None and len(steps) > limit):
            return None
        if len(steps) > limit:
            break
        loop.ctx.importer.count = number
        after = _copy(loop, steps[-1], len(steps) - 1)
        if after is None:
            raise Stopped
        steps.append(after)
    return steps


def _is_over(condition: Tensor) -> bool:
    """Whether a condition is known to be false."""
    return condition.known is not None and not condition.number("a condition")


def _copy(loop: Iteration, step: Step, index: int) -> Step | None:
    elements = loop.rows(loop.ctx, index)
    before = Step(step.condition, step.carried, elements)
    return loop.run(loop.ctx, before, loop.ctx.array(index, "int64"))


def _stacks(loop: Iteration, steps: Sequence[Step]) -> dict[int, Tensor]:
    used = loop.used_outputs()
    if steps:
        return {i: stacked(loop.ctx, [s.others[i] for s in steps], 0) for i in used}
    return {i: _empty(loop, i) for i in used}


def _empty(loop: Iteration, output: int) -> Tensor:
    """The stack of no elements, which have the type of an iteration that is not run."""
    trial = inner_context(loop.ctx)
    before = Step(loop.first.condition, loop.first.carried, loop.rows(trial, 0))
    after = loop.run(trial, before, trial.array(0, "int64"))
    if after is None:
        raise Stopped
    element: Tensor = after.others[output]
    return loop.ctx.emit("zeros", shape=[ZERO, *element.dims], dtype=element.dtype)
