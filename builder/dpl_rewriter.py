"""`R.rewriter`: a class with a pattern and a replacement becomes a pass."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.ir import Operation

from ..dialects import relax
from ..ir.base_function import BaseFunc
from ..ir.equality import structural_equal
from ..ir.function import Function
from ..ir.module import IRModule
from ..ir.transform import Pass, PassContext, PassInfo
from ..lowering.functions import is_private, unique_name
from ..lowering.graph.dead_code import remove_all_unused
from ..lowering.graph.rewrite_rule import RewriteRule, rewrite_by_rules
from ..script.decorate import module_of_class


class PatternMatchingRewriter(Pass):
    """Replaces what `pattern` of a module computes by its `replacement`; a pass.

    Both are graph functions of one signature. The module's other functions are private; those that
    replacements call are added to the module. Also takes a single function. ``a | b`` tries the
    rules of `a` first. TVM's ``relax.dpl.PatternMatchingRewriter``.
    """

    def __init__(self, rules: Sequence[RewriteRule], functions: Sequence[BaseFunc] = ()):
        self.rules = tuple(rules)
        self.functions = tuple(functions)
        self.info = PassInfo("rewrite-patterns")

    @staticmethod
    def from_module(mod: IRModule) -> PatternMatchingRewriter:
        """The rule of a module.

        Raises KeyError, TypeError or ValueError with one line unless it has the two functions.
        """
        pattern, replacement = (_function(mod, name) for name in ("pattern", "replacement"))
        types = [[p.type for p in f.params] for f in (pattern, replacement)]
        if types[0] != types[1]:
            shown = " and ".join(f"({', '.join(map(str, t))})" for t in types)
            raise ValueError(f"pattern and replacement must have the same signature, got {shown}")
        others = [f for gv, f in mod.items() if gv.name_hint not in ("pattern", "replacement")]
        for function in others:
            if not is_private(function.op):
                raise ValueError(
                    f"expected private functions, '{function.name}' is publicly exposed"
                )
        return PatternMatchingRewriter([RewriteRule(pattern, replacement)], others)

    def __or__(self, other: PatternMatchingRewriter) -> PatternMatchingRewriter:
        other = other._apart({f.name: f for f in self.functions})
        rules, functions = self.rules + other.rules, self.functions + other.functions
        return PatternMatchingRewriter(rules, functions)

    def __call__(self, mod: Any) -> Any:
        if not isinstance(mod, Function):
            return super().__call__(mod)
        op = mod.op.clone()
        assert isinstance(op, relax.FuncOp)
        self._rewrite(op)
        return Function(op)

    def _apart(self, taken: Mapping[str, BaseFunc]) -> PatternMatchingRewriter:
        """The rewriter with names of functions that no other ones have."""
        every, names = {*taken, *(f.name for f in self.functions)}, dict[str, str]()
        for function in self.functions:
            other = taken.get(function.name)
            if other is not None and not structural_equal(other, function):
                names[function.name] = unique_name(function.name, every)
                every.add(names[function.name])
        if not names:
            return self
        rules = [
            RewriteRule(r.pattern, cast(relax.FuncOp, _renamed(r.replacement, names)))
            for r in self.rules
        ]
        return PatternMatchingRewriter(
            rules, [type(f)(cast(Any, _renamed(f.op, names))) for f in self.functions]
        )

    def transform(self, mod: IRModule, ctx: PassContext) -> IRModule:
        return self._apart({gv.name_hint: f for gv, f in mod.items()})._transform(mod)

    def _transform(self, mod: IRModule) -> IRModule:
        for op in list(mod.op.ops):
            if isinstance(op, relax.FuncOp):
                self._rewrite(op)
        called = {
            str(op.properties["callee"]).lstrip("@")
            for op in mod.op.walk()
            if "callee" in op.properties
        }
        for function in self.functions:
            if function.name in called and function.name not in mod:
                mod[function.name] = function
        return mod

    def _rewrite(self, func: relax.FuncOp) -> None:
        if rewrite_by_rules(func, self.rules):
            remove_all_unused(func)


def _renamed(func: Operation, names: Mapping[str, str]) -> Operation:
    """A copy of a function where functions have other names, itself too if it is one of them."""
    copy = func.clone()
    for op in copy.walk():
        for key in ("callee", "sym_name"):
            name = str(op.properties.get(key, "")).strip('@"')
            if name in names:
                kind = type(op.properties[key])
                op.properties[key] = kind(names[name])  # pyright: ignore[reportCallIssue]
    return copy


def _function(mod: IRModule, name: str) -> relax.FuncOp:
    if name not in mod:
        raise KeyError(f"expected a function '{name}' of the rewriter")
    op = mod[name].op
    if not isinstance(op, relax.FuncOp):
        raise TypeError(f"expected '{name}' to be a graph function, got a PrimFunc")
    return op


def rewriter(cls: type) -> PatternMatchingRewriter:
    """Decorator of a class with functions `pattern` and `replacement`; TVM's ``R.rewriter``."""
    return PatternMatchingRewriter.from_module(module_of_class(cls, sys._getframe(1)))  # pyright: ignore[reportPrivateUsage]
