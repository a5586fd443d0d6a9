"""`drop_predicates`: let a block that writes scratch memory run all iterations of its loops.

::

    T[i - i0 * 4] += X[i, k] where i0 * 4 + i1 < n      ⇒      T[i - i0 * 4] += X[min(i, n - 1), k]

The results of the additional iterations are never read, and the innermost loops have no condition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import BlockArgument, Operation, SSAValue

from ...dialects import tir
from ...dialects.bounds import Interval, cases_of_minimum, interval_of, is_non_negative, simplify
from ...dialects.int_expr import Atom, Compound, IntExpr, IntLike, minimum
from ...dialects.nesting import ancestors, enclosing, operations_in
from ...dialects.sym import Values, expr_array, exprs_of, pack
from ...dialects.tir.ranges import ranges_of
from ...dialects.tir.regions import infer_regions
from ...dialects.tir.verify_access import buffer_text
from .blocks import ScheduleError, uses_of
from .regions import axes_of, refresh_around, replace_header

Access = tir.LoadOp | tir.StoreOp


def verify_unused(store: tir.StoreOp, block: tir.BlockOp, axes: Sequence[int]) -> None:
    """Raise ScheduleError unless a block may store beyond the ends of these axes.

    That needs a scratch buffer of which other statements do not store the elements there, or load
    none of them: then they are undefined as long as the buffer lives.
    """
    alloc, name = store.buffer.owner, buffer_text(store.buffer)
    where = f"block '{block.block_name.data}'"
    if not isinstance(alloc, tir.AllocBufferOp):
        raise ScheduleError(f"expected {where} to store to a scratch buffer, got {name}", store)
    uses = uses_of(store.buffer)
    if uses.others:
        raise ScheduleError(f"expected {name} to be only loaded and stored to", store)
    stores = [op for op in uses.stores if enclosing(op, tir.BlockOp) is not block]
    loads = [op for op in uses.loads if not _is_accumulation(op)]
    for number in axes:
        axis, values = block.axes.data[number], Values()
        end = values.rebase(axis.min.data + axis.extent.data, block.numbering())
        place = _end(store, block.axis_vars[number], end, values)
        if place is None or not _is_fixed(place[1], values, alloc):
            raise ScheduleError(
                f"expected {where} to store to {name} beyond the elements of axis "
                f"'{block.axis_vars[number].name_hint}' in additional iterations",
                store,
            )
        if not all(_is_before(op, *place, values) for op in stores) and not all(
            _is_before(op, *place, values) for op in loads
        ):
            raise ScheduleError(
                f"expected other blocks not to use what {where} stores to {name} in additional "
                "iterations",
                store,
            )


def _end(
    store: tir.StoreOp, var: SSAValue, end: IntExpr, values: Values
) -> tuple[int, IntExpr] | None:
    """The dim that an axis indexes, and the first element past an end of the axis."""
    atom = values.atom(var)
    for dim, index in enumerate(exprs_of(store.indices)):
        parts = values.rebase(index, store.operands_).split_on(atom)
        step = None if parts is None else parts[0].constant
        if parts is not None and step is not None and step > 0:
            return dim, parts[1] + end * step
    return None


def _is_fixed(expr: IntExpr, values: Values, alloc: tir.AllocBufferOp) -> bool:
    """Whether an expression is invariant during the lifetime of a buffer."""
    around = set(ancestors(alloc))
    used = [values.list[i] for i in expr.args()]
    return all(isinstance(v, BlockArgument) and v.owner.parent_op() in around for v in used)


def _is_before(op: Access, dim: int, end: IntExpr, values: Values) -> bool:
    """Whether an access is provably to elements before an end of a dim."""
    index = values.rebase(exprs_of(op.indices)[dim], op.operands_)
    span = interval_of(end - 1 - index, ranges_of(values.list))
    return span is not None and is_non_negative(span.lower)


def _is_accumulation(load: tir.LoadOp) -> bool:
    """Whether a block loads an element only to store that element again."""
    block = enclosing(load, tir.BlockOp)
    stores = [] if block is None else [op for op in operations_in(block) if _stores(op)]
    return all(_place(op) == _place(load) for op in stores) and bool(stores)


def _stores(op: object) -> bool:
    return isinstance(op, tir.StoreOp | tir.OpaqueCallOp)


def _place(op: object) -> tuple[object, ...]:
    if not isinstance(op, Access):
        return (op,)
    return (op.buffer, op.indices, *op.operands_)


OPAQUE = (tir.AllocBufferOp, tir.AssertOp, tir.BlockOp, tir.OpaqueCallOp, tir.MatchBufferOp)
"""Operations that may have effects beyond stores of computed elements."""


def drop_predicates(block: tir.BlockOp) -> None:
    """Drop a block's predicates that keep axes in range; loads stay inside of their buffers.

    Axes get as long as what they are bound to. Loads that would leave a buffer, or what has been
    written of a scratch buffer, repeat what the last iteration loads that there was. TVM has
    ``disable_predication`` of ``split``, which does not ask. Raises ScheduleError where a predicate
    says something else, or keeps an axis in range that is not spatial; where the block stores
    anything but elements of scratch buffers with room for the additional iterations, which no other
    block uses; and where loads depend on conditions.
    """
    if not block.predicates.data:
        return
    for op in operations_in(block):
        if isinstance(op, OPAQUE) and op is not block:
            raise ScheduleError(f"expected {_name(block)} not to contain '{op.name}'", op)
    all_ = _Iterations.of(block)
    for op in operations_in(block):
        if isinstance(op, tir.StoreOp):
            all_.verify_room(op)
            verify_unused(op, block, sorted(all_.widened))
    loads = [op for op in operations_in(block) if isinstance(op, tir.LoadOp)]
    moved = [all_.kept_inside(op) for op in loads]
    for op, change in zip(loads, moved, strict=True):
        if change is not None:
            operands, indices = pack(*change)
            op.operands = [op.buffer, *operands]
            op.properties["indices"] = expr_array(indices)
    axes = [all_.widened.get(i, a) for i, a in enumerate(all_.axes)]
    reads, writes = block.regions_of("reads"), block.regions_of("writes")
    replace_header(block, axes, all_.values, reads, writes)
    refresh_around([block])


@dataclass(frozen=True)
class _Iterations:
    """The iterations of the loops around a block without its predicates, over `values`."""

    block: tir.BlockOp
    axes: Sequence[tir.Axis]
    widened: Mapping[int, tir.Axis]
    """The axes that predicates keep in range, with the extents of their bindings."""
    values: Values
    ranges: Mapping[Atom, Interval]

    @staticmethod
    def of(block: tir.BlockOp) -> _Iterations:
        """The iterations of a block; raises ScheduleError for predicates that do more."""
        values = Values()
        for value in block.numbering():
            values.expr(value)
        axes, ranges = axes_of(block), ranges_of(values.list)
        ends = [cases_of_minimum(a.min + a.extent) for a in axes]
        room = [[end - a.binding for end in cases] for a, cases in zip(axes, ends, strict=True)]
        widened: dict[int, tir.Axis] = {}
        for bound in block.predicates.data:
            kept = [i for i, rest in enumerate(room) if bound.rhs.data - bound.lhs.data in rest]
            spans = [interval_of(axes[i].binding, ranges) for i in kept]
            if not kept or None in spans or any(axes[i].kind != "spatial" for i in kept):
                raise ScheduleError(
                    f"expected predicates of {_name(block)} to keep spatial axes in range", block
                )
            for i, span in zip(kept, spans, strict=True):
                own = axes[i]
                assert span is not None
                widened[i] = tir.Axis(own.kind, own.min, span.upper + 1 - own.min, own.binding)
        return _Iterations(block, axes, widened, values, ranges)

    def verify_room(self, op: tir.StoreOp) -> None:
        """Raise ScheduleError where additional iterations leave the buffer of a store."""
        type_ = op.buffer.type
        assert isinstance(type_, tir.BufferType)
        for index, dim in zip(exprs_of(op.indices), type_.dims, strict=True):
            if not self._is_inside(index, dim, op.operands_):
                raise ScheduleError(
                    f"expected {buffer_text(op.buffer)} to have elements for all iterations of the "
                    f"loops around {_name(self.block)}",
                    op,
                )

    def kept_inside(self, op: tir.LoadOp) -> tuple[list[IntExpr], list[SSAValue]] | None:
        """Indices of a load, over values, that stay at an axis's last value; `None` for its own.

        Raises ScheduleError where that is not known to be an index that the block loads.
        """
        type_ = op.buffer.type
        assert isinstance(type_, tir.BufferType)
        own = Values()
        indices = own.exprs(op.indices, op.operands_)
        changed = False
        is_moved = any(self.block.axis_vars[i] in op.operands_ for i in self.widened)
        ends = self._written_ends(op.buffer, type_.dims) if is_moved else type_.dims
        for position, (index, end) in enumerate(zip(list(indices), ends, strict=True)):
            if self._is_inside(index, end, own.list):
                continue
            used = [own.list[i] for i in index.args()]
            if _is_guarded(op, self.block) or any(self._is_computed(v) for v in used):
                raise ScheduleError(
                    f"expected {_name(self.block)} to load {buffer_text(op.buffer)} at its axes, "
                    "in all iterations",
                    op,
                )
            mapping = {a: e for v in used for a, e in self._clamped(v, own).items()}
            if mapping:
                indices[position], changed = index.substitute(mapping), True
        return (indices, own.list) if changed else None

    def _written_ends(self, buffer: SSAValue, dims: Sequence[IntExpr]) -> Sequence[IntExpr]:
        """The end, in each dim, of the elements of scratch memory that other blocks write."""
        scratch = buffer.owner
        if not isinstance(scratch, tir.AllocBufferOp) or buffer in self.block.write_buffers:
            return dims
        assert scratch.parent is not None
        statements = [op for op in scratch.parent.ops if not isinstance(op, tir.AllocBufferOp)]
        for region in infer_regions(scratch.parent, self.values, statements)[1]:
            if region.buffer is buffer:
                ends = [at + size for at, size in zip(region.mins, region.extents, strict=True)]
                return [d if e.args() else e for d, e in zip(dims, ends, strict=True)]
        return dims

    def _clamped(self, value: SSAValue, own: Values) -> dict[Atom, IntLike]:
        """A widened axis, clamped to its former last value."""
        number = next((i for i in self.widened if self.block.axis_vars[i] is value), None)
        if number is None:
            return {}
        axis = self.axes[number]
        if not _has_iterations(axis.extent, self.block):
            raise ScheduleError(
                f"expected axis '{value.name_hint}' of {_name(self.block)} to have iterations, "
                f"got extent {axis.extent}",
                self.block,
            )
        last = own.rebase(axis.min + axis.extent - 1, self.values.list)
        return {own.atom(value): minimum(own.expr(value), last)}

    def _is_computed(self, value: SSAValue) -> bool:
        """Whether a value is computed in the block; axes are not."""
        if value in self.block.axis_vars:
            return False
        parent = value.owner if isinstance(value.owner, Operation) else value.owner.parent_op()
        return parent is not None and self.block in (parent, *ancestors(parent))

    def _is_inside(self, index: IntExpr, dim: IntExpr, operands: Sequence[SSAValue]) -> bool:
        """Whether an index of an operation in the block is in its dim in every iteration."""
        at = self.values.rebase(index, operands)
        known = {**self.ranges, **ranges_of(self.values.list)}
        mapping: dict[Atom, IntLike] = {}
        for value, axis in zip(self.block.axis_vars, self.axes, strict=True):
            atom = self.values.atom(value)
            mapping[atom] = axis.binding
        span = interval_of(simplify(at.substitute(mapping), known), known)
        return (
            span is not None
            and is_non_negative(span.lower)
            and is_non_negative(dim - 1 - span.upper)
        )


def _name(block: tir.BlockOp) -> str:
    return f"block '{block.block_name.data}'"


def _is_guarded(op: tir.LoadOp, block: tir.BlockOp) -> bool:
    """Whether a load is conditional in a block."""
    parent = op.parent_op()
    return parent is not block and not isinstance(parent, tir.InitOp)


def _has_iterations(extent: IntExpr, block: tir.BlockOp) -> bool:
    """Whether an axis is not empty wherever the loops around its block have iterations."""
    loops = [op.extent.data for op in ancestors(block) if isinstance(op, tir.ForOp)]
    return is_non_negative(extent - 1) or any(_is_empty_with(extent, size) for size in loops)


def _is_empty_with(extent: IntExpr, size: IntExpr) -> bool:
    """Whether a loop of `size` iterations has none if an axis of this extent has none."""
    return is_non_negative(_excess(extent) - _excess(size))


def _excess(size: IntExpr) -> IntExpr:
    """An expression that is at least 0 if and only if a size is at least 1."""
    match size.as_atom:
        case Compound("floordiv", lhs, rhs) if rhs.constant is None or rhs.constant > 0:
            return lhs - rhs
        case _:
            return size - 1
