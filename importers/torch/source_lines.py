"""Where in the model's source a node of its graph comes from."""

from __future__ import annotations

import re
from pathlib import Path

import torch
from torch import fx
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr

_FRAME = re.compile(
    r'File "(?P<file>[^"]+)", line (?P<line>\d+), in [^\n]*(?:\n +(?P<code>[^\n]*))?'
)
_TORCH = str(Path(torch.__file__).parent)


def _frame(node: fx.Node) -> re.Match[str] | None:
    """The innermost line of the model itself, else of PyTorch, that made a node."""
    frames = list(_FRAME.finditer(node.meta.get("stack_trace") or ""))
    own = [f for f in frames if not f["file"].startswith((_TORCH, "<"))]
    return (own or frames or [None])[-1]


def place(node: fx.Node) -> str:
    """The model's source line of a node, for messages."""
    frame = _frame(node)
    if frame is None:
        return "an unknown line"
    code = f" `{frame['code'].strip()}`" if frame["code"] else ""
    return f"{frame['file']}:{frame['line']}{code}"


def location(node: fx.Node) -> FileLineColLoc | None:
    """The model's source line of a node, as the location of operations."""
    frame = _frame(node)
    if frame is None:
        return None
    return FileLineColLoc(StringAttr(frame["file"]), IntAttr(int(frame["line"])), IntAttr(1))
