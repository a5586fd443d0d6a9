"""Whether the statements of a scope are a pipeline: each stage uses what those before it made."""

from __future__ import annotations

from xdsl.ir import SSAValue

from ...dialects import tir
from ...dialects.nesting import enclosing
from ...dialects.tir.verify_access import buffer_text
from .blocks import ScheduleError, function_of, loaded_buffers, stored_buffers
from .loop_checks import loop_text


def verify_stage_pipeline(loop: tir.ForOp) -> None:
    """Raise ScheduleError unless the scope around a loop is a stage pipeline, as TVM calls it.

    Nothing stores to what a statement before it loads. That scratch memory is stored to first is a
    rule of all functions.
    """
    around = enclosing(loop, tir.BlockOp)
    parent = function_of(loop).body.block if around is None else around.body.block
    loaded: set[SSAValue] = set()
    for statement in parent.ops:
        for buffer in loaded & stored_buffers(statement):
            raise ScheduleError(
                f"expected the scope of {loop_text(loop)} to be a stage pipeline, in "
                f"which nothing stores to {buffer_text(buffer)} after it is loaded",
                statement,
            )
        loaded |= loaded_buffers(statement) - stored_buffers(statement)
