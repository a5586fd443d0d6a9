"""The operator pattern of a PrimFunc for fusion, as of TVM's ``AnalyzeOpPatternKind``.

The blocks are analyzed after inlining scratch buffers where possible, so that several blocks that
compute one elementwise result are elementwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Operation, SSAValue

from ...dialects import tir
from ...dialects.int_expr import ONE, ZERO
from ...dialects.nesting import enclosing, operations_in
from ...dialects.sym import exprs_of
from ..analysis.block_accesses import accessed_axes, dim_axes, has_reuse, wide_axes
from ..analysis.independence import may_share_memory
from ..schedule.blocks import IS_SCHEDULED, blocks_in, uses_of
from ..schedule.inline import inline_blocks, is_expression
from ..schedule.inline_producers import copied_operations

OP_PATTERN = "op_pattern"
"""The attribute of a PrimFunc that has its `OpPattern`."""

MAX_COPIED = 256
"""The most operations that inlining a value at all its uses may add for the analysis."""


class OpPattern(IntEnum):
    """How the elements of a result depend on those of the operands, with TVM's numbers."""

    ELEMWISE = 0
    """Each from the same element."""
    BROADCAST = 1
    """Each from the element at a subset of its indices."""
    INJECTIVE = 2
    """Each from elements at computed indices, one for each load: transposes, slices, gathers."""
    COMM_REDUCE = 3
    """A reduction that uses each element once."""
    OUT_EWISE_FUSABLE = 4
    """A reduction with reuse, or several; elementwise users of its result can be fused into it."""
    OPAQUE = 8
    """Anything else."""


@dataclass(frozen=True)
class KernelSummary:
    """The pattern of a PrimFunc and, for each buffer parameter, of the result in that operand."""

    pattern: OpPattern
    edges: dict[int, OpPattern] = field(default_factory=lambda: {})

    def edge(self, position: int) -> OpPattern:
        """The pattern of the result in the operand at a position."""
        return self.edges.get(position, OpPattern.OPAQUE)


OPAQUE = KernelSummary(OpPattern.OPAQUE)


def summarize(func: tir.PrimFuncOp) -> KernelSummary:
    """The pattern of a function, opaque if its attribute says so; the function is not changed."""
    given = func.attr(OP_PATTERN)
    is_opaque = isinstance(given, IntegerAttr) and given.value.data == OpPattern.OPAQUE
    if is_opaque or not _is_plain(func):
        return OPAQUE
    clone = func.clone()
    inline_everything(clone)
    return _summarize_blocks(clone)


def inline_everything(func: tir.PrimFuncOp) -> None:
    """Inline scratch buffers where possible, last ones first, but for long values of many uses."""
    blocks = reversed(blocks_in(func))
    inline_blocks(blocks, lambda definition: copied_operations(definition) <= MAX_COPIED)


def _is_plain(func: tir.PrimFuncOp) -> bool:
    """Whether a function has serial loops, blocks and scalars only, on dense, unaliased memory.

    Scalar parameters are not in memory.
    """
    if func.attr(IS_SCHEDULED) is not None or not func.params:
        return False
    for param in func.params:
        if not isinstance(param.type, tir.BufferType | IndexType):
            return False
        if isinstance(param.type, tir.BufferType) and not param.type.is_dense:
            return False
    if may_share_memory(func.params[0], func.params[-1]) and len(func.params) > 1:
        return False
    return all(_is_plain_op(op) for op in operations_in(func))


def _is_plain_op(op: Operation) -> bool:
    match op:
        case tir.ForOp():
            return op.kind.data == "serial" and isinstance(
                op.parent_op(), tir.ForOp | tir.BlockOp | tir.PrimFuncOp
            )
        case tir.BlockOp():
            return not op.predicates.data and not set(op.axis_kinds) - {"spatial", "reduce"}
        case tir.StoreOp():
            return isinstance(op.parent_op(), tir.BlockOp | tir.InitOp)
        case tir.PrimFuncOp() | tir.InitOp() | tir.AllocBufferOp():
            return True
        case _:
            return is_expression(op)


def output_of(func: tir.PrimFuncOp) -> SSAValue | None:
    """The only buffer parameter that is stored to, if it is the last one."""
    buffers = [p for p in func.params if isinstance(p.type, tir.BufferType)]
    written = [b for b in buffers if uses_of(b).stores]
    return written[0] if len(written) == 1 and written[0] is buffers[-1] else None


