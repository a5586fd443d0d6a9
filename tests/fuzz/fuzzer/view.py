"""What a schedule has at a moment: its blocks and their loops, to draw steps from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .steps import BlockAt, LoopAt


@dataclass(frozen=True)
class LoopView:
    """A loop: its extent, None for one of symbols; `kind` as in `tir.for`; its iterator kinds."""

    at: LoopAt
    extent: int | None
    kind: str
    iterator_kinds: frozenset[str]
    statements: int
    is_plain: bool


@dataclass(frozen=True)
class BlockView:
    """A block with the loops around it; `scratch` says which buffers it writes are.

    `ranks`, `dims` and `dtypes` are those of the buffers that it writes.
    """

    at: BlockAt
    loops: tuple[LoopView, ...]
    roles: tuple[str, ...]
    extents: tuple[int | None, ...]
    reads: int
    writes: int
    scratch: tuple[bool, ...]
    ranks: tuple[int, ...]
    dims: tuple[tuple[int | None, ...], ...]
    dtypes: tuple[str, ...]
    has_init: bool
    has_predicate: bool

    @property
    def name(self) -> str:
        """The block's name."""
        return self.at.name

    @property
    def reduction_loops(self) -> list[int]:
        """The numbers of the loops that a reduction axis uses."""
        return [i for i, x in enumerate(self.loops) if "reduce" in x.iterator_kinds]


def blocks_of(schedule: Any) -> list[BlockView]:
    """The blocks whose names are their own, in order."""
    from xrelax.lowering.schedule.navigate import blocks_named

    (function,) = schedule.state.functions()
    blocks = [b for b in blocks_named(function) if b.block_name.data != "root"]
    names = [b.block_name.data for b in blocks]
    return [_block(b) for b in blocks if names.count(b.block_name.data) == 1]


def _block(block: Any) -> BlockView:
    from xrelax.dialects.dtypes import dtype_name
    from xrelax.dialects.sym import exprs_of
    from xrelax.lowering.schedule.blocks import loops_around

    name, numbering = block.block_name.data, block.numbering()
    bound = [
        (role, {numbering[i] for i in binding.args()})
        for role, binding in zip(block.axis_kinds, exprs_of(block.bindings), strict=True)
    ]
    loops = [_loop(op, LoopAt(name, i), bound) for i, op in enumerate(loops_around(block))]
    types = [b.type for b in block.write_buffers]
    return BlockView(
        BlockAt(name),
        tuple(loops),
        tuple(block.axis_kinds),
        tuple(a.extent.data.constant for a in block.axes.data),
        len(block.read_buffers),
        len(block.write_buffers),
        tuple(getattr(b.owner, "name", "") == "tir.alloc_buffer" for b in block.write_buffers),
        tuple(t.rank for t in types),
        tuple(tuple(d.constant for d in t.dims) for t in types),
        tuple(dtype_name(t.element_type) for t in types),
        block.init is not None,
        bool(block.predicates.data),
    )


def _loop(op: Any, at: LoopAt, bound: list[tuple[str, set[Any]]]) -> LoopView:
    iterator_kinds = frozenset(role for role, values in bound if op.loop_var in values)
    plain = op.kind.data == "serial" and not op.annotations
    return LoopView(
        at,
        op.extent.data.constant,
        op.kind.data,
        iterator_kinds,
        len(list(op.body.block.ops)),
        plain,
    )
