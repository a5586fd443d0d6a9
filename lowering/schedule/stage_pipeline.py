"""Whether the statements of a scope are a pipeline: each stage uses what those before it made."""

from __future__ import annotations

from xdsl.ir import Block, SSAValue

from ...dialects import tir
from ...dialects.sym import Values
from ...dialects.tir.regions import infer_regions
from ...dialects.tir.verify_access import buffer_text
from .blocks import ScheduleError, block_around, function_of, loaded_buffers, stored_buffers
from .loop_checks import loop_text
from .regions import contains


def verify_stage_pipeline(loop: tir.ForOp) -> None:
    """Raise ScheduleError unless the scope around a loop is a stage pipeline, as TVM calls it.

    Nothing stores to what a statement before it loads, and scratch memory is stored to before it is
    loaded.
    """
    around = block_around(loop)
    home = function_of(loop).body.block if around is None else around.body.block
    loaded: set[SSAValue] = set()
    for statement in home.ops:
        for buffer in loaded & stored_buffers(statement):
            raise ScheduleError(
                f"expected the scope of {loop_text(loop)} to be a stage pipeline, in "
                f"which nothing stores to {buffer_text(buffer)} after it is loaded",
                statement,
            )
        loaded |= loaded_buffers(statement) - stored_buffers(statement)
    _verify_covered(loop, home)


def _verify_covered(loop: tir.ForOp, home: Block) -> None:
    """What statements load of scratch memory must be stored before them."""
    values, before = Values(), list[tir.ForOp | tir.BlockOp]()
    for statement in home.ops:
        if not isinstance(statement, tir.ForOp | tir.BlockOp):
            continue
        before.append(statement)
        reads = infer_regions(home, values, [statement])[0]
        written = {w.buffer: w for w in infer_regions(home, values, before)[1]}
        for read in reads:
            if not isinstance(read.buffer.owner, tir.AllocBufferOp):
                continue
            store = written.get(read.buffer)
            if store is None or not contains(store, read, values):
                raise ScheduleError(
                    f"expected the scope of {loop_text(loop)} to be a stage "
                    f"pipeline, in which {buffer_text(read.buffer)} is stored before it is loaded",
                    statement,
                )
