"""Calls in the `relax` dialect: of functions of the module, and of registered ones; allocation."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FlatSymbolRefAttr,
    StringAttr,
    SymbolRefAttr,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import opt_prop_def, prop_def, result_def, traits_def, var_operand_def
from xdsl.traits import EffectInstance, MemoryEffect, Pure, SymbolTable
from xdsl.utils.exceptions import VerifyException

from ..irdl import AllocatesResult, IRDLOperation, irdl_op_definition
from ..nesting import ancestors
from ..sym import ExprAttr, exprs_of, verify_int64
from .types import TensorType, tensors_in


def verify_outputs(type_: Attribute, op_name: str) -> None:
    """Raise VerifyException unless a call's outputs are tensors of known shape and dtype."""
    tensors = tensors_in(type_)
    if not tensors:
        raise VerifyException(
            f"expected '{op_name}' to give a tensor or a tuple of tensors, got {type_}"
        )
    for tensor in tensors:
        if tensor.dims is None or tensor.dtype is None:
            raise VerifyException(
                f"expected '{op_name}' to give tensors of known shape and dtype, got {tensor}"
            )


class SymbolCallOp(IRDLOperation, ABC):
    """A call of a function of the module."""

    callee = prop_def(FlatSymbolRefAttr)
    args = var_operand_def()
    result = result_def()

    @property
    def callee_name(self) -> str:
        """Name of the function."""
        return self.callee.root_reference.data


class NamedCallOp(IRDLOperation, ABC):
    """A call of a function by name, which need not be in the module."""

    callee = prop_def(StringAttr)
    args = var_operand_def()
    result = result_def()
    assembly_format = "$callee `(` $args `)` attr-dict `:` functional-type($args, $result)"

    def __init__(self, callee: str, args: Sequence[SSAValue], result_type: Attribute):
        super().__init__(
            operands=[list(args)],
            properties={"callee": StringAttr(callee)},
            result_types=[result_type],
        )

    @property
    def callee_name(self) -> str:
        """Name of the function."""
        return self.callee.data


@irdl_op_definition
class CallTIROp(SymbolCallOp):
    """Call a PrimFunc of the module, which writes tensors that this op allocates.

    ``%y = relax.call_tir @relu0(%x) : (!relax.tensor<[1, n], f32>) -> !relax.tensor<[1, n], f32>``;
    TVM's ``R.call_tir``. Several outputs make a tuple. `tir_vars` are the values of index
    parameters. `te_grad_name` names a registered function on tensors for pass `gradient`, and
    `te_grad_kwargs` are keywords of it; TVM's ``R.call_tir_with_grad``.
    """

    name = "relax.call_tir"
    tir_vars = opt_prop_def(ArrayAttr[ExprAttr])
    te_grad_name = opt_prop_def(StringAttr)
    te_grad_kwargs = opt_prop_def(DictionaryAttr)
    traits = traits_def(Pure())
    assembly_format = (
        "$callee `(` $args `)` (`vars` $tir_vars^)? (`gradient` $te_grad_name^)? "
        "(`with` $te_grad_kwargs^)? attr-dict `:` functional-type($args, $result)"
    )

    def __init__(
        self,
        callee: str,
        args: Sequence[SSAValue],
        result_type: Attribute,
        tir_vars: ArrayAttr[ExprAttr] | None = None,
        te_grad_name: str | None = None,
        te_grad_kwargs: DictionaryAttr | None = None,
    ):
        super().__init__(
            operands=[list(args)],
            properties={
                "callee": SymbolRefAttr(callee),
                "tir_vars": tir_vars,
                "te_grad_name": None if te_grad_name is None else StringAttr(te_grad_name),
                "te_grad_kwargs": te_grad_kwargs,
            },
            result_types=[result_type],
        )

    def verify_(self) -> None:
        verify_outputs(self.result.type, self.name)
        for value in exprs_of(self.tir_vars) if self.tir_vars is not None else ():
            verify_int64(value)
        if self.te_grad_kwargs is not None and self.te_grad_name is None:
            raise VerifyException(
                f"expected te_grad_name with te_grad_kwargs, got {self.te_grad_kwargs} alone"
            )


@irdl_op_definition
class CallDPSPackedOp(NamedCallOp):
    """Call a PrimFunc of the module or a registered function in destination-passing style.

    ``%y = relax.call_dps_packed "env.relu"(%x) : (…) -> …``; TVM's ``R.call_dps_packed``. The
    function is looked up in the module first, then in the registry.
    """

    name = "relax.call_dps_packed"
    traits = traits_def(Pure())

    def verify_(self) -> None:
        verify_outputs(self.result.type, self.name)


class CalleeEffect(MemoryEffect):
    """Calls of functions that are declared impure have unknown effects; others have none."""

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance] | None:
        callee = callee_of(op)
        is_impure = callee is not None and callee.properties.get("impure") is not None
        return None if is_impure else frozenset()


def callee_of(call: Operation) -> Operation | None:
    """The function of the module that an operation calls by name, if there is one."""
    module = next((p for p in ancestors(call) if p.has_trait(SymbolTable)), None)
    if module is None:
        return None
    name = call.properties["callee"]
    assert isinstance(name, SymbolRefAttr | StringAttr)
    return SymbolTable.lookup_symbol(module, name)


@irdl_op_definition
class CallOp(SymbolCallOp):
    """Call a graph function of the module: ``%y = relax.call @fused(%x) : (…) -> …``.

    It has the effects of the function.
    """

    name = "relax.call"
    traits = traits_def(CalleeEffect())
    assembly_format = "$callee `(` $args `)` attr-dict `:` functional-type($args, $result)"

    def __init__(self, callee: str, args: Sequence[SSAValue], result_type: Attribute):
        super().__init__(
            operands=[list(args)],
            properties={"callee": SymbolRefAttr(callee)},
            result_types=[result_type],
        )


@irdl_op_definition
class CallPackedOp(NamedCallOp):
    """Call a registered function for its effects, in program order.

    ``relax.call_packed "log"(%x) : (…) -> …``; TVM's ``R.call_packed``. The function may read and
    write its arguments; its result is an object.
    """

    name = "relax.call_packed"


@irdl_op_definition
class AllocTensorOp(IRDLOperation):
    """An uninitialized tensor; TVM's ``R.builtin.alloc_tensor``.

    ``%0 = relax.alloc_tensor : !relax.tensor<[1, 128], f32>``.
    """

    name = "relax.alloc_tensor"
    result = result_def(TensorType)
    traits = traits_def(AllocatesResult())
    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, type_: TensorType):
        super().__init__(result_types=[type_])

    def verify_(self) -> None:
        verify_outputs(self.result.type, self.name)
