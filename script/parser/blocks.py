"""`with T.block(…)`: axes, predicate, regions and init, then the body."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import DictionaryAttr, IndexType
from xdsl.ir import Block, Region

from ...dialects import tir
from ...dialects.dtypes import element_type
from ...dialects.int_expr import ONE, ZERO, IntExpr
from ...dialects.tir.regions import infer_regions
from ...ir.attributes import to_attribute
from ...te.expr import PrimExpr, Var
from ...te.tensor import dim_expr

if TYPE_CHECKING:
    from .statements import StatementParser

AXIS_KINDS = {
    "T.axis.spatial": "spatial",
    "T.axis.S": "spatial",
    "T.axis.reduce": "reduce",
    "T.axis.R": "reduce",
    "T.axis.scan": "scan",
    "T.axis.opaque": "opaque",
}
REMAP_KINDS = {"S": "spatial", "R": "reduce"}


@dataclass
class _Pending:
    """What has been read of a block before its body."""

    name: str
    body: Block
    axes: list[tir.Axis] = field(default_factory=lambda: [])
    predicates: list[tuple[IntExpr, IntExpr]] = field(default_factory=lambda: [])
    reads: list[tir.BufferRegion] | None = None
    writes: list[tir.BufferRegion] | None = None
    annotations: DictionaryAttr | None = None


class BlockParser:
    """Reads one block at a time; statements of its body go back to the statement parser."""

    def __init__(self, statements: StatementParser):
        self.statements = statements

    def block(self, node: ast.With, call: ast.Call) -> None:
        """Parse a block and emit it where the statement parser is."""
        parser = self.statements
        name = parser.exprs.text(call.args[0]) if call.args else ""
        pending = _Pending(name, Block())
        location = parser.emitter.location
        with parser.scope.nested():
            rest = list(node.body)
            while rest and self._header(rest[0], pending):
                rest.pop(0)
            with parser.emitter.inside(pending.body):
                if rest and self._is_init(rest[0]):
                    self._init(rest.pop(0))
                while rest and self._header(rest[0], pending):
                    rest.pop(0)
                parser.body(rest)
        parser.emitter.location = location
        parser.emitter.add(self._finish(pending))

    def _finish(self, pending: _Pending) -> tir.BlockOp:
        values = self.statements.emitter.values
        reads, writes = infer_regions(pending.body, values)
        return tir.BlockOp.build_from(
            pending.name,
            pending.axes,
            Region(pending.body),
            values.list,
            pending.predicates,
            reads if pending.reads is None else pending.reads,
            writes if pending.writes is None else pending.writes,
            pending.annotations,
        )

    def _is_init(self, node: ast.stmt) -> bool:
        return (
            isinstance(node, ast.With)
            and self.statements.called(node.items[0].context_expr) == "T.init"
        )

    def _init(self, node: ast.stmt) -> None:
        assert isinstance(node, ast.With)
        block = Block()
        with self.statements.into(block):
            self.statements.body(node.body)
        self.statements.emitter.add(tir.InitOp(Region(block)))

    def _header(self, node: ast.stmt, pending: _Pending) -> bool:
        parser = self.statements
        match node:
            case ast.Assign(targets=[target], value=ast.Call() as call):
                path = parser.called(call)
                if path == "T.axis.remap":
                    self._remap(target, call, pending)
                elif path in AXIS_KINDS:
                    self._axis(target, call, AXIS_KINDS[path], pending)
                else:
                    return False
            case ast.Expr(value=ast.Call() as call):
                return self._declaration(call, pending)
            case _:
                return False
        return True

    def _declaration(self, call: ast.Call, pending: _Pending) -> bool:
        parser = self.statements
        match parser.called(call):
            case "T.where":
                pending.predicates += parser.condition(call.args[0])
            case "T.reads":
                pending.reads = self._regions(call.args)
            case "T.writes":
                pending.writes = self._regions(call.args)
            case "T.block_attr" | "T.sblock_attr":
                attr = to_attribute(parser.exprs.eval(call.args[0]))
                assert isinstance(attr, DictionaryAttr)
                pending.annotations = attr
            case _:
                return False
        return True

    def _remap(self, target: ast.expr, call: ast.Call, pending: _Pending) -> None:
        parser = self.statements
        if len(call.args) != 2:
            raise parser.error(call, "expected T.axis.remap(kinds, loop variables)")
        kinds = parser.exprs.text(call.args[0])
        targets, bindings = parser.exprs.elements(target), parser.exprs.elements(call.args[1])
        if not len(kinds) == len(targets) == len(bindings):
            raise parser.error(
                call,
                f"expected as many kinds as axes and loop variables, got {len(kinds)}, {len(targets)} and {len(bindings)}",
            )
        for kind, name, binding in zip(kinds, targets, bindings, strict=True):
            if kind not in REMAP_KINDS:
                raise parser.error(call.args[0], f"expected kinds S and R, got '{kind}'")
            expr = parser.exprs.expr(binding)
            loop = self._loop_of(expr)
            if loop is None:
                raise parser.error(binding, "expected a loop variable")
            lower, extent = (
                parser.emitter.values.rebase(e, loop.operands_)
                for e in (loop.min.data, loop.extent.data)
            )
            self._add_axis(name, REMAP_KINDS[kind], lower, extent, expr, pending)

    def _loop_of(self, expr: PrimExpr) -> tir.ForOp | None:
        parser = self.statements
        index = parser.emitter.try_index(expr)
        atom = None if index is None else index.as_atom
        number = getattr(atom, "index", None)
        if number is None:
            return None
        block = parser.emitter.values.list[number].owner
        loop = block.parent_op() if isinstance(block, Block) else None
        return loop if isinstance(loop, tir.ForOp) else None

    def _axis(self, target: ast.expr, call: ast.Call, kind: str, pending: _Pending) -> None:
        parser = self.statements
        if len(call.args) != 2:
            raise parser.error(call, "expected an axis with its range and the value bound to it")
        bounds = parser.exprs.exprs(call.args[0])
        exprs = [parser.emitter.index(b) for b in bounds]
        if len(exprs) not in (1, 2):
            raise parser.error(call.args[0], "expected an extent or a pair (begin, end)")
        lower = ZERO if len(exprs) == 1 else exprs[0]
        extent = exprs[0] if len(exprs) == 1 else exprs[1] - exprs[0]
        self._add_axis(target, kind, lower, extent, parser.exprs.expr(call.args[1]), pending)

    def _add_axis(
        self,
        target: ast.expr,
        kind: str,
        lower: IntExpr,
        extent: IntExpr,
        binding: PrimExpr,
        pending: _Pending,
    ) -> None:
        parser = self.statements
        if not isinstance(target, ast.Name):
            raise parser.error(target, "expected a name for the axis")
        value = parser.emitter.index(binding)
        arg = pending.body.insert_arg(IndexType(), len(pending.axes))
        arg.name_hint = target.id
        variable = Var(target.id, binding.dtype)
        parser.emitter.define(variable, arg)
        parser.scope.bind(target.id, variable)
        pending.axes.append(tir.Axis(kind, lower, extent, value))

    def _regions(self, nodes: Sequence[ast.expr]) -> list[tir.BufferRegion]:
        exprs = self.statements.exprs
        items = [n for node in nodes for n in exprs.elements(node)]
        return [self.region(n) for n in items]

    def region(self, node: ast.expr) -> tir.BufferRegion:
        """A region ``X[i, a:b]``."""
        emitter = self.statements.emitter
        part = self.statements.exprs.slice(node)
        mins = tuple(emitter.index(lower) for lower, _ in part.ranges)
        extents = tuple(
            ONE if extent is None else emitter.index(extent) for _, extent in part.ranges
        )
        return tir.BufferRegion(emitter.buffers[part.buffer], mins, extents)

    def match_buffer(self, target: ast.expr, node: ast.expr) -> None:
        """``A = T.match_buffer(X[a:b, c:d], shape, …)``: a view of a region."""
        parser = self.statements
        assert isinstance(node, ast.Call)
        if not isinstance(target, ast.Name):
            raise parser.error(target, "expected a name for the buffer")
        region = self.region(node.args[0])
        source: Any = region.buffer.type
        given = dict(zip(("shape", "dtype"), node.args[1:], strict=False))
        given |= {k.arg: k.value for k in node.keywords if k.arg in ("shape", "dtype")}
        shape = (
            [dim_expr(d) for d in parser.exprs.shape(given["shape"])]
            if "shape" in given
            else list(region.extents)
        )
        if (
            "dtype" in given
            and element_type(parser.exprs.dtype(given["dtype"])) != source.element_type
        ):
            raise parser.error(
                node,
                f"expected a view of dtype {source.dtype}, got {parser.exprs.dtype(given['dtype'])}",
            )
        strides = source.element_strides()[source.rank - len(shape) :]
        view = tir.BufferType.of(shape, source.element_type, strides, scope=source.scope.data)
        parser.declare(
            target.id,
            tir.MatchBufferOp(region.buffer, region.mins, parser.emitter.values.list, view),
        )
