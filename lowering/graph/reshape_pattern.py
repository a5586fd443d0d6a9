"""Kernels that only give their input another shape: elements keep their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod

from xdsl.ir import SSAValue

from ...dialects import tir
from ...dialects.bounds import Interval, simplify
from ...dialects.int_expr import ONE, ZERO, Arg, Atom, IntExpr, IntLike, Sym
from ...dialects.sym import exprs_of
from ..schedule.blocks import blocks_in

MOST_POINTS = 4096
"""The largest domain where indices that do not simplify are compared point by point."""


def is_reshape(func: tir.PrimFuncOp) -> bool:
    """Whether a kernel copies its input's elements in order; ``False`` if that is not proved."""
    buffers = [p for p in func.params if isinstance(p.type, tir.BufferType)]
    return len(buffers) == 2 and reshaped_argument(func) == 0


def reshaped_argument(func: tir.PrimFuncOp) -> int | None:
    """Which buffer a kernel copies to its last one in order, if it uses no other.

    `None` if that is not proved.
    """
    buffers = [p for p in func.params if isinstance(p.type, tir.BufferType)]
    used = [p for p in buffers if p.first_use is not None]
    copies = len(used) == 2 and used[-1] is buffers[-1] and _copies_in_order(func, used)
    return buffers.index(used[0]) if copies else None


def _copies_in_order(func: tir.PrimFuncOp, buffers: Sequence[SSAValue]) -> bool:
    loads = [op for op in func.walk() if isinstance(op, tir.LoadOp)]
    stores = [op for op in func.walk() if isinstance(op, tir.StoreOp)]
    blocks = blocks_in(func)
    if (len(loads), len(stores), len(blocks)) != (1, 1, 1):
        return False
    (load,), (store,), (block,) = loads, stores, blocks
    if [load.buffer, store.buffer] != list(buffers) or store.value is not load.result:
        return False
    axes: dict[SSAValue, IntExpr] = {}
    ranges: dict[Sym, Interval] = {}
    for value, axis in zip(block.body.block.args, block.axes.data, strict=True):
        atom, lower, extent = Sym(f"axis {len(axes)}"), axis.min.data, axis.extent.data
        axes[value] = lower if extent == ONE else IntExpr.of(atom)
        ranges[atom] = Interval(lower, lower + extent - 1)
    places = [_place(op, axes) for op in (load, store)]
    if places[0] is None or places[1] is None:
        return False
    difference = simplify(places[0] - places[1], {a: known for a, known in ranges.items()})
    return difference == ZERO or _is_zero_everywhere(difference, ranges)


def _is_zero_everywhere(expr: IntExpr, ranges: Mapping[Sym, Interval]) -> bool:
    """Whether an expression is 0 at all points of a small iteration domain."""
    spans: dict[Sym, range] = {}
    for atom, known in ranges.items():
        lower, upper = (e.constant for e in known)
        if lower is None or upper is None:
            return False
        spans[atom] = range(lower, upper + 1)
    if prod(map(len, spans.values())) > MOST_POINTS or expr.symbols() - {a.name for a in spans}:
        return False
    points = product(*spans.values())
    return all(_value_at(expr, dict(zip(spans, p, strict=True))) == 0 for p in points)


def _value_at(expr: IntExpr, point: Mapping[Sym, int]) -> int:
    return expr.evaluate(lambda atom: point[atom] if isinstance(atom, Sym) else 0)


def _place(op: tir.LoadOp | tir.StoreOp, axes: dict[SSAValue, IntExpr]) -> IntExpr | None:
    """The number of an element in row-major order; `None` if its indices are not known."""
    type_ = op.buffer.type
    assert isinstance(type_, tir.BufferType)
    mapping: dict[Atom, IntLike] = {}
    for index in exprs_of(op.indices):
        for i in index.args():
            if (operand := op.operands_[i]) not in axes:
                return None
            mapping[Arg(i)] = axes[operand]
    return _linear([e.substitute(mapping) for e in exprs_of(op.indices)], type_.dims)


def _linear(indices: Sequence[IntExpr], dims: Sequence[IntExpr]) -> IntExpr:
    place, stride = ZERO, ONE
    for index, dim in zip(reversed(indices), reversed(dims), strict=True):
        place, stride = place + index * stride, stride * dim
    return place
