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

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ..dialects import relax
from ..ir.calls import Call
from ..ir.expr import Expr
from ..ir.function import Function
from ..lowering.graph import dataflow_pattern as core
from ..lowering.graph.canonicalize_bindings import canonicalize_bindings
from ..lowering.graph.eliminate_common_subexpr import EliminateCommonSubexprPass
from ..name_lookup import resolve
from .analysis import remove_all_unused
from .dpl_context import PatternContext as PatternContext
from .dpl_context import PatternSeq as PatternSeq
from .dpl_insertion import ReplaceMatch as ReplaceMatch
from .dpl_pattern import AndPattern as AndPattern
from .dpl_pattern import CallPattern as CallPattern
from .dpl_pattern import ConstantPattern as ConstantPattern
from .dpl_pattern import DataflowVarPattern as DataflowVarPattern
from .dpl_pattern import DataTypePattern as DataTypePattern
from .dpl_pattern import DFPattern as DFPattern
from .dpl_pattern import ExprPattern as ExprPattern
from .dpl_pattern import ExternFuncPattern as ExternFuncPattern
from .dpl_pattern import FunctionPattern as FunctionPattern
from .dpl_pattern import GlobalVarPattern as GlobalVarPattern
from .dpl_pattern import NotPattern as NotPattern
from .dpl_pattern import OpPattern as OpPattern
from .dpl_pattern import OrPattern as OrPattern
from .dpl_pattern import PrimArrPattern as PrimArrPattern
from .dpl_pattern import ShapePattern as ShapePattern
from .dpl_pattern import TupleGetItemPattern as TupleGetItemPattern
from .dpl_pattern import TuplePattern as TuplePattern
from .dpl_pattern import UnorderedTuplePattern as UnorderedTuplePattern
from .dpl_pattern import VarPattern as VarPattern
from .dpl_pattern import WildcardPattern as WildcardPattern
from .dpl_pattern import packed_call
from .dpl_rewrite import rewrite_bindings as rewrite_bindings
from .dpl_rewriter import PatternMatchingRewriter as PatternMatchingRewriter
from .mutator import PyExprMutator

__script_path__ = "relax.dpl"

Rewriter: TypeAlias = "Callable[[Any, dict[DFPattern, Any]], Any]"
"""From a matched call and what the parts of the pattern matched to what replaces the call."""


def is_op(op_name: str) -> OpPattern:
    """An operator by its full name; raises ValueError for an unknown one."""
    return OpPattern(op_name)


def wildcard() -> DFPattern:
    """Any value."""
    return WildcardPattern()


def is_const() -> DFPattern:
    """A constant."""
    return ConstantPattern()


def is_var(name: str = "") -> DFPattern:
    """A parameter, of this name if one is given."""
    return VarPattern(name)


def is_tuple(fields: Sequence[DFPattern] | None, unordered: bool = False) -> DFPattern:
    """A tuple of values that these patterns match, in any order if `unordered`.

    It is a tuple of any values where no patterns are given.
    """
    if unordered and fields is not None:
        return UnorderedTuplePattern(fields)
    return TuplePattern(fields)


def is_tuple_get_item(tuple_pattern: DFPattern, index: int | None = None) -> DFPattern:
    """A field of a tuple, that of this number if one is given."""
    return TupleGetItemPattern(tuple_pattern, index)


def _call(kind: type[Operation], name: str | None, args: Sequence[DFPattern] | None) -> DFPattern:
    return CallPattern(core.call_of(kind, name), args)


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
    return packed_call(func_name, args)


def is_dfv(name: str = "") -> DFPattern:
    """A variable of a dataflow block, which is not seen outside of it; of this name if given."""
    return DataflowVarPattern(name)


def is_gv(name: str = "") -> DFPattern:
    """The global variable of a function, of this name if one is given."""
    return GlobalVarPattern(name)


def is_expr(expr: Expr) -> DFPattern:
    """One value, and no other."""
    return ExprPattern(expr)


def is_shape(shape: Sequence[Any]) -> DFPattern:
    """A shape as a value, with these dims; `has_shape` is about tensors."""
    return PrimArrPattern(shape)


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
    op_name: str,
    with_bias: bool = False,
    activation: str | None = None,
    allow_reshape: bool = False,
) -> DFPattern:
    """An operator of two operands, then a bias if wanted, then an activation if one is named.

    With `allow_reshape` the bias is a reshape, as in programs from PyTorch.
    """
    result, bias = is_op(op_name)(wildcard(), wildcard()), wildcard()
    if allow_reshape:
        bias = is_op("relax.reshape")(bias, wildcard())
    if with_bias:
        result = is_op("relax.add")(result, bias)
    return result if activation is None else is_op(activation)(result)


class _Replacer(PyExprMutator):
    def __init__(self, pattern: DFPattern, rewriter: Rewriter):
        super().__init__()
        self.pattern = pattern
        self.rewriter = rewriter
        self.changes = 0

    def visit_call_(self, op: Call) -> Any:
        call = self.visit_expr_post_order(op)
        for alternative in self.pattern.alternatives():
            found = alternative.extract_matched_expr(call)
            if found is None:
                continue
            new = self.rewriter(call, {self.pattern: call} | found)
            if not (isinstance(new, Expr) and new == call):
                self.changes += 1
                return new
        return call


def rewrite_call(pattern: DFPattern, rewriter: Rewriter, func: Function) -> Function:
    """A copy of a function in which `rewriter` has replaced the calls that match.

    It is called with the call and what the parts of the pattern have matched, in order of the
    program, so that what replaces a call can be part of a later match, until nothing changes. If it
    returns the call itself, the other alternatives of ``a | b`` are tried. Fields of known tuples
    become values, equal calls are computed once, and what is not used any more is removed. Raises
    ValueError or Diagnostic with one line where the result is ill-typed, and ValueError where
    replacements match again and again: more often than the function has lines.
    """
    limit = 1 + sum(1 for _ in func.op.walk())
    for _ in range(limit):
        replacer = _Replacer(pattern, rewriter)
        func = replacer.visit_expr(func)
        if not replacer.changes:
            return remove_all_unused(func)
        assert isinstance(func.op, relax.FuncOp)
        canonicalize_bindings(func.op)
        _share_equal_calls(func.op)
    raise ValueError(f"expected replacements to stop matching after {limit} rounds, they go on")


def _share_equal_calls(func: relax.FuncOp) -> None:
    """Compute once what several replacements compute."""
    module = ModuleOp([func])
    EliminateCommonSubexprPass().apply(Context(), module)
    func.detach()


def __getattr__(name: str) -> Any:
    """TVM's modules `pattern`, `context` and `rewrite`, whose names are all here."""
    return resolve("relax.dpl.", name)
