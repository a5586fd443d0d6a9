"""Kernels and registered functions that `forward` calls; ``nn.extern``, ``nn.tensor_ir_op``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...ir.expr import Constant, Expr, Var
from ...ir.prim_func import PrimFunc
from ...ir.struct_info import AnyStructInfo, TensorStructInfo, TupleStructInfo, to_type
from .. import op
from ..block_builder import BlockBuilder


class _Values(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Expr)


class Tensor(metaclass=_Values):
    """What `forward` takes and returns: values of the graph, `relax.Expr`, are instances."""

    @staticmethod
    def placeholder(shape: Any, dtype: str, name: str = "tensor") -> Var:
        """A tensor that stands for the result of a call, by its shape and dtype."""
        return Var(name, TensorStructInfo(shape, dtype))

    @staticmethod
    def from_struct_info(struct_info: AnyStructInfo, name: str = "tensor") -> Var:
        """A tensor that stands for the result of a call, by its struct info."""
        return Var(name, struct_info)

    @staticmethod
    def from_const(data: Any) -> Constant:
        """A constant; float64 becomes float32."""
        dtype = getattr(data, "dtype", None)
        return Constant(data, "float32" if str(dtype) == "float64" else None)

    @staticmethod
    def from_scalar(data: float, dtype: str) -> Constant:
        """A constant of rank 0."""
        return Constant(data, dtype)


def emitted(expr: Any, name: str) -> Any:
    """The variable that an expression is bound to in the function that is exported."""
    builder = BlockBuilder.current()
    return expr if builder is None else builder.emit(expr, name)


def results(expr: Any, name: str) -> Any:
    """The variable that an expression is bound to, or those of the fields of a tuple."""
    value = emitted(expr, name)
    if not isinstance(value, Expr) or not isinstance(value.struct_info, TupleStructInfo):
        return value
    return tuple(results(part, f"{name}_{i}") for i, part in enumerate(value))


def with_bias(convolution: Expr, bias: Expr | None, rank: int, name: str) -> Any:
    """A convolution plus a number for each channel."""
    if bias is None:
        return emitted(convolution, name)
    shaped = op.reshape(bias, [1, -1] + [1] * rank)
    return emitted(convolution + shaped, name)


def extern(name: str, args: Sequence[Any], out: Any) -> Any:
    """The call of a registered function that writes its results, which are as the placeholders."""
    return results(op.call_dps_packed(name, tuple(args), _types(out)), name)


def tensor_expr_op(
    tensor_expr_func: Callable[..., Any],
    name_hint: str,
    args: Sequence[Any],
    *,
    attrs: dict[str, Any] | None = None,
) -> Any:
    """The call of a kernel that a function on tensors defines; `attrs` are the kernel's."""
    builder = _builder(name_hint)
    options = {"primfunc_name_hint": name_hint, "primfunc_attrs": attrs}
    return results(builder.call_te(tensor_expr_func, *args, **options), name_hint)


def tensor_ir_op(func: PrimFunc, name_hint: str, args: Sequence[Any], out: Any) -> Any:
    """The call of a PrimFunc, which becomes a function of the module.

    Numbers after the tensors among `args` are the values of its parameters that are numbers.
    """
    tensors, numbers = _operands(args)
    variable = _builder(name_hint).add_func(func, name_hint)
    return results(op.call_tir(variable, tensors, _types(out), numbers), name_hint)


def tensor_ir_inplace_op(
    func: PrimFunc, name_hint: str, args: Sequence[Any], inplace_indices: Any, out: Any
) -> Any:
    """As `tensor_ir_op`, of a PrimFunc that writes outputs into arguments at these positions."""
    tensors, numbers = _operands(args)
    variable = _builder(name_hint).add_func(func, name_hint)
    call = op.call_tir_inplace(variable, tensors, inplace_indices, _types(out), numbers)
    return results(call, name_hint)


def _operands(args: Sequence[Any]) -> tuple[tuple[Any, ...], Any]:
    """The tensors among arguments, and the numbers after them."""
    numbers = [a for a in args if not isinstance(a, Expr)]
    if any(isinstance(a, Expr) for a in args[len(args) - len(numbers) :]):
        raise ValueError("expected numbers after the tensors among the arguments")
    return tuple(args[: len(args) - len(numbers)]), numbers or None


def _builder(name: str) -> BlockBuilder:
    builder = BlockBuilder.current()
    if builder is None:
        raise ValueError(f"expected '{name}' to be called in a forward that is exported")
    return builder


def _types(out: Any) -> Any:
    several = isinstance(out, list | tuple)
    return [to_type(o) for o in out] if several else to_type(out)  # pyright: ignore[reportUnknownVariableType]
