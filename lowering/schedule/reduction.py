"""`decompose_reduction`: initialize a reduction in loops of its own.

::

    for i, k:                                       for i: Y[i] = 0
      block "Y": init Y[i] = 0;            ⇒        for i, k:
                 Y[i] += X[i, k]                      block "Y_update": Y[i] += X[i, k]
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType, StringAttr
from xdsl.ir import Block, Operation, Region, SSAValue

from ...dialects import tir
from ...dialects.int_expr import ZERO, IntExpr
from ...dialects.nesting import ancestors
from ...dialects.sym import Values, exprs_of
from ...dialects.tir.regions import EXPLICIT, explicit_regions, infer_regions
from .annotations import annotate
from .blocks import ScheduleError, loops_up_to
from .loop_checks import loop_text
from .reduction_checks import verify_apart, verify_starts_once
from .regions import axes_of, refresh_around, replace_header


def decompose_reduction(block: tir.BlockOp, loop: tir.ForOp) -> tir.BlockOp:
    """Move a block's initialization into loops before `loop`; TVM's ``decompose_reduction``.

    The new block runs over the spatial axes bound to `loop` and the loops inside it. Returns it.
    Raises ScheduleError unless the block has an initialization, `loop` is around it, no loop
    outside of `loop` is bound to a reduction axis, the loops inside initialize each element once,
    and nothing else in `loop` observes when its elements are initialized.
    """
    init, inner = _verified(block, loop)
    reducing = _bound_values(block, "reduce")
    place = _InitPlace(block, inner, loop)
    new = place.add_block(init, reducing)
    block.block_name = StringAttr(f"{block.block_name.data}_update")
    init.detach()
    init.erase()
    refresh_around([new, block])
    _read_results_first(block)
    return new


def _read_results_first(block: tir.BlockOp) -> None:
    """Declare the reads of a block's own results, which it now starts from, before the others."""
    reads, writes = block.regions_of("reads"), block.regions_of("writes")
    own = [r for r in reads if r.buffer in block.write_buffers]
    order = [*own, *(r for r in reads if r not in own)]
    if order != reads and not explicit_regions(block, "reads"):
        values = Values()
        for value in block.numbering():
            values.expr(value)
        bounds = [(b.lhs.data, b.rhs.data) for b in block.predicates.data]
        replace_header(block, axes_of(block), values, order, writes, bounds)


def _verified(block: tir.BlockOp, loop: tir.ForOp) -> tuple[tir.InitOp, list[tir.ForOp]]:
    """The block's initialization and the loops from `loop` to the block; else ScheduleError."""
    where = f"block '{block.block_name.data}'"
    init = block.init
    if init is None:
        raise ScheduleError(f"expected {where} to have an initialization", block)
    if loop not in ancestors(block):
        raise ScheduleError(f"expected {where} to be in {loop_text(loop)}", block)
    reducing = _bound_values(block, "reduce")
    inner = loops_up_to(block, [loop])
    outside = [p for p in ancestors(loop) if isinstance(p, tir.ForOp)]
    if any(p.loop_var in reducing for p in outside):
        raise ScheduleError(
            f"expected no reduction axis of {where} to be bound to a loop around {loop_text(loop)}",
            loop,
        )
    if reducing & _bound_values(block, "spatial") & {op.loop_var for op in inner}:
        raise ScheduleError(
            f"expected no loop to be bound to both spatial and reduction axes of {where}", loop
        )
    _verify_elements(block, inner, where)
    verify_starts_once(block, inner)
    verify_apart(block, init, loop)
    return init, inner


def _verify_elements(block: tir.BlockOp, inner: Sequence[tir.ForOp], where: str) -> None:
    """Raise ScheduleError if an element of an empty axis would be initialized."""
    numbering, variables = block.numbering(), {op.loop_var for op in inner}
    for axis, binding, variable in zip(
        block.axes.data, exprs_of(block.bindings), block.axis_vars, strict=True
    ):
        is_empty = axis.kind.data == "spatial" and axis.extent.data == ZERO
        if is_empty and not variables & {numbering[i] for i in binding.args()}:
            raise ScheduleError(
                f"expected axis '{variable.name_hint}' of {where} to have iterations, or to be "
                "bound to a loop",
                block,
            )


def _bound_values(block: tir.BlockOp, kind: str) -> set[SSAValue]:
    """The values that axes of a kind are bound to."""
    numbering = block.numbering()
    return {
        numbering[i]
        for binding, own in zip(exprs_of(block.bindings), block.axis_kinds, strict=True)
        if own == kind
        for i in binding.args()
    }


class _InitPlace:
    """Copies, before a loop, of the loops inside that a block's spatial axes are bound to."""

    def __init__(self, block: tir.BlockOp, inner: Sequence[tir.ForOp], loop: tir.ForOp):
        self.source = block
        self.copies: dict[SSAValue, SSAValue] = {}
        self.body: Block | None = loop.parent
        self.before: Operation | None = loop
        spatial = _bound_values(block, "spatial")
        for old in [op for op in inner if op.loop_var in spatial]:
            body = Block(arg_types=[IndexType()])
            body.args[0].name_hint = old.loop_var.name_hint
            operands = [self.copies.get(v, v) for v in old.operands_]
            low, extent, kind = old.min.data, old.extent.data, old.kind.data
            tag = None if old.thread_tag is None else old.thread_tag.data
            new = tir.ForOp(low, extent, operands, Region(body), kind, tag)
            new.location = old.location
            self.copies[old.loop_var] = body.args[0]
            self._insert(new)
            self.body, self.before = body, None

    def add_block(self, init: tir.InitOp, reducing: set[SSAValue]) -> tir.BlockOp:
        """The block of the initialization, over the spatial axes."""
        source, values = self.source, Values()
        kept = [i for i, kind in enumerate(source.axis_kinds) if kind == "spatial"]
        body = Block(arg_types=[IndexType()] * len(kept))
        mapping: dict[SSAValue, SSAValue] = dict(self.copies)
        for arg, position in zip(body.args, kept, strict=True):
            values.expr(arg)
            arg.name_hint = source.axis_vars[position].name_hint
            mapping[source.axis_vars[position]] = arg
        body.add_ops([op.clone(mapping) for op in init.body.block.ops])
        numbering, own = source.numbering(), axes_of(source)
        operands = [self.copies.get(v, v) for v in numbering]

        def here(expr: IntExpr) -> IntExpr:
            return values.rebase(expr, operands)

        axes = [
            tir.Axis("spatial", here(a.min), here(a.extent), here(a.binding))
            for a in (own[i] for i in kept)
        ]
        bounds = [
            (here(b.lhs.data), here(b.rhs.data))
            for b in source.predicates.data
            if not reducing & {numbering[i] for e in (b.lhs.data, b.rhs.data) for i in e.args()}
        ]
        name = f"{source.block_name.data}_init"
        new = tir.BlockOp.build_from(name, axes, Region(body), values.list, bounds)
        for key, value in () if source.annotations is None else source.annotations.data.items():
            if key not in EXPLICIT.values():
                annotate(new, key, value)
        new.location = source.location
        self._insert(new)
        reads, writes = infer_regions(body, values)
        replace_header(new, axes, values, reads, writes, bounds)
        return new

    def _insert(self, op: Operation) -> None:
        assert self.body is not None
        if self.before is None:
            self.body.add_op(op)
        else:
            self.body.insert_op_before(op, self.before)