def _summarize_blocks(func: tir.PrimFuncOp) -> KernelSummary:
    output, blocks = output_of(func), blocks_in(func)
    if output is None or uses_of(output).others:
        return OPAQUE
    if any(_outside_of_blocks(op, blocks) for op in operations_in(func)):
        return OPAQUE
    final = {b for b in blocks if output in b.write_buffers}
    stores = uses_of(output).stores
    if len(final) != 1 or blocks[-1] not in final:
        return OPAQUE
    last = blocks[-1]
    if any(accessed_axes(last, s) is None for s in stores) or (last.init is None) == (
        "reduce" in last.axis_kinds
    ):
        return OPAQUE
    reductions = [b for b in blocks if b.init is not None]
    if any(("reduce" in b.axis_kinds) != (b.init is not None) for b in blocks):
        return OPAQUE
    params = [p for p in func.params if isinstance(p.type, tir.BufferType)][:-1]
    edges = {i: _edge(p, blocks, stores[-1]) for i, p in enumerate(params)}
    if not reductions:
        if len(blocks) > 1:  # an intermediate value with several uses is not inlined
            return KernelSummary(OpPattern.OPAQUE)
        return KernelSummary(_spatial_pattern(list(edges.values())), edges)
    if len(reductions) == 1 and _uses_elements_once(reductions[0]):
        return KernelSummary(OpPattern.COMM_REDUCE, edges)
    return KernelSummary(OpPattern.OUT_EWISE_FUSABLE, edges)


def _outside_of_blocks(op: Operation, blocks: Sequence[tir.BlockOp]) -> bool:
    """Whether a load or store is in none of the leaf blocks."""
    if not isinstance(op, tir.LoadOp | tir.StoreOp):
        return False
    return enclosing(op, tir.BlockOp) not in blocks


def _spatial_pattern(edges: Sequence[OpPattern]) -> OpPattern:
    """TVM's rule: broadcast operands beside elementwise ones leave the kernel elementwise."""
    worst = max(edges, default=OpPattern.ELEMWISE)
    if worst is OpPattern.BROADCAST and OpPattern.ELEMWISE in edges:
        return OpPattern.ELEMWISE
    return worst


def _edge(buffer: SSAValue, blocks: Sequence[tir.BlockOp], store: tir.StoreOp) -> OpPattern:
    """The pattern of the result in one operand.

    An operand that several blocks load, such as the rows of a softmax, counts as the input of a
    reduction if each block uses each element once: its producer can compute a row before they run.
    """
    uses = uses_of(buffer)
    loading = {enclosing(load, tir.BlockOp) for load in uses.loads}
    users = [b for b in blocks if b in loading]
    if uses.others or len(users) < len(loading):
        return OpPattern.OPAQUE
    if not users:
        return OpPattern.ELEMWISE
    if users == [blocks[-1]] and users[0].init is None:
        return max(_load_pattern(load, store, users[0]) for load in uses.loads)
    loads = [(u, b) for u in uses.loads for b in users if enclosing(u, tir.BlockOp) is b]
    once = all(_is_loaded_once(load, block) for load, block in loads)
    if len(users) == 1 and users[0].init is not None:
        return OpPattern.COMM_REDUCE if once else OpPattern.OUT_EWISE_FUSABLE
    return OpPattern.COMM_REDUCE if once else OpPattern.OPAQUE


def _load_pattern(load: tir.LoadOp, store: tir.StoreOp, block: tir.BlockOp) -> OpPattern:
    source, target = load.buffer.type, store.buffer.type
    assert isinstance(source, tir.BufferType) and isinstance(target, tir.BufferType)
    read, written = dim_axes(block, load), dim_axes(block, store)
    if source.dims == target.dims and all(
        a == b or dim == ONE for a, b, dim in zip(read, written, source.dims, strict=True)
    ):
        return OpPattern.ELEMWISE
    positions: list[int] = []
    for axis, index, dim in zip(read, exprs_of(load.indices), source.dims, strict=True):
        if axis is None and index == ZERO and dim == ONE:
            continue
        if axis is None or axis not in written or dim != target.dims[written.index(axis)]:
            return OpPattern.INJECTIVE
        positions.append(written.index(axis))
    ordered = positions == sorted(positions) and len(set(positions)) == len(positions)
    return OpPattern.BROADCAST if ordered else OpPattern.INJECTIVE


def _is_loaded_once(load: tir.LoadOp, block: tir.BlockOp) -> bool:
    """Whether different iterations of the block load different elements."""
    return wide_axes(block) <= set(dim_axes(block, load))


def _uses_elements_once(block: tir.BlockOp) -> bool:
    """Whether a reduction loads each element of its operands once."""
    written = set(block.write_buffers)
    loads = [o for o in operations_in(block) if isinstance(o, tir.LoadOp)]
    reducing = [o for o in loads if o.buffer not in written]
    return not has_reuse(block) and any(_is_loaded_once(load, block) for load in reducing)
