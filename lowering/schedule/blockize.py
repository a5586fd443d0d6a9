"""`blockize`: make a part of a loop nest the body of a new block.

::

    for i0, i1 in (n, 16):                          for i0 in (0, n):
      block "Y" (v = i0 * 16 + i1): …        ⇒        block "Y_o" (v_o = i0):
                                                        for i1 in (0, 16):
                                                          block "Y" (v = i1): … v_o * 16 + v …

An axis must be a multiple of the extent of the loops inside, plus their index.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, Region, SSAValue

from ...dialects import tir
from ...dialects.int_expr import ONE, ZERO, Atom, IntExpr, IntLike
from ...dialects.sym import Values
from ...dialects.tir.regions import infer_regions
from .blockize_plan import DividedAxis, DividedBlock, divide_block, verify_init
from .blocks import ScheduleError, common_block, statement_in
from .index_values import replace_indices
from .loop_checks import loop_text, outermost_blocks, verify_only_blocks
from .regions import axes_of, refresh_around, replace_header


def blockize(
    target: tir.ForOp | Sequence[tir.BlockOp], preserve_unit_iters: bool = True
) -> tir.BlockOp:
    """Put a block around a loop, or around the loops of several blocks; TVM's ``blockize``.

    The inner blocks keep the part of their axes that is bound to loops inside the new block; the
    new block gets the rest. The initialization of the one reduction in a loop becomes that of the
    new block. An axis that is bound to no loop inside is the new block's alone. Without
    `preserve_unit_iters`, no axis is bound to a loop of one iteration. Returns the new block.
    Raises ScheduleError if an axis or a predicate belongs to neither side.
    """
    statements, blocks = _statements(target)
    values = Values()
    divided = [divide_block(block, statements, values) for block in blocks]
    if isinstance(target, tir.ForOp):
        if blocks[0].init is not None:
            verify_init(divided[0])
    else:
        _verify_together(divided)
    builder = _Builder(divided, values, preserve_unit_iters)
    return builder.build(statements, isinstance(target, tir.ForOp))


def _statements(
    target: tir.ForOp | Sequence[tir.BlockOp],
) -> tuple[list[Operation], list[tir.BlockOp]]:
    """The statements that go into the new block, and the blocks in them."""
    if isinstance(target, tir.ForOp):
        verify_only_blocks(target)
        blocks = outermost_blocks(target)
        if len(blocks) != 1:
            raise ScheduleError(
                f"expected one block in {loop_text(target)}, got {len(blocks)}", target
            )
        return [target], blocks
    if not target:
        raise ScheduleError("expected at least one block")
    if twice := [b for b in target if list(target).count(b) > 1]:
        raise ScheduleError(f"expected block '{twice[0].block_name.data}' once", twice[0])
    parent = common_block(target)
    order = list(parent.ops)
    places = [order.index(op) for b in target if (op := statement_in(parent, b)) is not None]
    statements = order[min(places) : max(places) + 1]
    for op in statements:
        _verify_holds(op, target)
    return statements, list(target)


def _verify_holds(op: Operation, blocks: Sequence[tir.BlockOp]) -> None:
    """Raise ScheduleError for a statement with anything but these blocks in it."""
    inside: list[Operation] = [op]
    if isinstance(op, tir.ForOp):
        verify_only_blocks(op)
        inside = [*outermost_blocks(op)]
    for other in inside:
        if other not in blocks:
            is_block = isinstance(other, tir.BlockOp)
            got = f"block '{other.block_name.data}'" if is_block else f"'{other.name}'"
            raise ScheduleError(f"expected the blocks with nothing between them, got {got}", other)


def _verify_together(divided: Sequence[DividedBlock]) -> None:
    """Raise ScheduleError unless the blocks run together, and none begins a reduction there."""
    for one in divided:
        if one.outside != divided[0].outside:
            raise ScheduleError(
                f"expected block '{one.name}' to run where block '{divided[0].name}' does",
                one.block,
            )
        if any(a.kind != "spatial" and a.extent != ONE for a in one.axes):
            raise ScheduleError(
                f"expected no reduction axis of block '{one.name}' to be bound to a loop around "
                "the "
                "blocks",
                one.block,
            )


class _Builder:
    """Builds the new block; expressions are over `values`."""

    def __init__(
        self, divided: Sequence[DividedBlock], values: Values, preserve_unit_iters: bool
    ) -> None:
        self.divided = divided
        self.values = values
        self.preserve_unit_iters = preserve_unit_iters
        found: dict[object, DividedAxis] = {}
        for one in divided:
            for number, axis in enumerate(one.axes):
                found.setdefault(self._key(one, number), axis)
        self.outer = found
        self.body = Block(arg_types=[IndexType()] * len(found))
        for arg, axis in zip(self.body.args, found.values(), strict=True):
            arg.name_hint = f"{axis.name}_o"

    def _key(self, one: DividedBlock, number: int) -> object:
        """The key of the new block's axis for this one; several blocks share equal axes."""
        if len(self.divided) == 1:
            return number
        keys = [a.key for a in one.axes]
        return keys[number], keys[:number].count(keys[number])

    def start(self, one: DividedBlock, number: int) -> IntExpr:
        """The first value of an axis in one iteration of the new block."""
        axis = one.axes[number]
        if axis.extent == ONE:
            return ZERO
        place = list(self.outer).index(self._key(one, number))
        return self.values.expr(self.body.args[place]) * axis.size

    def _outer_binding(self, axis: DividedAxis) -> IntExpr:
        return axis.outer if self.preserve_unit_iters or axis.extent != ONE else ZERO

    def _is_kept(self, axis: DividedAxis) -> bool:
        """Whether the inner block has the axis too; one of no loop inside is the outer block's."""
        return axis.size != ONE or (self.preserve_unit_iters and axis.inner != ZERO)

    def build(self, statements: Sequence[Operation], moves_init: bool) -> tir.BlockOp:
        """Replace the statements by the new block, which contains them."""
        first, place, values = statements[0], statements[0].parent, self.values
        assert place is not None
        axes = [
            tir.Axis(a.kind, ZERO, a.extent, self._outer_binding(a)) for a in self.outer.values()
        ]
        name = "_".join(one.name for one in self.divided) + "_o"
        bounds = self.divided[0].outside
        location = self.divided[0].block.location
        outer = tir.BlockOp.build_from(name, axes, Region(self.body), values.list, bounds)
        outer.location = location
        place.insert_op_before(outer, first)
        for op in statements:
            op.detach()
            self.body.add_op(op)
        kept: dict[tir.BlockOp, list[int]] = {}
        for one in self.divided:
            if moves_init and one.block.init is not None:
                nest, block, copies = _init_nest(one, one.block.init)
                self.body.insert_op_before(tir.InitOp(Region(nest)), statements[0])
                kept[block] = self._divide(one, block, copies)
            kept[one.block] = self._divide(one, one.block, {})
        for block, places in kept.items():
            _keep_axes(block, places)
        reads, writes = infer_regions(self.body, values)
        replace_header(outer, axes, values, reads, writes, bounds)
        refresh_around([outer])
        return outer

    def _divide(
        self, one: DividedBlock, block: tir.BlockOp, copies: Mapping[SSAValue, SSAValue]
    ) -> list[int]:
        """Keep the inner part of a block's axes, or of its initialization in `copies` of loops.

        Returns the positions of the axes that are still used.
        """
        values = self.values
        renamed: dict[Atom, IntLike] = {}
        for old, new in copies.items():
            atom = values.atom(old)
            renamed[atom] = values.expr(new)
        is_init = block is not one.block
        numbers = [i for i, a in enumerate(one.axes) if not is_init or a.kind == "spatial"]
        axes = [
            tir.Axis(a.kind, ZERO, a.size, a.inner.substitute(renamed))
            for a in (one.axes[i] for i in numbers)
        ]
        loops = {loop.loop_var for loop in one.loops} - set(copies) if is_init else set[SSAValue]()
        gone = {values.atom(v) for v in loops}
        bounds = [
            (a.substitute(renamed), b.substitute(renamed))
            for a, b in one.inside
            if not gone & {*a.atoms(), *b.atoms()}
        ]
        replace_header(block, axes, values, [], [], bounds)
        kept: list[int] = []
        meanings: dict[SSAValue, IntExpr] = {}
        for place, (number, variable) in enumerate(zip(numbers, block.axis_vars, strict=True)):
            meanings[variable] = self.start(one, number)
            if one.axes[number].size != ONE:
                meanings[variable] += values.expr(variable)
            if self._is_kept(one.axes[number]):
                kept.append(place)
            variable.name_hint = f"{one.axes[number].name}_i"
        replace_indices(meanings, values)  # at once, as their ranges are others already
        return kept


