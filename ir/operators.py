"""Operations of operators: what is given as operands becomes values, and types are inferred."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np
from xdsl.dialects.builtin import TupleType, i64
from xdsl.ir import Attribute, Operation, SSAValue

from ..dialects import relax
from ..dialects.dims import dim_of
from ..dialects.dtypes import element_type, is_float
from ..dialects.int_expr import IntExpr
from ..dialects.relax import PrimType, ShapeType, TensorData, TensorType
from ..dialects.relax.prim_values import is_open
from ..dialects.relax.type_relations import forget_symbols
from ..dialects.relax.types import shape_text, tensors_in, type_symbols
from ..lowering.graph.lower_prims import number_tensor, result_of
from ..lowering.substitute import substituted
from ..lowering.verify_calls import unify_invoke
from ..runtime.dtype import to_bfloat16
from ..runtime.tensor import as_tensor
from ..te.expr import Imm
from .struct_info import to_type


def constant_data(value: Any, dtype: str) -> TensorData:
    """A number, nested list or array as constant data; bfloat16 is rounded to nearest even.

    Raises ValueError for numbers that the dtype cannot hold.
    """
    element_type(dtype)
    given = np.asarray(value)
    if given.dtype.kind not in "biuf" and given.dtype.name != "bfloat16":
        raise ValueError(f"expected numbers for a constant, got {given.dtype}")
    if dtype == "bfloat16":
        return TensorData.of(to_bfloat16(given), dtype)
    with np.errstate(all="ignore"):
        array = given.astype(dtype)
    if not is_float(dtype) and np.any(array != given):
        raise ValueError(f"expected numbers of {dtype}, got {value}")
    return TensorData.of(array, dtype)


def tensor_data(value: Any, key: str = "") -> TensorData:
    """A Tensor, NumPy or torch array as constant data, not copied where it is contiguous.

    Constant data is returned as it is: functions that share it have one constant.
    """
    if isinstance(value, TensorData):
        return value
    detach = getattr(value, "detach", None)  # torch shares no memory of what records gradients
    tensor = as_tensor(value if detach is None else detach())
    return TensorData.of(tensor.view(), tensor.dtype, key)


def bound_values(
    func: relax.FuncOp, values: Mapping[Any, Any]
) -> dict[Any, TensorData | ShapeType | PrimType]:
    """What parameters of a function are bound to, by variable, name or position."""
    types: dict[Any, Attribute] = {}
    for index, (name, param) in enumerate(zip(func.names, func.params, strict=True)):
        types[name] = types[index] = param.type
    named = {getattr(k, "name_hint", k): v for k, v in values.items()}
    return {k: _bound_value(v, str(k), types.get(k)) for k, v in named.items()}


def _bound_value(
    value: Any, name: str, param: Attribute | None
) -> TensorData | ShapeType | PrimType:
    """What a parameter may be bound to: an array, a constant, a number, an expression of a shape.

    Numbers have their own dtype, those of Python that of the parameter, whose type is `param`;
    raises ValueError for one that it cannot hold.
    """
    ssa = getattr(value, "borrowed", None)
    if isinstance(constant := getattr(ssa, "owner", None), relax.ConstantOp):
        return constant.value.data
    type_ = getattr(ssa, "type", None)
    if isinstance(type_, ShapeType) and type_.dims is not None:
        return type_
    if isinstance(type_, PrimType) and type_.expr is not None:
        return type_
    number = value.value if isinstance(value, Imm) else getattr(value, "expr", value)
    dtype = str(getattr(value, "dtype", param.dtype if isinstance(param, PrimType) else "int64"))
    if isinstance(number, int | IntExpr) and not isinstance(number, bool) and dtype == "int64":
        return PrimType.of(i64, number)
    if isinstance(number, bool | int | float):
        try:
            return constant_data(number, dtype)
        except ValueError as error:
            raise ValueError(f"parameter '{name}': {error}") from None
    return tensor_data(value, name)


def data_of(value: Any, annotation: Any = None, key: str = "") -> TensorData:
    """Constant data of a dtype or struct info; without one, of the dtype that the value has.

    Python numbers are float32, int32 or bool; arrays are shared where no conversion is needed.
    Raises ValueError with one line for another shape than the struct info's.
    """
    wanted, type_ = None, None
    if isinstance(annotation, str):
        wanted = annotation
    elif annotation is not None:
        type_ = _tensor_type(annotation)
        wanted = type_.dtype
    data = _data(value, wanted, key)
    if type_ is not None and type_.dims is not None:
        shape = data.tensor_type()
        if shape.dims != type_.dims:
            raise ValueError(
                f"expected a constant of shape {shape_text(type_)}, got {shape_text(shape)}"
            )
    return data


def _tensor_type(annotation: Any) -> TensorType:
    if str(annotation).startswith("torch."):
        return TensorType.of(None, element_type(str(annotation).removeprefix("torch.")))
    if isinstance(annotation, np.dtype) or isinstance(annotation, type):
        return TensorType.of(None, element_type(str(np.dtype(annotation))))  # pyright: ignore[reportUnknownArgumentType, reportArgumentType]
    type_ = to_type(annotation)
    if not isinstance(type_, TensorType):
        raise ValueError(f"expected the dtype or struct info of a tensor, got {annotation!r}")
    return type_


def _data(value: Any, dtype: str | None, key: str) -> TensorData:
    if isinstance(value, bool | int | float | list | tuple):
        return constant_data(value, dtype or default_dtype(value))
    data = tensor_data(value, key)
    if dtype is None or data.dtype == dtype:
        return data
    return constant_data(as_tensor(value), dtype)


def default_dtype(value: Any) -> str:
    """The dtype of a constant of Python numbers: int32, float32 or bool."""
    kind = np.asarray(value).dtype.kind
    return {"b": "bool", "i": "int32", "u": "int32"}.get(kind, "float32")


def to_value(value: Any, dtype: str | None = None) -> SSAValue:
    """The value behind an expression; arrays become constants, tuples and lists tuples.

    Python numbers become constants of `dtype`, expressions of symbols scalars. Raises TypeError for
    anything else.
    """
    if isinstance(value, SSAValue):
        return value  # pyright: ignore[reportUnknownVariableType]
    if isinstance(ssa := getattr(value, "borrowed", None), SSAValue):
        return ssa  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, tuple | list):
        return relax.TupleOp([to_value(v, dtype) for v in value]).result  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, bool | int | float):
        return relax.ConstantOp(data_of(value, dtype)).result
    if isinstance(number := getattr(value, "expr", None), IntExpr):  # pyright: ignore[reportUnknownArgumentType]
        return relax.PrimValueOp(number).result
    if hasattr(value, "__array_interface__") or hasattr(value, "__dlpack__"):
        return relax.ConstantOp(data_of(value)).result
    raise TypeError(f"expected an expression, an array or a number, got {type(value).__name__}")


def prim_op(
    value: Any,
    dtype: str | None = None,
    emitted: Callable[[Operation], SSAValue] = lambda op: op.results[0],
) -> Operation:
    """The operation of a number as a value that is no tensor, for functions that take such.

    Ints are int64 and floats float64 unless there is a `dtype`. `emitted` puts operations into the
    program. Raises ValueError for a number that the dtype cannot hold.
    """
    given = getattr(value, "value", value)  # of an expression that is a number
    if not isinstance(given, bool | int | float | np.generic):
        return relax.PrimValueOp(dim_of(value))
    if type(value) is int:
        dtype = dtype or "int64"
    data = constant_data(given, dtype or str(getattr(value, "dtype", np.asarray(given).dtype)))
    if data.dtype == "int64":
        return relax.PrimValueOp(int(data.values))
    return relax.TensorToPrimOp(emitted(relax.ConstantOp(data)))


def operand_values(operands: Sequence[Any]) -> list[SSAValue]:
    """The values of operands of operators; numbers have the dtype of the values beside them."""
    values = {i: to_value(o) for i, o in enumerate(operands) if not is_number(o)}
    dtype = _number_dtype(values.values())
    return [values[i] if i in values else to_value(o, dtype) for i, o in enumerate(operands)]


def argument_values(args: Sequence[Any]) -> list[SSAValue]:
    """The values of arguments of functions: a number beside scalars alone is a scalar."""
    values = {i: to_value(a) for i, a in enumerate(args) if not is_number(a)}
    if not values or not all(isinstance(v.type, PrimType) for v in values.values()):
        return operand_values([values.get(i, a) for i, a in enumerate(args)])
    dtype = _number_dtype(v for v in values.values() if is_open(v.type))
    return [values[i] if i in values else prim_op(a, dtype).results[0] for i, a in enumerate(args)]


def is_number(operand: Any) -> TypeGuard[bool | int | float]:
    """Whether an operand is a number of Python."""
    return isinstance(operand, bool | int | float)


def number_data(number: bool | int | float, others: Iterable[SSAValue]) -> TensorData:
    """The constant that a number is beside other operands."""
    return data_of(number, _number_dtype(others))


def _number_dtype(others: Iterable[SSAValue]) -> str | None:
    """The dtype of a number beside values: that of the first scalar or tensor of numbers.

    Conditions do not count: in ``where(c, x, 0)`` the 0 is what `x` is.
    """
    found = [dtype for value in others for dtype in _dtypes(value.type)]
    return next((d for d in found if d not in (None, "bool")), None)


def _dtypes(type_: Attribute) -> list[str | None]:
    return [type_.dtype] if isinstance(type_, PrimType) else [t.dtype for t in tensors_in(type_)]


def fields_of(value: SSAValue) -> list[SSAValue]:
    """The fields of a tuple, of any other value itself."""
    if isinstance(value.owner, relax.TupleOp):
        return list(value.owner.fields)
    if not isinstance(value.type, TupleType):
        return [value]
    return [relax.TupleGetItemOp(value, i).result for i in range(len(value.type.types.data))]


def attribute_value(value: Any) -> Any:
    """An attribute of a call: shapes and numbers of the graph as dims, others as they are.

    A constant of rank 0 is its number.
    """
    ssa = getattr(value, "borrowed", value)
    type_ = getattr(ssa, "type", None)
    if isinstance(type_, TensorType) and isinstance(ssa.owner, relax.ConstantOp):
        is_number = type_.rank == 0 and type_.dtype != "bfloat16"
        return ssa.owner.value.data.number() if is_number else value
    if isinstance(type_, relax.ShapeType) and type_.dims is not None:
        return type_.dims
    if isinstance(type_, relax.PrimType) and type_.expr is not None:
        return type_.expr
    if isinstance(value, list | tuple):
        return tuple(attribute_value(v) for v in value)  # pyright: ignore[reportUnknownVariableType]
    return value


def operator_op(
    operator: type[relax.OperatorOp], operands: Sequence[Any], attributes: Mapping[str, Any]
) -> Operation:
    """The operation of an operator on these operands, with its type inferred."""
    given = operand_values(operands)
    beside = [None if is_number(o) else v for o, v in zip(operands, given, strict=True)]
    values = [number_tensor(v, lambda op: op.results[0]) for v in given]
    if operator.variadic_operand() is not None:
        values = [f for v in values for f in fields_of(v)]
    made = operator.of(values, {k: attribute_value(v) for k, v in attributes.items()})
    return result_of(made, beside)


def invoke_op(function: SSAValue, values: Sequence[SSAValue]) -> relax.InvokeOp:
    """The call of a function value, whose result type follows from the arguments."""
    type_ = function.type
    if not isinstance(type_, relax.FuncType):
        raise TypeError(f"expected a function to call, got {type_}")
    unified = unify_invoke(function, [v.type for v in values])
    known = {s for v in values for s in type_symbols(v.type)}
    result = forget_symbols(substituted(type_.result, unified.symbols), known)
    return relax.InvokeOp(function, values, result)
