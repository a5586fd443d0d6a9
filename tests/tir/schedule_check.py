"""A differential run for schedules: what a function computes stays the same, bit by bit.

Values are small whole numbers, of which sums in any order are exact.
"""

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from inspect import signature
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

import xrelax
from xrelax.dialects import tir as ir
from xrelax.dialects.diagnostics import verify
from xrelax.ir.equality import assert_structural_equal
from xrelax.ir.module import IRModule
from xrelax.reference.evaluate import evaluate
from xrelax.script import from_source
from xrelax.tir import Schedule
from xrelax.tir.schedule import ScheduleError, Trace

Sizes = Mapping[str, int]
Array = NDArray[np.generic]


def check_schedule(
    source: str, schedule: Callable[[Schedule], object], *sizes: Sizes, native: bool = True
) -> Schedule:
    """Schedule a function and compare it with itself for each of `sizes`; returns the schedule.

    The function of `source` runs with and without the schedule, in the reference evaluator and,
    with `native`, as compiled code, on the same arrays; all their contents must be equal
    afterwards. `sizes` give numbers to symbols. The scheduled function must verify after each
    primitive, be the same when its script is read, and come out the same when its trace is
    replayed.
    """
    sch = Schedule(from_source(source), seed=0, debug_mask="all")
    before = sch.mod
    schedule(sch)
    verify(sch.mod.op)
    assert_structural_equal(from_source(sch.mod.script()).op, sch.mod.op)
    check_replay(before, sch)
    for one in sizes or ({},):
        want = run_reference(before, one)
        assert_equal(run_reference(sch.mod, one), want, one, "scheduled, evaluated")
        if native:
            assert_equal(run_native(before, one), want, one, "compiled")
            assert_equal(run_native(sch.mod, one), want, one, "scheduled, compiled")
    return sch


def body_text(sch: Schedule) -> str:
    """The statements of the scheduled function, without parameters, root block and access lists."""
    lines = sch.func.script().splitlines()
    start = next(i for i, line in enumerate(lines) if "alloc_buffer" in line or "for " in line)
    kept = [line for line in lines[start:] if "T.reads" not in line and "T.writes" not in line]
    indent = len(kept[0]) - len(kept[0].lstrip())
    return "\n".join(line[indent:] for line in kept)


def check_text(
    source: str,
    schedule: Callable[[Schedule], object],
    text: str,
    *sizes: Sizes,
    native: bool = False,
) -> Schedule:
    """The same as `check_schedule`, and the statements are this text then."""
    sch = check_schedule(source, schedule, *sizes, native=native)
    assert body_text(sch) == text.strip("\n")
    return sch


def check_refused(
    source: str, schedule: Callable[[Schedule], object], message: str, whole: bool = True
) -> Schedule:
    """The last primitive raises a message and changes nothing: the trace says what was done.

    `message` is all of it but its place, or, if not `whole`, a part.
    """
    sch = Schedule(from_source(source), debug_mask="all")
    with pytest.raises(ScheduleError) as error:
        schedule(sch)
    text = str(error.value)
    text = text.partition("error: ")[2] or text
    assert text == message if whole else message in text
    again = Schedule(from_source(source))
    sch.trace.apply_to_schedule(again)
    assert again.mod.script() == sch.mod.script()
    return sch


class Tally:
    """How often generated schedules tried each primitive, and how often it applied."""

    def __init__(self) -> None:
        self.tried: Counter[str] = Counter()
        self.applied: Counter[str] = Counter()

    @contextmanager
    def attempt(self, primitive: str) -> Generator[None]:
        """Do what may be refused."""
        self.tried[primitive] += 1
        try:
            yield
        except ScheduleError:
            return
        self.applied[primitive] += 1

    def verify(self, primitives: Iterable[str], least: float = 0.25) -> None:
        """Raise AssertionError where one of these was not tried, or applied in too few tries."""
        shares = {name: self.applied[name] / max(1, self.tried[name]) for name in primitives}
        rare = {name: share for name, share in shares.items() if share < least}
        assert not rare, f"applied in less than {least:.0%} of their tries: {rare}"


def body(sch: Schedule) -> str:
    """The statements of the function, without its header."""
    return sch.mod["main"].script().partition('# with T.block("root"):\n')[2]


def sizes_of(source: Callable[..., str], sizes: Sizes) -> Sizes:
    """Of `sizes` those that a program has, by the names of its parameters."""
    return {name: sizes[name] for name in signature(source).parameters}


def check_generated(
    plans: st.SearchStrategy[Any],
    rearrange: Callable[[Schedule, Any], object],
    sources: Sequence[Callable[..., str]],
    shapes: Sequence[Sizes],
    examples: int,
    native: bool,
) -> None:
    """Check drawn plans on sources with symbolic shapes, and unless `native` with fixed ones."""

    @settings(max_examples=examples, deadline=None, derandomize=True, database=None)
    @given(plans, st.sampled_from(sources), st.sampled_from(shapes))
    def check(plan: Any, source: Callable[..., str], sizes: Sizes) -> None:
        own = sizes_of(source, sizes)
        change = partial(rearrange, plan=plan)
        check_schedule(source(), change, own, native=native)
        if not native:
            check_schedule(source(**own), change, native=False)

    check()


def check_replay(before: IRModule, sch: Schedule) -> None:
    """The trace, as it is and through JSON, does the same to the module that `sch` began with."""
    for trace in (sch.trace, Trace.from_json(sch.trace.as_json())):
        again = Schedule(before)
        trace.apply_to_schedule(again)
        assert again.mod.script() == sch.mod.script()
        assert str(again.trace) == str(sch.trace)


def arrays_for(module: IRModule, sizes: Sizes) -> list[Array]:
    """Arrays of small whole numbers for the parameters of the function "main"."""
    func = module["main"].op
    assert isinstance(func, ir.PrimFuncOp)
    random = np.random.default_rng(0)
    arrays: list[Array] = []
    for param in func.params:
        assert isinstance(param.type, ir.BufferType)
        shape = [dim.evaluate(lambda symbol: sizes[symbol.name]) for dim in param.type.dims]
        arrays.append(random.integers(-3, 4, shape).astype(param.type.dtype))
    return arrays


def run_reference(module: IRModule, sizes: Sizes) -> Sequence[Array]:
    """The arrays after a run of the reference evaluator."""
    assert isinstance(module.op, ModuleOp)
    return evaluate(module.op.clone(), "main", arrays_for(module, sizes))


def run_native(module: IRModule, sizes: Sizes) -> Sequence[Array]:
    """The arrays after a run of compiled code."""
    arrays = arrays_for(module, sizes)
    xrelax.build(module)["main"](*arrays)
    return arrays


def assert_equal(got: Sequence[Array], want: Sequence[Array], sizes: Sizes, how: str) -> None:
    """Raise AssertionError unless all arrays hold the same bits."""
    for number, (a, b) in enumerate(zip(got, want, strict=True)):
        np.testing.assert_array_equal(a, b, f"argument {number}, {how}, for {dict(sizes)}")
