"""The axes of a block for those of a tensor intrinsic's description.

::

    C[i] += int(A[k]) * int(B[i, k])
    Y[m, n] += int(X[m, c]) * int(W[n floordiv 16, c floordiv 4, n mod 16, c mod 4])  ⇒  i: n, k: c
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Block, SSAValue

from ...dialects import tir
from ...dialects.int_expr import IntExpr
from ...dialects.sym import exprs_of
from .blocks import blocks_in

Access = tir.LoadOp | tir.StoreOp


def matched_axes(description: tir.PrimFuncOp, block: tir.BlockOp) -> dict[int, int] | None:
    """The axis of a block for each axis of the description's block, by position.

    Both store one value, computed alike. An index of the description is one of the block's last
    ones, of which it has the axis. `None` where there is no such axis, or several.
    """
    wanted = blocks_in(description)
    pairs = list(_accesses(wanted[-1], block)) if wanted else [None]
    found: dict[int, set[int]] = {}
    for pair in pairs:
        if pair is None or not _add_axes(found, wanted[-1], block, *pair):
            return None
    result: dict[int, int] = {}
    for position, kind in enumerate(wanted[-1].axis_kinds):
        options = found.get(position, set())
        own = {axis for axis in options if block.axis_kinds[axis] == kind}
        if len(own) != 1 or own & set(result.values()):
            return None
        (result[position],) = own
    return result


def _add_axes(
    found: dict[int, set[int]],
    wanted: tir.BlockOp,
    block: tir.BlockOp,
    ours: Access,
    theirs: Access,
) -> bool:
    """Narrow the axes that may be those of the description by a pair of accesses."""
    expected, got = (exprs_of(op.indices) for op in (ours, theirs))
    if len(expected) > len(got):
        return False
    for a, b in zip(expected, got[len(got) - len(expected) :], strict=True):
        for axis in _axes(wanted, ours, a):
            options = _axes(block, theirs, b)
            found[axis] = found.get(axis, options) & options
    return True


def _axes(block: tir.BlockOp, access: Access, index: IntExpr) -> set[int]:
    used = {access.operands_[number] for number in index.args()}
    return {i for i, variable in enumerate(block.axis_vars) if variable in used}


def _accesses(wanted: tir.BlockOp, block: tir.BlockOp) -> Iterator[tuple[Access, Access] | None]:
    """The accesses of both blocks in pairs; `None` at the end where they compute differently."""
    ours, theirs = (
        [op for op in b.body.block.ops if isinstance(op, tir.StoreOp)] for b in (wanted, block)
    )
    if len(ours) != 1 or len(theirs) != 1:
        yield None
        return
    yield ours[0], theirs[0]
    yield from _loads(ours[0].value, theirs[0].value)


def _loads(wanted: SSAValue, got: SSAValue) -> Iterator[tuple[Access, Access] | None]:
    a, b = wanted.owner, got.owner
    if isinstance(a, Block) or isinstance(b, Block) or a.name != b.name:
        yield None
    elif isinstance(a, tir.LoadOp) and isinstance(b, tir.LoadOp):
        same = a.result.type == b.result.type
        yield (a, b) if same else None
    elif a.properties != b.properties or len(a.operands) != len(b.operands):
        yield None
    else:
        for x, y in zip(a.operands, b.operands, strict=True):
            yield from _loads(x, y)
