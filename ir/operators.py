"""Operations of operators: what is given as operands becomes values, and types are inferred."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import TupleType
from xdsl.ir import SSAValue

from ..dialects import relax
from ..dialects.relax.type_relations import forget_symbols
from ..dialects.relax.types import tensors_in, type_symbols
from ..lowering.substitute import substituted
from ..lowering.verify_calls import unify_invoke
from .constants import data_of


def to_value(value: Any, dtype: str | None = None) -> SSAValue:
    """The value behind an expression; arrays become constants, tuples and lists tuples.

    Python numbers become constants of `dtype`. Raises TypeError for anything else.
    """
    if isinstance(value, SSAValue):
        return value  # pyright: ignore[reportUnknownVariableType]
    if isinstance(ssa := getattr(value, "borrowed", None), SSAValue):
        return ssa  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, tuple | list):
        return relax.TupleOp([to_value(v, dtype) for v in value]).result  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, bool | int | float):
        return relax.ConstantOp(data_of(value, dtype)).result
    if hasattr(value, "__array_interface__") or hasattr(value, "__dlpack__"):
        return relax.ConstantOp(data_of(value)).result
    raise TypeError(f"expected an expression, an array or a number, got {type(value).__name__}")


def operand_values(operands: Sequence[Any]) -> list[SSAValue]:
    """The values of operands; a number takes the dtype of the first tensor of numbers among them.

    Conditions do not count: in ``where(c, x, 0)`` the 0 is what `x` is.
    """
    values = {i: to_value(o) for i, o in enumerate(operands) if not _is_number(o)}
    dtypes = [t.dtype for v in values.values() for t in tensors_in(v.type) if t.dtype is not None]
    dtype = next((d for d in dtypes if d != "bool"), None)
    return [values[i] if i in values else to_value(o, dtype) for i, o in enumerate(operands)]


def _is_number(operand: Any) -> bool:
    return isinstance(operand, bool | int | float)


def fields_of(value: SSAValue) -> list[SSAValue]:
    """The fields of a tuple, of any other value itself."""
    if isinstance(value.owner, relax.TupleOp):
        return list(value.owner.fields)
    if not isinstance(value.type, TupleType):
        return [value]
    return [relax.TupleGetItemOp(value, i).result for i in range(len(value.type.types.data))]


def attribute_value(value: Any) -> Any:
    """An attribute of a call: shapes and numbers of the graph as dims, others as they are."""
    type_ = getattr(getattr(value, "borrowed", None), "type", None)
    if isinstance(type_, relax.ShapeType) and type_.dims is not None:
        return type_.dims
    if isinstance(type_, relax.PrimType) and type_.expr is not None:
        return type_.expr
    if isinstance(value, list | tuple):
        return tuple(attribute_value(v) for v in value)  # pyright: ignore[reportUnknownVariableType]
    return value


def operator_op(
    operator: type[relax.OperatorOp], operands: Sequence[Any], attributes: Mapping[str, Any]
) -> relax.OperatorOp:
    """The operation of an operator on these operands, with its type inferred."""
    values = operand_values(operands)
    if operator.variadic_operand() is not None:
        values = [f for v in values for f in fields_of(v)]
    return operator.of(values, {k: attribute_value(v) for k, v in attributes.items()})


def invoke_op(function: SSAValue, values: Sequence[SSAValue]) -> relax.InvokeOp:
    """The call of a function value, whose result type follows from the arguments."""
    type_ = function.type
    if not isinstance(type_, relax.FuncType):
        raise TypeError(f"expected a function to call, got {type_}")
    unified = unify_invoke(function, [v.type for v in values])
    known = {s for v in values for s in type_symbols(v.type)}
    result = forget_symbols(substituted(type_.result, unified.symbols), known)
    return relax.InvokeOp(function, values, result)
