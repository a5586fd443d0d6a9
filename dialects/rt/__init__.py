"""The `rt` dialect: programs on planned storage.

Argument checks, calls in destination-passing style, and ordered packed calls.
"""

from xdsl.ir import Dialect

from .call import CallDPSOp as CallDPSOp
from .call import DataflowOp as DataflowOp
from .call_packed import CallPackedOp as CallPackedOp
from .call_packed import results_of as results_of
from .constant import ConstantOp as ConstantOp
from .constant import LoadedOp as LoadedOp
from .control import AssertOp as AssertOp
from .control import CheckOp as CheckOp
from .control import IfOp as IfOp
from .func import FuncOp as FuncOp
from .loop import ForOp as ForOp
from .loop import SliceOp as SliceOp
from .memory import AllocOp as AllocOp
from .memory import ArenaOp as ArenaOp
from .memory import CopyOp as CopyOp
from .memory import ReinterpretOp as ReinterpretOp
from .memory import SlotOp as SlotOp
from .memory import ViewOp as ViewOp
from .memory import memory_of as memory_of
from .sizes import ReadSizesOp as ReadSizesOp

RTDialect = Dialect(
    "rt",
    [
        AllocOp,
        ArenaOp,
        AssertOp,
        CallDPSOp,
        CallPackedOp,
        CheckOp,
        ConstantOp,
        CopyOp,
        DataflowOp,
        ForOp,
        FuncOp,
        IfOp,
        LoadedOp,
        ReadSizesOp,
        ReinterpretOp,
        SliceOp,
        SlotOp,
        ViewOp,
    ],
    [],
)
