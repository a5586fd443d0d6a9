"""`resolve-shapes`: express every dim of a graph function by its parameters' dims.

::

    relax.func @main(%x: !relax.tensor<rank 2, f32>) -> !relax.tensor<rank 2, f32> {
      %y = relax.match_cast %x : !relax.tensor<rank 2, f32> -> !relax.tensor<[n, 4], f32>
      %z = relax.nn.relu %y : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
      relax.return %z : !relax.tensor<[n, 4], f32>

⇒

::

    relax.func @main(%x: !relax.tensor<[x_0, x_1], f32>) -> !relax.tensor<[x_0, 4], f32> {
      %y = relax.match_cast %x written "(n, 4)" : !relax.tensor<[x_0, x_1], f32>
             -> !relax.tensor<[x_0, 4], f32>
      …

Parameters with a known rank only get a new symbol for each dim, and integers that shapes, loops or
kernels use as sizes one for the value. A cast that every call runs says
the rank and the dtype of a parameter without them, and the type of what a registered function
returns, if it declares no symbols. Symbols that a cast declares are replaced by the dims that they
match; the cast still checks the dims in which its two types differ. A result in place has the type
of its argument.
Calls are replaced by the bodies of functions whose results have dims that parameters do not give.
Where an operator's result has as many elements as data says, they are counted first::

    %p = relax.nonzero %x : !relax.tensor<[n], f32> -> !relax.tensor<rank 2, i64>

⇒

::

    %c = …the number of elements of %x that are not 0
    %s = relax.tensor_to_shape %c at_most [n]
    relax.match_cast %s : !relax.shape<rank 1> -> !relax.shape<[count]>
    %p = relax.nonzero %x size [count] : … -> !relax.tensor<[1, count], i64>

Tensors of unknown shape that are only passed on become objects (`unknown_tensors`). What follows a
size without a limit becomes a function of its own (`outline_sizes`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, IntegerType, ModuleOp, StringAttr, TupleType
from xdsl.ir import Attribute, Operation, SSAValue, TypeAttribute
from xdsl.passes import ModulePass

from ...dialects import relax
from ...dialects.int_expr import IntExpr, sym
from ...dialects.relax.cast_types import first_casts, parameter_types
from ...dialects.relax.symbols import declared_in
from ...dialects.relax.types import python_shape, shape_text, tensors_in, type_symbols
from ...dialects.relax.values import may_be
from ..functions import (
    call_graph,
    callees_first,
    functions_by_name,
    graph_functions,
    recursive_functions,
    unique_name,
)
from ..substitute import set_type, substituted
from ..verify_calls import call_result_type
from .cast_symbols import CastResolver
from .data_sizes import count_first
from .inline_functions import inline_call
from .outline_sizes import outline_sizes
from .refresh_types import refresh_types
from .size_parameters import loop_bodies, scalar_parameters
from .unknown_tensors import hold_unknown_tensors


def resolve_shapes(module: ModuleOp) -> None:
    """Resolve the shapes of every graph function, in place, callees first.

    Raises Diagnostic with one line if an operator does not accept the resolved types of its
    operands.
    """
    functions = functions_by_name(module)
    graph = {f.sym_name.data: f for f in graph_functions(module)}
    if not any(map(_has_open_shapes, graph.values())):
        return
    calls = call_graph(graph)
    recursive = recursive_functions(calls)
    symbolic = recursive | loop_bodies(module)
    for name in callees_first(calls):
        scalars = scalar_parameters(graph[name], functions, symbolic)
        _resolve(graph[name], functions, recursive, scalars)
    hold_unknown_tensors(module)
    outline_sizes(module)


def _has_open_shapes(func: relax.FuncOp) -> bool:
    """Whether a type of the function has unknown dims, or a cast may declare symbols."""
    types = [p.type for p in func.params]
    for op in func.walk():
        if isinstance(op, relax.MatchCastOp) and op.written is None:
            return True
        types += op.result_types
    return any(map(_is_open, types))


def _is_open(type_: Attribute) -> bool:
    match type_:
        case relax.TensorType() | relax.ShapeType():
            return type_.dims is None
        case relax.PrimType():
            return type_.expr is None
        case TupleType(types=fields):
            return any(map(_is_open, fields.data))
        case _:
            return False


def _resolve(
    func: relax.FuncOp,
    functions: Mapping[str, Operation],
    recursive: Collection[str],
    scalars: Collection[SSAValue],
) -> None:
    taken = set(func.declared_symbols()) | declared_in(func.body.block)

    def fresh(wanted: str) -> IntExpr:
        name = unique_name(wanted, taken)
        taken.add(name)
        return sym(name)

    known = parameter_types(func)
    for name, param, type_ in zip(func.names, func.params, known, strict=True):
        if param not in scalars:
            set_type(param, _with_dims(type_, name, fresh))
    _Resolver(func, functions, recursive, fresh).block(func.body.block)
    refresh_types(func, functions)


def _with_dims(type_: Attribute, name: str, fresh: Callable[[str], IntExpr]) -> Attribute:
    """The type of a parameter with a symbol for each unknown dim or integer."""
    match type_:
        case relax.TensorType() if type_.dims is None and type_.rank is not None:
            dims = [fresh(f"{name}_{i}") for i in range(type_.rank)]
            return relax.TensorType.of(dims, type_.known_element)
        case relax.ShapeType() if type_.dims is None and type_.rank is not None:
            return relax.ShapeType.of([fresh(f"{name}_{i}") for i in range(type_.rank)])
        case relax.PrimType(element_type=IntegerType()) if type_.expr is None:
            return relax.PrimType.of(type_.element_type, fresh(name))
        case TupleType(types=fields):
            named = [_with_dims(f, f"{name}_{i}", fresh) for i, f in enumerate(fields.data)]
            return TupleType(ArrayAttr([cast(TypeAttribute, f) for f in named]))
        case _:
            return type_


class _Resolver(CastResolver):
    """Resolves casts, results of registered functions, and sizes that data says."""

    def __init__(
        self,
        func: relax.FuncOp,
        functions: Mapping[str, Operation],
        recursive: Collection[str],
        fresh: Callable[[str], IntExpr],
    ):
        super().__init__(func, functions)
        self.recursive = recursive
        self.fresh = fresh
        self.casts = first_casts(func)

    def other(self, op: Operation) -> None:
        if isinstance(op, relax.CallOp) and (callee := self._inlined(op)) is not None:
            self._inline(op, callee)
            return
        super().other(op)
        if isinstance(op, relax.CallPackedOp | relax.CallPurePackedOp):
            self._packed(op)
        self.read |= count_first(op, self.fresh)

    def cast(self, op: relax.MatchCastOp) -> None:
        if op.written is None:
            op.written = StringAttr(_written(op.result.type))
        super().cast(op)
        self.read |= count_first(op, self.fresh)

    def _inlined(self, op: relax.CallOp) -> relax.FuncOp | None:
        """The callee of a call whose result has dims that the callee's parameters do not give."""
        callee = self.functions.get(op.callee_name)
        if not isinstance(callee, relax.FuncOp) or op.callee_name in self.recursive:
            return None
        is_open = any(not t.is_known for t in tensors_in(callee.result_type))
        return callee if is_open else None

    def _inline(self, op: relax.CallOp, callee: relax.FuncOp) -> None:
        """Replace a call by the body, in which tensors still give the sizes of their own."""
        own = declared_in(callee.body.block) - set(callee.declared_symbols())
        renamed = {name: self.fresh(name) for name in sorted(own)}
        set_type(op.result, call_result_type(op, callee))
        inline_call(op, callee, renamed)
        self.read |= {s for new in renamed.values() for s in new.symbols()}

    def _packed(self, op: relax.CallPackedOp | relax.CallPurePackedOp) -> None:
        """The type of a result of unknown shape, if a cast of it has one over known symbols."""
        cast_ = self.casts.get(op.result)
        if cast_ is None or not _is_open(op.result.type):
            return
        wanted = substituted(cast_.result.type, self.values)
        if type_symbols(wanted) <= self.declared and may_be(op.result.type, wanted):
            set_type(op.result, wanted)


def _written(type_: Attribute) -> str:
    """The dims of a cast in the syntax of scripts."""
    match type_:
        case relax.TensorType():
            return shape_text(type_)
        case relax.ShapeType() if type_.dims is not None:
            return python_shape(type_.dims)
        case relax.PrimType() if type_.expr is not None:
            return str(type_.expr)
        case TupleType(types=fields):
            return f"({', '.join(map(_written, fields.data))})"
        case _:
            return str(type_)


@dataclass(frozen=True)
class ResolveShapesPass(ModulePass):
    """Express the shapes of graph functions by the shapes of their parameters."""

    name = "resolve-shapes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        resolve_shapes(op)
