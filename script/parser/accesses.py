"""Elements and boxes of buffers: ``X[i, j]`` and ``X[a:b, c]``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from ...dialects.dtypes import is_float
from ...te.arithmetic import convert
from ...te.expr import Load, PrimExpr
from .buffers import Buffer, BufferSlice
from .describe import describe_value

if TYPE_CHECKING:
    from .expressions import ExprParser


def load(exprs: ExprParser, node: ast.Subscript, buffer: Buffer) -> Load:
    """One element; a script error for another number of indices, or one that is no integer."""
    indices = exprs.exprs(node.slice)
    _check_rank(exprs, node, buffer, len(indices))
    for index in indices:
        if is_float(index.dtype):
            raise exprs.error(node.slice, f"expected an integer index, got {index.dtype}")
    return Load(buffer, tuple(indices), buffer.dtype)


def _check_rank(exprs: ExprParser, node: ast.AST, buffer: Buffer, count: int) -> None:
    rank = buffer.type.rank
    if count != rank:
        raise exprs.error(node, f"expected {rank} indices for '{buffer.name}', got {count}")


def buffer_slice(exprs: ExprParser, node: ast.expr) -> BufferSlice:
    """A region; a buffer without indices stands for all of it."""
    base = node.value if isinstance(node, ast.Subscript) else node
    buffer = exprs.eval(base)
    if not isinstance(buffer, Buffer):
        raise exprs.error(base, f"expected a buffer, got {describe_value(buffer)}")
    if not isinstance(node, ast.Subscript):
        return BufferSlice(buffer, tuple((convert(0), convert(d)) for d in buffer.shape))
    parts = exprs.elements(node.slice)
    _check_rank(exprs, node, buffer, len(parts))
    pairs = zip(parts, buffer.shape, strict=True)
    return BufferSlice(buffer, tuple(_range(exprs, part, dim) for part, dim in pairs))


def _range(exprs: ExprParser, node: ast.expr, dim: Any) -> tuple[PrimExpr, PrimExpr | None]:
    if not isinstance(node, ast.Slice):
        return exprs.expr(node), None
    if node.step is not None:
        raise exprs.error(node, "expected a slice without a step")
    start = convert(0) if node.lower is None else exprs.expr(node.lower)
    stop = convert(dim) if node.upper is None else exprs.expr(node.upper)
    return start, stop - start
