"""Runs the instrumented build of a module, and says where the time of its calls goes."""

from __future__ import annotations

import ctypes
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from ..backend.build import MachineCode
from ..backend.build_cache import KernelCode
from ..backend.jit import compile_module
from ..backend.target import Target
from ..compilation import Compilation
from ..dialects import get_context, tir
from ..ir.function import PrimFunc
from ..lowering.runtime.kernel_entries import KERNEL_SUFFIX
from ..pipeline import STAGES
from ..reference.expressions import number
from ..runtime.executable import Executable
from ..runtime.threads import num_threads
from .instrument import PAIR, TICK, Log, Site, instrument, log_code
from .machine import measured_machine
from .report import KernelProfile, ProfileReport
from .work import Work, work_of

_WARM_UP = 2


@dataclass
class _Calls:
    """What one run has noted of one kernel."""

    calls: int = 0
    nanoseconds: int = 0
    operations: int | None = 0
    read: int = 0
    written: int = 0
    largest: int = 0
    """Bytes of the largest call: where the data of the kernel sits."""


@dataclass
class Profiler:
    """The instrumented build of a module, made when it is first used."""

    module: ModuleOp
    target: Target
    _lock: Lock = field(default_factory=Lock)

    def profile(
        self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any], repeat: int
    ) -> ProfileReport:
        """Call a function `repeat` times; raises ValueError for counts below 1."""
        if repeat < 1:
            raise ValueError(f"expected to repeat the call at least once, got {repeat}")
        build = self._build
        function = build.executable[name]
        runs: list[dict[str, _Calls]] = []
        seconds: list[float] = []
        result: Any = None
        with self._lock:
            for number_of_run in range(_WARM_UP + repeat):
                build.log.clear()
                begin = time.perf_counter()
                result = function(*args, **kwargs)
                elapsed = time.perf_counter() - begin
                if number_of_run >= _WARM_UP:
                    runs.append(build.read_log())
                    seconds.append(elapsed)
        return build.report(name, result, seconds, runs)

    @cached_property
    def _build(self) -> _Build:
        kernels: dict[str, dict[str, tir.PrimFuncOp]] = {"source": {}, "scheduled": {}}
        names = [n for stage in STAGES for n in stage.passes]
        before = names[names.index("schedule-default") - 1]

        def observe(name: str, module: ModuleOp) -> None:
            if name in (before, "schedule-default"):
                found = kernels["source" if name == before else "scheduled"]
                found.update((k, v.clone()) for k, v in _prim_funcs(module).items())

        compilation = Compilation(self.target, None, get_context())
        planned = compilation.plan(self.module, observe)
        whole = {k: v.clone() for k, v in _prim_funcs(planned).items()}
        codes = [*compilation.take_kernels(planned).values()]
        sites, log = instrument(planned, whole), Log()
        text = log_code(log.address)
        codes.append(KernelCode(TICK, MachineCode(text, compile_module(text, self.target))))
        executable, _ = compilation.finish(planned, codes)
        return _Build(executable, log, sites, kernels["source"], kernels["scheduled"])


def _prim_funcs(module: ModuleOp) -> dict[str, tir.PrimFuncOp]:
    return {op.sym_name.data: op for op in module.body.block.ops if isinstance(op, tir.PrimFuncOp)}


def _is_parallel(func: tir.PrimFuncOp | None) -> bool:
    loops = () if func is None else (op for op in func.walk() if isinstance(op, tir.ForOp))
    return any(loop.kind.data == "parallel" for loop in loops)


@dataclass
class _Build:
    executable: Executable
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

    def read_log(self) -> dict[str, _Calls]:
        """What the last run has noted, by kernel."""
        found: dict[str, _Calls] = defaultdict(_Calls)
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

    def _add_work(self, calls: _Calls, site: Site, values: Sequence[int]) -> None:
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
        runs: Sequence[dict[str, _Calls]],
    ) -> ProfileReport:
        """The report of several runs, in which calls may differ if data decides."""
        order = dict.fromkeys(self.name_of(s.callee) for s in self.sites)
        kernels = [n for n in order if any(n in run for run in runs)]
        return ProfileReport(
            name,
            tuple(seconds),
            tuple(self._kernel(n, [run.get(n, _Calls()) for run in runs]) for n in kernels),
            result,
            str(self.executable.attributes["target"]),
        )

    def _kernel(self, name: str, runs: Sequence[_Calls]) -> KernelProfile:
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
            machine=measured_machine(num_threads() if _is_parallel(functions[1]) else 1),
            function=source,
            scheduled=scheduled,
        )
