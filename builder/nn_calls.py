"""Kernels and registered functions that `forward` calls; ``nn.extern``, ``nn.tensor_ir_op``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..ir.expr import Expr, Var
from ..ir.function import PrimFunc
from ..ir.struct_info import TensorStructInfo, to_type
from . import op
from .block_builder import BlockBuilder


class Tensor:
    """What `forward` takes and returns: values of the graph, `relax.Expr`, are instances."""

    @staticmethod
    def placeholder(shape: Any, dtype: str, name: str = "tensor") -> Var:
        """A tensor that stands for the result of a call, by its shape and dtype."""
        return Var(name, TensorStructInfo(shape, dtype))


def extern(name: str, args: Sequence[Any], out: Any) -> Expr:
    """The call of a registered function that writes its results, which are as the placeholders."""
    return op.call_dps_packed(name, tuple(args), _types(out))


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
    return builder.emit_te(tensor_expr_func, *args, **options)


def tensor_ir_op(func: PrimFunc, name_hint: str, args: Sequence[Any], out: Any) -> Expr:
    """The call of a PrimFunc, which becomes a function of the module."""
    variable = _builder(name_hint).add_func(func, name_hint)
    return op.call_tir(variable, tuple(args), _types(out))


def _builder(name: str) -> BlockBuilder:
    builder = BlockBuilder.current()
    if builder is None:
        raise ValueError(f"expected '{name}' to be called in a forward that is exported")
    return builder


def _types(out: Any) -> Any:
    several = isinstance(out, list | tuple)
    return [to_type(o) for o in out] if several else to_type(out)  # pyright: ignore[reportUnknownVariableType]
