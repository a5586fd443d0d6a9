"""Types of the graph as TVMScript annotations."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute

from ...dialects.int_expr import IntExpr, Sym
from ...dialects.python_text import integer_text
from ...dialects.relax import FuncType, ObjectType, PrimType, ShapeType, TensorType
from .literals import call_text, quote, tuple_text


class Types:
    """Writes types; in a signature, dims that are not numbers are strings."""

    def __init__(self, symbols: dict[str, str]):
        self._symbols = symbols

    def dim(self, expr: IntExpr, in_signature: bool = False) -> str:
        """``4``, ``n * 4``, or in a signature ``"n * 4"``."""

        def name_of(atom: object) -> str:
            assert isinstance(atom, Sym)
            return self._symbols.get(atom.name, atom.name)

        text = integer_text(expr, name_of)
        return quote(text) if in_signature and not expr.is_constant else text

    def shape(self, dims: Sequence[IntExpr], in_signature: bool = False) -> str:
        """``(1, n)``, or in a signature ``(1, "n")``."""
        return tuple_text([self.dim(d, in_signature) for d in dims])

    def text(self, type_: Attribute, in_signature: bool = False) -> str:
        """``R.Tensor((1, n), dtype="float32")``; raises ValueError for a foreign type."""
        match type_:
            case TensorType():
                return self._tensor(type_, in_signature)
            case TupleType(types=fields):
                if not fields.data:
                    return "R.Tuple"
                return call_text("R.Tuple", *(self.text(t, in_signature) for t in fields.data))
            case ShapeType():
                return self._shape_type(type_, in_signature)
            case PrimType():
                return self._prim(type_, in_signature)
            case FuncType():
                return self._function(type_, in_signature)
            case ObjectType():
                return "R.Object"
            case _:
                raise ValueError(f"expected a type that TVMScript can express, got {type_}")

    def _shape_type(self, type_: ShapeType, in_signature: bool) -> str:
        if type_.dims is None:
            return call_text("R.Shape", ndim=str(-1 if type_.rank is None else type_.rank))
        inner = ", ".join(self.dim(d, in_signature) for d in type_.dims)
        return f"R.Shape([{inner}])"

    def _function(self, type_: FuncType, in_signature: bool) -> str:
        params = tuple_text([self.text(t, in_signature) for t in type_.params.data])
        result = self.text(type_.result, in_signature)
        return call_text("R.Callable", params, result, str(not type_.impure))

    def _prim(self, type_: PrimType, in_signature: bool) -> str:
        if type_.expr is None:
            return call_text("R.Prim", quote(type_.dtype))
        dtype = None if type_.dtype == "int64" else quote(type_.dtype)
        return call_text("R.Prim", dtype=dtype, value=self.dim(type_.expr, in_signature))

    def _tensor(self, type_: TensorType, in_signature: bool) -> str:
        shape = [] if type_.dims is None else [self.shape(type_.dims, in_signature)]
        unknown_rank = type_.dims is not None or type_.rank is None
        return call_text(
            "R.Tensor",
            *shape,
            dtype=None if type_.dtype is None else quote(type_.dtype),
            ndim=None if unknown_rank else str(type_.rank),
        )
