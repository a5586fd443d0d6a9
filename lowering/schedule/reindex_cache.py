"""`reindex_cache_read` and `reindex_cache_write`: a scratch copy of a buffer in another layout.

::

    for i, j: Y[i, j] = X[i, j] + 1      ⇒      for i, j: X_s[j, i // 2, i % 2] = X[i, j]
                                                for i, j: Y[i, j] = X_s[j, i // 2, i % 2] + 1

The block accesses one element of the buffer, at indices over its axes, and the copy's indices are
given by the axes as well. The copy has the axes and the loops of the block that it needs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, Region, SSAValue

from ...dialects import tir
from ...dialects.int_expr import ONE, Arg, Atom, IntExpr
from ...dialects.nesting import ancestors
from ...dialects.sym import Values, exprs_of
from ...dialects.tir.verify_access import buffer_text
from ..scope import name_of
from .blocks import ScheduleError, loops_around, perfect_nest, uses_of
from .cache import verify_sole_writer, verify_unchanged
from .copy_block import buffer_name, buffer_of, new_loops, new_scratch, verify_direct, verify_scope
from .copy_place import scope_body, statement_of, users_of
from .index_map import IndexMap
from .regions import refresh_around
from .reindex import index_accesses, place_over_axes
from .stored_box import accesses_in, verify_stores_box


def reindex_cache_read(
    block: tir.BlockOp, buffer: int | str, scope: str, index_map: IndexMap
) -> tir.BlockOp:
    """Let a block read a buffer from a copy at the indices that `index_map` gives for its axes.

    Returns the block that copies, before the loops of `block` that hold no writers of the buffer.
    TVM's ``reindex_cache_read``. Raises ScheduleError where the block reads several elements, where
    the new indices do not determine the element, and where what runs before changes the buffer.
    """
    cached = _Cached(block, "read", buffer, scope, index_map)
    nest = statement_of(block, users_of(block, uses_of(cached.old).stores))
    assert nest.parent is not None
    verify_unchanged(cached.old, nest.parent, [nest], block, [block])
    return cached.apply(nest)


def reindex_cache_write(
    block: tir.BlockOp, buffer: int | str, scope: str, index_map: IndexMap
) -> tir.BlockOp:
    """Let a block write a buffer to a copy at the indices that `index_map` gives for its axes.

    Returns the block that copies, after the loops of `block` that hold no readers of the buffer.
    TVM's ``reindex_cache_write``. Raises ScheduleError as `reindex_cache_read`, and where other
    blocks write the buffer.
    """
    cached = _Cached(block, "write", buffer, scope, index_map)
    nest = statement_of(block, users_of(block, uses_of(cached.old).loads))
    verify_sole_writer(block, cached.old, nest)
    verify_stores_box(block, cached.old)
    return cached.apply(nest)


class _Cached:
    """A buffer that a block accesses at one place, and the indices of a copy; checks both."""

    def __init__(
        self, block: tir.BlockOp, which: str, buffer: int | str, scope: str, index_map: IndexMap
    ):
        verify_scope(scope, block)
        self.block, self.which, self.scope = block, which, scope
        self.old = buffer_of(block, which, buffer)
        verify_direct(block, self.old)
        self.axes, self.indices = place_over_axes(block, self.old)
        self.headers = [block.axes.data[axis] for axis in self.axes]
        own: dict[Atom, IntExpr] = {
            Arg(axis): IntExpr.of(Arg(n)) for n, axis in enumerate(self.axes)
        }
        used = {a for e in index_map.results for a in e.args()}
        names = tuple(name_of(block.axis_vars[axis]) for axis in self.axes)
        self.map = IndexMap(names, tuple(e.substitute(own) for e in index_map.results))
        self._verify_map(index_map, used)

    def _verify_map(self, given: IndexMap, used: set[int]) -> None:
        """Raise ScheduleError unless the new indices determine the element."""
        dims = [header.extent.data for header in self.headers]
        where = f"expected {given} to tell the element of {buffer_text(self.old)}"
        if not used <= set(self.axes):
            lost = given.names[min(used - set(self.axes))]
            raise ScheduleError(f"{where}, got '{lost}', which is not in its indices", self.block)
        try:
            self.map.inverse(dims)
            self.shape = self.map.shape(dims)
        except ValueError as error:
            raise ScheduleError(f"{where}: {error}", self.block) from None

    def apply(self, nest: Operation) -> tir.BlockOp:
        """Insert the copy beside a nest, and let the block access it."""
        name = buffer_name(self.old, self.scope)
        copy = _Copy(self.block, self.axes, nest)
        new = new_scratch(name, self.shape, self.old, self.scope, scope_body(self.block))
        accesses = accesses_in(self.block, self.old)
        for access in accesses:
            access.operands = [new if o is self.old else o for o in access.operands]
        index_accesses(accesses, self.block, self.axes, self.map.results)
        old_place, new_place = (self.old, self.indices), (new, self.map.results)
        ends = (old_place, new_place) if self.which == "read" else (new_place, old_place)
        made = copy.build(name, *ends)
        parent = nest.parent
        assert parent is not None
        if self.which == "read":
            parent.insert_op_before(perfect_nest(made), nest)
        else:
            parent.insert_op_after(perfect_nest(made), nest)
        refresh_around(accesses)
        return made


class _Copy:
    """A block with some axes of another one, in copies of the loops of a nest that they need."""

    def __init__(self, block: tir.BlockOp, axes: Sequence[int], nest: Operation):
        self.block, self.axes, self.values = block, axes, Values()
        numbering = block.numbering()
        inner = [op for op in loops_around(block) if op is nest or nest in ancestors(op)]
        bindings = [exprs_of(block.bindings)[axis] for axis in axes]
        used = {numbering[i] for e in bindings for i in e.args()}
        needed = [loop for loop in inner if loop.loop_var in used]
        bounds = [(b.lhs.data, b.rhs.data) for b in block.predicates.data]
        guarding = {numbering[i] for bound in bounds for e in bound for i in e.args()}
        for loop in inner:
            if loop.loop_var in guarding and loop not in needed:
                raise ScheduleError(
                    f"expected predicates of block '{block.block_name.data}' to be over the loops "
                    "of the axes that index the buffer",
                    block,
                )
        spans = [self._span(loop, inner) for loop in needed]
        self.loops = new_loops(
            [name_of(loop.loop_var) for loop in needed], [e for _, e in spans], self.values
        )
        moved: dict[SSAValue, IntExpr] = {}
        for old, loop, (low, _) in zip(needed, self.loops, spans, strict=True):
            moved[old.loop_var] = low + self.values.expr(loop.loop_var)
        self.bindings = [self._over(e, numbering, moved) for e in bindings]
        self.predicates = [
            (self._over(a, numbering, moved), self._over(b, numbering, moved)) for a, b in bounds
        ]

    def _span(self, loop: tir.ForOp, inner: Sequence[tir.ForOp]) -> tuple[IntExpr, IntExpr]:
        if any(operand in [op.loop_var for op in inner] for operand in loop.operands_):
            raise ScheduleError("expected loops whose bounds do not depend on other loops", loop)
        low, extent = (self.values.rebase(e.data, loop.operands_) for e in (loop.min, loop.extent))
        return low, extent

    def _over(
        self, expr: IntExpr, numbering: Sequence[SSAValue], moved: Mapping[SSAValue, IntExpr]
    ) -> IntExpr:
        by: dict[Atom, IntExpr] = {}
        for i in expr.args():
            value = numbering[i]
            by[Arg(i)] = moved[value] if value in moved else self.values.expr(value)
        return expr.substitute(by)

    def build(
        self,
        name: str,
        source: tuple[SSAValue, Sequence[IntExpr]],
        target: tuple[SSAValue, Sequence[IntExpr]],
    ) -> tir.BlockOp:
        """The block, in its loops, that copies an element; indices are over the axes from 0."""
        body = Block(arg_types=[IndexType()] * len(self.axes))
        headers = [self.block.axes.data[axis] for axis in self.axes]
        by: dict[Atom, IntExpr] = {}
        for n, (axis, var) in enumerate(zip(self.axes, body.args, strict=True)):
            var.name_hint = self.block.axis_vars[axis].name_hint
            by[Arg(n)] = self.values.expr(var) - headers[n].min.data
        here, there = ([e.substitute(by) for e in place] for _, place in (source, target))
        load = tir.LoadOp(source[0], here, self.values.list)
        body.add_ops([load, tir.StoreOp(load.result, target[0], there, self.values.list)])
        axes = [
            tir.Axis("spatial", h.min.data, h.extent.data, binding)
            for h, binding in zip(headers, self.bindings, strict=True)
        ]
        block = tir.BlockOp.build_from(
            name,
            axes,
            Region(body),
            self.values.list,
            self.predicates,
            [tir.BufferRegion(source[0], tuple(here), (ONE,) * len(here))],
            [tir.BufferRegion(target[0], tuple(there), (ONE,) * len(there))],
        )
        block.location = self.block.location
        if self.loops:
            self.loops[-1].body.block.add_op(block)
        return block
