"""Rewrite rules that two graph functions define: what the first computes becomes the second.

::

    relax.func @pattern(%a, %b) { %c = relax.add %a, %b; relax.return %c }
    relax.func @replacement(%a, %b) { %c = relax.call_pure_packed "f"(%a, %b); relax.return %c }

    %y = relax.add %x, %w : …        ⇒        %y = relax.call_pure_packed "f"(%x, %w) : …

TVM's ``PatternMatchingRewriter``. The parameters stand for any values of their types; symbols of
the pattern stand for the dims of what matches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from ...dialects import relax
from ...dialects.diagnostics import Diagnostic
from ...dialects.relax.closure import is_pure
from ..call_signature import unify_types
from ..substitute import substitute_symbols
from .dataflow_pattern import Applied, Matches, Pattern, Wildcard
from .values import canonical, visible

LIMIT = 1_000
"""Replacements in one function, after which rules are taken not to end."""


@dataclass(frozen=True)
class RewriteRule:
    """A pattern and its replacement; their parameters correspond."""

    pattern: relax.FuncOp
    replacement: relax.FuncOp

    def matched(self, op: Operation) -> tuple[list[SSAValue], dict[str, object]] | None:
        """The values of the parameters, and the symbols, if an operation computes the pattern."""
        if len(op.results) != 1:
            return None
        known: dict[SSAValue, Pattern] = {p: Wildcard() for p in self.pattern.params}
        params = list(known.values())
        root = _pattern_of(canonical(self.pattern.returned), known)
        found = root.match_value(op.results[0]) if isinstance(root, Applied) else None
        if found is None or not _is_together(op, found):
            return None
        return self._arguments(found, params, op)

    def _arguments(
        self, found: Matches, params: Sequence[Pattern], op: Operation
    ) -> tuple[list[SSAValue], dict[str, object]] | None:
        seen = [visible(found[p], op) for p in params if p in found]
        values = [v for v in seen if v is not None]
        if len(values) != len(params):
            return None
        expected = [p.type for p in self.pattern.params]
        try:
            unified = unify_types("pattern", self.pattern.names, expected, [v.type for v in values])
        except Diagnostic:
            return None
        return values, dict(unified.symbols)

    def apply(self, op: Operation) -> list[Operation] | None:
        """Replace an operation that matches; returns the new ones, `None` if it does not match."""
        found = self.matched(op)
        if found is None or op.parent is None:
            return None
        values, symbols = found
        body = self.replacement.clone()
        substitute_symbols(body, symbols)  # pyright: ignore[reportArgumentType]
        for param, value in zip(body.params, values, strict=True):
            param.replace_all_uses_with(value)
        last = body.body.block.last_op
        assert isinstance(last, relax.func.ReturnOp)
        result, name = canonical(last.value), op.results[0].name_hint
        new = [o for o in _operations(body) if o is not last]
        for added in new:
            added.detach()
            op.parent.insert_op_before(added, op)
        last.detach()
        last.erase()
        if name is not None and result.owner in new:
            result.name_hint = name
        Rewriter.replace_op(op, [], [result])
        return new


def _is_together(op: Operation, found: Matches) -> bool:
    """Whether no effect comes between an operation and those that a pattern matches with it."""
    left = {v.owner for p, v in found.items() if isinstance(p, Applied)} - {op}
    current = op.prev_op
    while left and current is not None:
        if not is_pure(current):
            return False
        left.discard(current)
        current = current.prev_op
    return all(isinstance(o, Operation) and o.parent is not op.parent for o in left)


def _operations(func: relax.FuncOp) -> list[Operation]:
    """The operations of a function, those of its dataflow blocks in their place."""
    found: list[Operation] = []
    for op in list(func.body.block.ops):
        if isinstance(op, relax.DataflowOp):
            for inner, outer in zip(op.output.values, op.outputs, strict=True):
                outer.replace_all_uses_with(inner)
            found += [o for o in op.body.block.ops if not isinstance(o, relax.OutputOp)]
        else:
            found.append(op)
    return found


def _pattern_of(value: SSAValue, known: dict[SSAValue, Pattern]) -> Pattern:
    """The pattern of a value of a function, whose parameters have patterns."""
    value = canonical(value)
    if value not in known:
        owner = value.owner
        assert isinstance(owner, Operation)
        parts = [_pattern_of(o, known) for o in owner.operands]
        known[value] = Applied(lambda op: _computes_as(op, owner), parts)
    return known[value]


def _computes_as(op: Operation, wanted: Operation) -> bool:
    """Whether two operations are the same but for operands and types."""
    if type(op) is not type(wanted) or op.regions or len(op.operands) != len(wanted.operands):
        return False
    if isinstance(op, relax.ConstantOp) and isinstance(wanted, relax.ConstantOp):
        return op.value.data.digest == wanted.value.data.digest
    return op.properties == wanted.properties


def rewrite_by_rules(func: relax.FuncOp, rules: Sequence[RewriteRule]) -> bool:
    """Replace what a rule matches, in order of the program, also in replacements; in place.

    The first rule that matches is applied. Returns whether one has. Raises Diagnostic where
    replacements match again without end.
    """
    count = 0
    while (changed := sum(_apply(op, rules) for op in _candidates(func))) > 0:
        count += changed
        if count > LIMIT:
            raise Diagnostic(f"expected rules that come to an end, got {count} replacements", func)
    return count > 0


def _candidates(func: relax.FuncOp) -> Iterator[Operation]:
    # Later operations first: one that matches may be part of what a later one matches.
    yield from reversed([op for op in func.walk() if op is not func])


def _apply(op: Operation, rules: Sequence[RewriteRule]) -> bool:
    if op.parent is None:
        return False
    return any(rule.apply(op) is not None for rule in rules)
