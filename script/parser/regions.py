"""Boxes of buffers: what blocks declare to read and write, and views of sub-regions."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import cast

from ...dialects import tir
from ...dialects.dtypes import element_type
from ...dialects.int_expr import ONE, ZERO, IntExpr
from ...te.arithmetic import dim_expr, index_value
from ...te.expr import PrimExpr
from .statement_reader import StatementReader

VIEW_ARGUMENTS = ("shape", "dtype", "data", "strides", "elem_offset", "scope")
HINTS = ("align", "offset_factor", "buffer_type")


class RegionParser:
    """Reads regions such as ``X[i, a:b]``."""

    def __init__(self, statements: StatementReader):
        self.statements = statements
        self.exprs = statements.exprs

    def regions(self, nodes: Sequence[ast.expr]) -> list[tir.BufferRegion]:
        """The regions of ``T.reads(…)`` or ``T.writes(…)``; an index from data covers its dim."""
        return [self._region(n) for node in nodes for n in self.exprs.elements(node)]

    def _region(self, node: ast.expr) -> tir.BufferRegion:
        part = self.exprs.slice(node)
        buffer = self.statements.emitter.buffers[part.buffer]
        dims = part.buffer.type.dims
        boxes = [self._box(*r, dim) for r, dim in zip(part.ranges, dims, strict=True)]
        return tir.BufferRegion(buffer, tuple(b[0] for b in boxes), tuple(b[1] for b in boxes))

    def _box(
        self, first: PrimExpr, extent: PrimExpr | None, dim: IntExpr
    ) -> tuple[IntExpr, IntExpr]:
        emitter = self.statements.emitter
        lower = emitter.try_index(first)
        size = ONE if extent is None else emitter.try_index(extent)
        return (ZERO, dim) if lower is None or size is None else (lower, size)

    def match_buffer(self, node: ast.Call) -> tir.MatchBufferOp:
        """``T.match_buffer(X[a:b, c:d], shape, …)``: a view of a region."""
        parser = self.statements
        given = self._view_arguments(node)
        part = self.exprs.slice(node.args[0])
        source = part.buffer.type
        mins = [parser.emitter.index(lower) for lower, _ in part.ranges]
        extents = [ONE if e is None else parser.emitter.index(e) for _, e in part.ranges]
        shape = extents
        if "shape" in given:
            shape = [dim_expr(d) for d in self.exprs.shape(given["shape"])]
        self._check_shape(node, shape, extents)
        self._check_dtype(node, given, source)
        strides = source.element_strides()[source.rank - len(shape) :]
        if "strides" in given:
            self._match_strides(given["strides"], strides)
        view = tir.BufferType.of(shape, source.element_type, strides, scope=source.scope.data)
        buffer = parser.emitter.buffers[part.buffer]
        return tir.MatchBufferOp(buffer, mins, parser.emitter.values.list, view)

    def _view_arguments(self, node: ast.Call) -> dict[str, ast.expr]:
        given = dict(zip(VIEW_ARGUMENTS, node.args[1:], strict=False))
        given |= {k.arg: k.value for k in node.keywords if k.arg is not None}
        unknown = set(given) - {*VIEW_ARGUMENTS, *HINTS}
        if not node.args or unknown:
            shown = ", ".join(sorted(unknown)) or "no region"
            raise self.statements.error(
                node, f"expected a region, then {', '.join(VIEW_ARGUMENTS)}, got {shown}"
            )
        return given

    def _check_shape(
        self, node: ast.Call, shape: Sequence[IntExpr], extents: Sequence[IntExpr]
    ) -> None:
        padded = [ONE] * (len(extents) - len(shape)) + list(shape)
        differences = [(a - b).constant for a, b in zip(padded, extents, strict=False)]
        if len(padded) != len(extents) or any(d not in (None, 0) for d in differences):
            wanted, got = ([str(d) for d in dims] for dims in (extents, shape))
            raise self.statements.error(
                node, f"expected a view of shape ({', '.join(wanted)}), got ({', '.join(got)})"
            )

    def _check_dtype(
        self, node: ast.Call, given: dict[str, ast.expr], source: tir.BufferType
    ) -> None:
        if "dtype" not in given:
            return
        dtype = self.exprs.dtype(given["dtype"])
        if element_type(dtype) != source.element_type:
            raise self.statements.error(
                node, f"expected a view of dtype {source.dtype}, got {dtype}"
            )

    def _match_strides(self, node: ast.expr, strides: Sequence[IntExpr]) -> None:
        """A view's strides are its source's: names for them are bound, numbers compared."""
        nodes = self.exprs.elements(node)
        if nodes and len(nodes) != len(strides):
            raise self.statements.error(node, f"expected {len(strides)} strides, got {len(nodes)}")
        for stride_node, stride in zip(nodes, strides, strict=False):
            given = dim_expr(cast(PrimExpr, self.exprs.eval(stride_node)))
            if isinstance(stride_node, ast.Name) and not given.is_constant:
                self.statements.scope.bind(stride_node.id, index_value(stride))
            elif given != stride:
                raise self.statements.error(
                    stride_node, f"expected the stride {stride} of the source, got {given}"
                )
