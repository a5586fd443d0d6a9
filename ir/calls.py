"""Calls as TVM sees them: what is called, with which arguments, and the operation for both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from xdsl.dialects.builtin import ModuleOp, TupleType
from xdsl.ir import Attribute, Operation, SSAValue

from ..dialects import relax, tir
from ..dialects.dtypes import element_type
from ..dialects.relax.type_relations import forget_symbols
from ..dialects.relax.types import type_symbols
from ..dialects.sym import expr_array, exprs_of
from ..lowering.call_signature import Formal, unify
from ..lowering.functions import count_text, functions_by_name
from ..lowering.substitute import set_type, substituted
from ..lowering.verify_calls import unify_graph_call, unify_kernel_call
from .detached import erased_on_error
from .dims import dims_of, shape_of
from .function import function_view
from .module import GlobalVar
from .op import Op
from .operators import fields_of, operand_values, operator_op, to_value
from .struct_info import TupleStructInfo, to_type


class ExternFunc:
    """A registered function by its name, as in ``call_dps_packed``."""

    def __init__(self, global_symbol: str):
        self.global_symbol = global_symbol

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ExternFunc) and self.global_symbol == other.global_symbol

    def __hash__(self) -> int:
        return hash(self.global_symbol)

    def __call__(self, *args: Any) -> Any:
        from .call_expr import Call

        return Call(self, args)

    def __repr__(self) -> str:
        return f'R.ExternFunc("{self.global_symbol}")'


def call_op(called: Any, args: Sequence[Any], attrs: Any, sinfo_args: Any) -> Operation:
    """The detached operation of a call, with its type inferred or taken from `sinfo_args`.

    Raises ValueError, TypeError or Diagnostic with one line where it is ill-typed.
    """
    match called:
        case Op(name=name) if name in relax.OPERATORS:
            return _operator(relax.OPERATORS[name], args, dict(attrs or {}))
        case Op(name=name):
            return _SPECIAL[name](args, dict(attrs or {}), _one(sinfo_args))
        case GlobalVar():
            return graph_call(called, operand_values(args))
        case ExternFunc():
            type_ = relax.ObjectType() if sinfo_args is None else _one(sinfo_args)
            return relax.CallPackedOp(called.global_symbol, operand_values(args), type_)
        case _ if hasattr(called, "borrowed"):
            return _invoke(to_value(called), operand_values(args))
        case _:
            raise TypeError(
                f"expected an operator, a global variable or an external function to call, "
                f"got {type(called).__name__}"
            )


def _operator(
    operator: type[relax.OperatorOp], args: Sequence[Any], attrs: dict[str, Any]
) -> Operation:
    if operator.variadic_operand() is None and len(args) > len(operator.operand_names()):
        operands, attrs = operator.bind(args, attrs)
        return operator_op(operator, operands, attrs)
    return operator_op(operator, args, attrs)


_CALLEES: WeakKeyDictionary[Operation, GlobalVar] = WeakKeyDictionary()
"""What calls outside of a module call, as they were made."""


def graph_call(called: GlobalVar, values: Sequence[SSAValue]) -> relax.CallOp:
    """The call of a graph function, whose result type follows from the arguments."""
    callee = None if called.function is None else called.function.op
    name = called.name_hint
    if not isinstance(callee, relax.FuncOp):
        what = "a name alone" if callee is None else "a PrimFunc: use call_tir"
        raise ValueError(f"expected '{name}' to be a graph function of a module, got {what}")
    call = relax.CallOp(name, values, callee.result_type)
    with erased_on_error(call):
        symbols = unify_graph_call(call, callee).symbols
    known = {s for v in values for s in type_symbols(v.type)}
    set_type(call.result, forget_symbols(substituted(callee.result_type, symbols), known))
    _CALLEES[call] = called
    return call


def _invoke(function: SSAValue, values: Sequence[SSAValue]) -> relax.InvokeOp:
    """The call of a function value, whose result type follows from the arguments."""
    type_ = function.type
    if not isinstance(type_, relax.FuncType):
        raise TypeError(f"expected a function to call, got {type_}")
    name, params = function.name_hint or "a function", type_.params.data
    if len(params) != len(values):
        raise ValueError(
            f"'{name}' expects {count_text(len(params), 'argument')}, got {len(values)}"
        )
    pairs = [
        (Formal(f"argument {i}", p), v.type)
        for i, (p, v) in enumerate(zip(params, values, strict=True))
        if isinstance(p, relax.TensorType) and isinstance(v.type, relax.TensorType)
    ]
    unified = unify(f"call of '{name}'", [f for f, _ in pairs], [t for _, t in pairs])
    known = {s for v in values for s in type_symbols(v.type)}
    result = forget_symbols(substituted(type_.result, unified.symbols), known)
    return relax.InvokeOp(function, values, result)


def kernel_call(
    called: Any, args: Any, out: Attribute, tir_vars: Any = None
) -> relax.CallTIROp | relax.CallDPSPackedOp:
    """A call in destination-passing style: of a PrimFunc of the module, or of a name.

    A PrimFunc that is known is checked against the arguments.
    """
    values = _tensors(args)
    if isinstance(called, ExternFunc):
        called = called.global_symbol
    if isinstance(called, str):
        return relax.CallDPSPackedOp(called, values, out)
    if not isinstance(called, GlobalVar):
        raise TypeError(f"expected a global variable or a name, got {type(called).__name__}")
    variables = None if tir_vars is None else expr_array(dims_of(tir_vars))
    call = relax.CallTIROp(called.name_hint, values, out, variables)
    callee = None if called.function is None else called.function.op
    if isinstance(callee, tir.PrimFuncOp):
        with erased_on_error(call):
            unify_kernel_call(call, callee)
    return call


def _tensors(args: Any) -> list[SSAValue]:
    if isinstance(args, list | tuple):
        return operand_values(args)  # pyright: ignore[reportUnknownArgumentType]
    return fields_of(to_value(args))


def output_type(out: Any, dtype: Any = None) -> Attribute:
    """The type of a call's results: a struct info, a list of them, or shapes with a dtype."""
    if dtype is None:
        return _one(out)
    if isinstance(out, list):
        dtypes = dtype if isinstance(dtype, list) else [dtype] * len(out)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        return _one([output_type(o, d) for o, d in zip(out, dtypes, strict=True)])  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return relax.TensorType.of(dims_of(out), element_type(str(dtype)))


