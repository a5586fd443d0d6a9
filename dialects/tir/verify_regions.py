"""The rules of a block's regions: they contain its accesses, and reductions index no writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import is_side_effect_free
from xdsl.utils.exceptions import VerifyException

from ..bounds import Interval, is_non_negative
from ..int_expr import ZERO, Arg, Atom, IntExpr, IntLike, Sym
from ..nesting import operations_in
from ..sym import exprs_of
from .access import LoadOp, MatchBufferOp, StoreOp
from .block_attributes import BlockLike, BufferRegion, InitOp
from .func import PrimFuncOp
from .loop import ForOp
from .ranges import range_of, surely_less
from .verify_access import buffer_text, range_text


def verify_declared(op: BlockLike) -> None:
    """Verify that the block declares the buffers that it and nested blocks access.

    The root block of a function may declare nothing, as in TVM. Unconditional accesses must be in
    the declared region.
    """
    reads, writes = op.regions_of("reads"), op.regions_of("writes")
    written = {r.buffer for r in writes}
    declared = {"read": {r.buffer for r in reads} | written, "write": written}
    is_root = not (op.axes.data or reads or writes) and isinstance(op.parent_op(), PrimFuncOp)
    for inner, is_conditional in _operations(op.body.block):
        for which, buffer in _buffers_of(inner):
            if is_root and isinstance(inner, BlockLike):
                continue
            if _is_outer(buffer, op) and not declared[which] & set(_sources(buffer)):
                raise VerifyException(
                    f"block '{op.block_name.data}' {which}s {buffer_text(buffer)} "
                    "without declaring it"
                )
        if isinstance(inner, LoadOp | StoreOp) and not is_conditional:
            _verify_in_region(op, inner, reads if isinstance(inner, LoadOp) else writes)


def _operations(block: Block) -> Iterator[tuple[Operation, bool]]:
    """The operations of a block without nested blocks, and whether data guards them."""
    work = [(op, False) for op in reversed(list(block.ops))]
    while work:
        op, is_conditional = work.pop()
        yield op, is_conditional
        if isinstance(op, BlockLike):
            continue
        guards = is_conditional or not isinstance(op, ForOp | InitOp)
        for region in reversed(op.regions):
            for inner in reversed(region.blocks):
                work += [(o, guards) for o in reversed(list(inner.ops))]


def _buffers_of(op: Operation) -> list[tuple[str, SSAValue]]:
    match op:
        case LoadOp():
            return [("read", op.buffer)]
        case StoreOp():
            return [("write", op.buffer)]
        case BlockLike():
            reads = [("read", b) for b in op.read_buffers]
            return reads + [("write", b) for b in op.write_buffers]
        case _:
            return []


def _sources(buffer: SSAValue) -> Iterator[SSAValue]:
    """The buffer, and the buffers it is a view of."""
    yield buffer
    while isinstance(buffer.owner, MatchBufferOp):
        buffer = buffer.owner.source
        yield buffer


def _is_outer(buffer: SSAValue, op: BlockLike) -> bool:
    """Whether the memory of the buffer is allocated outside of the block."""
    *_, source = _sources(buffer)
    return not op.is_ancestor(source.owner)


def _verify_in_region(
    op: BlockLike, access: LoadOp | StoreOp, regions: Sequence[BufferRegion]
) -> None:
    own = [r for r in regions if r.buffer is access.buffer]
    if len(own) != 1 or any(axis.extent.data == ZERO for axis in op.axes.data):
        return  # a block with an empty axis never runs
    numbering = _Numbering(op)
    mapping: dict[Atom, IntLike] = {}
    for position, operand in enumerate(access.operands_):
        atom = numbering.atom(operand)
        if atom is None:
            return
        mapping[Arg(position)] = atom
    which = "reads" if isinstance(access, LoadOp) else "writes"
    for position, index in enumerate(exprs_of(access.indices)):
        span = numbering.span(index.substitute(mapping))
        region = Interval.range(own[0].mins[position], own[0].extents[position])
        if span is None or not _leaves(span, region):
            continue
        raise VerifyException(
            f"block '{op.block_name.data}' {which} {buffer_text(access.buffer)} in dim {position} "
            f"at {range_text(span, numbering.name)}, "
            f"outside the region that it declares, {range_text(region, numbering.name)}"
        )


def _leaves(span: Interval, region: Interval) -> bool:
    return surely_less(span.lower, region.lower) or surely_less(region.upper, span.upper)


@dataclass
class _Numbering:
    """The numbering of a block's expressions, followed by the loops inside the block."""

    op: BlockLike
    ranges: dict[Atom, Interval] = field(default_factory=dict[Atom, Interval])

    def __post_init__(self) -> None:
        numbering = self.op.numbering()
        self.first_loop = len(numbering)
        self.known = {v: self.first_loop - n for n, v in enumerate(reversed(numbering), 1)}

    def atom(self, value: SSAValue) -> Atom | None:
        """The atom of an axis, an operand, or an inner loop; `None` for other values."""
        if (number := self.known.get(value)) is not None:
            return Arg(number)
        loop = value.owner.parent_op() if isinstance(value.owner, Block) else None
        if not isinstance(loop, ForOp) or not self.op.is_ancestor(loop):
            return None
        lower, extent = loop.min.data, loop.extent.data
        if lower.args() or extent.args() or not is_non_negative(extent - 1):
            return None
        atom = Arg(self.first_loop + len(self.ranges))
        self.ranges[atom] = Interval.range(lower, extent)
        return atom

    def span(self, index: IntExpr) -> Interval | None:
        """The range of an index over the inner loops; `None` if it is not exact."""
        loops = [a for a in index.atoms() if a in self.ranges]
        if len(set(loops)) != len(loops) or any(index.split_on(a) is None for a in loops):
            return None
        exact = {Arg(i): Interval.point(Arg(i)) for i in index.args()}
        return range_of(index, {**exact, **self.ranges})

    def name(self, atom: Sym | Arg) -> str:
        """The name of an atom in messages."""
        if isinstance(atom, Sym):
            return atom.name
        return self.op.numbering()[atom.index].name_hint or f"arg({atom.index})"


