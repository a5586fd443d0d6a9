"""Analyze the accesses of a block: the axes in indices, updates of a result, and reuse.

::

    Y[i, j] += X[i, k] * W[k, j]

Each dim of Y has an axis of its own. The block updates an element of Y, and it reuses those of X,
which several j share.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from xdsl.ir import Operation, SSAValue

from ...dialects import tir
from ...dialects.int_expr import ONE, ZERO, Arg, IntExpr
from ...dialects.nesting import operations_in
from ...dialects.sym import exprs_of
from ...dialects.tir.verify_access import uncovered_axis


def dim_axes(
    block: tir.BlockOp,
    access: tir.LoadOp | tir.StoreOp,
    indices: Sequence[IntExpr] | None = None,
) -> list[int | None]:
    """For each dim the axis that its index is; `None` for other indices.

    `indices` are used instead of those of the access.
    """
    axes: dict[SSAValue, int] = {var: number for number, var in enumerate(block.axis_vars)}
    atoms = [e.as_atom for e in (exprs_of(access.indices) if indices is None else indices)]
    return [axes.get(access.operands_[a.index]) if isinstance(a, Arg) else None for a in atoms]


def accessed_axes(
    block: tir.BlockOp,
    access: tir.LoadOp | tir.StoreOp,
    indices: Sequence[IntExpr] | None = None,
    in_part: bool = False,
) -> tuple[int | None, ...] | None:
    """For each dim the axis that indexes it and runs over all of it; `None` for other accesses.

    Every axis of more than one value must be there, and none twice. `indices` are used instead of
    those of the access. With `in_part`, axes may run over a part of a dim.
    """
    if not in_part and uncovered_axis(block) is not None:
        return None
    type_ = access.buffer.type
    assert isinstance(type_, tir.BufferType)
    found: list[int | None] = []
    indices = exprs_of(access.indices) if indices is None else indices
    axes = dim_axes(block, access, indices)
    for axis, index, dim in zip(axes, indices, type_.dims, strict=True):
        if axis is not None:
            bounds = block.axes.data[axis]
            is_whole = bounds.min.data == ZERO and bounds.extent.data == dim
            if axis in found or not (is_whole or in_part):
                return None
            found.append(axis)
        elif index == ZERO and dim.constant == 1:
            found.append(None)
        else:
            return None
    kinds = zip(block.axis_kinds, block.axes.data, strict=True)
    needed = {i for i, (k, a) in enumerate(kinds) if k != "reduce" and a.extent.data.constant != 1}
    return tuple(found) if needed <= set(found) else None


def wide_axes(block: tir.BlockOp) -> set[int]:
    """The axes whose extent may be larger than 1."""
    return {number for number, a in enumerate(block.axes.data) if a.extent.data != ONE}


class ElementUpdate(NamedTuple):
    """The only store of a block, and its loads of other buffers than the result."""

    store: tir.StoreOp
    loads: tuple[tir.LoadOp, ...]
    axes: list[int | None]
    """For each dim of the result its axis; `None` for those at a fixed index."""


def element_update(block: tir.BlockOp, allows: Callable[[Operation], bool]) -> ElementUpdate | None:
    """The update of a block that computes one element of its result, at its spatial axes.

    These index distinct dims. The block loads only that element of the result. Other operations
    have no regions, and `allows` must hold for them.
    """
    stores = [op for op in block.body.block.ops if isinstance(op, tir.StoreOp)]
    if len(stores) != 1 or len(block.write_buffers) != 1:
        return None
    (store,) = stores
    loads: list[tir.LoadOp] = []
    for op in block.body.block.ops:
        if isinstance(op, tir.LoadOp):
            if op.buffer is not store.buffer:
                loads.append(op)
            elif (op.indices, tuple(op.operands_)) != (store.indices, tuple(store.operands_)):
                return None
        elif not isinstance(op, tir.InitOp | tir.StoreOp) and (op.regions or not allows(op)):
            return None
    axes = _axes_of_result(block, store)
    return None if axes is None else ElementUpdate(store, tuple(loads), axes)


def _axes_of_result(block: tir.BlockOp, store: tir.StoreOp) -> list[int | None] | None:
    """The axes of a store's dims, if they are distinct, and all spatial axes are among them."""
    axes = dim_axes(block, store)
    if any(a is None and e.args() for a, e in zip(axes, exprs_of(store.indices), strict=True)):
        return None
    own = [axis for axis in axes if axis is not None]
    kinds = block.axis_kinds
    spatial = {axis for axis in wide_axes(block) if kinds[axis] == "spatial"}
    return axes if len(set(own)) == len(own) and spatial <= set(own) else None


def has_reuse(block: tir.BlockOp) -> bool:
    """Whether a reduction uses an operand's elements for several results, as a matmul does."""
    kinds, wide = block.axis_kinds, wide_axes(block)
    spatial = {axis for axis in wide if kinds[axis] == "spatial"}
    written = set(block.write_buffers)
    for op in operations_in(block):
        if isinstance(op, tir.LoadOp) and op.buffer not in written:
            used = _axes_used(block, op) & wide
            if used - spatial and spatial - used:
                return True
    return False


def _axes_used(block: tir.BlockOp, load: tir.LoadOp) -> set[int]:
    used = {load.operands_[i] for e in exprs_of(load.indices) for i in e.args()}
    return {number for number, var in enumerate(block.axis_vars) if var in used}
