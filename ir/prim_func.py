"""Views of kernels: TVM's ``tir.PrimFunc``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from .buffers import Buffer, parameters
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
    """A function on buffers; TVM's ``tir.PrimFunc``: a view of the operation `op`."""

    def __init__(
        self,
        op: PrimFuncOp | Sequence[Any],
        body: Statement | None = None,
        ret_type: object = None,
        buffer_map: Mapping[Any, Buffer] | None = None,
        attrs: Mapping[str, Any] | None = None,
        span: object = None,
    ):
        """A view of an operation, or with `body` a function of parameters.

        Parameters are buffers, scalars and handles, which `buffer_map` gives buffers; the body is
        copied. It returns what a `Return` in it says, whatever `ret_type` is. Raises TypeError for
        parameters that are none of these, NameError for another variable, BuilderError for a
        buffer that is neither a parameter nor allocated, and for a predicate that is no conjunction
        of bounds, and Diagnostic where the function breaks a rule of kernels.
        """
        if body is not None:
            from .kernel_builder import assemble_kernel

            assert not isinstance(op, PrimFuncOp)
            op = assemble_kernel(op, body, buffer_map, attrs)
        if not isinstance(op, PrimFuncOp):
            raise TypeError(f"expected a PrimFunc of parameters and a body, got {op!r}")
        super().__init__(op)

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

    def with_body(self, new_body: Statement) -> PrimFunc:
        """A function of the same name, parameters and attributes with another body.

        Raises what `PrimFunc` raises.
        """
        new, own = PrimFunc(self.params, new_body), self.op.properties
        kept = ("sym_name", "attrs", "param_names")
        new.op.properties |= {key: own[key] for key in kept if key in own}
        return new

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
