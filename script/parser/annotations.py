"""Parameters of script functions, attributes, and annotations of graphs: `R.Tensor((1, "n"))`."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import TupleType
from xdsl.ir import SSAValue, TypeAttribute

from ...dialects import relax
from ...dialects.dtypes import element_type
from ...dialects.int_expr import IntExpr
from ...dialects.relax.types import TensorType
from ...dialects.sym import expr_array
from ...ir.struct_info import AnyStructInfo, StructInfo
from ...te.arithmetic import dim_expr, symbol
from ...te.expr import Index, PrimExpr
from ..errors import Source
from .buffers import describe_value
from .expressions import ExprParser

EXPECTED = 'expected an annotation such as R.Tensor((1, "n"), "float32")'
TENSOR_ARGUMENTS = ("shape", "dtype", "ndim", "vdevice")


class AnnotationParser:
    """Reads types from annotation nodes; strings among the dims declare symbols."""

    def __init__(self, exprs: ExprParser):
        self.exprs = exprs

    def type(self, node: ast.expr) -> TypeAttribute:
        """The type an annotation stands for."""
        with self.exprs.scope.source.reporting(node):
            return self._type(node)

    def _type(self, node: ast.expr) -> TypeAttribute:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return self._type(self.exprs.scope.source.expression(node, node.value))
        match self.exprs.path(_head(node)):
            case "R.Tensor":
                return self._tensor(node)
            case "R.Tuple":
                given = _arguments(node)
                fields = self.exprs.elements(given[0]) if len(given) == 1 else given
                return TupleType(tuple(self.type(n) for n in fields))
            case "R.Shape":
                return self._shape(node)
            case "R.Prim":
                return self._prim(node)
            case "R.Callable":
                return self._function(node)
            case "R.Object" | "R.Any":
                return relax.ObjectType()
            case _:
                return self._variable(node)

    def _variable(self, node: ast.expr) -> TypeAttribute:
        """The type that a variable of Python stands for, or of a value of the graph: ``x.ty``."""
        if isinstance(node, ast.Attribute) and node.attr in ("ty", "struct_info"):
            of = self.exprs.eval(node.value)
            if isinstance(of, SSAValue):
                return cast(TypeAttribute, of.type)  # pyright: ignore[reportUnknownMemberType]
        value = self.exprs.eval(node) if isinstance(node, ast.Name | ast.Attribute) else None
        if isinstance(value, StructInfo):
            return cast("AnyStructInfo", value).type
        raise self.exprs.error(node, f"{EXPECTED}, got '{ast.unparse(node)}'")

    def _shape(self, node: ast.expr) -> TypeAttribute:
        """``R.Shape([n, 4])``, ``R.Shape(ndim=2)``, or both."""
        arguments = _arguments(node)
        keywords = node.keywords if isinstance(node, ast.Call) else []
        given = dict(zip(("values", "ndim"), arguments, strict=False))
        given |= {k.arg: k.value for k in keywords if k.arg is not None}
        if len(arguments) > 2 or not set(given) <= {"values", "ndim"}:
            message = f"expected R.Shape([dim, …]), got {len(arguments)} arguments"
            raise self.exprs.error(node, message)
        known = {k: v for k, v in given.items() if not self._is_none(v)}
        rank = self._rank(known["ndim"]) if "ndim" in known else None
        if "values" not in known:
            return relax.ShapeType.of(None, rank)
        return relax.ShapeType(expr_array(self._ranked(known["values"], rank)))

    def _function(self, node: ast.expr) -> TypeAttribute:
        """``R.Callable((R.Tensor(…),), R.Tensor(…), purity=False)``."""
        given = dict(zip(("params", "ret", "purity"), _arguments(node), strict=False))
        if isinstance(node, ast.Call):
            given |= {k.arg: k.value for k in node.keywords if k.arg is not None}
        if not {"params", "ret"} <= set(given) <= {"params", "ret", "purity"}:
            shown = ast.unparse(node)
            raise self.exprs.error(node, f"expected R.Callable(params, result), got {shown}")
        params = [self.type(n) for n in self.exprs.elements(given["params"])]
        pure = bool(self.exprs.eval(given["purity"])) if "purity" in given else True
        return relax.FuncType.of(params, self.type(given["ret"]), not pure)

    def _prim(self, node: ast.expr) -> TypeAttribute:
        """``R.Prim("int64")`` or ``R.Prim(value="n")``."""
        given = dict(zip(("dtype", "value"), _arguments(node), strict=False))
        if isinstance(node, ast.Call):
            given |= {k.arg: k.value for k in node.keywords if k.arg is not None}
        if not given or set(given) - {"dtype", "value"} or len(_arguments(node)) > 2:
            shown = ast.unparse(node)
            raise self.exprs.error(
                node, f'expected R.Prim("int64") or R.Prim(value=n), got {shown}'
            )
        element = element_type(self.exprs.dtype(given["dtype"]) if "dtype" in given else "int64")
        value = self._number(given["value"]) if "value" in given else None
        return relax.PrimType.of(element, value)

    def _tensor(self, node: ast.expr) -> TensorType:
        """``R.Tensor(shape, dtype, ndim=…)`` in every form."""
        given = self._tensor_arguments(node)
        element = element_type(self.exprs.dtype(given["dtype"])) if "dtype" in given else None
        rank = self._rank(given["ndim"]) if "ndim" in given else None
        if "shape" not in given:
            return TensorType.of(None, element, rank)
        shape = given["shape"]
        is_written_out = isinstance(shape, ast.Tuple | ast.List)
        value = None if is_written_out else self.exprs.eval(shape)
        if isinstance(value, int):
            message = f"expected a tuple of dims, got {ast.unparse(shape)}"
            raise self.exprs.error(shape, message)
        known = getattr(value, "type", None)
        if isinstance(known, relax.ShapeType) and known.dims is None:
            return TensorType.of(None, element, known.rank)
        return TensorType.of(self._ranked(shape, rank), element)

    def _ranked(self, node: ast.expr, rank: int | None) -> list[IntExpr]:
        """The dims of a shape, of which there are `rank` where that is given."""
        dims = self.dims(node)
        if rank not in (None, len(dims)):
            message = f"expected a shape of {rank} dims, got {len(dims)}"
            raise self.exprs.error(node, message)
        return dims

    def _rank(self, node: ast.expr) -> int | None:
        """A number of dims; -1 says that it is unknown."""
        rank = self.exprs.eval(node)
        if not isinstance(rank, int) or rank < -1:
            raise self.exprs.error(node, f"expected a number of dims, got {describe_value(rank)}")
        return None if rank < 0 else rank

    def _tensor_arguments(self, node: ast.expr) -> dict[str, ast.expr]:
        is_dtype_first = self._is_string(next(iter(_arguments(node)), None))
        names = ("dtype", "vdevice") if is_dtype_first else ("shape", "dtype", "vdevice")
        given = dict(zip(names, _arguments(node), strict=False))
        if isinstance(node, ast.Call):
            given |= {k.arg: k.value for k in node.keywords if k.arg is not None}
        unknown = sorted(set(given) - {*TENSOR_ARGUMENTS})
        if unknown or len(_arguments(node)) > len(names):
            shown = ", ".join(unknown) or f"{len(_arguments(node))} arguments"
            raise self.exprs.error(node, f"expected shape, dtype and ndim of R.Tensor, got {shown}")
        return {k: v for k, v in given.items() if not self._is_none(v)}

    def _is_string(self, node: ast.expr | None) -> bool:
        return isinstance(node, ast.Constant) and isinstance(node.value, str)

    def _is_none(self, node: ast.expr) -> bool:
        """Whether an argument is ``None``, or a variable of Python that is."""
        if isinstance(node, ast.Name):
            return self.exprs.eval(node) is None
        return isinstance(node, ast.Constant) and node.value is None

    def dims(self, node: ast.expr) -> list[IntExpr]:
        """The dims of a shape: a tuple, a list or a Python sequence in scope."""
        if isinstance(node, ast.Tuple | ast.List):
            return [d for n in node.elts for d in self._element(n)]
        value = self.exprs.eval(node)
        if isinstance(value, Sequence) and not isinstance(value, str):
            given = cast("Sequence[Any]", value)
            return [
                self._named(node, d) if isinstance(d, str) else self._checked(node, d)
                for d in given
            ]
        type_ = getattr(value, "type", None)
        if isinstance(type_, relax.ShapeType) and type_.dims is not None:
            return list(type_.dims)
        return [self._dim(node)]

    def _element(self, node: ast.expr) -> list[IntExpr]:
        return self.dims(node.value) if isinstance(node, ast.Starred) else [self._dim(node)]

    def _dim(self, node: ast.expr) -> IntExpr:
        """As `_number`, at least 0 where it is known."""
        dim = self._number(node)
        if (constant := dim.constant) is not None and constant < 0:
            raise self.exprs.error(node, f"expected a dim of at least 0, got {constant}")
        return dim

    def _number(self, node: ast.expr) -> IntExpr:
        """A number, an expression over symbols, or a string that declares its symbols."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return self._named(node, node.value)
        return self._checked(node, self.exprs.eval(node))

    def _named(self, node: ast.expr, text: str) -> IntExpr:
        """An expression in a string, which declares its symbols."""
        inner = self.exprs.scope.source.expression(node, text)
        self._declare(inner)
        return self._checked(node, self.exprs.expr(inner))

    def _declare(self, inner: ast.expr) -> None:
        scope = self.exprs.scope
        calls = [n for n in ast.walk(inner) if isinstance(n, ast.Call)]
        called = {part for call in calls for part in ast.walk(call.func)}
        for part in ast.walk(inner):
            if not isinstance(part, ast.Name) or part in called:
                continue
            if not any(isinstance(f.get(part.id), Index) for f in scope.frames):
                scope.bind(part.id, symbol(part.id))

    def _checked(self, node: ast.expr, value: Any) -> IntExpr:
        type_ = getattr(value, "type", None)
        if isinstance(type_, relax.PrimType) and type_.expr is not None:
            return type_.expr
        if not isinstance(value, PrimExpr) and not hasattr(value, "__index__"):
            shown = ast.unparse(node)
            raise self.exprs.error(
                node, f"expected a dim to be a number, a symbol or a string, got '{shown}'"
            )
        return dim_expr(value)


