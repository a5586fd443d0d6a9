"""The pattern language; TVM's ``relax.dpl``: describe a part of a graph, find it, replace it.

::

    x, y, z = wildcard(), wildcard(), wildcard()
    pattern = is_op("relax.add")(is_op("relax.multiply")(x, y), z)

    def fma(call, found):
        return relax.op.ewise_fma(found[x], found[y], found[z])

    new = rewrite_call(pattern, fma, mod["main"])          # on a function
    PatternRewriteWalker(pattern.to_rewrite_pattern(fma)).rewrite_module(mod.op)      # in place
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from ..dialects import relax
from ..dialects.dims import dims_of
from ..dialects.relax.type_relations import says_less
from ..ir.call_parts import Op
from ..ir.calls import Call
from ..ir.expr import Expr, expression, view
from ..ir.function import Function
from ..ir.operators import to_value
from ..ir.struct_info import to_type
from ..lowering.graph import dataflow_pattern as core
from ..lowering.graph.values import visible
from ..names import resolve
from .analysis import remove_all_unused
from .dpl_context import Linked
from .dpl_context import PatternContext as PatternContext
from .dpl_context import PatternSeq as PatternSeq
from .dpl_insertion import bring, detached_operations
from .dpl_rewrite import rewrite_bindings as rewrite_bindings
from .mutator import PyExprMutator

__script_path__ = "relax.dpl"

Rewriter: TypeAlias = "Callable[[Any, dict[DFPattern, Any]], Any]"
"""From a matched call and what the parts of the pattern matched to what replaces the call."""


class DFPattern(Linked):
    """A pattern of values; `core` is what matches, `parts` are the patterns it is made of."""

    def match(self, expr: Expr, var2val: Mapping[Any, Any] | None = None) -> bool:
        """Whether a value matches; variables stand for what they are bound to."""
        return self.core.match_value(to_value(expr)) is not None

    def extract_matched_expr(
        self, expr: Expr, var2val: Mapping[Any, Any] | None = None
    ) -> dict[DFPattern, Any] | None:
        """What each part of the pattern matches, `None` where the value does not match."""
        found = self.core.match_value(to_value(expr))
        return None if found is None else self.views(found)

    def views(self, found: core.Matches) -> dict[DFPattern, Any]:
        """What the parts have matched as expressions."""
        return {p: view(found[p.core]) for p in self.all_parts() if p.core in found}

    def to_rewrite_pattern(self, rewriter: Rewriter) -> RewritePattern:
        """The pattern of xDSL that replaces what matches, in place."""
        return ReplaceMatch(self, rewriter)

    def has_dtype(self, dtype: str) -> DFPattern:
        """The pattern, for tensors of this dtype only."""
        return self._where(core.dtype_is(dtype))

    def has_shape(self, shape: Any) -> DFPattern:
        """The pattern, for tensors of this shape only."""
        return self._where(core.shape_is(dims_of(shape)))

    def has_attr(self, attrs: Mapping[str, Any]) -> DFPattern:
        """The pattern, for operators with these attributes only."""
        return self._where(core.attributes_are(attrs))

    def has_struct_info(self, struct_info: Any) -> DFPattern:
        """The pattern, for values whose type says what this one says, or more."""
        wanted = to_type(struct_info)
        return self._where(lambda value: says_less(wanted, value.type))

    has_ty = has_struct_info

    def _where(self, accepts: Callable[[Any], bool]) -> DFPattern:
        return DFPattern(self.core.where(accepts), [self])

    def optional(self, option: Callable[[DFPattern], DFPattern]) -> DFPattern:
        """The pattern, or what `option` makes of it."""
        return option(self) | self

    def dup(self) -> DFPattern:
        """The same pattern, for another value."""
        return DFPattern(self.core.copy())

    def __or__(self, other: DFPattern) -> DFPattern:
        return DFPattern(core.Either(self.core, other.core), [self, other])

    def __and__(self, other: DFPattern) -> DFPattern:
        return DFPattern(core.Both(self.core, other.core), [self, other])

    def __invert__(self) -> DFPattern:
        return DFPattern(core.Neither(self.core))

    def __getitem__(self, index: int) -> DFPattern:
        return is_tuple_get_item(self, index)

    def __add__(self, other: DFPattern) -> DFPattern:
        return is_op("relax.add")(self, other)

    def __sub__(self, other: DFPattern) -> DFPattern:
        return is_op("relax.subtract")(self, other)

    def __mul__(self, other: DFPattern) -> DFPattern:
        return is_op("relax.multiply")(self, other)

    def __truediv__(self, other: DFPattern) -> DFPattern:
        return is_op("relax.divide")(self, other)


class OpPattern:
    """An operator in a pattern: called with patterns of its operands it is a pattern."""

    def __init__(self, name: str):
        self.name = Op.get(name).name

    def __call__(self, *args: DFPattern, varargs: bool = False) -> DFPattern:
        cores = None if varargs else [a.core for a in args]
        return DFPattern(core.Applied(core.operator_named(self.name), cores), args)


def is_op(op_name: str) -> OpPattern:
    """An operator by its full name; raises ValueError for an unknown one."""
    return OpPattern(op_name)


def wildcard() -> DFPattern:
    """Any value."""
    return DFPattern(core.Wildcard())


def is_const() -> DFPattern:
    """A constant."""
    return DFPattern(core.Constant())


def is_var(name: str = "") -> DFPattern:
    """A parameter, of this name if one is given."""
    return DFPattern(core.Parameter(name))


def is_tuple(fields: Sequence[DFPattern] | None) -> DFPattern:
    """A tuple of values that these patterns match; of any, where none are given."""
    cores = None if fields is None else [f.core for f in fields]
    return DFPattern(core.Applied(core.is_tuple, cores), fields or ())


def is_tuple_get_item(tuple_pattern: DFPattern, index: int | None = None) -> DFPattern:
    """A field of a tuple, that of this number if one is given."""
    accepts = core.field_number(index)
    return DFPattern(core.Applied(accepts, [tuple_pattern.core]), [tuple_pattern])


def _call(kind: type[Operation], name: str | None, args: Sequence[DFPattern] | None) -> DFPattern:
    cores = None if args is None else [a.core for a in args]
    return DFPattern(core.Applied(core.call_of(kind, name), cores), args or ())


def is_call_tir(func_name: str | None = None, args: Sequence[DFPattern] | None = None) -> DFPattern:
    """A call of a PrimFunc, of this name and with these arguments if they are given."""
    return _call(relax.CallTIROp, func_name, args)


def is_call_dps_packed(
    func_name: str | None = None, args: Sequence[DFPattern] | None = None
) -> DFPattern:
    """A call by name in destination-passing style."""
    return _call(relax.CallDPSPackedOp, func_name, args)


def is_call_packed(func_name: str, args: Sequence[DFPattern] | None = None) -> DFPattern:
    """A call of a registered function for its effects or its result."""
    calls = [core.call_of(k, func_name) for k in (relax.CallPackedOp, relax.CallPurePackedOp)]
    cores = None if args is None else [a.core for a in args]
    return DFPattern(core.Applied(lambda op: any(c(op) for c in calls), cores), args or ())


def is_dfv() -> DFPattern:
    """A variable of a dataflow block, which is not seen outside of it."""
    return DFPattern(core.Wildcard().where(_is_inside))


def _is_inside(value: SSAValue) -> bool:
    block = value.owner.parent_op()
    return isinstance(block, relax.DataflowOp) and value not in block.output.values


def has_dtype(dtype: str, pattern: DFPattern | None = None) -> DFPattern:
    """A tensor of a dtype."""
    return (pattern or wildcard()).has_dtype(dtype)


def has_shape(shape: Any, pattern: DFPattern | None = None) -> DFPattern:
    """A tensor of a shape."""
    return (pattern or wildcard()).has_shape(shape)


def has_attr(attrs: Mapping[str, Any], pattern: DFPattern | None = None) -> DFPattern:
    """A call of an operator with these attributes."""
    return (pattern or wildcard()).has_attr(attrs)


def make_fused_bias_activation_pattern(
    op_name: str, with_bias: bool = False, activation: str | None = None
) -> DFPattern:
    """An operator of two operands, then a bias if wanted, then an activation if one is named."""
    result = is_op(op_name)(wildcard(), wildcard())
    if with_bias:
        result = is_op("relax.add")(result, wildcard())
    return result if activation is None else is_op(activation)(result)


class _Replacer(PyExprMutator):
    def __init__(self, pattern: DFPattern, rewriter: Rewriter):
        super().__init__()
        self.pattern = pattern
        self.rewriter = rewriter

    def visit_call_(self, op: Call) -> Any:
        call = self.visit_expr_post_order(op)
        found = self.pattern.extract_matched_expr(call)
        return call if found is None else self.rewriter(call, found)


def rewrite_call(pattern: DFPattern, rewriter: Rewriter, func: Function) -> Function:
    """A copy of a function in which `rewriter` has replaced the calls that match.

    It is called with the call and what the parts of the pattern have matched, in order of the
    program, so that what replaces a call can be part of a later match. What is not used any more is
    removed. Raises ValueError or Diagnostic with one line where the result is ill-typed.
    """
    return remove_all_unused(_Replacer(pattern, rewriter).visit_expr(func))


class ReplaceMatch(RewritePattern):
    """Replace values that a pattern matches, as a rewrite pattern of xDSL."""

    def __init__(self, pattern: DFPattern, rewriter: Rewriter):
        self.pattern = pattern
        self.rewriter = rewriter

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if len(op.results) != 1 or op.regions:
            return
        found = self.pattern.core.match_value(op.results[0])
        if found is None:
            return
        old = expression(op)
        new: Expr = self.rewriter(old, self.pattern.views(found))
        if new == old:
            return
        value = new.ssa
        operations = detached_operations(value.owner)
        if not all(bring(o, op, operations) for o in operations):
            return
        for detached in operations:
            rewriter.insert(detached)
        result = value if operations else visible(value, op)
        if result is not None:
            rewriter.replace(op, [], [result])


def __getattr__(name: str) -> Any:
    """TVM's modules `pattern`, `context` and `rewrite`, whose names are all here."""
    return resolve("relax.dpl.", name)
