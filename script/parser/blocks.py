"""`with T.block(…)`: axes, predicate, regions and init, then the body."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from xdsl.dialects.builtin import DictionaryAttr, IndexType
from xdsl.ir import Block, BlockArgument, Operation, Region

from ...dialects import tir
from ...dialects.int_expr import ZERO, Arg, IntExpr
from ...dialects.parameters import value_hint
from ...dialects.tir.func import LAYOUT_FREE_INPUTS
from ...dialects.tir.regions import infer_regions
from ...te.attributes import dictionary
from ...te.expr import PrimExpr, Var
from .bindings import BUFFERS
from .buffers import Buffer
from .macros import MacroParser
from .predicates import bounds_of, conjuncts, guarded, reads_data
from .regions import RegionParser
from .statement_reader import StatementReader

AXIS_KINDS = {
    "T.axis.spatial": "spatial",
    "T.axis.S": "spatial",
    "T.axis.reduce": "reduce",
    "T.axis.R": "reduce",
    "T.axis.scan": "scan",
    "T.axis.opaque": "opaque",
}
ATTRIBUTES = ("T.block_attr", "T.sblock_attr")
READING = "a block whose predicate reads buffers"
REMAP_KINDS = {"S": "spatial", "R": "reduce"}


@dataclass
class _Pending:
    """What has been read of a block before its body."""

    name: str
    body: Block
    axes: list[tir.Axis] = field(default_factory=lambda: [])
    predicates: list[tuple[IntExpr, IntExpr]] = field(default_factory=lambda: [])
    conditions: list[ast.expr] = field(default_factory=lambda: [])
    """The parts of the predicate that read data."""
    loops: dict[str, str] = field(default_factory=lambda: {})
    """The names of axes by those of the loops that they are bound to."""
    reads: list[tir.BufferRegion] | None = None
    writes: list[tir.BufferRegion] | None = None
    annotations: DictionaryAttr | None = None
    declared: set[str] = field(default_factory=lambda: set())
    """The names of axes, and the declarations that are given once."""

    def bind(self, axis: ast.expr, value: ast.expr) -> None:
        """Note the loop of an axis that is bound to one."""
        if isinstance(axis, ast.Name) and isinstance(value, ast.Name):
            self.loops.setdefault(value.id, axis.id)


class BlockParser:
    """Reads one block at a time; statements of its body go back to the statement parser."""

    def __init__(self, statements: StatementReader):
        self.statements = statements
        self.regions = RegionParser(statements)
        self.macros = MacroParser(statements)
        self.pending: list[_Pending] = []

    def block(self, node: ast.With, call: ast.Call) -> None:
        """Parse a block and emit it where the statement parser is."""
        parser = self.statements
        name = parser.exprs.text(call.args[0]) if call.args else ""
        pending = _Pending(name, Block())
        location = parser.emitter.location
        with parser.scope.nested():
            rest = list(node.body)
            while rest and (macro := self.macros.macro(rest[0])) is not None:
                rest[:1] = self.macros.expanded(rest[0], macro)
            while rest and self._header(rest[0], pending):
                rest.pop(0)
            with parser.emitter.inside(pending.body):
                if rest and self._is_init(rest[0]):
                    self._init(rest.pop(0))
                else:
                    self._late_init(rest, pending.body)
                while rest and self._header(rest[0], pending):
                    rest.pop(0)
                if pending.conditions and pending.body.ops:
                    raise parser.error(node, f"expected {READING} to have no T.init")
                self.pending.append(pending)
                parser.body(guarded(pending.conditions, pending.loops, rest))
                self.pending.pop()
        parser.emitter.location = location
        parser.emitter.add(self._finish(pending))

    def _finish(self, pending: _Pending) -> tir.BlockOp:
        values = self.statements.emitter.values
        reads, writes = infer_regions(pending.body, values)
        if pending.reads is not None and pending.conditions:  # which only the body reads for
            declared = {r.buffer for r in pending.reads}
            pending.reads += [r for r in reads if r.buffer not in declared]
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

    def _late_init(self, rest: list[ast.stmt], body: Block) -> None:
        """``with T.init():`` below the buffers of a block, above which the operation goes."""
        count = next((i for i, s in enumerate(rest) if self._is_init(s)), 0)
        calls = [s.value if isinstance(s, ast.Assign) else s for s in rest[:count]]
        if not count or any(self.statements.called(c) not in BUFFERS for c in calls):
            return
        self.statements.body(rest[:count])
        self._init(rest[count])
        del rest[: count + 1]
        init = body.last_op
        assert isinstance(init, tir.InitOp) and body.first_op is not None
        init.detach()
        body.insert_op_before(init, body.first_op)

    def _is_init(self, node: ast.stmt) -> bool:
        is_with = isinstance(node, ast.With)
        return is_with and self.statements.called(node.items[0].context_expr) == "T.init"

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
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=calls)) if len(
                names
            ) == len(calls) and all(parser.called(c) in AXIS_KINDS for c in calls):
                for name, call in zip(names, calls, strict=True):
                    assert isinstance(call, ast.Call)
                    self._axis(name, call, AXIS_KINDS[parser.called(call)], pending)
            case ast.Expr(value=ast.Call() as call):
                return self._declaration(call, pending)
            case _:
                return False
        return True

    def declared(self, call: ast.Call) -> bool:
        """Take a declaration of the block at hand, before which it has no effects."""
        pending = self.pending[-1] if self.pending else None
        is_first = pending is not None and self.statements.emitter.block is pending.body
        if pending is None or not is_first or any(map(_has_effects, pending.body.ops)):
            return False
        return self._declaration(call, pending)

    def _declaration(self, call: ast.Call, pending: _Pending) -> bool:
        parser = self.statements
        path = parser.called(call)
        if path not in ("T.where", "T.reads", "T.writes", *ATTRIBUTES):
            return False
        with parser.scope.source.reporting(call):
            if path in pending.declared and path not in ATTRIBUTES:
                raise parser.error(call, f"expected '{path}' of a block once, got it twice")
            pending.declared.add(path)
            if path == "T.reads":
                pending.reads = self.regions.regions(call.args)
            elif path == "T.writes":
                pending.writes = self.regions.regions(call.args)
            elif len(call.args) != 1:
                raise parser.error(call, f"expected {path}(…), got {len(call.args)} arguments")
            elif path == "T.where":
                self._where(call.args[0], pending)
            else:
                given = self._without_layouts(parser.exprs.eval(call.args[0]))
                self._annotate(call, dictionary(given), pending)
        return True

    def _where(self, predicate: ast.expr, pending: _Pending) -> None:
        """A predicate; the parts that read data become conditions of the body."""
        for node in conjuncts(predicate):
            if not reads_data(self.statements, node):
                pending.predicates += bounds_of(self.statements, node)
            elif pending in self.pending:
                raise self.statements.error(node, f"expected {READING} before its statements")
            else:
                pending.conditions.append(node)

    def _without_layouts(self, given: Any) -> Any:
        """Annotations without the buffers whose layout is free: the function has these."""
        if not isinstance(given, dict):
            return given
        entries = cast("dict[str, Any]", given)
        listed = entries.get(LAYOUT_FREE_INPUTS)
        if not isinstance(listed, list | tuple):
            return entries
        free = [b.ssa for b in cast("Sequence[Any]", listed) if isinstance(b, Buffer)]
        if len(free) < len(cast("Sequence[Any]", listed)):
            return entries
        self.statements.layout_free += free
        return {k: v for k, v in entries.items() if k != LAYOUT_FREE_INPUTS}

    def _annotate(self, call: ast.Call, new: DictionaryAttr, pending: _Pending) -> None:
        """Annotations in addition to those before; raises ScriptError for another value of one."""
        both = self._united(call, pending.annotations or DictionaryAttr({}), new)
        pending.annotations = both if both.data else None

    def _united(self, call: ast.Call, old: DictionaryAttr, new: DictionaryAttr) -> DictionaryAttr:
        """The entries of both; of a dict in both also those of its own."""
        both = dict(old.data)
        for key, value in new.data.items():
            known = both.get(key, value)
            if isinstance(known, DictionaryAttr) and isinstance(value, DictionaryAttr):
                both[key] = self._united(call, known, value)
            elif known == value:
                both[key] = value
            else:
                message = f"expected one value of annotation '{key}', got two"
                raise self.statements.error(call, message)
        return DictionaryAttr(both)

    def _remap(self, target: ast.expr, call: ast.Call, pending: _Pending) -> None:
        parser = self.statements
        if len(call.args) != 2:
            raise parser.error(call, "expected T.axis.remap(kinds, loop variables)")
        kinds = parser.exprs.text(call.args[0])
        targets, nodes = parser.exprs.elements(target), parser.exprs.elements(call.args[1])
        bindings = parser.exprs.shape(call.args[1])  # also of one name for several loops
        if not len(kinds) == len(targets) == len(bindings):
            raise parser.error(
                call,
                "expected as many kinds as axes and loop variables, "
                f"got {len(kinds)}, {len(targets)} and {len(bindings)}",
            )
        if len(nodes) != len(bindings):
            nodes = nodes * len(bindings)
        for kind, name, expr, binding in zip(kinds, targets, bindings, nodes, strict=True):
            if kind not in REMAP_KINDS:
                raise parser.error(call.args[0], f"expected kinds S and R, got '{kind}'")
            loop = self._loop_of(expr)
            if loop is None:
                raise parser.error(binding, "expected a loop variable")
            lower, extent = (
                parser.emitter.values.rebase(e, loop.operands_)
                for e in (loop.min.data, loop.extent.data)
            )
            self._add_axis(name, REMAP_KINDS[kind], lower, extent, expr, pending)
            pending.bind(name, binding)

    def _loop_of(self, expr: PrimExpr) -> tir.ForOp | None:
        emitter = self.statements.emitter
        index = emitter.try_index(expr)
        atom = None if index is None else index.as_atom
        if not isinstance(atom, Arg):
            return None
        value = emitter.values.list[atom.index]
        loop = value.owner.parent_op() if isinstance(value, BlockArgument) else None
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
        pending.bind(target, call.args[1])

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
        if target.id in pending.declared:
            raise parser.error(target, f"expected distinct axes, got '{target.id}' twice")
        pending.declared.add(target.id)
        value = parser.emitter.index(binding)
        arg = pending.body.insert_arg(IndexType(), len(pending.axes))
        arg.name_hint = value_hint(target.id)
        variable = Var(target.id, binding.dtype)
        parser.emitter.define(variable, arg)
        parser.scope.bind(target.id, variable)
        pending.axes.append(tir.Axis(kind, lower, extent, value))


def _has_effects(op: Operation) -> bool:
    if isinstance(op, tir.InitOp):
        return False
    return bool(op.regions) or isinstance(op, tir.StoreOp | tir.OpaqueCallOp | tir.AssertOp)
