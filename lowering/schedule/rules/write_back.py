"""Blocks that work on a tile of a contraction's results: which ones can, and their loops."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from ....dialects import tir
from ....dialects.int_expr import ONE, Arg
from ....dialects.nesting import operations_in
from ....dialects.sym import exprs_of
from ..blocks import ScheduleError
from ..loops import reorder, set_kind, split
from .products import Product

LIGHT = 8
"""Operations up to which a block is repeated for each vector of a tile."""

DEAR = ("math.", "arith.div", "scf.")
"""Operations that become many instructions."""

UNROLLED_ROWS = 32
"""The most rows that are unrolled."""


def is_light(block: tir.BlockOp) -> bool:
    """Whether what a block computes of an element is so little that it may be unrolled."""
    ops = [op for op in operations_in(block) if op.name.startswith(("arith.", "math.", "scf."))]
    work = [op for op in ops if op.name != "arith.constant"]
    return len(work) <= LIGHT and not any(op.name.startswith(DEAR) for op in ops)


def is_element_wise(block: tir.BlockOp, product: Product) -> bool:
    """Whether a block stores one result for each of the product's, with the same neighbours."""
    stores = [op for op in operations_in(block) if isinstance(op, tir.StoreOp)]
    if len(stores) != 1 or block.init is not None or set(block.axis_kinds) - {"spatial"}:
        return False
    (store,) = stores
    var = column_of(block, store)
    if var is None:
        return False
    dims = [i for i, e in enumerate(exprs_of(product.store.indices)) if _is_column(e, product)]
    loads = [
        op
        for op in operations_in(block)
        if isinstance(op, tir.LoadOp) and op.buffer is product.store.buffer
    ]
    return all(_variable(op, d) is var for op in loads for d in dims)


def column_of(block: tir.BlockOp, store: tir.StoreOp) -> SSAValue | None:
    """The axis along which what a block stores is contiguous."""
    type_ = store.buffer.type
    assert isinstance(type_, tir.BufferType)
    wide = [i for i, dim in enumerate(type_.dims) if dim != ONE]
    if not wide or type_.element_strides()[wide[-1]] != ONE:
        return None
    var = _variable(store, wide[-1])
    return var if var in block.axis_vars else None


def _is_column(index: object, product: Product) -> bool:
    atom = getattr(index, "as_atom", None)
    if not isinstance(atom, Arg):
        return False
    return product.store.operands_[atom.index] is product.block.axis_vars[product.column]


def _variable(op: tir.LoadOp | tir.StoreOp, dim: int) -> SSAValue | None:
    atom = exprs_of(op.indices)[dim].as_atom
    return op.operands_[atom.index] if isinstance(atom, Arg) else None


def vectorize_tile(
    block: tir.BlockOp, made: Sequence[tir.ForOp], lanes: int, is_unrolled: bool
) -> None:
    """Turn a block's new loops over a tile into vectors along its contiguous axis."""
    (store,) = [op for op in operations_in(block) if isinstance(op, tir.StoreOp)]
    column = column_of(block, store)
    loop = None if column is None else _loop_of(block, column, made)
    if loop is None:
        return
    rest = [op for op in made if op is not loop]
    across = None if is_unrolled or column is None else _strided_source(block, column, rest)
    try:
        vector, lane = split(loop, [None, lanes])
        if across is None:
            reorder([*rest, vector, lane])
        else:
            line, inner = split(across, [None, lanes])
            reorder([*(op for op in rest if op is not across), line, vector, inner, lane])
    except ScheduleError:
        return
    set_kind(lane, "vectorized")
    if vector.extent.data.constant is not None:
        set_kind(vector, "unrolled")
    for op in rest:
        size = op.extent.data.constant
        if is_unrolled and size is not None and size <= UNROLLED_ROWS:
            set_kind(op, "unrolled")


def _strided_source(
    block: tir.BlockOp, column: SSAValue, loops: Sequence[tir.ForOp]
) -> tir.ForOp | None:
    """The loop along which a copy reads neighbours, where that is not the contiguous one.

    It takes a cache line's worth of each row at once: power-of-two distances share few lines.
    """
    (load, *more) = [op for op in operations_in(block) if isinstance(op, tir.LoadOp)]
    type_ = load.buffer.type
    assert isinstance(type_, tir.BufferType)
    var = None if more or type_.element_strides()[-1] != ONE else _variable(load, type_.rank - 1)
    if var is None or var is column or var not in block.axis_vars:
        return None
    return _loop_of(block, var, loops)


def _loop_of(block: tir.BlockOp, axis: SSAValue, loops: Sequence[tir.ForOp]) -> tir.ForOp | None:
    position = [var is axis for var in block.axis_vars].index(True)
    numbering = block.numbering()
    used = [numbering[i] for i in exprs_of(block.bindings)[position].args()]
    return next((loop for loop in loops if loop.loop_var in used), None)
