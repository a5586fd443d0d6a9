"""`Schedule`: a module, and the primitives that change it and record what they did."""

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
    """A module that primitives change in place, step by step, and what they did.

    Methods that find or make blocks and loops return variables for them; a variable whose loop a
    primitive replaced is dead. The default schedules use it as it is, users with `tir.Schedule`.
    """

    def __init__(self, module: ModuleOp, seed: int | None = None):
        super().__init__()
        self.state = ScheduleState(module)
        self.trace = Trace()
        self.random = Random(seed)

    def seed(self, seed: int) -> None:
        """Begin draws again with a seed."""
        self.random = Random(seed)

    def fork_seed(self) -> int:
        """A seed for another schedule."""
        return self.random.getrandbits(31)
