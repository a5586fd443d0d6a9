"""The patterns of `relax.dpl` as classes: what each matches, and what it is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.ir import Operation
from xdsl.pattern_rewriter import RewritePattern

from ..dialects import relax
from ..dialects.dims import dims_of
from ..dialects.sym import exprs_of
from ..ir.callees import ExternFunc, GlobalVar
from ..ir.expr import Expr, Tuple, expression, view
from ..ir.function import Function
from ..ir.op import Op
from ..ir.operators import to_value
from ..ir.struct_info import shape_of, to_type
from ..lowering.graph import dataflow_pattern as core
from ..te.constant_dim import ConstantDim
from .dpl_context import Linked, PatternContext
from .dpl_insertion import ReplaceMatch


class DFPattern(Linked):
    """A pattern of values; `core` is what matches, `parts` are the patterns it is made of."""

    def match(self, expr: Any, var2val: Mapping[Any, Any] | None = None) -> bool:
        """Whether a value or function matches; variables stand for what they are bound to."""
        if isinstance(expr, GlobalVar | ExternFunc | Function):
            return self.match_function(expr)
        return self.core.match_value(to_value(expr)) is not None

    def match_function(self, function: GlobalVar | ExternFunc | Function) -> bool:
        """Whether a function, or a name of one, matches."""
        return False

    def extract_matched_expr(
        self, expr: Expr, var2val: Mapping[Any, Any] | None = None
    ) -> dict[DFPattern, Any] | None:
        """What each part of the pattern matches, `None` where the value does not match."""
        found = self.core.match_value(to_value(expr))
        return None if found is None else self.views(found)

    def views(self, found: core.Matches) -> dict[DFPattern, Any]:
        """What the parts have matched as expressions."""
        views = {p: view(found[p.core]) for p in self.all_parts() if p.core in found}
        for pattern in self.all_parts():
            if isinstance(pattern, CallPattern) and pattern.core in found:
                views |= pattern.attributes(found[pattern.core].owner)
        return views

    def to_rewrite_pattern(self, rewriter: Callable[[Any, Any], Any]) -> RewritePattern:
        """The pattern of xDSL that replaces what matches, in place."""
        return ReplaceMatch(self, rewriter)

    def alternatives(self) -> list[DFPattern]:
        """The patterns of which one has to match: of ``a | b`` those of `a` and then of `b`."""
        return [self]

    def has_dtype(self, dtype: str) -> DFPattern:
        """The pattern, for tensors of this dtype only."""
        return DataTypePattern(self, dtype)

    def has_shape(self, shape: Any) -> DFPattern:
        """The pattern, for tensors of this shape only."""
        return ShapePattern(self, shape)

    def has_attr(self, attrs: Mapping[str, Any]) -> DFPattern:
        """The pattern, for operators with these attributes only."""
        return self._where(core.attributes_are(attrs))

    def has_struct_info(self, struct_info: Any) -> DFPattern:
        """The pattern, for values whose type says what this one says, or more.

        A symbol stands for any dim, the same one in all parts of a pattern.
        """
        return DFPattern(core.Typed(self.core, to_type(struct_info)), [self])

    has_ty = has_struct_info

    def same_shape_as(self, *others: DFPattern) -> None:
        """Require other patterns of the open context to match tensors of the shape of this one."""
        context = PatternContext.current()
        if context is None:
            raise ValueError("expected 'with PatternContext()' around patterns of the same shape")
        context.same_shapes += [(self.core, other.core) for other in others]

    def _where(self, accepts: Callable[[Any], bool]) -> DFPattern:
        return DFPattern(self.core.where(accepts), [self])

    def optional(self, option: Callable[[DFPattern], DFPattern]) -> DFPattern:
        """The pattern, or what `option` makes of it."""
        return option(self) | self

    def dup(self) -> DFPattern:
        """The same pattern, for another value."""
        return DFPattern(self.core.copy())

    def __or__(self, other: DFPattern) -> DFPattern:
        return OrPattern(core.Either(self.core, other.core), [self, other])

    def __and__(self, other: DFPattern) -> DFPattern:
        return AndPattern(core.Both(self.core, other.core), [self, other])

    def __invert__(self) -> DFPattern:
        return NotPattern(core.Neither(self.core))

    def __getitem__(self, index: int | None) -> DFPattern:
        return TupleGetItemPattern(self, index)

    def __add__(self, other: DFPattern) -> DFPattern:
        return OpPattern("relax.add")(self, other)

    def __sub__(self, other: DFPattern) -> DFPattern:
        return OpPattern("relax.subtract")(self, other)

    def __mul__(self, other: DFPattern) -> DFPattern:
        return OpPattern("relax.multiply")(self, other)

    def __truediv__(self, other: DFPattern) -> DFPattern:
        return OpPattern("relax.divide")(self, other)


class WildcardPattern(DFPattern):
    """Any value."""

    def __init__(self) -> None:
        super().__init__(core.Wildcard())


class VarPattern(DFPattern):
    """A parameter, of this name if one is given."""

    def __init__(self, name: str = ""):
        super().__init__(core.Parameter(name))
        self.name = name


class DataflowVarPattern(DFPattern):
    """A variable that only its dataflow block sees, of this name if one is given."""

    def __init__(self, name: str = ""):
        super().__init__(core.Wildcard().where(core.is_internal(name)))
        self.name = name


class GlobalVarPattern(DFPattern):
    """The global variable of a function, of this name if one is given."""

    def __init__(self, name: str = ""):
        super().__init__(core.Wildcard().where(lambda value: False))
        self.name = name

    def match_function(self, function: GlobalVar | ExternFunc | Function) -> bool:
        return isinstance(function, GlobalVar) and self.name in ("", function.name_hint)


class ExternFuncPattern(DFPattern):
    """A registered function by its name; called with patterns of arguments, its call."""

    def __init__(self, global_symbol: str):
        super().__init__(core.Wildcard().where(lambda value: False))
        self.global_symbol = global_symbol

    def match_function(self, function: GlobalVar | ExternFunc | Function) -> bool:
        return function == ExternFunc(self.global_symbol)

    def __call__(self, *args: DFPattern, varg_default_wildcard: bool = False) -> CallPattern:
        return packed_call(self.global_symbol, None if varg_default_wildcard else args)


class ExprPattern(DFPattern):
    """One value, and no other."""

    def __init__(self, expr: Expr):
        super().__init__(core.Wildcard().where(lambda value: view(value) == expr))
        self.expr = expr


class ConstantPattern(DFPattern):
    """A constant."""

    def __init__(self) -> None:
        super().__init__(core.Constant())


class CallPattern(DFPattern):
    """A call whose operation `accepts` accepts; of any arguments where none are given."""

    def __init__(
        self,
        accepts: Callable[[Operation], bool],
        args: Sequence[DFPattern] | None,
        operator: OpPattern | None = None,
    ):
        self.operator = operator
        cores = None if args is None else [a.core for a in args]
        super().__init__(core.Applied(accepts, cores, operator is not None), args or ())
        self.args = list(args or ())

    def attributes(self, op: Any) -> dict[Any, Any]:
        """The operator, and what patterns beyond the operands match: entries of `Call.attrs`.

        A wildcard for the list of an operator that takes one matches the tuple of the operands.
        """
        if isinstance(op, relax.CallTIROp) and op.tir_vars is not None:
            variables = shape_of(exprs_of(op.tir_vars))
            return dict(zip(self.args[len(op.args) :], variables, strict=False))
        if not isinstance(op, relax.OperatorOp):
            return {}
        known: dict[Any, Any] = {}
        if self.operator is not None:
            known[self.operator] = expression(op).op
        takes_list = op.operand_names() == (op.variadic_operand(),)
        if takes_list and len(self.args) == 1 and isinstance(self.args[0], WildcardPattern):
            known[self.args[0]] = Tuple([view(o) for o in op.operands])
        kinds = type(op).attribute_kinds()
        names = [n for n in type(op).ORDER or kinds if n in kinds]
        values = expression(op).attrs
        extra = zip(self.args[len(op.operands) :], names, strict=False)
        return known | {p: _with_constants(values[n]) for p, n in extra}


def _with_constants(value: Any) -> Any:
    """The entry of an attribute with ints as TVM's operands have them: with `value`."""
    if isinstance(value, list | tuple):
        return tuple(map(_with_constants, value))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    return ConstantDim(value) if type(value) is int else value


