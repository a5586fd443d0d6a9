"""`tir.Schedule`: the schedule primitives as methods that are recorded and can be replayed."""

from ...lowering.schedule.blocks import ScheduleError as ScheduleError
from .instructions import INSTRUCTIONS as INSTRUCTIONS
from .instructions import Code as Code
from .instructions import Instruction as Instruction
from .instructions import InstructionKind as InstructionKind
from .random_variables import BlockRV as BlockRV
from .random_variables import ExprRV as ExprRV
from .random_variables import LoopRV as LoopRV
from .random_variables import SBlockRV as SBlockRV
from .schedule import Schedule as Schedule
from .state import ScheduleState as ScheduleState
from .trace import Trace as Trace
