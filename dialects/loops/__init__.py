"""The `loops` dialect: affine-like loops over buffers, with vectors and masks.

Blocks, axes and inits are lowered. Bounds, indices and conditions are integer expressions of the
`sym` dialect. Unlike MLIR's affine maps, these allow products of symbols, such as the strides of
dynamic buffers.
"""

from xdsl.ir import Dialect

from .access import LoadOp as LoadOp
from .access import MaskOp as MaskOp
from .access import StoreOp as StoreOp
from .control import FOR_KINDS as FOR_KINDS
from .control import ForOp as ForOp
from .control import IfOp as IfOp
from .control import YieldOp as YieldOp
from .func import FuncOp as FuncOp
from .lanewise import LANEWISE as LANEWISE
from .lanewise import LanewiseOp as LanewiseOp
from .memory import AllocaOp as AllocaOp
from .memory import PrefetchOp as PrefetchOp
from .memory import ViewOp as ViewOp
from .multi_reduction import COMBINING_KINDS as COMBINING_KINDS
from .multi_reduction import Combiner as Combiner
from .multi_reduction import MultiReductionOp as MultiReductionOp
from .multi_reduction import combiner_of as combiner_of

LoopsDialect = Dialect(
    "loops",
    [
        AllocaOp,
        ForOp,
        FuncOp,
        IfOp,
        LanewiseOp,
        LoadOp,
        MaskOp,
        MultiReductionOp,
        PrefetchOp,
        StoreOp,
        ViewOp,
        YieldOp,
    ],
    [],
)
