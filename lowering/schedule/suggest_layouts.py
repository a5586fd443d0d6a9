"""The layouts of blocks and of what they read that follow from those of a kernel's outputs.

::

    for i, j, k:                                            block:  (i, j, k) → (j, i, k)
      block (vi = i, vj = j, vk = k)                ⇒       X:      (i, k) → (i, k)
        Y[vi, vj] += X[vi, vk] with Y: (i, j) → (j, i)

Accesses stay as sequential as they were. The counterpart is TVM's ``SuggestLayoutTransforms``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from xdsl.ir import BlockArgument, Operation, SSAValue

from ...dialects import tir
from ...dialects.int_expr import Arg, Atom, Compound, IntExpr, Sym
from ...dialects.nesting import operations_in
from ...dialects.sym import exprs_of
from .index_map import IndexMap

Layout: TypeAlias = "list[int | None]"
"""The axis of a block that each index of an access moves along, `None` for one without."""


class BlockLayouts(NamedTuple):
    """The maps of a block's axes, of the buffer that it writes, and of those that it reads."""

    axes: IndexMap
    buffers: dict[SSAValue, IndexMap]


def suggest_layouts(
    func: tir.PrimFuncOp, outputs: Mapping[SSAValue, IndexMap]
) -> dict[tir.BlockOp, BlockLayouts]:
    """The maps for each block that writes one buffer whose map is known, in program order.

    A buffer gets the first map that is found. Blocks around others have none, nor have those whose
    accesses are not affine, or not in the order of the axes.
    """
    known = dict(outputs)
    found: dict[tir.BlockOp, BlockLayouts] = {}
    for block in func.walk():
        if not isinstance(block, tir.BlockOp) or len(block.write_buffers) != 1:
            continue
        (written,) = block.write_buffers
        if written not in known:
            continue
        layouts = _of_block(block, written, known[written])
        if layouts is None:
            continue
        new = {b: m for b, m in layouts.buffers.items() if b not in known}
        known |= new
        found[block] = BlockLayouts(layouts.axes, {written: known[written]} | new)
    return found


def _of_block(block: tir.BlockOp, written: SSAValue, index_map: IndexMap) -> BlockLayouts | None:
    inside = [op for op in operations_in(block) if op is not block]
    stores = [op for op in inside if isinstance(op, tir.StoreOp)]
    if any(isinstance(op, tir.BlockOp) for op in inside) or "opaque" in block.axis_kinds:
        return None
    if any(s.buffer is not written for s in stores):
        return None
    own = _layout_of(block, written, inside)
    if own is None or None in own or not _is_sequential(own):
        return None
    extents = [a.extent.data for a in block.axes.data]
    axes = infer_map(own, index_map, list(range(len(extents))))
    if axes is None or not _is_bijective(axes, extents):
        return None
    buffers: dict[SSAValue, IndexMap] = {}
    for buffer in block.read_buffers:
        layout = _layout_of(block, buffer, inside)
        if layout is not None and _is_sequential(layout):
            moved = infer_map(own, index_map, layout)
            if moved is not None:
                buffers[buffer] = moved
    return BlockLayouts(axes, buffers)


def infer_map(own: Layout, index_map: IndexMap, other: Layout) -> IndexMap | None:
    """The map of an access along the axes `other`, by that of an access along the axes `own`.

    Indices along other axes keep their place. It is `None` where a new index joins an axis that is
    in `other` with one that is not.
    """
    old = [i for i, axis in enumerate(own) if axis in other]
    results: list[IntExpr] = []
    for result in index_map.results:
        used = result.args()
        if used <= set(old):
            results.append(result)
        elif used & set(old):
            return None
    first, place = len(own), 0
    for position, axis in enumerate(other):
        if axis is None or axis not in own:
            new = first + position
            old.insert(position, new)
            results.insert(place, IntExpr.of(Arg(new)))
        place = min(place + 1, len(results))
    names = [index_map.names[i] if i < first else f"d{i - first}" for i in old]
    numbers: dict[Atom, IntExpr] = {Arg(i): IntExpr.of(Arg(n)) for n, i in enumerate(old)}
    return IndexMap(tuple(names), tuple(r.substitute(numbers) for r in results))


def _is_bijective(index_map: IndexMap, dims: Sequence[IntExpr]) -> bool:
    if any(d.args() for d in dims):
        return False
    try:
        index_map.inverse(dims)
        return index_map.is_onto(dims)
    except ValueError:
        return False


def _is_sequential(layout: Layout) -> bool:
    axes = [axis for axis in layout if axis is not None]
    return all(a < b for a, b in pairwise(axes))


def _layout_of(block: tir.BlockOp, buffer: SSAValue, inside: Sequence[Operation]) -> Layout | None:
    """The layout of all accesses to a buffer in a block; `None` where they differ, or none is."""
    accesses = [
        op for op in inside if isinstance(op, tir.LoadOp | tir.StoreOp) and op.buffer is buffer
    ]
    layouts = [_layout(block, exprs_of(a.indices), a.operands_) for a in accesses]
    return layouts[0] if layouts and all(y == layouts[0] for y in layouts) else None


def _layout(
    block: tir.BlockOp, indices: Sequence[IntExpr], operands: Sequence[SSAValue]
) -> Layout | None:
    layout: Layout = []
    for index in indices:
        over_axes = _over_axes(block, index, operands)
        axes = None if over_axes is None else _spatial(block, over_axes)
        if axes is None or len(axes) > 1:
            return None
        layout.append(next(iter(axes), None))
    return layout


def _over_axes(block: tir.BlockOp, expr: IntExpr, operands: Sequence[SSAValue]) -> IntExpr | None:
    """An index over the axes of a block; what is fixed in the block is a symbol."""
    meanings: dict[Atom, IntExpr] = {}
    axes: list[SSAValue] = list(block.axis_vars)
    for number in expr.args():
        value = operands[number]
        owner = value.owner
        if value in axes:
            meanings[Arg(number)] = IntExpr.of(Arg(axes.index(value)))
        elif isinstance(value, BlockArgument):
            meanings[Arg(number)] = IntExpr.of(Sym(value.name_hint or "fixed"))
        elif isinstance(owner, tir.ApplyOp):
            inner = _over_axes(block, owner.expr.data, owner.operands)
            if inner is None:
                return None
            meanings[Arg(number)] = inner
        else:
            return None
    return expr.substitute(meanings)


def _spatial(block: tir.BlockOp, expr: IntExpr) -> set[int] | None:
    """The spatial axes in an index, `None` where it is not affine in them."""
    spatial = {i for i, kind in enumerate(block.axis_kinds) if kind == "spatial"}
    for atom in expr.all_atoms:
        if isinstance(atom, Compound) and atom.op not in ("floordiv", "mod"):
            return None
    for monomial, _ in expr.terms:
        if sum(bool(IntExpr.of(atom).args() & spatial) for atom in monomial) > 1:
            return None
    return {*expr.args()} & spatial
