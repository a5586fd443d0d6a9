"""Sequences of passes by name; TVM's ``relax.get_pipeline`` and ``relax.register_pipeline``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ..backend.target import Target
from ..dialects.diagnostics import suggestion
from ..ir.transform import Pass, Sequential, as_pass
from . import transform

Pipeline = TypeVar("Pipeline", bound=Callable[..., Any])


def zero() -> Pass:
    """Operators become kernels, which are fused."""
    names = ("LegalizeOps", "AnnotateTIROpPattern", "FoldConstant", "FuseOps", "FuseTIR")
    return Sequential([getattr(transform, name)() for name in names], name="zero")


def static_shape_tuning(
    total_trials: int,
    target: Any,
    work_dir: str = "tuning_logs",
    cpu_weight_prepack: bool = False,
    max_trials_per_task: int | None = None,
) -> Pass:
    """Tune the kernels of a module, and take the fastest schedules.

    Constant weights are always laid out as schedules want them, with `cpu_weight_prepack` or not.
    """
    options: dict[str, Any] = {"max_trials_per_task": max_trials_per_task, "target": target}
    return Sequential(
        [
            transform.MetaScheduleTuneIRMod({}, work_dir, total_trials, **options),
            transform.MetaScheduleApplyDatabase(work_dir, target=target),
        ],
        name="static_shape_tuning",
    )


_PIPELINES: dict[str, Callable[..., Any]] = {
    "zero": zero,
    "default": zero,
    "default_build": zero,
    "static_shape_tuning": static_shape_tuning,
}


def get_pipeline(name: str = "zero", **options: Any) -> Pass:
    """The passes of a name, made with the options that its function takes.

    They are optional: a build runs all passes that a module still needs. "zero", "default" and
    "default_build" are the same. Raises ValueError for an unknown name.
    """
    if name not in _PIPELINES:
        known = ", ".join(_PIPELINES)
        hint = suggestion(name, _PIPELINES)
        raise ValueError(f"expected a pipeline ({known}), got '{name}'{hint}")
    return as_pass(_PIPELINES[name](**options))


def get_default_pipeline(target: Any) -> Pass:
    """The pipeline "default", as for every target; raises BackendError for one that is no CPU.

    TVM's ``relax.get_default_pipeline``.
    """
    Target(target)
    return get_pipeline("default")


def register_pipeline(name: str) -> Callable[[Pipeline], Pipeline]:
    """A decorator of a function that returns a pass, which `get_pipeline` then knows by name.

    Defining a function again in its module replaces it. Raises ValueError for a name that another
    function has.
    """

    def register(function: Pipeline) -> Pipeline:
        known = _PIPELINES.get(name, function)
        if (known.__module__, known.__qualname__) != (function.__module__, function.__qualname__):
            raise ValueError(f"expected a new name of a pipeline, got '{name}'")
        _PIPELINES[name] = function
        return function

    return register
