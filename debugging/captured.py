"""The build of a module that shows what each of its kernels computes, and the same at a stage.

::

    rt.call_dps @relu(%x) outs(%y) : …

⇒

    rt.call_dps @relu(%x) outs(%y) : …
    rt.call_packed "xrelax.debug.0.3"(%y) outs() : …

The graph functions call a Python function, which copies the result; kernels and the memory plan are
those of the build that is debugged. At a stage before machine code the reference evaluator runs the
module, and reports the same results.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from threading import Lock
from typing import Any, NamedTuple, TypeAlias

from numpy.typing import NDArray
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, StringAttr
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ..backend.target import Target
from ..compilation import Compilation, cached_builds
from ..dialects import get_context, relax, rt
from ..dialects.relax.operators.views import MemoryViewOp
from ..dialects.relax.types import tensors_in
from ..pipeline import STAGE_NAMES, STAGES, run_passes
from ..reference.arguments import flatten
from ..reference.evaluate import run
from ..reference.inputs import array_functions
from ..reference.memory import Buffer
from ..runtime.executable import Executable
from ..runtime.registry import register_func, remove_global_func
from ..runtime.tensor import Tensor
from .operations import Computes, Mark, callee_of, mark_of, with_marks

MACHINE_CODE = "asm"
"""The stage whose results are those of compiled code."""
EVALUATED_STAGES = tuple(name for name in STAGE_NAMES if name != "llvm")
"""The stages that the reference evaluator runs."""

_FILE = "xrelax.debug"
_GRAPH_STAGES = STAGE_NAMES.index("tir") + 1
_numbers = count()


class Stored(NamedTuple):
    """A tensor; an array of bfloat16 holds its bits."""

    array: NDArray[Any]
    dtype: str


Value: TypeAlias = tuple[Stored, ...]
"""The tensors of a result."""


@dataclass(frozen=True)
class Site:
    """A call whose result is that of operations of the graph, or has the same elements."""

    callee: str
    marks: tuple[Mark, ...]
    tensors: int


@dataclass
class CapturedBuild:
    """An executable that calls back with results, and constants that the compiler has computed."""

    executable: Executable
    sites: Mapping[int, Site]
    constants: Mapping[Mark, Stored]
    prefix: str
    _lock: Lock = field(default_factory=Lock)

    def run(
        self, function: str, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[Any, dict[int, Value]]:
        """The result of a call, and copies of those of its sites."""
        found: dict[int, Value] = {}

        def keep(number: int, *tensors: Tensor) -> None:
            found[number] = tuple(Stored(t.view().copy(), t.dtype) for t in tensors)

        with self._lock:
            names = {f"{self.prefix}.{number}": number for number in self.sites}
            try:
                for name, number in names.items():
                    register_func(name, partial(keep, number), override=True)
                result = self.executable[function](*args, **kwargs)
            finally:
                for name in names:
                    remove_global_func(name)
        return result, found


@dataclass(frozen=True)
class CapturedStage:
    """A module at a stage, for the reference evaluator, with what `CapturedBuild` has."""

    module: ModuleOp
    sites: Mapping[int, Site]
    constants: Mapping[Mark, Stored]

    def run(self, function: str, args: Sequence[Any]) -> tuple[Any, dict[int, Value]]:
        """The result of a call, and copies of those of its sites; arguments are NumPy arrays."""
        found: dict[int, Value] = {}

        def observe(op: Operation, value: Any, terms: int) -> None:
            site = self.sites.get(number := _number(op))
            if site is not None:
                buffers = [b for b in flatten(value) if isinstance(b, Buffer)][: site.tensors]
                found[number] = tuple(Stored(b.array.copy(), b.dtype) for b in buffers)

        registry = array_functions()
        results = run(self.module, function, args, registry=registry, observe=observe).results
        return results[0] if len(results) == 1 else results, found


def captured_stage(module: ModuleOp, function: str, target: Target, stage: str) -> CapturedStage:
    """A copy of a module, lowered to one of `EVALUATED_STAGES`."""
    lowered, context = with_marks(module, function), get_context()
    count = STAGE_NAMES.index(stage) + 1
    for step in STAGES[: min(count, _GRAPH_STAGES)]:
        run_passes(lowered, step, context, str(target))
    sites, constants = _number_calls(lowered), _constants(lowered)
    for step in STAGES[_GRAPH_STAGES:count]:
        run_passes(lowered, step, context, str(target))
    return CapturedStage(lowered, sites, constants)


def captured_build(module: ModuleOp, function: str, target: Target) -> CapturedBuild:
    """Build a copy of a module, with calls back from all its functions."""
    sites: dict[int, Site] = {}
    constants: dict[Mark, Stored] = {}
    last = next(stage for stage in STAGES if stage.name == "tir").passes[-1]

    def observe(name: str, module: ModuleOp) -> None:
        if name == last:
            sites.update(_number_calls(module))
            constants.update(_constants(module))

    compilation = Compilation(target, cached_builds(target), get_context())
    planned = compilation.plan(with_marks(module, function), observe)
    codes = compilation.take_kernels(planned).values()
    prefix = f"{_FILE}.{next(_numbers)}"
    called = _call_back(planned, sites, prefix)
    executable, _ = compilation.finish(planned, codes)
    return CapturedBuild(executable, called, constants, prefix)


def _number_calls(module: ModuleOp) -> dict[int, Site]:
    """The calls with results to compare; the line of a call's location is its number."""
    found: dict[int, Site] = {}
    for number, op in enumerate(module.walk()):
        if isinstance(op, Computes):
            tensors = len(tensors_in(op.result.type))
            marks = tuple(_marks(op.result))
            # What is changed in place is in the order of the arguments.
            if marks and (tensors == 1 or not isinstance(op, relax.CallTIRInplaceOp)):
                found[number] = Site(callee_of(op), marks, tensors)
            op.location = FileLineColLoc(StringAttr(_FILE), IntAttr(number), IntAttr(0))
    return found


