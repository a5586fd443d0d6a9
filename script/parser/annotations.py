"""Annotations of graph functions: `R.Tensor((1, "n"), "float32")`, `R.Tuple(…)`, `R.Shape(…)`, `R.Object`."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute

from ...dialects import relax
from ...dialects.dtypes import element_type
from ...dialects.int_expr import IntExpr
from ...dialects.relax.types import TensorType
from ...dialects.sym import expr_array
from ...te.expr import Index, PrimExpr, symbol
from ...te.tensor import dim_expr
from ..namespace import ScriptName
from .expressions import ExprParser


class AnnotationParser:
    """Reads types from annotation nodes; strings among the dims declare symbols."""

    def __init__(self, exprs: ExprParser):
        self.exprs = exprs

    def type(self, node: ast.expr) -> Attribute:
        """The type an annotation stands for."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return self.type(ast.copy_location(ast.parse(node.value, mode="eval").body, node))
        head = (
            node.func
            if isinstance(node, ast.Call)
            else node.value
            if isinstance(node, ast.Subscript)
            else node
        )
        path = self.exprs.eval(head)
        name = path.path if isinstance(path, ScriptName) else ""
        match name:
            case "R.Tensor":
                return self.tensor(node)
            case "R.Tuple":
                return TupleType([self.type(n) for n in _arguments(node)])
            case "R.Shape":
                dims = self.exprs.elements(_arguments(node)[0]) if _arguments(node) else []
                return relax.ShapeType(expr_array([self.dim(d) for d in dims]))
            case "R.Object":
                return relax.ObjectType()
            case _:
                raise self.exprs.error(
                    node,
                    f'expected an annotation such as R.Tensor((1, "n"), "float32"), got \'{ast.unparse(node)}\'',
                )

    def tensor(self, node: ast.expr) -> TensorType:
        """``R.Tensor(shape, dtype, ndim=…)`` in every form."""
        given: dict[str, ast.expr] = {}
        for argument in _arguments(node):
            is_dtype = isinstance(argument, ast.Constant) and isinstance(argument.value, str)
            given["dtype" if is_dtype else "shape"] = argument
        if isinstance(node, ast.Call):
            given |= {k.arg: k.value for k in node.keywords if k.arg is not None}
        unknown = set(given) - {"shape", "dtype", "ndim", "vdevice"}
        if unknown:
            raise self.exprs.error(
                node,
                f"expected shape, dtype and ndim of R.Tensor, got {', '.join(sorted(unknown))}",
            )
        element = element_type(self.exprs.dtype(given["dtype"])) if "dtype" in given else None
        if "shape" in given:
            return TensorType.of(self.dims(given["shape"]), element)
        rank = self.exprs.eval(given["ndim"]) if "ndim" in given else None
        return TensorType.of(None, element, rank if isinstance(rank, int) and rank >= 0 else None)

    def dims(self, node: ast.expr) -> list[IntExpr]:
        """The dims of a shape, which may be a tuple, a list or a Python sequence in scope."""
        if isinstance(node, ast.Tuple | ast.List):
            return [self.dim(n) for n in node.elts]
        value = self.exprs.eval(node)
        if isinstance(value, Sequence) and not isinstance(value, str):
            return [dim_expr(d) for d in value]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        return [self.dim(node)]

    def dim(self, node: ast.expr) -> IntExpr:
        """One dim: a number, an expression over symbols, or a string that declares its symbols."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            inner = ast.parse(node.value, mode="eval").body
            return self._string_dim(node, inner)
        value = self.exprs.eval(node)
        if isinstance(value, PrimExpr | int) and not isinstance(value, bool):
            try:
                dim = dim_expr(value)
            except TypeError as error:
                raise self.exprs.error(node, str(error)) from None
            if (constant := dim.constant) is not None and constant < 0:
                raise self.exprs.error(node, f"expected a dim of at least 0, got {constant}")
            return dim
        raise self.exprs.error(
            node, f"expected a dim to be a number, a symbol or a string, got '{ast.unparse(node)}'"
        )

    def _string_dim(self, node: ast.expr, inner: ast.expr) -> IntExpr:
        names = {n.id for n in ast.walk(inner) if isinstance(n, ast.Name)}
        scope = self.exprs.scope
        for name in names:
            if not any(isinstance(f.get(name), Index) for f in scope.frames):
                scope.bind(name, symbol(name))
        for child in ast.walk(inner):
            ast.copy_location(child, node)
        return dim_expr(self.exprs.expr(inner))


def _arguments(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.Call):
        return list(node.args)
    if isinstance(node, ast.Subscript):
        is_pair = (
            isinstance(node.slice, ast.Tuple)
            and node.slice.elts
            and isinstance(node.slice.elts[0], ast.Tuple)
        )
        return (
            list(node.slice.elts) if is_pair and isinstance(node.slice, ast.Tuple) else [node.slice]
        )
    return []
