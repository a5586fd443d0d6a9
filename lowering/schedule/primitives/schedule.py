"""`Schedule`: a module, the primitives that transform it, and their trace."""

from __future__ import annotations

from random import Random

from xdsl.dialects.builtin import ModuleOp

from .block_primitives import BlockPrimitives
from .buffer_primitives import BufferPrimitives
from .compute_primitives import ComputePrimitives
from .layout_primitives import LayoutPrimitives
from .lookup import LookupPrimitives
from .loop_primitives import LoopPrimitives
from .sampling import SamplingPrimitives
from .state import ScheduleState
from .trace import Trace


class Schedule(
    LookupPrimitives,
    LoopPrimitives,
    ComputePrimitives,
    BufferPrimitives,
    LayoutPrimitives,
    BlockPrimitives,
    SamplingPrimitives,
):
    """A module that primitives transform in place, and the trace of their calls.

    Methods that find or create blocks and loops return variables for them. A variable is dead once
    a primitive has replaced its block or loop. Default schedules use this class; users have
    `tir.Schedule`.
    """

    def __init__(self, module: ModuleOp, seed: int | None = None):
        super().__init__()
        self.state = ScheduleState(module)
        self.trace = Trace()
        self.random = Random(seed)

    def seed(self, seed: int) -> None:
        """Restart sampling with a seed."""
        self.random = Random(seed)

    def fork_seed(self) -> int:
        """Sample a seed for another schedule."""
        return self.random.getrandbits(31)
