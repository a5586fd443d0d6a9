"""Calls of kernels that are written as tensor expressions: ``bb.emit_te(topi.add, x, y)``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, TupleType, UnitAttr, i1
from xdsl.ir import SSAValue

from ..dialects import relax, tir
from ..dialects.attributes import to_attribute
from ..dialects.dtypes import element_type
from ..dialects.int_expr import IntExpr, Sym
from ..dialects.sym import expr_array
from ..lowering.functions import PRIVATE
from ..te.arithmetic import dim_expr
from ..te.prim_func import build_prim_func
from ..te.tensor import Tensor, compute, placeholder
from .operators import fields_of
from .struct_info import shape_of


class Kernel:
    """A PrimFunc made from a function on tensors, and the call that it was made for."""

    def __init__(self, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]):
        hint = kwargs.pop("primfunc_name_hint", None)
        attrs: dict[str, Any] = kwargs.pop("primfunc_attrs", None) or {}
        self._tensors: dict[SSAValue, Tensor] = {}
        positional = [self._argument(a) for a in args]
        named = {k: self._argument(v) for k, v in kwargs.items()}
        self.outputs = _outputs(function(*positional, **named), self._tensors.values())
        self.name = str(hint or _name(function, self.outputs))
        inputs = list(self._tensors.values())
        self.func = build_prim_func([*inputs, *self.outputs], self.name, len(self.outputs))
        self.func.properties["attrs"] = DictionaryAttr(
            {
                PRIVATE: UnitAttr(),
                "tir.noalias": IntegerAttr(1, i1),
                **{k: to_attribute(v) for k, v in attrs.items()},
            }
        )

    def _argument(self, value: Any) -> Any:
        """A tensor as a placeholder, shapes and numbers as dims; others as they are."""
        if isinstance(value, list | tuple):
            items = [self._argument(v) for v in cast("Sequence[Any]", value)]
            return tuple(items) if isinstance(value, tuple) else items
        if isinstance(value, dict):
            return {k: self._argument(v) for k, v in cast("dict[Any, Any]", value).items()}
        borrowed = getattr(value, "borrowed", None)
        return self._placeholder(borrowed) if isinstance(borrowed, SSAValue) else value  # pyright: ignore[reportUnknownArgumentType]

    def _placeholder(self, value: SSAValue) -> Any:
        match value.type:
            case relax.TensorType(dims=dims, dtype=dtype) if dims is not None and dtype is not None:
                if value not in self._tensors:
                    name = _letter(len(self._tensors))
                    self._tensors[value] = placeholder(shape_of(dims), dtype, name)
                return self._tensors[value]
            case relax.ShapeType(dims=dims) if dims is not None:
                return shape_of(dims)
            case relax.PrimType(expr=expr) if expr is not None:
                return shape_of([expr])[0]
            case TupleType():
                return [self._placeholder(f) for f in fields_of(value)]
            case type_:
                raise ValueError(
                    f"expected tensors of known shape and dtype for a kernel, got {type_}"
                )

    def call(self, name: str) -> relax.CallTIROp:
        """The call of the PrimFunc under the name that it has in its module."""
        types = [_tensor_type(t) for t in self.outputs]
        result = types[0] if len(types) == 1 else TupleType(tuple(types))
        indices = [
            n
            for n, p in zip(self.func.names, self.func.params, strict=True)
            if not isinstance(p.type, tir.BufferType)
        ]
        variables = expr_array([IntExpr.of(Sym(n)) for n in indices]) if indices else None
        return relax.CallTIROp(name, list(self._tensors), result, variables)


def _letter(number: int) -> str:
    """``A``, ``B``, … ``Z``, ``A1``, …"""
    letter = chr(ord("A") + number % 26)
    return letter if number < 26 else f"{letter}{number // 26}"


def _outputs(result: Any, inputs: Any) -> list[Tensor]:
    """The tensors that a function returned; one that it only passes on is copied."""
    tensors: list[Any] = list(result) if isinstance(result, list | tuple) else [result]  # pyright: ignore[reportUnknownArgumentType]
    for tensor in tensors:
        if not isinstance(tensor, Tensor):
            raise TypeError(
                f"expected the function of emit_te to return tensors, got {type(tensor).__name__}"
            )
    return [_copy(t) if t in inputs else t for t in tensors]


def _copy(tensor: Tensor) -> Tensor:
    return compute(tensor.shape, lambda *i: tensor(*i), name=f"{tensor.name}_copy")


def _name(function: Callable[..., Any], outputs: Sequence[Tensor]) -> str:
    name = getattr(function, "__name__", "")
    return name if name.isidentifier() else outputs[0].name.split(".")[0]


def _tensor_type(tensor: Tensor) -> relax.TensorType:
    dims = [dim_expr(d) for d in tensor.shape]
    return relax.TensorType.of(dims, element_type(tensor.dtype))