def _one(infos: Any) -> Any:
    """One struct info as its type, several as a tuple type, none as `None`."""
    if not isinstance(infos, list | tuple):
        return None if infos is None else to_type(infos)
    if len(infos) == 1:  # pyright: ignore[reportUnknownArgumentType]
        return to_type(infos[0])
    return TupleStructInfo(infos).type  # pyright: ignore[reportUnknownArgumentType]


def _alloc(args: Sequence[Any], attrs: dict[str, Any], info: Any) -> Operation:
    shape, *dtype = args
    type_ = info or output_type(shape, attrs.get("dtype", *dtype))
    if not isinstance(type_, relax.TensorType):
        raise ValueError(f"expected the shape of one tensor, got {type_}")
    return relax.AllocTensorOp(type_)


def _assert(args: Sequence[Any], attrs: dict[str, Any], info: Any) -> Operation:
    condition, *values = operand_values(args)
    return relax.AssertOp(condition, values, attrs.get("format", ""))


def _pure_packed(args: Sequence[Any], attrs: dict[str, Any], info: Any) -> Operation:
    if not isinstance(args[0], ExternFunc) or info is None:
        raise ValueError("expected an external function, its arguments, and sinfo_args")
    return relax.CallPurePackedOp(args[0].global_symbol, operand_values(args[1:]), info)


def _print(args: Sequence[Any], attrs: dict[str, Any], info: Any) -> Operation:
    return relax.PrintOp(operand_values(args), attrs.get("format", ""))


