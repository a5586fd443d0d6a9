"""`inline-producers`: inline blocks whose elements are used once, or are cheaper than a store.

::

    for i: block "A": S[i] = X[i] + 1             for i: block "B": Y[i] = exp(X[i] + 1)
    for i: block "B": Y[i] = exp(S[i])      ⇒

The pass does this in private kernels without a schedule that a module already has, such as those of
``relax.transform.FuseTIR``; `fuse-tir` does it in kernels that it makes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from ...dialects import tir
from ...dialects.bounds import is_non_negative
from ...dialects.int_expr import ONE, IntExpr
from ...dialects.nesting import enclosing
from ...dialects.sym import Values
from ...dialects.tir.ranges import ranges_of
from ...dialects.tir.scalar_ops import ARITHMETIC
from ..analysis.block_accesses import has_reuse
from ..analysis.iter_map import IterMap
from ..functions import is_private
from .blocks import IS_SCHEDULED, blocks_in, uses_of
from .inline import Definition, inline_blocks

CHEAP_OPERATIONS = 4
"""The most cheap operations that are recomputed instead of storing their result."""

MAX_COPIED = 64
"""The most operations that inlining a value at several uses may add; otherwise code size could
double with each value. Uses in both arms of an `scf.if` count."""

EXPENSIVE = ("math.", "arith.div", "arith.rem", "arith.floordiv", "arith.ceildiv", "scf.")
"""Operations that are not repeated."""


def inline_producers(func: tir.PrimFuncOp, drops_roundings: bool = False) -> None:
    """Inline the scratch buffers of a function if that is profitable, the last ones first."""
    inline_blocks(reversed(blocks_in(func)), _pays, drops_roundings)


def _pays(definition: Definition) -> bool:
    buffer = definition.store.buffer
    if buffer.first_use is None or copied_operations(definition) > MAX_COPIED:
        return False
    is_cheap, spare = _is_cheap(definition), _size(buffer)
    for loads in _loads_by_block(definition):
        consumer = enclosing(loads[0], tir.BlockOp)
        if consumer is None:
            return False
        for load in _distinct(loads):
            if (reads := _most_reads(load, consumer)) is not None:
                spare -= reads
            elif has_reuse(consumer) or not is_cheap:
                return False
    return is_cheap or is_non_negative(spare)


def _loads_by_block(definition: Definition) -> list[list[tir.LoadOp]]:
    found: dict[tir.BlockOp | None, list[tir.LoadOp]] = {}
    for load in uses_of(definition.store.buffer).loads:
        found.setdefault(enclosing(load, tir.BlockOp), []).append(load)
    return list(found.values())


def copied_operations(definition: Definition) -> int:
    """The number of operations that computing the value at each of its loads adds."""
    by_place: dict[Block | None, list[tir.LoadOp]] = {}
    for load in uses_of(definition.store.buffer).loads:
        by_place.setdefault(load.parent, []).append(load)
    places = sum(len(_distinct(loads)) for loads in by_place.values())
    return (places - 1) * sum(1 for op in definition.ops for _ in op.walk())


def _distinct(loads: Sequence[tir.LoadOp]) -> list[tir.LoadOp]:
    """One load for each element."""
    numbering, found = Values(), dict[tuple[IntExpr, ...], tir.LoadOp]()
    for load in loads:
        key = tuple(numbering.exprs(load.indices, load.operands_))
        found.setdefault(key, load)
    return list(found.values())


def _most_reads(load: tir.LoadOp, block: tir.BlockOp) -> IntExpr | None:
    """The most elements that a load of a block reads, if these are no more than the buffer has.

    A load under a condition, as of a padded tensor, may have more iterations, if its indices differ
    in each.
    """
    size = _size(load.buffer)
    iterations = prod((axis.extent.data for axis in block.axes.data), start=ONE)
    if is_non_negative(size - iterations):
        return iterations
    values, bounds = Values(), zip(block.axis_vars, block.axes.data, strict=True)
    axes = {values.atom(var) for var, axis in bounds if axis.extent.data != ONE}
    indices = values.exprs(load.indices, load.operands_)
    is_over_axes = set(load.operands_) <= set(block.axis_vars)
    if is_over_axes and IterMap(indices, axes, ranges_of(values.list)).tells(axes):
        return size
    return None


def _size(buffer: SSAValue) -> IntExpr:
    """The number of elements of a buffer."""
    assert isinstance(buffer.type, tir.BufferType)
    return prod(buffer.type.dims, start=ONE)


def _is_cheap(definition: Definition) -> bool:
    """Whether the value is a few additions of loaded values, or less."""
    ops: list[Operation] = [o for op in definition.ops for o in op.walk()]
    work = [o for o in ops if o.name.startswith((*ARITHMETIC, "scf."))]
    counted = [o for o in work if o.name not in ("arith.constant", "arith.index_cast")]
    return len(counted) <= CHEAP_OPERATIONS and not any(o.name.startswith(EXPENSIVE) for o in ops)


@dataclass(frozen=True)
class InlineProducersPass(ModulePass):
    """Inline blocks of private kernels without a schedule where that is profitable."""

    name = "inline-producers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.body.block.ops:
            if isinstance(func, tir.PrimFuncOp) and is_private(func):
                if func.attr(IS_SCHEDULED) is None:
                    inline_producers(func)
