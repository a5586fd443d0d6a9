"""The `tir` dialect: TensorIR's loop nests with blocks, on buffers with symbolic dims."""

from xdsl.ir import Dialect

from .access import AllocBufferOp as AllocBufferOp
from .access import ApplyOp as ApplyOp
from .access import LoadOp as LoadOp
from .access import MatchBufferOp as MatchBufferOp
from .access import StoreOp as StoreOp
from .func import AssertOp as AssertOp
from .func import CallExternOp as CallExternOp
from .func import PrimFuncOp as PrimFuncOp
from .structure import Axis as Axis
from .structure import AxisAttr as AxisAttr
from .structure import BlockOp as BlockOp
from .structure import BoundAttr as BoundAttr
from .structure import BufferRegion as BufferRegion
from .structure import ForOp as ForOp
from .structure import InitOp as InitOp
from .structure import RegionAttr as RegionAttr
from .types import BufferType as BufferType

TIRDialect = Dialect(
    "tir",
    [
        AllocBufferOp,
        ApplyOp,
        AssertOp,
        BlockOp,
        CallExternOp,
        ForOp,
        InitOp,
        LoadOp,
        MatchBufferOp,
        PrimFuncOp,
        StoreOp,
    ],
    [AxisAttr, BoundAttr, BufferType, RegionAttr],
)