_SPECIAL: dict[str, Callable[[Sequence[Any], dict[str, Any], Any], Operation]] = {
    "relax.alloc_tensor": _alloc,
    "relax.assert_op": _assert,
    "relax.call_pure_packed": _pure_packed,
    "relax.print": _print,
    "relax.call_dps_packed": lambda args, attrs, info: kernel_call(args[0], args[1], info),
    "relax.call_tir": lambda args, attrs, info: kernel_call(args[0], args[1], info, *args[2:]),
    "relax.match_cast": lambda args, attrs, info: relax.MatchCastOp(to_value(args[0]), info),
    "relax.shape_of": lambda args, attrs, info: relax.ShapeOfOp(to_value(args[0])),
}


def called_by(op: Operation) -> Any:
    """What an operation calls."""
    match op:
        case relax.CallOp():
            return _CALLEES.get(op) or _global_var(op, op.callee_name)
        case relax.CallPackedOp():
            return ExternFunc(op.callee.data)
        case relax.InvokeOp():
            from .expr import view

            return view(op.callee)
        case relax.AssertOp():
            return Op.get("relax.assert_op")
        case _:
            return Op.get(op.name)


def _global_var(op: Operation, name: str) -> GlobalVar:
    """The global variable of a name in the module that an operation stands in, if it does."""
    root = op
    while (parent := root.parent_op()) is not None:
        root = parent
    found = functions_by_name(root).get(name) if isinstance(root, ModuleOp) else None
    return GlobalVar(name, None if found is None else function_view(found))


def arguments_of(op: Operation) -> list[Any]:
    """The arguments of a call as TVM lists them; those of `call_tir` are name, tuple, variables."""
    from .call_expr import Arguments
    from .expr import view

    args = [view(o) for o in op.operands]
    match op:
        case relax.CallTIROp():
            callee = _global_var(op, op.callee_name)
            variables = [] if op.tir_vars is None else [shape_of(exprs_of(op.tir_vars))]
            return [callee, Arguments(args), *variables]
        case relax.CallDPSPackedOp():
            return [ExternFunc(op.callee_name), Arguments(args)]
        case relax.CallPurePackedOp():
            return [ExternFunc(op.callee.data), *args]
        case relax.InvokeOp():
            return args[1:]
        case relax.AllocTensorOp():
            return [shape_of(op.result.type.dims or ())]
        case _:
            return args


def type_arguments(op: Operation) -> list[Attribute]:
    """The types that a call states, because they do not follow from its arguments."""
    stated = (relax.CallTIROp, relax.CallDPSPackedOp, relax.CallPackedOp, relax.CallPurePackedOp)
    if isinstance(op, stated):
        type_ = op.results[0].type
        return list(type_.types.data) if isinstance(type_, TupleType) else [type_]
    return [op.result.type] if isinstance(op, relax.MatchCastOp) else []


def with_operands(op: Operation, operands: Sequence[SSAValue]) -> Operation:
    """A detached copy of an operation on other operands; its type is inferred where it can be.

    Raises ValueError with one line where the operands do not fit.
    """
    copy = _with_operands(op, operands)
    copy.location = op.location
    if isinstance(op, relax.CallOp):
        _CALLEES[copy] = _CALLEES.get(op) or _global_var(op, op.callee_name)
    return copy


def _with_operands(op: Operation, operands: Sequence[SSAValue]) -> Operation:
    match op:
        case relax.OperatorOp():
            return type(op).of(operands, op.attribute_values())
        case relax.TupleOp():
            return relax.TupleOp(operands)
        case relax.TupleGetItemOp():
            return relax.TupleGetItemOp(operands[0], op.index.data)
        case relax.ShapeOfOp():
            return relax.ShapeOfOp(operands[0])
        case _:
            return type(op).create(
                operands=operands,
                result_types=op.result_types,
                properties=dict(op.properties),
                attributes=dict(op.attributes),
            )
