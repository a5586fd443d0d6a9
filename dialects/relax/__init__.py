"""The `relax` dialect: graphs of tensor operations with symbolic shapes."""

from collections.abc import Iterator
from itertools import chain

from xdsl.ir import Dialect, Operation

from .call import AllocTensorOp as AllocTensorOp
from .call import CallDPSPackedOp as CallDPSPackedOp
from .call import CallOp as CallOp
from .call import CallPackedOp as CallPackedOp
from .call import CallTIROp as CallTIROp
from .call import SymbolCallOp as SymbolCallOp
from .call_inplace import CallTIRInplaceOp as CallTIRInplaceOp
from .call_pure_packed import CallPurePackedOp as CallPurePackedOp
from .closure import FuncType as FuncType
from .closure import InvokeOp as InvokeOp
from .closure import LocalFuncOp as LocalFuncOp
from .closure import OwnFuncOp as OwnFuncOp
from .constant import ConstantOp as ConstantOp
from .constant import DataAttr as DataAttr
from .constant import TensorData as TensorData
from .constant import sidecar as sidecar
from .control import IfOp as IfOp
from .control import YieldOp as YieldOp
from .func import SYMBOL_BOUNDS as SYMBOL_BOUNDS
from .func import DataflowOp as DataflowOp
from .func import FuncOp as FuncOp
from .func import OutputOp as OutputOp
from .func import ReturnOp as ReturnOp
from .loop import LoopOp as LoopOp
from .memory import AllocStorageOp as AllocStorageOp
from .memory import CallKernelOp as CallKernelOp
from .memory import KillStorageOp as KillStorageOp
from .memory import KillTensorOp as KillTensorOp
from .memory import StorageTensorOp as StorageTensorOp
from .messages import AssertOp as AssertOp
from .messages import PrintOp as PrintOp
from .objects import StringOp as StringOp
from .operators import OPERATORS as OPERATORS
from .operators import OperatorOp as OperatorOp
from .operators import register_operator as register_operator
from .prim_values import PrimToTensorOp as PrimToTensorOp
from .prim_values import TensorToPrimOp as TensorToPrimOp
from .tuple import TupleGetItemOp as TupleGetItemOp
from .tuple import TupleOp as TupleOp
from .types import ObjectType as ObjectType
from .types import PrimType as PrimType
from .types import ShapeType as ShapeType
from .types import TensorType as TensorType
from .values import MatchCastOp as MatchCastOp
from .values import PrimValueOp as PrimValueOp
from .values import ShapeOfOp as ShapeOfOp
from .values import ShapeOp as ShapeOp
from .values import TensorToShapeOp as TensorToShapeOp


class _RelaxDialect(Dialect):
    """The operators are those that are registered when a context loads the dialect."""

    @property
    def operations(self) -> Iterator[type[Operation]]:
        return chain(super().operations, OPERATORS.values())


RelaxDialect = _RelaxDialect(
    "relax",
    [
        AllocStorageOp,
        AllocTensorOp,
        AssertOp,
        CallDPSPackedOp,
        CallKernelOp,
        CallOp,
        CallPackedOp,
        CallPurePackedOp,
        CallTIRInplaceOp,
        CallTIROp,
        ConstantOp,
        DataflowOp,
        FuncOp,
        IfOp,
        InvokeOp,
        KillStorageOp,
        KillTensorOp,
        LocalFuncOp,
        LoopOp,
        MatchCastOp,
        OutputOp,
        OwnFuncOp,
        PrimToTensorOp,
        PrimValueOp,
        PrintOp,
        ReturnOp,
        ShapeOfOp,
        ShapeOp,
        StorageTensorOp,
        StringOp,
        TensorToPrimOp,
        TensorToShapeOp,
        TupleGetItemOp,
        TupleOp,
        YieldOp,
    ],
    [DataAttr, FuncType, ObjectType, PrimType, ShapeType, TensorType],
)
