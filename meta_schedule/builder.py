"""Builders: compile scheduled kernels in worker processes; TVM's ``ms.builder``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from xdsl.dialects.builtin import ModuleOp

from ..backend.target import Target
from ..ir.module import IRModule
from ..lowering.functions import PRIVATE
from ..lowering.graph.rewrite_layout import layout_kernel
from ..lowering.schedule.layout import MovedParameter
from ..runtime.threads import processor_count
from .jobs import LAYOUT, Artifact, BuildJob
from .local_workers import LocalWorkers, Workers


class BuilderInput(NamedTuple):
    """A scheduled kernel, and the parameters whose layout its schedule transforms."""

    mod: IRModule
    target: Target
    moved: Sequence[MovedParameter] = ()


class BuilderResult(NamedTuple):
    """A compiled kernel, or why there is none."""

    artifact: Artifact | None
    error_msg: str | None = None


@dataclass
class Builder:
    """Compiles in the processes of `workers`, each kernel within `timeout_sec`."""

    workers: Workers
    timeout_sec: float = 30.0

    @staticmethod
    def create(kind: Any = "local", *args: Any, **options: Any) -> Builder:
        """A builder, "local" or "dask" with its client; raises ValueError for another kind."""
        if isinstance(kind, Builder):
            return kind
        kinds = {"local": LocalBuilder, "dask": DaskBuilder}
        if kind not in kinds:
            raise ValueError(f"expected a builder ('local', 'dask'), got {kind!r}")
        return kinds[kind](*args, **options)

    def build(self, inputs: Sequence[BuilderInput]) -> Iterator[tuple[int, BuilderResult]]:
        """Compile kernels; yields positions and results in the order in which they end."""
        jobs = [BuildJob(_text(i), str(i.target)) for i in inputs]
        for number, (code, error) in self.workers.run_all(jobs, self.timeout_sec):
            moved = tuple(m.position for m in inputs[number].moved)
            artifact = None if error is not None else Artifact(code, moved)
            yield number, BuilderResult(artifact, error)

    def close(self) -> None:
        """End the worker processes."""
        self.workers.close()


def LocalBuilder(max_workers: int | None = None, timeout_sec: float = 30.0) -> Builder:
    """A builder on this machine, with a process for each processor."""
    return Builder(LocalWorkers(max_workers or processor_count()), timeout_sec)


def DaskBuilder(client: Any = None, timeout_sec: float = 30.0) -> Builder:
    """A builder on the workers of a Dask cluster; without a `client`, on a `LocalCluster`."""
    from .dask_workers import DaskWorkers

    return Builder(DaskWorkers(client), timeout_sec)


def _text(given: BuilderInput) -> str:
    """The module to compile: the kernel, and those that transform its arguments."""
    functions = [op.clone() for op in given.mod.op.ops]
    for number, parameter in enumerate(given.moved):
        kernel = layout_kernel(parameter, f"{LAYOUT}_{number}")
        kernel.set_attr(PRIVATE, None)
        functions.append(kernel)
    return str(ModuleOp(functions))
