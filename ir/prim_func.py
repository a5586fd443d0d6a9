"""Views of kernels: TVM's ``tir.PrimFunc``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import IndexType
from xdsl.ir import BlockArgument

from ..dialects.dtypes import dtype_name
from ..dialects.relax.types import TensorType
from ..dialects.tir.control import result_of
from ..dialects.tir.func import PrimFuncOp
from ..dialects.tir.types import BufferType, HandleType
from ..lowering.functions import PRIVATE
from ..lowering.verify_calls import written_params
from .base_function import BaseFunc
from .buffers import parameters
from .specialization import specialize
from .struct_info import (
    AnyStructInfo,
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    TupleStructInfo,
    struct_info,
)

if TYPE_CHECKING:
    from .statements import Statement


class PrimFunc(BaseFunc):
    """A function on buffers; TVM's ``tir.PrimFunc``."""

    @property
    def prim_func(self) -> PrimFuncOp:
        """The operation, by its class."""
        assert isinstance(self.op, PrimFuncOp)
        return self.op

    @property
    def params(self) -> list[Any]:
        """The parameters: buffers, and scalars as expressions."""
        return parameters(self.prim_func)

    @property
    def body(self) -> Statement:
        """The statements, to be looked at; in a block "root" if the function has blocks."""
        from .block_views import kernel_body

        return kernel_body(self.prim_func)

    @property
    def struct_info(self) -> AnyStructInfo:
        """What is known of the function: it takes tensors for buffers, and returns a scalar or ().

        It is pure if it stores to no parameter.
        """
        func = self.prim_func
        params = [self._parameter_info(p) for p in func.params]
        returned = result_of(func)
        result: AnyStructInfo = TupleStructInfo([])
        if returned is not None:
            result = PrimStructInfo(dtype_name(returned.element_type))
        return FuncStructInfo(params, result, purity=not written_params(func))

    ty = struct_info

    def _parameter_info(self, param: BlockArgument) -> AnyStructInfo:
        match param.type:
            case BufferType() as buffer:
                return struct_info(TensorType.of(buffer.dims, buffer.element_type))
            case HandleType():
                return ObjectStructInfo()
            case IndexType():
                return PrimStructInfo("int64")
            case _:
                return PrimStructInfo(dtype_name(self.prim_func.element_type_of(param)))

    @property
    def attrs(self) -> Mapping[str, Any] | None:
        """The attributes as Python values; of a function that is not private also its name.

        TVM's ``global_symbol``. `None` if there are none.
        """
        given = {k: v for k, v in (super().attrs or {}).items() if k != PRIVATE}
        is_private = self.prim_func.attr(PRIVATE) is not None
        return {**({} if is_private else {"global_symbol": self.name}), **given} or None

    def specialize(self, param_map: Mapping[Any, Any]) -> PrimFunc:
        """A copy where buffers are like other ones (`tir.decl_buffer`), and numbers have values.

        What a buffer says of symbols holds for all parameters; numbers are no parameters any more.
        Without entries it is the function itself. Raises ValueError where they contradict each
        other or the parameters.
        """
        return PrimFunc(specialize(self.prim_func, param_map)) if param_map else self
