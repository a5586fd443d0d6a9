"""Source locations of a graph's nodes in the model's code."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from traceback import FrameSummary
from typing import Any

import torch
from torch import fx
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr

from ...user_frames import with_cells

_FRAME = re.compile(
    r'File "(?P<file>[^"]+)", line (?P<line>\d+), in [^\n]*(?:\n +(?P<code>[^\n]*))?'
)
_OUTSIDE = (str(Path(torch.__file__).parent), str(Path(__file__).parent), "<")
"""Prefixes of files that are not the model's: PyTorch, the importer, and code without a file."""

_UNKNOWN = "an unknown line"


def _frame(node: fx.Node) -> re.Match[str] | None:
    """The innermost stack frame of a node in the model's code, else in PyTorch's."""
    frames = list(_FRAME.finditer(node.meta.get("stack_trace") or ""))
    own = [f for f in frames if not f["file"].startswith(_OUTSIDE)]
    return (own or frames or [None])[-1]


def place(node: fx.Node) -> str:
    """The model's source line of a node, for messages."""
    # A placeholder has no line; use that of its first user.
    nodes = [node, *node.users] if node.op == "placeholder" else [node]
    frame = next(filter(None, map(_frame, nodes)), None)
    return _text(*frame.group("file", "line", "code")) if frame else _UNKNOWN


def frame_place(frames: Iterable[FrameSummary]) -> str:
    """The model's innermost source line in a traceback, for messages."""
    own = [f for f in frames if not f.filename.startswith(_OUTSIDE)]
    return _text(own[-1].filename, own[-1].lineno, own[-1].line) if own else _UNKNOWN


def _text(file: str, line: Any, code: str | None) -> str:
    where = with_cells(f"{file}:{line}")
    return f"{where} `{code.strip()}`" if code else where


def location(node: fx.Node) -> FileLineColLoc | None:
    """The model's source line of a node, as the location of operations."""
    frame = _frame(node)
    if frame is None:
        return None
    return FileLineColLoc(StringAttr(frame["file"]), IntAttr(int(frame["line"])), IntAttr(1))
