"""Loop-carried dependences: whether iterations access elements that others write. Aliasing.

::

    for i in (0, n): Y[i] = X[i]                     independent
    for i in (0, n): Y[i] = X[i]; Y[i + 1] = X[i]    not: i writes what i + 1 writes
    for i in (0, n): Y[i // 4, i % 4] = X[i]         independent: the two indices give i

Accesses are boxes of elements, one for each load and store of an iteration. Two boxes are disjoint
if they are in one dim. In a dim that moves by ``step * part``, boxes of different parts are
disjoint if they are no longer than the step. Then different iterations must have different parts.

The counterparts are TVM's ``LoopCarriedDependency`` checks by block axes, and MLIR's
``isLoopParallel``, which solves the same question in integer sets.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import product
from typing import NamedTuple

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import BlockArgument, Operation, SSAValue

from ...dialects import tir
from ...dialects.int_expr import ONE, ZERO, IntExpr
from ...dialects.sym import Values
from ...dialects.tir.regions import Access, accesses_in, infer_regions, root_buffer
from .boxes import Boxes


class Conflict(NamedTuple):
    """A store, and an access that may access the same element in another iteration."""

    store: Access
    other: Access


def conflict_of(loop: tir.ForOp, private: AbstractSet[SSAValue] = frozenset()) -> Conflict | None:
    """Two accesses with a loop-carried dependence; `None` if iterations are independent.

    Each iteration has its own copy of `private` buffers.
    """
    if loop.extent.data in (ZERO, ONE):
        return None
    values = Values()
    boxes = Boxes(values, [loop.loop_var])
    reads, writes = infer_regions(loop.body.block, values)
    hulls = [Access(r, False) for r in reads] + [Access(w, True) for w in writes]
    if next(_conflicts(boxes, hulls, hulls, private), None) is None:
        return None
    accesses = boxes.split_digits(accesses_in(loop.body.block, values))
    return next(_conflicts(boxes, accesses, accesses, private), None)


def conflict_of_axes(block: tir.BlockOp, axes: Sequence[SSAValue]) -> Conflict | None:
    """Two accesses of a block that may conflict in instances that differ in these spatial axes.

    Other spatial axes are equal; all other axes may differ.
    """
    values = Values()
    kinds = zip(block.axis_vars, block.axis_kinds, strict=True)
    boxes = Boxes(values, axes, [var for var, kind in kinds if kind != "spatial"])
    accesses = accesses_in(block.body.block, values)
    return next(_conflicts(boxes, accesses, accesses), None) if axes else None


def conflicts_between(
    ours: Sequence[tir.ForOp], one: Operation, theirs: Sequence[tir.ForOp], other: Operation
) -> Iterator[Conflict]:
    """Accesses of two statements that may conflict in different iterations of the loops around.

    These are nested loops of equal bounds, which may be the same ones. A statement is in the
    innermost loop, or is that loop, with all that it contains.
    """
    values = Values()
    boxes = Boxes(values, [loop.loop_var for loop in ours])
    first, second = (
        accesses_in(loop.body.block, values, None if op is loop else [op])
        for loop, op in ((ours[-1], one), (theirs[-1], other))
    )
    atoms = boxes.atoms([loop.loop_var for loop in theirs])
    renaming = {a: IntExpr.of(b) for a, b in zip(atoms, boxes.variables, strict=True)}
    second = boxes.simplified([access.substitute(renaming) for access in second])
    yield from _conflicts(boxes, boxes.simplified(first), second)


def are_apart(nest: tir.ForOp, other: tir.ForOp) -> bool:
    """Whether neither of two nests in one block writes what the other one accesses."""
    values = Values()
    assert nest.parent is not None
    ours, theirs = (accesses_in(nest.parent, values, [n]) for n in (nest, other))
    return next(_conflicts(Boxes(values, []), ours, theirs), None) is None


def _conflicts(
    boxes: Boxes,
    first: Collection[Access],
    second: Collection[Access],
    private: AbstractSet[SSAValue] = frozenset(),
) -> Iterator[Conflict]:
    """A store of one group and an access of the other that may meet."""
    for a, b in product(first, second):
        ours, theirs = a.region.buffer, b.region.buffer
        if not (a.is_store or b.is_store) or {ours, theirs} & private:
            continue
        if may_share_memory(ours, theirs) and not boxes.are_apart(a, b):
            yield Conflict(a, b) if a.is_store else Conflict(b, a)


def is_noalias(func: tir.PrimFuncOp) -> bool:
    """Whether callers guarantee that buffers do not overlap, which is the default."""
    attribute = func.attr("tir.noalias")
    return not (isinstance(attribute, IntegerAttr) and attribute.value.data == 0)


def may_share_memory(a: SSAValue, b: SSAValue) -> bool:
    """Whether two buffers may alias: views of one buffer, or parameters that are not noalias."""
    a, b = root_buffer(a), root_buffer(b)
    if a is b:
        return True
    if not isinstance(a, BlockArgument) or not isinstance(b, BlockArgument):
        return False
    func = a.owner.parent_op()
    return isinstance(func, tir.PrimFuncOp) and not is_noalias(func)
