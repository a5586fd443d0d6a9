"""Operations for calls: what is called with which arguments, with the result type inferred."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from xdsl.ir import Attribute, Operation, SSAValue

from ..dialects import relax, tir
from ..dialects.dims import dim_of, dims_of
from ..dialects.dtypes import element_type
from ..dialects.sym import ExprArray, expr_array
from ..lowering.loop_types import LoopOperands
from ..lowering.verify_calls import unify_kernel_call
from ..te.attributes import dictionary
from .callees import ExternFunc, GlobalVar, graph_call, graph_loop
from .detached import erased_on_error
from .op import Op
from .operators import argument_values, fields_of, invoke_op, operator_op, prim_op, to_value
from .struct_info import TupleStructInfo, to_type


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
            return graph_call(called, argument_values(args))
        case ExternFunc():
            type_ = relax.ObjectType() if sinfo_args is None else _one(sinfo_args)
            return relax.CallPackedOp(called.global_symbol, argument_values(args), type_)
        case _ if hasattr(called, "borrowed"):
            return invoke_op(to_value(called), argument_values(args))
        case None:
            raise ValueError("expected a defined operator to call, got None")
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


def kernel_call(
    called: Any, args: Any, out: Attribute, tir_vars: Any = None, **gradient: Any
) -> relax.CallTIROp | relax.CallDPSPackedOp:
    """A call in destination-passing style: of a PrimFunc of the module, or of a name.

    A PrimFunc that is known is checked against the arguments. `gradient` is ``te_grad_name`` and
    ``te_grad_kwargs``.
    """
    if isinstance(called, ExternFunc):
        called = called.global_symbol
    values = _kernel_arguments(args, None if isinstance(called, str) else "float32")
    if isinstance(called, str):
        return relax.CallDPSPackedOp(called, values, out)
    name, keywords = gradient.get("te_grad_name"), gradient.get("te_grad_kwargs")
    call = relax.CallTIROp(
        _named(called),
        values,
        out,
        _variables(tir_vars),
        name,
        dictionary(keywords) if keywords else None,
    )
    callee = None if called.function is None else called.function.op
    if isinstance(callee, tir.PrimFuncOp):
        with erased_on_error(call):
            unify_kernel_call(call, callee)
    return call


def inplace_call(
    called: Any, args: Any, positions: Sequence[int], out: Attribute, tir_vars: Any = None
) -> relax.CallTIRInplaceOp:
    """The call of a PrimFunc that writes outputs into arguments, at these positions or -1."""
    return relax.CallTIRInplaceOp(
        _named(called), _kernel_arguments(args), positions, out, _variables(tir_vars)
    )


def loop(
    called: Any,
    carried: Any = (),
    scanned: Any = (),
    given: Any = (),
    trips: Any = None,
    is_while: bool = False,
) -> relax.LoopOp:
    """A loop over a graph function of the module."""
    if not isinstance(called, GlobalVar):
        raise TypeError(f"expected a global variable, got {type(called).__name__}")
    operands = LoopOperands(_tensors(carried), _tensors(scanned), _tensors(given))
    return graph_loop(called, operands, None if trips is None else dim_of(trips), is_while)


def _named(called: Any) -> str:
    if not isinstance(called, GlobalVar):
        raise TypeError(f"expected a global variable or a name, got {type(called).__name__}")
    return called.name_hint


def _variables(tir_vars: Any) -> ExprArray | None:
    return None if tir_vars is None else expr_array(dims_of(tir_vars))


def _kernel_arguments(args: Any, floats: str | None = "float32") -> list[SSAValue]:
    """The arguments of a kernel: its numbers are scalars, floats of dtype `floats`."""
    if not isinstance(args, list | tuple):
        return _tensors(args)
    found: list[SSAValue] = []
    for value in cast("Sequence[Any]", args):
        is_number = isinstance(value, bool | int | float)
        dtype = floats if isinstance(value, float) else None
        found.append(prim_op(value, dtype).results[0] if is_number else to_value(value))
    return found


def _tensors(args: Any) -> list[SSAValue]:
    if isinstance(args, list | tuple):
        return argument_values(args)  # pyright: ignore[reportUnknownArgumentType]
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
    if not infos:
        return None
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
    condition, *values = argument_values(args)
    return relax.AssertOp(condition, values, attrs.get("format", ""))


def _pure_packed(args: Sequence[Any], attrs: dict[str, Any], info: Any) -> Operation:
    if not isinstance(args[0], ExternFunc) or info is None:
        raise ValueError("expected an external function, its arguments, and sinfo_args")
    values, name = argument_values(args[1:]), args[0].global_symbol
    places: int | Sequence[int] | None = attrs.get("inplace_indices")
    positions = [places] if isinstance(places, int) else places
    return relax.CallPurePackedOp(name, values, info, positions)


def _print(args: Sequence[Any], attrs: dict[str, Any], info: Any) -> Operation:
    return relax.PrintOp(argument_values(args), attrs.get("format", ""))


def _storage(args: Sequence[Any], attrs: dict[str, Any], info: Any) -> Operation:
    (size,) = dims_of(args[0])
    return relax.AllocStorageOp(size)


def _storage_tensor(args: Sequence[Any], attrs: dict[str, Any], info: Any) -> Operation:
    storage, offset, shape, dtype, *_ = args
    type_ = relax.TensorType.of(dims_of(shape), element_type(str(dtype)))
    return relax.StorageTensorOp(to_value(storage), dim_of(offset), type_)


def _call_kernel(args: Sequence[Any], attrs: dict[str, Any], info: Any) -> Operation:
    called, given = args
    *tensors, variables = given.fields if hasattr(given, "fields") else given
    return relax.CallKernelOp(_named(called), argument_values(tensors), _variables(variables))


_SPECIAL: dict[str, Callable[[Sequence[Any], dict[str, Any], Any], Operation]] = {
    "relax.assert_op": _assert,
    "relax.builtin.alloc_tensor": _alloc,
    "relax.call_inplace_packed": _pure_packed,
    "relax.call_pure_packed": _pure_packed,
    "relax.print": _print,
    "relax.call_dps_packed": lambda args, attrs, info: kernel_call(args[0], args[1], info),
    "relax.call_tir_inplace": lambda args, attrs, info: inplace_call(
        args[0], args[1], attrs["inplace_indices"], info, *args[2:]
    ),
    "relax.call_tir": lambda args, attrs, info: kernel_call(
        args[0], args[1], info, *args[2:], **attrs
    ),
    "relax.loop": lambda args, attrs, info: loop(args[0], *args[1:], **attrs),
    "relax.match_cast": lambda args, attrs, info: relax.MatchCastOp(to_value(args[0]), info),
    "relax.shape_of": lambda args, attrs, info: relax.ShapeOfOp(to_value(args[0])),
    "relax.memory.alloc_storage": _storage,
    "relax.memory.alloc_tensor": _storage_tensor,
    "relax.memory.kill_storage": lambda args, attrs, info: relax.KillStorageOp(to_value(args[0])),
    "relax.memory.kill_tensor": lambda args, attrs, info: relax.KillTensorOp(to_value(args[0])),
    "relax.prim_to_tensor": lambda args, attrs, info: relax.PrimToTensorOp(to_value(args[0])),
    "relax.tensor_to_prim": lambda args, attrs, info: relax.TensorToPrimOp(to_value(args[0])),
    "relax.tensor_to_shape": lambda args, attrs, info: relax.TensorToShapeOp(
        to_value(args[0]), dims_of(attrs["at_most"]) if "at_most" in attrs else None
    ),
    "relax.vm.call_tir_dyn": _call_kernel,
}