class FunctionPattern(DFPattern):
    """A function whose parameters and body match; `has_attr` asks for its attributes."""

    def __init__(self, params: Sequence[DFPattern], body: DFPattern):
        super().__init__(core.Wildcard().where(lambda value: False), [*params, body])
        self.params, self.body = list(params), body
        self.attrs: dict[str, Any] = {}

    def has_attr(self, attrs: Mapping[str, Any]) -> DFPattern:
        """The pattern, for functions with these attributes only."""
        pattern = FunctionPattern(self.params, self.body)
        pattern.attrs = {**self.attrs, **attrs}
        return pattern

    def match_function(self, function: GlobalVar | ExternFunc | Function) -> bool:
        if not isinstance(function, Function) or len(function.params) != len(self.params):
            return False
        given = function.attrs or {}
        values = [p.borrowed for p in function.params]
        found = core.match_all([p.core for p in self.params], values, {})
        body = function.body.body.borrowed
        matches = found is not None and self.body.core.match_value(body, found) is not None
        return matches and all(given.get(k) == v for k, v in self.attrs.items())


class TuplePattern(DFPattern):
    """A tuple of values that these patterns match; of any, where none are given."""

    def __init__(self, fields: Sequence[DFPattern] | None):
        cores = None if fields is None else [f.core for f in fields]
        super().__init__(core.Applied(core.is_tuple, cores), fields or ())
        self.fields = None if fields is None else list(fields)

    def __getitem__(self, index: int | None) -> DFPattern:
        if index is None or self.fields is None:
            return TupleGetItemPattern(self, index)
        size = len(self.fields)
        if not -size <= index < size:
            raise IndexError(f"expected a field of a tuple of {size}, got {index}")
        return TupleGetItemPattern(self, index % size)


