"""What the explorer shows of a module: its stages, what each pass changes, its kernels."""

from __future__ import annotations

import linecache
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from ..backend.target import Target
from ..compilation import code_parts, part_text
from ..dialects import get_context
from ..dialects.diagnostics import verify
from ..display.highlight import highlighted_lines, stage_language
from ..inspection import with_deep_stack, without_collector
from ..lowering.functions import functions_by_name
from ..pipeline import SCHEDULE, STAGES, TEXT_NAMES, run_passes
from ..schedules import DefaultSchedule, default_schedules
from .lines import Line, Place, assembly_lines, files_of, ir_lines, llvm_lines, plain_lines

LINES_PER_FILE = 1_000_000
"""A place is a number: its file, from 1, times this, plus its line; 0 where it is unknown."""

_CONTEXT = 3
"""Lines around a change that a diff shows."""

Sections = dict[str, list[Line]]
"""The lines of each function, by name."""


@dataclass
class PassResult:
    """What one pass changed: the functions before and after it, by name."""

    name: str
    stage: str
    before: Sections = field(default_factory=lambda: {})
    after: Sections = field(default_factory=lambda: {})


@dataclass
class Exploration:
    """A module, compiled for a target, with every step of its compilation kept as text."""

    module: ModuleOp
    target: Target
    title: str
    sources: dict[str, str] = field(default_factory=lambda: {})
    """Programs by file name, for those that are no files."""
    stages: dict[str, Sections] = field(default_factory=lambda: {})
    passes: list[PassResult] = field(default_factory=lambda: [])
    kernels: list[DefaultSchedule] = field(default_factory=lambda: [])

    def __post_init__(self) -> None:
        with_deep_stack(self.module, self._compile)

    def _compile(self) -> None:
        """Run the pipeline, and note what each pass changes."""
        with without_collector():
            self._run_passes()
            self.kernels = default_schedules(self.module, str(self.target))
            schedules = {s.name: plain_lines(s.function) for s in self.kernels}
            self.stages[SCHEDULE] = schedules
            parts = code_parts(self.module, self.target, debug_info=True)
            for form, read in (("llvm-opt", llvm_lines), ("asm", assembly_lines)):
                self.stages[form] = {n: read(part_text(p, form)) for n, p in parts.items()}

    def _run_passes(self) -> None:
        module, context = self.module.clone(), get_context()
        verify(module)
        current = _sections(module)
        for stage in STAGES:

            def observe(name: str, module: ModuleOp, stage: str = stage.name) -> None:
                nonlocal current
                found = _sections(module)
                self.passes.append(_changes(name, stage, current, found))
                current = found

            run_passes(module, stage, context, str(self.target), observe)
            verify(module)
            self.stages[stage.name] = current

    def page(self) -> dict[str, Any]:
        """Everything as data of JSON; lines are HTML."""
        files = list(self._files())
        numbers = {name: number for number, (name, _) in enumerate(files, 1)}
        return {
            "title": self.title,
            "target": self.target.short_name,
            "files": [{"name": n, "html": highlighted_lines(t, "python")} for n, t in files],
            "stages": [
                {
                    "name": name,
                    "sections": [
                        _section(n, lines, stage_language(name), numbers)
                        for n, lines in self.stages[name].items()
                    ],
                }
                for name in _stage_order()
            ],
            "passes": [_pass_data(p) for p in self.passes],
            "kernels": [
                {
                    "name": k.name,
                    "script": highlighted_lines(k.kernel, "python"),
                    "schedule": k.function,
                }
                for k in self.kernels
            ],
        }

    def _files(self) -> Iterator[tuple[str, str]]:
        """The names and texts of the files that any line comes from, most lines first."""
        counts: dict[str, int] = {}
        for sections in self.stages.values():
            for lines in sections.values():
                for file in files_of(lines):
                    counts[file] = counts.get(file, 0) + len(lines)
        for name in sorted({*counts, *self.sources}, key=lambda n: (-counts.get(n, 0), n)):
            text = self.sources.get(name) or "".join(linecache.getlines(name))
            if text:
                yield name, text.rstrip("\n")


def _stage_order() -> list[str]:
    """The names of stages; the schedule is made between the graph and scheduled TensorIR."""
    names = [stage.name for stage in STAGES]
    names.insert(names.index("tir"), SCHEDULE)
    return [*names, *(n for n in TEXT_NAMES if n != SCHEDULE)]


def _sections(module: ModuleOp) -> Sections:
    return {name: ir_lines(op) for name, op in functions_by_name(module).items()}


def _changes(name: str, stage: str, before: Sections, after: Sections) -> PassResult:
    found = PassResult(name, stage)
    for function in {**after, **before}:
        old, new = before.get(function, []), after.get(function, [])
        if [line.text for line in old] != [line.text for line in new]:
            found.before[function], found.after[function] = old, new
    return found


def _section(
    name: str, lines: Sequence[Line], language: str, files: dict[str, int]
) -> dict[str, Any]:
    return {
        "name": name,
        "html": highlighted_lines("\n".join(line.text for line in lines), language),
        "places": [_place_number(line.place, files) for line in lines],
    }


def _place_number(place: Place | None, files: dict[str, int]) -> int:
    if place is None or place.file not in files:
        return 0
    return files[place.file] * LINES_PER_FILE + place.line


def _pass_data(result: PassResult) -> dict[str, Any]:
    return {
        "name": result.name,
        "stage": result.stage,
        "sections": [
            {"name": name, "rows": list(_diff(result.before[name], result.after[name]))}
            for name in result.before
        ],
    }


def _diff(before: Iterable[Line], after: Iterable[Line]) -> Iterator[tuple[str, str]]:
    """Rows of a unified diff: their kind, `-`, `+`, a blank, or `@` between parts, and HTML."""
    old, new = ([line.text for line in lines] for lines in (before, after))
    old_html, new_html = (highlighted_lines("\n".join(texts), "mlir") for texts in (old, new))
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for number, group in enumerate(matcher.get_grouped_opcodes(_CONTEXT)):
        if number:
            yield "@", ""
        for kind, old_start, old_end, new_start, new_end in group:
            if kind == "equal":
                yield from ((" ", html) for html in new_html[new_start:new_end])
            else:
                yield from (("-", html) for html in old_html[old_start:old_end])
                yield from (("+", html) for html in new_html[new_start:new_end])