def verify_reductions(op: BlockLike) -> None:
    """Verify that the written elements do not depend on the block's reduction axes."""
    kinds = zip(op.axis_vars, op.axis_kinds, strict=True)
    axes: dict[SSAValue, SSAValue] = {var: var for var, kind in kinds if kind == "reduce"}
    if not axes:
        return
    numbering = op.numbering()
    for region in op.regions_of("writes"):
        for expr in (*region.mins, *region.extents):
            _verify_write(op, [numbering[i] for i in sorted(expr.args())], axes, region.buffer)
    source = dict(axes)
    for inner in operations_in(op):
        if inner is op:
            continue
        if isinstance(inner, StoreOp) and _is_outer(inner.buffer, op):
            used = [inner.operands_[i] for e in exprs_of(inner.indices) for i in sorted(e.args())]
            _verify_write(op, [inner.buffer, *used], source, inner.buffer)
        _spread(inner, source)


def _verify_write(
    op: BlockLike, used: Sequence[SSAValue], source: dict[SSAValue, SSAValue], buffer: SSAValue
) -> None:
    for value in used:
        if value in source:
            axis = source[value]
            raise VerifyException(
                f"reduction axis '{axis.name_hint or 'of the block'}' of block "
                f"'{op.block_name.data}' indexes its write to {buffer_text(buffer)}"
            )


def _spread(op: Operation, source: dict[SSAValue, SSAValue]) -> None:
    """Record the values that `op` computes from reduction axes, with the axis."""

    def axis_in(expr: IntExpr, operands: Sequence[SSAValue]) -> SSAValue | None:
        found = (source.get(operands[i]) for i in sorted(expr.args()))
        return next((axis for axis in found if axis is not None), None)

    match op:
        case ForOp():
            if (axis := axis_in(op.min.data, op.operands_)) is not None:
                source[op.loop_var] = axis
        case BlockLike():
            for var, binding in zip(op.axis_vars, exprs_of(op.bindings), strict=True):
                if (axis := axis_in(binding, op.numbering())) is not None:
                    source[var] = axis
        case _ if not op.regions and is_side_effect_free(op):
            axes = [source[o] for o in op.operands if o in source]
            source.update((r, axes[0]) for r in op.results if axes)
        case _:
            pass