class UnorderedTuplePattern(DFPattern):
    """A tuple of values that these patterns match in some order."""

    def __init__(self, fields: Sequence[DFPattern]):
        super().__init__(core.Unordered([f.core for f in fields]), fields)
        self.fields = list(fields)


class TupleGetItemPattern(DFPattern):
    """A field of a tuple, that of this number if one is given."""

    def __init__(self, tuple_pattern: DFPattern, index: int | None = None):
        applied = core.Applied(core.field_number(index), [tuple_pattern.core])
        super().__init__(applied, [tuple_pattern])
        self.tuple, self.index = tuple_pattern, index


class OrPattern(DFPattern):
    """What one of two patterns matches."""

    def alternatives(self) -> list[DFPattern]:
        parts = [part for part in self.parts if isinstance(part, DFPattern)]
        return [a for part in parts for a in part.alternatives()]

    def match_function(self, function: GlobalVar | ExternFunc | Function) -> bool:
        return any(p.match(function) for p in self.all_parts() if p is not self)


class AndPattern(DFPattern):
    """What two patterns match."""


class NotPattern(DFPattern):
    """What a pattern does not match."""


class DataTypePattern(DFPattern):
    """A tensor of a dtype that another pattern matches."""

    def __init__(self, pattern: DFPattern, dtype: str):
        super().__init__(pattern.core.where(core.dtype_is(dtype)), [pattern])
        self.pattern, self.dtype = pattern, dtype


class ShapePattern(DFPattern):
    """A tensor of a shape that another pattern matches."""

    def __init__(self, pattern: DFPattern, shape: Any):
        super().__init__(pattern.core.where(core.shape_is(dims_of(shape))), [pattern])
        self.pattern, self.shape = pattern, list(shape)


class PrimArrPattern(DFPattern):
    """A shape as a value, with these dims."""

    def __init__(self, shape: Sequence[Any]):
        wanted = relax.ShapeType.of(dims_of(shape))
        super().__init__(core.Wildcard().where(lambda value: value.type == wanted))
        self.shape = list(shape)

    def __getitem__(self, index: int | None) -> Any:
        return self.shape if index is None else self.shape[index]


class OpPattern:
    """Operators in a pattern: called with patterns of the operands it is a pattern."""

    def __init__(self, *names: str):
        self.names = tuple(Op.get(n).name for n in names)

    def __or__(self, other: OpPattern) -> OpPattern:
        return OpPattern(*self.names, *other.names)

    def __call__(
        self, *args: DFPattern, varargs: bool = False, varg_default_wildcard: bool = False
    ) -> CallPattern:
        any_operands = varargs or varg_default_wildcard
        accepts = core.operator_named(*self.names)
        return CallPattern(accepts, None if any_operands else args, self)


def packed_call(name: str, args: Sequence[DFPattern] | None) -> CallPattern:
    """A call of a registered function for its effects or its result."""
    calls = [core.call_of(k, name) for k in (relax.CallPackedOp, relax.CallPurePackedOp)]
    return CallPattern(lambda op: any(c(op) for c in calls), args)