def _head(node: ast.expr) -> ast.expr:
    match node:
        case ast.Call(func=head) | ast.Subscript(value=head):
            return head
        case _:
            return node


def _arguments(node: ast.expr) -> list[ast.expr]:
    match node:
        case ast.Call():
            return list(node.args)
        case ast.Subscript(slice=ast.Tuple(elts=[ast.Tuple(), *_] as items)):
            return items
        case ast.Subscript():
            return [node.slice]
        case _:
            return []


def parameters_of(source: Source, node: ast.FunctionDef) -> list[tuple[ast.arg, ast.expr]]:
    """The parameters with their annotations; strings are read as annotations.

    Raises ScriptError for parameters without annotation, with defaults, or of another kind.
    """
    args = node.args
    others = [*args.posonlyargs, *args.kwonlyargs, args.vararg, args.kwarg]
    unusual = [a for a in others if a is not None] + [*args.defaults]
    if unusual:
        raise source.error(
            unusual[0], "expected parameters 'name: annotation', without default or '*'"
        )
    for position, arg in enumerate(args.args):
        if any(arg.arg == other.arg for other in args.args[:position]):
            raise source.error(arg, f"expected distinct parameter names, got '{arg.arg}' twice")
    return [(arg, _annotation(source, arg)) for arg in args.args]


def _annotation(source: Source, parameter: ast.arg) -> ast.expr:
    annotation = parameter.annotation
    if annotation is None:
        raise source.error(
            parameter,
            f"expected an annotation for parameter '{parameter.arg}', such as T.handle or R.Tensor",
        )
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return source.expression(annotation, annotation.value)
    return annotation


def names_in(source: Source, annotations: Sequence[ast.expr]) -> set[str]:
    """The names in annotations, also in strings of them."""
    nodes = [n for a in annotations for n in ast.walk(a)]
    texts = [n for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    nodes += [n for t in texts for n in ast.walk(source.expression(t, str(t.value)))]
    return {n.id for n in nodes if isinstance(n, ast.Name)}
