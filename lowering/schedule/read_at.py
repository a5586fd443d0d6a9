"""`read_at` and `write_at`: copy what a block accesses in each iteration of a loop.

::

    for i in (0, n):                            for i in (0, n):
      for k in (0, 16):                           block "X_local" (v = i):
        block "Y": … X[i * 16 + k] …      ⇒         for a in (0, 16): X_local[v * 16 + a] = …
                                                  for k in (0, 16):
                                                    block "Y": … X_local[i * 16 + k] …

That is `cache_read` and `compute_at`, after which the copy is one block, whose body has the loops.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import BoolAttr
from xdsl.rewriter import Rewriter

from ...dialects import tir
from ...dialects.sym import Values
from .annotations import annotate
from .blockize import blockize
from .blocks import loops_between
from .cache import cache_read, cache_write
from .compute_at import compute_at, reverse_compute_at
from .index_values import replace_indices
from .regions import refresh_around

AUTO_COPY = "auto_copy"
"""The annotation of TVM for blocks that copy, which a backend may do in its own way."""


def read_at(loop: tir.ForOp, block: tir.BlockOp, buffer: int | str, scope: str) -> tir.BlockOp:
    """Copy what a block reads of a buffer in each iteration of a loop to a buffer in `scope`.

    Returns the block that copies, which is annotated with "auto_copy". TVM's ``read_at``. Raises
    ScheduleError as `cache_read`, `compute_at` and `blockize` do, and then has changed the module.
    """
    copy = cache_read(block, buffer, scope, [block])
    compute_at(copy, loop)
    return _as_one(copy, loop)


def write_at(loop: tir.ForOp, block: tir.BlockOp, buffer: int | str, scope: str) -> tir.BlockOp:
    """Copy what a block writes in each iteration of a loop back from a buffer in `scope`.

    Returns the block that copies, which is annotated with "auto_copy". TVM's ``write_at``. Raises
    ScheduleError as `cache_write`, `reverse_compute_at` and `blockize` do, and then has changed the
    module.
    """
    copy = cache_write(block, buffer, scope)
    reverse_compute_at(copy, loop)
    return _as_one(copy, loop)


def _as_one(copy: tir.BlockOp, loop: tir.ForOp) -> tir.BlockOp:
    """The block whose body has the loops around a copy."""
    loops, name = loops_between(copy, loop), copy.block_name
    if loops:
        outer = blockize(loops[0])
        outer.properties["block_name"] = name
        _dissolve(copy)
        copy = outer
    annotate(copy, AUTO_COPY, BoolAttr.from_bool(True))
    return copy


def _dissolve(block: tir.BlockOp) -> None:
    """Replace a block by its body, unless predicates leave out some of its instances."""
    if block.predicates.data:
        return
    values = Values()
    bindings = values.exprs(block.bindings, block.numbering())
    replace_indices(dict(zip(block.axis_vars, bindings, strict=True)), values)
    parent = block.parent
    assert parent is not None
    body: Sequence[tir.LoadOp | tir.StoreOp] = [*block.body.block.ops]  # pyright: ignore[reportAssignmentType]
    for op in body:
        op.detach()
        parent.insert_op_before(op, block)
    Rewriter.erase_op(block)
    refresh_around(body)
