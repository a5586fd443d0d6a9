"""The build of a module whose kernels note when they begin and end, and what its log says."""

from __future__ import annotations

import ctypes
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from ..backend.build import MachineCode
from ..backend.build_cache import KernelCode
from ..backend.jit import compile_module
from ..backend.target import Target
from ..compilation import Compilation, cached_builds
from ..dialects import get_context, tir
from ..ir.prim_func import PrimFunc
from ..lowering.runtime.kernel_entries import KERNEL_SUFFIX
from ..pipeline import pass_before
from ..reference.expressions import number
from ..runtime.executable import Executable
from ..runtime.threads import num_threads
from .instrument import PAIR, TICK, Log, Site, instrument, log_code
from .machine import measured_machine
from .report import KernelProfile, ProfileReport
from .work import Work, work_of


@dataclass
class Calls:
    """What one run has noted of one kernel."""

    calls: int = 0
    nanoseconds: int = 0
    operations: int | None = 0
    read: int = 0
    written: int = 0
    largest: int = 0
    """Bytes of the largest call: where the data of the kernel sits."""


def instrumented_build(original: ModuleOp, target: Target) -> InstrumentedBuild:
    """Build a copy of a module, with timers around every kernel; kernels come from the cache."""
    kernels: dict[str, dict[str, tir.PrimFuncOp]] = {"source": {}, "scheduled": {}}
    before = pass_before("schedule-default")

    def observe(name: str, module: ModuleOp) -> None:
        if name in (before, "schedule-default"):
            found = kernels["source" if name == before else "scheduled"]
            found.update((k, v.clone()) for k, v in _prim_funcs(module).items())

    compilation = Compilation(target, cached_builds(target), get_context())
    planned = compilation.plan(original, observe)
    whole = {k: v.clone() for k, v in _prim_funcs(planned).items()}
    codes = [*compilation.take_kernels(planned).values()]
    sites, log = instrument(planned, whole), Log()
    text = log_code(log.address)
    codes.append(KernelCode(TICK, MachineCode(text, compile_module(text, target))))
    executable, _ = compilation.finish(planned, codes)
    return InstrumentedBuild(
        executable, target, log, sites, kernels["source"], kernels["scheduled"]
    )


def _prim_funcs(module: ModuleOp) -> dict[str, tir.PrimFuncOp]:
    return {op.sym_name.data: op for op in module.body.block.ops if isinstance(op, tir.PrimFuncOp)}


def _is_parallel(func: tir.PrimFuncOp | None) -> bool:
    loops = () if func is None else (op for op in func.walk() if isinstance(op, tir.ForOp))
    return any(loop.kind.data == "parallel" for loop in loops)


@dataclass
class InstrumentedBuild:
    """An executable with its log, and kernels by name as they were written and as they run."""

    executable: Executable
    target: Target
    log: Log
    sites: list[Site]
    source: dict[str, tir.PrimFuncOp]
    scheduled: dict[str, tir.PrimFuncOp]

    def __post_init__(self) -> None:
        self._work: dict[str, Work | None] = {}
        self._tick_nanoseconds = self._measure_tick()

    def _measure_tick(self) -> int:
        """Nanoseconds from one time to the next with nothing between them."""
        prototype = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)
        pair = prototype(self.executable.library.address(PAIR))
        self.log.clear()
        for _ in range(1000):
            pair(None)
        times = self.log.words()
        return min(second - first for first, second in zip(times[::2], times[1::2], strict=True))

    def name_of(self, callee: str) -> str:
        """The name under which people know a kernel."""
        return callee if callee in self.source else callee.removesuffix(KERNEL_SUFFIX)

    def work(self, site: Site) -> Work | None:
        """What the kernel of a call does, over its symbols."""
        if site.callee not in self._work:
            function = self.source.get(self.name_of(site.callee), site.kernel)
            self._work[site.callee] = None if function is None else work_of(function)
        return self._work[site.callee]

    def read_log(self) -> dict[str, Calls]:
        """What the last run has noted, by kernel."""
        found: dict[str, Calls] = defaultdict(Calls)
        words = iter(self.log.words())
        for position in words:
            site = self.sites[position]
            values = [next(words) for _ in site.symbols]
            begin, end = next(words), next(words)
            calls = found[self.name_of(site.callee)]
            calls.calls += 1
            calls.nanoseconds += max(0, end - begin - self._tick_nanoseconds)
            self._add_work(calls, site, values)
        return found

    def _add_work(self, calls: Calls, site: Site, values: Sequence[int]) -> None:
        work = self.work(site)
        if work is None:
            calls.operations = None
            return
        symbols = site.symbols_of_kernel(values)
        read, written = number(work.read, symbols), number(work.written, symbols)
        calls.read += read
        calls.written += written
        calls.largest = max(calls.largest, read + written)
        if work.operations is None or calls.operations is None:
            calls.operations = None
        else:
            calls.operations += number(work.operations, symbols)

    def report(
        self,
        name: str,
        result: Any,
        seconds: Sequence[float],
        runs: Sequence[dict[str, Calls]],
    ) -> ProfileReport:
        """The report of several runs, in which calls may differ if data decides."""
        order = dict.fromkeys(self.name_of(s.callee) for s in self.sites)
        kernels = [n for n in order if any(n in run for run in runs)]
        return ProfileReport(
            name,
            tuple(seconds),
            tuple(self._kernel(n, [run.get(n, Calls()) for run in runs]) for n in kernels),
            result,
            str(self.executable.attributes["target"]),
        )

    def _kernel(self, name: str, runs: Sequence[Calls]) -> KernelProfile:
        last = runs[-1]
        site = next(s for s in self.sites if self.name_of(s.callee) == name)
        work = self.work(site)
        functions = [f.get(name) for f in (self.source, self.scheduled)]
        source, scheduled = (None if f is None else PrimFunc(f) for f in functions)
        return KernelProfile(
            name=name,
            calls=last.calls,
            seconds=tuple(run.nanoseconds * 1e-9 for run in runs),
            operations=last.operations,
            bytes_read=last.read,
            bytes_written=last.written,
            largest_call=last.largest,
            dtype="" if work is None else work.dtype,
            machine=measured_machine(
                num_threads() if _is_parallel(functions[1]) else 1, self.target
            ),
            function=source,
            scheduled=scheduled,
            target=str(self.target),
        )
