"""The IR of a module at any stage of the pipeline, and the code that comes of it, to be read."""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from .backend.target import HOST
from .dialects import get_context
from .dialects.diagnostics import verify
from .dialects.nesting import SAFE_DEPTH, depth_of, on_deep_stack
from .dialects.relax.func import FuncOp
from .dialects.tir.func import PrimFuncOp
from .pipeline import SCHEDULE, STAGE_NAMES, STAGES, TEXT_NAMES, Observer, run_stage

if TYPE_CHECKING:
    from .backend.target import Target

Result = TypeVar("Result")


class View(Protocol):
    """An `IRModule`, or a function of one: a view of an operation."""

    op: Any


@contextmanager
def without_collector() -> Generator[None]:
    """A compile makes many small objects that live on: the collector only costs time meanwhile."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def with_deep_stack(module: ModuleOp, work: Callable[[], Result]) -> Result:
    """Run `work`, on a deep stack where the module's regions are nested deeply."""
    return on_deep_stack(work) if depth_of(module) > SAFE_DEPTH else work()


def lower_to(
    module: ModuleOp, stage: str, observe: Observer | None = None, target: str = HOST
) -> ModuleOp:
    """A copy of the module at a stage, for a target; raises ValueError for an unknown stage."""
    if stage not in STAGE_NAMES:
        known = ", ".join((*STAGE_NAMES, *TEXT_NAMES))
        raise ValueError(f"expected a stage ({known}), got '{stage}'")

    def lower() -> ModuleOp:
        context = get_context()
        copy = module.clone()
        verify(copy)
        with without_collector():
            for step in STAGES[: STAGE_NAMES.index(stage) + 1]:
                run_stage(copy, step, context, target, observe)
        return copy

    return with_deep_stack(module, lower)


def stages(mod: View) -> list[tuple[str, str]]:
    """The text of a module, or of one function, at every stage of the pipeline, in order.

    Pairs have the name of a stage and the IR, which is lowered for this CPU. Raises TypeError for
    other objects, Diagnostic or PassFailedException where the module cannot be lowered.
    """
    module = module_of(mod)

    def texts() -> list[tuple[str, str]]:
        context, current = get_context(), module.clone()
        found: list[tuple[str, str]] = []
        for stage in STAGES:
            run_stage(current, stage, context)
            found.append((stage.name, str(current)))
        return found

    return with_deep_stack(module, texts)


def stage_text(
    mod: View,
    stage: str,
    target: str | Mapping[str, Any] | Target = HOST,
    function: str | None = None,
) -> str:
    """The IR of a module or function at one stage, or what LLVM makes of it, for a target.

    "schedule" is what the default schedules do, as Python, "llvm-opt" LLVM's IR after optimization
    and "asm" assembly, of each kernel by itself. With
    `function` only that function. Raises ValueError for an unknown stage or function.
    """
    from .backend.target import Target

    module, resolved = module_of(mod), Target(target)

    def text() -> str:
        if stage in TEXT_NAMES:
            with without_collector():
                return text_of(module, resolved, stage, function)
        lowered = lower_to(module, stage, target=str(resolved))
        return str(lowered if function is None else _function_of(lowered, function))

    return with_deep_stack(module, text)


def text_of(module: ModuleOp, target: Target, stage: str, function: str | None = None) -> str:
    """The text of a module in another form than IR of xrelax: one of `TEXT_NAMES`."""
    if stage == SCHEDULE:
        from .schedules import schedule_text

        return schedule_text(module, str(target), function)
    from .compilation import code_text

    return code_text(module, target, stage, function)


@dataclass(frozen=True)
class CodeInspector:
    """The texts of the code that a module is compiled to."""

    module: ModuleOp
    target: Target

    def text(self, stage: str) -> str:
        """The module at a stage of `TEXT_NAMES`, such as "asm"."""

        def text() -> str:
            with without_collector():
                return text_of(self.module, self.target, stage)

        return with_deep_stack(self.module, text)


def _function_of(module: ModuleOp, name: str) -> Operation:
    from .lowering.functions import functions_by_name

    functions = functions_by_name(module)
    if name not in functions:
        raise ValueError(f"expected a function ({', '.join(functions)}), got '{name}'")
    return functions[name]


def module_of(mod: View | ModuleOp) -> ModuleOp:
    """The xDSL module of an `IRModule`, or one made of a function; raises TypeError for others."""
    op = mod if isinstance(mod, ModuleOp) else getattr(mod, "op", None)
    if isinstance(op, ModuleOp):
        return op
    if isinstance(op, FuncOp | PrimFuncOp):
        return ModuleOp([op.clone()])
    raise TypeError(f"expected a module or a function to build, got {type(mod).__name__}")