def _marks(value: SSAValue) -> Iterator[Mark]:
    """The marks of a value and of its views."""
    if (mark := mark_of(value)) is not None:
        yield mark
    for use in value.uses:
        if isinstance(use.operation, MemoryViewOp):
            yield from _marks(use.operation.result)


def _constants(module: ModuleOp) -> dict[Mark, Stored]:
    """What the compiler has computed of the results of operations."""
    found: dict[Mark, Stored] = {}
    for op in module.walk():
        if isinstance(op, relax.ConstantOp) and (mark := mark_of(op.result)) is not None:
            data = op.value.data
            found[mark] = Stored(data.values, data.dtype)
    return found


def _call_back(planned: ModuleOp, sites: Mapping[int, Site], prefix: str) -> dict[int, Site]:
    """Call back after the calls of sites; returns those that are left when memory is planned."""
    called: dict[int, Site] = {}
    for op in list(planned.walk()):
        number = _number(op)
        site = None if _is_in_loop(op) else sites.get(number)
        if site is None or not isinstance(op, rt.CallDPSOp | rt.CallPackedOp | rt.ForOp):
            continue
        results = rt.results_of(op)[: site.tensors]  # workspaces come after results
        if len(results) == site.tensors:
            call = rt.CallPackedOp(f"{prefix}.{number}", results, [])
            Rewriter.insert_op(call, InsertPoint.after(op))
            called[number] = site
    return called


def _is_in_loop(op: Operation) -> bool:
    """Whether an operation is what a loop runs, under the number of the loop."""
    loop = op.parent_op()
    return isinstance(loop, rt.ForOp) and _number(loop) == _number(op)


def _number(op: Operation) -> int:
    """The number of a call, -1 for an operation that has none."""
    location = op.location
    if not isinstance(location, FileLineColLoc) or location.filename.data != _FILE:
        return -1
    return location.line.data
