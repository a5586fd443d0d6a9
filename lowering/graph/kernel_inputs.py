"""The operands of an operator as the parameters of the kernel to build for it."""

from __future__ import annotations

from typing import TypeAlias

from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import SSAValue

from ...dialects import relax
from ...dialects.diagnostics import Diagnostic
from ...dialects.int_expr import IntExpr, Sym
from ...dialects.relax.prim_values import is_open, tensor_of
from ...dialects.sym import expr_symbols
from ...te.broadcast import ConstantTensor, ScalarTensor
from ...te.tensor import Tensor, placeholder, shape_of
from ..functions import unique_name
from ..substitute import substituted

Input: TypeAlias = "relax.TensorType | relax.PrimType | relax.TensorData"
"""An operand of a kernel: the type of a tensor or scalar, or the value of a scalar constant."""


def tensor_for(given: Input, name: str) -> Tensor:
    """The tensor, or scalar, that stands for an operand in tensor expressions."""
    if isinstance(given, relax.TensorData):
        return ConstantTensor(given.number(), given.dtype)
    if isinstance(given, relax.PrimType):
        return ScalarTensor(name, given.dtype)
    return placeholder(shape_of(given.dims or ()), given.dtype or "", name=name)


def opaque_dims(inputs: list[Input]) -> tuple[list[Input], dict[IntExpr, IntExpr]]:
    """The inputs with a new symbol for each composed dim, such as ``n * 4``, and the symbols."""
    names: dict[IntExpr, IntExpr] = {}
    used = {s for i in inputs if isinstance(i, relax.TensorType) for s in i.symbols()}
    renamed: list[Input] = []
    for given in inputs:
        if not isinstance(given, relax.TensorType):
            renamed.append(given)
            continue
        dims: list[IntExpr] = []
        for dim in given.dims or ():
            if dim.is_constant or isinstance(dim.as_atom, Sym):
                dims.append(dim)
                continue
            if dim not in names:
                symbol = unique_name("d", used)
                used.add(symbol)
                names[dim] = IntExpr.of(Sym(symbol))
            dims.append(names[dim])
        renamed.append(relax.TensorType.of(dims, given.element_type))
    return renamed, names


def infers_same_result(
    op: relax.OperatorOp, inputs: list[Input], names: dict[IntExpr, IntExpr]
) -> bool:
    """Whether the inferred type of the result is the same with new symbols for composed dims.

    It is not if attributes use symbols as well: dims must keep their relation to these.
    """
    if any(expr_symbols(p) for p in op.properties.values()):
        return False
    types = [_tensor_type(i) for i in inputs]
    try:
        inferred = type(op).infer(types, op.attribute_values())
    except ValueError:
        return False
    return substituted(inferred, {str(s): dim for dim, s in names.items()}) == op.result.type


def _tensor_type(given: Input) -> relax.TensorType:
    """The type of an operand in the graph."""
    if isinstance(given, relax.PrimType):
        return tensor_of(given)
    return given if isinstance(given, relax.TensorType) else given.tensor_type()


def scalar_of(operand: SSAValue) -> SSAValue | None:
    """The float of unknown value that an operand holds, which TVM passes to kernels by value."""
    prim = operand.owner.prim if isinstance(operand.owner, relax.PrimToTensorOp) else None
    if prim is None or not is_open(prim.type):
        return None
    return prim if isinstance(prim.type.element_type, AnyFloat) else None


def input_of(op: relax.OperatorOp, label: str, operand: SSAValue, scalars: bool) -> Input:
    """What a kernel gets for an operand, with `scalars` also a float by value.

    Raises Diagnostic for a tensor of unknown shape or dtype.
    """
    type_ = operand.type
    if not isinstance(type_, relax.TensorType) or type_.dims is None or type_.dtype is None:
        raise Diagnostic(
            f"expected {label} of '{op.name}' to have a known shape and dtype, got {type_}",
            op,
        )
    if scalars and (scalar := scalar_of(operand)) is not None:
        assert isinstance(scalar.type, relax.PrimType)
        return scalar.type
    owner = operand.owner
    if isinstance(owner, relax.ConstantOp) and not type_.dims and type_.dtype != "bfloat16":
        return owner.value.data
    return type_
