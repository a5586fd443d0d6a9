"""Match contractions: reductions in which several results share elements of an operand.

::

    Y[b, i, j] += X[b, i, k] * W[b, k, j]

The dimensions are those of MLIR's ``ContractionDimensions``. `n` is `j`, along which results are
contiguous; `m` holds the axes that do not index the operand that `n` does, here `i`; `k` holds the
reduction's; the others, here `b`, are batch axes. In a convolution, the positions of the image are
in `m`, and those of the window in `k`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from xdsl.dialects.builtin import IndexType, i1
from xdsl.ir import Operation, SSAValue

from ....backend.target import Target
from ....dialects import tir
from ....dialects.dtypes import byte_width
from ....dialects.int_expr import ONE, ZERO, IntExpr
from ....dialects.nesting import ancestors
from ....dialects.tir.scalar_ops import ARITHMETIC
from ...analysis.block_accesses import ElementUpdate, element_update
from ...analysis.independence import may_share_memory
from ...analysis.strides import Strides
from ..blocks import plain_loops, uses_of


@dataclass(frozen=True)
class Contraction:
    """A reduction block in a perfect nest; axes are positions in the block."""

    block: tir.BlockOp
    loops: dict[int, tir.ForOp]
    """The loops by axis; an axis of extent 1 may have none."""
    store: tir.StoreOp
    n: int
    m: tuple[int, ...]
    rhs: tuple[tir.LoadOp, ...]
    """The loads that `n` indexes."""
    lhs: tuple[tir.LoadOp, ...]
    """The others, apart from those of the result itself."""
    panel: int | None = None
    """The columns in a panel, if the schedule has laid out the right operand in panels."""

    @cached_property
    def strides(self) -> Strides:
        """The accesses over the axes."""
        return Strides(self.block, bound=False)

    @property
    def k(self) -> list[int]:
        """The axes of the reduction."""
        return [i for i, kind in enumerate(self.block.axis_kinds) if kind == "reduce"]

    @property
    def k_loops(self) -> dict[int, tir.ForOp]:
        """The loops of the reduction by axis; an axis of one value may have none."""
        return {axis: self.loops[axis] for axis in self.k if axis in self.loops}

    def extent(self, axis: int) -> IntExpr:
        """The extent of an axis."""
        return self.block.axes.data[axis].extent.data

    def uses(self, load: tir.LoadOp, axis: int) -> bool:
        """Whether an axis indexes a load, or a load of an index of it."""
        return self.block.axis_vars[axis] in index_values(load)

    def is_gathered(self, load: tir.LoadOp) -> bool:
        """Whether an index of a load is computed in the block."""
        return any(value.owner.parent is self.block.body.block for value in load.operands_)

    @property
    def element_bits(self) -> int:
        """Width of the widest element that the block works on."""
        buffers = [op.buffer for op in (self.store, *self.rhs, *self.lhs)]
        return max(8 * byte_width(_type(b).element_type) for b in buffers)


def dot_of(contraction: Contraction) -> tir.DotOp | tir.BFDotOp | None:
    """The dot product of words in a contraction, if that is what it sums."""
    ops = contraction.block.body.block.ops
    return next((op for op in ops if isinstance(op, tir.DotOp | tir.BFDotOp)), None)


def registers_of_words(contraction: Contraction, target: Target) -> int:
    """The registers of a vector of words of the right operand.

    Products of bytes as 16 bits take the low halves of words, and the high ones.
    """
    bits, dot = target.vector_bits, dot_of(contraction)
    if not isinstance(dot, tir.DotOp) or target.isa.pair_sums(False, bits) is None:
        return 1
    signs = dot.lhs_unsigned is not None, dot.rhs_unsigned is not None
    signs = (True, False) if signs == (False, True) else signs
    return 1 if target.isa.dot(*signs, bits) is not None else 2


def contraction_of(block: tir.BlockOp) -> Contraction | None:
    """The contraction that a block computes; `None` for other blocks and for scheduled ones."""
    if has_no_results(block):
        return None
    loops = plain_loops(block)
    if loops is None or block.init is None or block.predicates.data:
        return None
    if set(block.axis_kinds) - {"spatial", "reduce"}:
        return None
    if not any(block.axis_kinds[axis] == "reduce" for axis in loops):
        return None
    loaded = [op for op in block.body.block.ops if isinstance(op, tir.LoadOp)]
    indices = {op: index_values(op) for op in loaded}
    places = set[SSAValue]().union(*indices.values())
    update = element_update(block, lambda op: _is_arithmetic(op) or bool(places & {*op.results}))
    if update is None or not is_apart(block, update.store, update.loads):
        return None
    store, loads, _ = update
    if any(_type(op.buffer).element_type == i1 for op in (store, *loads)):
        return None
    n = _contiguous_axis(update)
    if n is None:
        return None
    var = block.axis_vars[n]
    operands = [op for op in loads if op.result not in places]
    rhs = tuple(op for op in operands if var in indices[op])
    lhs = tuple(op for op in operands if var not in indices[op])
    m = tuple(
        axis
        for axis, (value, kind) in enumerate(zip(block.axis_vars, block.axis_kinds, strict=True))
        if kind == "spatial"
        and axis != n
        and block.axes.data[axis].extent.data != ONE
        and any(value not in indices[op] for op in rhs)
    )
    return Contraction(block, loops, store, n, m, rhs, lhs) if rhs else None


def index_values(load: tir.LoadOp) -> set[SSAValue]:
    """The values that the indices of a load are computed from in its block, and these."""
    found, left = set[SSAValue](), list(load.operands_)
    while left:
        value = left.pop()
        if value not in found:
            found.add(value)
            if isinstance(value.owner, Operation) and value.owner.parent is load.parent:
                left += [v for v in value.owner.operands if not isinstance(v.type, tir.BufferType)]
    return found


def has_no_results(block: tir.BlockOp) -> bool:
    """Whether a block is known to have no spatial instances."""
    return any(a.extent.data == ZERO for a in block.axes.data if a.kind.data == "spatial")


def is_apart(block: tir.BlockOp, store: tir.StoreOp, loads: Sequence[tir.LoadOp]) -> bool:
    """Whether only this block stores its result, and the result aliases none of its operands."""
    uses = uses_of(store.buffer)
    if uses.others or any(block not in ancestors(op) for op in uses.stores):
        return False
    return not any(may_share_memory(store.buffer, op.buffer) for op in loads)


def _is_arithmetic(op: Operation) -> bool:
    """Whether an operation is elementwise arithmetic, which applies to vectors too."""
    if any(isinstance(v.type, IndexType) for v in op.operands):
        return False
    return op.name.startswith(ARITHMETIC) and not op.name.startswith(("arith.cmp", "arith.select"))


def _contiguous_axis(update: ElementUpdate) -> int | None:
    """The axis along which results are contiguous."""
    type_ = _type(update.store.buffer)
    dims = zip(update.axes, type_.dims, type_.element_strides(), strict=True)
    found = [axis for axis, dim, stride in dims if dim != ONE and stride == ONE]
    return next((axis for axis in reversed(found) if axis is not None), None)


def step_along(contraction: Contraction, load: tir.LoadOp, axis: int) -> IntExpr | None:
    """The stride of a load along an axis, in elements; `None` if it is not uniform."""
    return contraction.strides.step(load, contraction.block.axis_vars[axis])


def column_dim(contraction: Contraction, access: tir.LoadOp | tir.StoreOp) -> int | None:
    """The dim of an access whose index is `n`; `None` if `n` is in another index, or in a sum."""
    strides, var = contraction.strides, contraction.block.axis_vars[contraction.n]
    dim, *more = strides.dims_moved(access, var) or (None,)
    if dim is None or more or strides.indices[access][dim] != strides.scope.values.expr(var):
        return None
    return dim


def dense_bytes(buffer: SSAValue) -> int | None:
    """The size of a dense buffer in bytes, if it is static."""
    type_ = buffer.type
    assert isinstance(type_, tir.BufferType)
    return type_.known_bytes if type_.is_dense else None


def _type(buffer: SSAValue) -> tir.BufferType:
    assert isinstance(buffer.type, tir.BufferType)
    return buffer.type