def _keep_axes(block: tir.BlockOp, kept: Sequence[int]) -> None:
    """Drop unused axes, and declare the block's accesses."""
    axes = axes_of(block)
    bounds = [(b.lhs.data, b.rhs.data) for b in block.predicates.data]
    own = Values()
    for value in block.numbering():
        own.expr(value)
    for place in reversed(range(len(axes))):
        if place not in kept:
            block.body.block.erase_arg(block.axis_vars[place])
    reads, writes = infer_regions(block.body.block, own)
    replace_header(block, [axes[i] for i in kept], own, reads, writes, bounds)


def _init_nest(
    one: DividedBlock, init: tir.InitOp
) -> tuple[Block, tir.BlockOp, dict[SSAValue, SSAValue]]:
    """The initialization as a block in copies of the loops that spatial axes are bound to.

    Returns the nest, the block, and the copies of loop variables. The block's axes are not bound.
    """
    nest = place = Block()
    copies: dict[SSAValue, SSAValue] = {}
    for loop in one.loops:
        if _is_spatial(one, loop):
            body = Block(arg_types=[IndexType()])
            body.args[0].name_hint = loop.loop_var.name_hint
            copies[loop.loop_var] = body.args[0]
            tag = None if loop.thread_tag is None else loop.thread_tag.data
            new = tir.ForOp(ZERO, loop.extent.data, [], Region(body), loop.kind.data, tag)
            new.location = loop.location
            place.add_op(new)
            place = body
    spatial = [i for i, a in enumerate(one.axes) if a.kind == "spatial"]
    body = Block(arg_types=[IndexType()] * len(spatial))
    variables = [one.block.axis_vars[i] for i in spatial]
    renamed: dict[SSAValue, SSAValue] = dict(zip(variables, body.args, strict=True))
    body.add_ops([op.clone(renamed) for op in init.body.block.ops])
    init.detach()
    init.erase()
    axes = [tir.Axis("spatial", ZERO, ONE, ZERO) for _ in spatial]
    block = tir.BlockOp.build_from(f"{one.name}_init", axes, Region(body), [])
    block.location = one.block.location
    place.add_op(block)
    return nest, block, copies


def _is_spatial(one: DividedBlock, loop: tir.ForOp) -> bool:
    numbering = one.block.numbering()
    return any(
        numbering[i] is loop.loop_var
        for binding, axis in zip(one.block.bindings.data, one.axes, strict=True)
        if axis.kind == "spatial"
        for i in binding.data.args()
    )
