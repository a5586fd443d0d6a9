"""Annotations of loops and blocks: names with numbers, strings, or lists of these."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import DictionaryAttr
from xdsl.ir import Attribute

from ...dialects import tir
from .blocks import ScheduleError
from .loop_checks import loop_text


def annotate(op: tir.ForOp | tir.BlockOp, key: str, value: Attribute) -> None:
    """Set an annotation of a loop or block."""
    _set(op, {**_annotations(op), key: value})


def unannotate(op: tir.ForOp | tir.BlockOp, key: str) -> None:
    """Remove an annotation; raises ScheduleError if the loop or block does not have it."""
    annotations = _annotations(op)
    if key not in annotations:
        what = loop_text(op) if isinstance(op, tir.ForOp) else f"block '{op.block_name.data}'"
        raise ScheduleError(f"expected {what} to have the annotation '{key}'", op)
    _set(op, {k: v for k, v in annotations.items() if k != key})


def _annotations(op: tir.ForOp | tir.BlockOp) -> dict[str, Attribute]:
    return {} if op.annotations is None else dict(op.annotations.data)


def _set(op: tir.ForOp | tir.BlockOp, annotations: Mapping[str, Attribute]) -> None:
    op.properties.pop("annotations", None)
    if annotations:
        op.properties["annotations"] = DictionaryAttr(dict(annotations))
