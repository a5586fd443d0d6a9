"""Modules, functions and struct infos as notebooks show them: TVMScript that folds by function."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import prod
from typing import Any

from .elements import code, document, folded, inline_code, paragraph, short_code

MOST_LINES = 200
"""Lines of one function that are shown."""

MOST_FUNCTIONS = 24
"""Functions of a module that are shown."""

_OPEN_LINES = 80
"""Where a module has more lines, only its graph functions are unfolded."""

_FUNCTION = re.compile(r"^(?=    @)", re.MULTILINE)
_SIGNATURE = re.compile(r"^ *def (\w+)(.*):$", re.MULTILINE)


def module_html(module: Any) -> str:
    """An `IRModule`: each of its functions folds."""
    note, content = _module(module)
    return document(module.name, note, content)


def schedule_html(schedule: Any) -> str:
    """A `tir.Schedule`: its trace, then its module as it is now."""
    note, content = _module(schedule.mod)
    trace = short_code("\n".join(schedule.trace.as_python()), "python", MOST_LINES, _REST)
    steps = count(len(schedule.trace.insts), "instruction") or "no instructions"
    folds = folded(f"<small>trace</small>{steps}", trace, is_open=True)
    return document("Schedule", f"{schedule.mod.name}: {note}", content, folds)


def trace_html(trace: Any) -> str:
    """A trace as Python."""
    steps = count(len(trace.insts), "instruction") or "no instructions"
    return document("Trace", steps, short_code(str(trace), "python", MOST_LINES, _REST))


def _module(module: Any) -> tuple[str, str]:
    """The numbers of functions, and the functions."""
    text = module.script(name=module.name)
    program, _, metadata = text.partition("\n\n#")
    head, *functions = (part.rstrip("\n") for part in _FUNCTION.split(program))
    kernels = [f for f in functions if _is_kernel(f)]
    graphs = [f for f in functions if not _is_kernel(f)]
    is_small = text.count("\n") <= _OPEN_LINES
    content = [
        code(head.rstrip("\n")),
        *_functions(kernels, max(MOST_FUNCTIONS - len(graphs), 1), "kernels", is_small),
        *_functions(graphs, MOST_FUNCTIONS, "graph functions", True),
        *([code(f"#{metadata}")] if metadata else []),
    ]
    counts = [count(len(graphs), "graph function"), count(len(kernels), "kernel")]
    return ", ".join(filter(None, counts)) or "no functions", "".join(content)


def function_html(function: Any) -> str:
    """A graph function or a PrimFunc."""
    text = function.script()
    kind = "kernel" if _is_kernel(text) else "graph function"
    note = f"{kind}, {count(text.count(chr(10)) + 1, 'line')}"
    return document(function.name, note, short_code(text, "python", MOST_LINES, _REST))


def struct_info_html(info: Any) -> str:
    """What is known of a value, and of a tensor its size."""
    shape, dtype = getattr(info, "shape", None), getattr(info, "dtype", "")
    content = [code(str(info))]
    if shape is not None and all(isinstance(dim, int) for dim in shape):
        content.append(paragraph(f"{count(prod(shape), 'element')} of {dtype or 'unknown dtype'}"))
    return document("", "", *content)


def count(number: int, noun: str) -> str:
    """A number of things in words; nothing for none."""
    return "" if not number else f"{number:,} {noun}{'' if number == 1 else 's'}"


_REST = ".show() prints all of them"


def _functions(texts: Sequence[str], most: int, kind: str, is_open: bool) -> list[str]:
    shown = [_function(text, is_open) for text in texts[:most]]
    left = len(texts) - most
    return shown + ([paragraph(f"… {left:,} more {kind}: {_REST}")] if left > 0 else [])


def _function(text: str, is_open: bool) -> str:
    signature = _SIGNATURE.search(text)
    assert signature is not None
    name, rest = map(inline_code, signature.groups())
    kind = "kernel" if _is_kernel(text) else "graph"
    summary = f'<small>{kind}</small>{name}<span class="folded">{rest}</span>'
    return folded(summary, short_code(text, "python", MOST_LINES, _REST), is_open=is_open)


def _is_kernel(text: str) -> bool:
    return "@T.prim_func" in text.partition("def ")[0]
