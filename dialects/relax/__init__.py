"""The `relax` dialect: graphs of tensor operations with symbolic shapes."""

from xdsl.ir import Dialect

from .call import AllocTensorOp as AllocTensorOp
from .call import CallDPSPackedOp as CallDPSPackedOp
from .call import CallOp as CallOp
from .call import CallPackedOp as CallPackedOp
from .call import CallTIROp as CallTIROp
from .constant import ConstantOp as ConstantOp
from .constant import DataAttr as DataAttr
from .constant import TensorData as TensorData
from .constant import sidecar as sidecar
from .func import DataflowOp as DataflowOp
from .func import FuncOp as FuncOp
from .func import OutputOp as OutputOp
from .func import ReturnOp as ReturnOp
from .operators import OPERATORS as OPERATORS
from .operators import OperatorOp as OperatorOp
from .tuple import TupleGetItemOp as TupleGetItemOp
from .tuple import TupleOp as TupleOp
from .types import ObjectType as ObjectType
from .types import ShapeType as ShapeType
from .types import TensorType as TensorType

RelaxDialect = Dialect(
    "relax",
    [
        AllocTensorOp,
        CallDPSPackedOp,
        CallOp,
        CallPackedOp,
        CallTIROp,
        ConstantOp,
        DataflowOp,
        FuncOp,
        OutputOp,
        ReturnOp,
        TupleGetItemOp,
        TupleOp,
        *OPERATORS.values(),
    ],
    [DataAttr, ObjectType, ShapeType, TensorType],
)
