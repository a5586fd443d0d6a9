"""The `tir` dialect: TensorIR's loop nests with blocks, on buffers with symbolic dims."""

from xdsl.ir import Dialect

from .access import AllocBufferOp as AllocBufferOp
from .access import LoadOp as LoadOp
from .access import MatchBufferOp as MatchBufferOp
from .access import StoreOp as StoreOp
from .block import BlockOp as BlockOp
from .block_attributes import Axis as Axis
from .block_attributes import AxisAttr as AxisAttr
from .block_attributes import BoundAttr as BoundAttr
from .block_attributes import BufferRegion as BufferRegion
from .block_attributes import InitOp as InitOp
from .block_attributes import RegionAttr as RegionAttr
from .block_attributes import alternatives as alternatives
from .block_attributes import any_of as any_of
from .calls import CallExternOp as CallExternOp
from .calls import CallIntrinOp as CallIntrinOp
from .calls import DeclBufferOp as DeclBufferOp
from .calls import OpaqueCallOp as OpaqueCallOp
from .calls import StringOp as StringOp
from .control import AttrOp as AttrOp
from .control import BreakOp as BreakOp
from .control import CallOp as CallOp
from .control import ContinueOp as ContinueOp
from .control import JumpOp as JumpOp
from .control import ReturnOp as ReturnOp
from .dot import BFDotOp as BFDotOp
from .dot import DotOp as DotOp
from .dot import MatrixDotOp as MatrixDotOp
from .func import AssertOp as AssertOp
from .func import PrimFuncOp as PrimFuncOp
from .loop import NONTEMPORAL as NONTEMPORAL
from .loop import SUM_BLOCK as SUM_BLOCK
from .loop import ApplyOp as ApplyOp
from .loop import ForOp as ForOp
from .types import BufferType as BufferType
from .types import HandleType as HandleType

TIRDialect = Dialect(
    "tir",
    [
        AllocBufferOp,
        ApplyOp,
        AssertOp,
        AttrOp,
        BlockOp,
        BreakOp,
        CallOp,
        CallExternOp,
        CallIntrinOp,
        BFDotOp,
        ContinueOp,
        DeclBufferOp,
        DotOp,
        MatrixDotOp,
        ForOp,
        InitOp,
        LoadOp,
        MatchBufferOp,
        PrimFuncOp,
        ReturnOp,
        StringOp,
        StoreOp,
    ],
    [AxisAttr, BoundAttr, BufferType, HandleType, RegionAttr],
)
