"""Executables and profiles as notebooks show them: functions, kernels with their cost, stages."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from ..dialects import get_context
from ..dialects.tir import PrimFuncOp
from ..inspection import with_deep_stack
from ..pipeline import STAGES, pass_before, run_stage
from ..profiling.report import COLUMNS
from ..profiling.work import work_of
from ..runtime.signature import shape_text
from .elements import document, paragraph, short_code, table, tabs
from .highlight import stage_language
from .programs import count

MOST_LINES = 200
"""Lines of a stage that are shown."""

MOST_OPERATIONS = 400
"""The stages of a module of more operations are not computed to be shown."""


def executable_html(executable: Any, title: str = "Executable") -> str:
    """An executable; of a small one that this process has built, every stage."""
    stats = executable.stats()
    parts = [count(stats["functions"], "function"), count(stats["kernels"], "kernel")]
    size = f"{stats['code_bytes']:,} bytes of code, {stats['constant_bytes']:,} of constants"
    target = str(executable.attributes.get("target", "unknown"))
    processor = re.search(r"-mcpu=(\S+)", target)
    note = ", ".join([*filter(None, parts), size, f"for {processor[1] if processor else target}"])
    panels = {"functions": _signatures(executable), **_stages(executable)}
    return document(title, note, tabs(panels))


def model_html(model: Any) -> str:
    """A compiled model: its executable."""
    return executable_html(model.executable, "CompiledModel")


def onnx_model_html(model: Any) -> str:
    """A compiled model, which may be one of the cache, without its module."""
    return executable_html(model.running, "OnnxModel")


def profile_html(report: Any) -> str:
    """A profile: the kernels by their time."""
    head, *_ = str(report).split("\n")
    title, _, note = head.partition(": ")
    machines = sorted({k.machine for k in report.kernels}, key=lambda m: m.threads)
    content = table(COLUMNS, report.rows())
    return document(title, note, content, *(paragraph(str(machine)) for machine in machines))


def debug_html(report: Any) -> str:
    """A debug report: the first bad operation, and the error of each."""
    summary = [paragraph(line) for line in report.summary().split("\n")]
    note = f"compared with {report.reference}"
    return document(report.title, note, *summary, table(report.columns, report.rows()))


def _signatures(executable: Any) -> str:
    rows = [
        [name, _tensors(spec.params), _tensors(spec.results)]
        for name, spec in executable.functions.items()
    ]
    return table(("function", "parameters", "results"), rows)


def _tensors(tensors: Any) -> str:
    named = ((getattr(t, "name", ""), f"{t.dtype} {shape_text(t.shape)}") for t in tensors)
    return ", ".join(f"{name}: {text}" if name else text for name, text in named)


def _stages(executable: Any) -> dict[str, str]:
    """The kernels and the text of each stage, by name; a note where they are not shown."""
    module = getattr(executable.profiler, "module", None)
    if module is None:
        return {"stages": paragraph("known in the process that built it")}
    if sum(1 for _ in module.walk()) > MOST_OPERATIONS:
        return {"stages": paragraph("the module is large: use its .show(stage=…)")}
    panels = with_deep_stack(module, lambda: _texts(module, str(executable.profiler.target)))
    assembly: Callable[[], str] | None = executable.attributes.get("assembly")
    if assembly is not None:
        panels["asm"] = _text(assembly(), "asm")
    return panels


def _texts(module: ModuleOp, target: str) -> dict[str, str]:
    context, current = get_context(), module.clone()
    unscheduled = pass_before("schedule-default")
    panels: dict[str, str] = {"kernels": ""}

    def observe(name: str, module: ModuleOp) -> None:
        if name == unscheduled:
            panels["kernels"] = _kernels(module)

    for stage in STAGES:
        run_stage(current, stage, context, target, observe)
        panels[stage.name] = _text(str(current), stage.name)
    return panels


def _text(text: str, stage: str) -> str:
    rest = f'.show(stage="{stage}") of the module prints all of them'
    return short_code(text, stage_language(stage), MOST_LINES, rest)


def _kernels(module: ModuleOp) -> str:
    """What each kernel does in a call, by its TensorIR before it is scheduled, as in a profile."""
    rows: list[list[str]] = []
    for func in module.ops:
        if isinstance(func, PrimFuncOp):
            work = work_of(func)
            operations = "" if work.operations is None else _amount(work.operations)
            cost = [operations, _amount(work.read), _amount(work.written)]
            rows.append([func.sym_name.data, *cost, work.dtype])
    return table(("kernel", "operations", "bytes read", "bytes written", "dtype"), rows)


def _amount(value: Any) -> str:
    text = str(value)
    return f"{int(text):,}" if text.isdecimal() else text
