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
from dataclasses import dataclass, field
from functools import partial
from typing import cast

from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from ...dialects import relax
from ...dialects.diagnostics import Diagnostic
from ...dialects.relax.closure import is_pure
from ..call_signature import unify_types
from ..substitute import substitute_symbols
from .dataflow_pattern import Applied, Matches, Pattern, Wildcard, is_tuple
from .values import canonical, visible

LIMIT = 1_000
"""Replacements in one function, after which rules are taken not to end."""


@dataclass
class Match:
    """What a rule replaces: one value, or the fields of a tuple that is computed nowhere."""

    values: list[SSAValue]
    is_tuple: bool
    found: Matches
    arguments: list[SSAValue] = field(default_factory=lambda: [])
    symbols: dict[str, object] = field(default_factory=lambda: {})


@dataclass(frozen=True)
class RewriteRule:
    """A pattern and its replacement; their parameters correspond.

    A pattern that returns a tuple matches several values of one block, too, none of which is used
    before all of them are computed.
    """

    pattern: relax.FuncOp
    replacement: relax.FuncOp

    def matched(self, op: Operation) -> Match | None:
        """What an operation computes if it is the last one of the pattern."""
        if len(op.results) != 1:
            return None
        known: dict[SSAValue, Pattern] = {p: Wildcard() for p in self.pattern.params}
        params = list(known.values())
        root = _pattern_of(canonical(self.pattern.returned), known)
        if not isinstance(root, Applied):
            return None
        result, found = op.results[0], root.match_value(op.results[0])
        match = None if found is None else Match([result], False, found)
        if match is None and root.accepts is is_tuple and root.args:
            match = match_fields(root.args, op)
        if match is None or not _is_together(op, match.found):
            return None
        return match if self._unify(match, params, op) else None

    def _unify(self, match: Match, params: Sequence[Pattern], op: Operation) -> bool:
        """Find the values of the parameters, and those of symbols; whether their types fit."""
        found = match.found
        seen = [visible(found[p], op) for p in params if p in found]
        match.arguments = [v for v in seen if v is not None]
        if len(match.arguments) != len(params):
            return False
        expected, given = ([v.type for v in vs] for vs in (self.pattern.params, match.arguments))
        try:
            unified = unify_types("pattern", self.pattern.names, expected, given)
        except Diagnostic:
            return False
        match.symbols = dict(unified.symbols)
        return True

    def apply(self, op: Operation) -> list[Operation] | None:
        """Replace an operation that matches; returns the new ones, `None` if it does not match."""
        match = self.matched(op)
        if match is None or op.parent is None:
            return None
        body = self.replacement.clone()
        substitute_symbols(body, match.symbols)  # pyright: ignore[reportArgumentType]
        for param, value in zip(body.params, match.arguments, strict=True):
            param.replace_all_uses_with(value)
        last, result = body.end, canonical(body.returned)
        new = [o for o in _operations(body) if o is not last]
        for added in new:
            added.detach()
            op.parent.insert_op_before(added, op)
        last.detach()
        last.erase()
        results = _fields(result, match.values, op) if match.is_tuple else [result]
        for old, value in zip(match.values, results, strict=True):
            _replace(old, value, new)
        return new


def _replace(old: SSAValue, value: SSAValue, new: Sequence[Operation]) -> None:
    """Let a value be another one, which keeps its name if a replacement has computed it."""
    owner = old.owner
    assert isinstance(owner, Operation)
    if old.name_hint is not None and value.owner in new:
        value.name_hint = old.name_hint
    Rewriter.replace_op(owner, [], [value])


def _fields(value: SSAValue, old: Sequence[SSAValue], op: Operation) -> Sequence[SSAValue]:
    """The fields of a tuple; if they are not known, they are taken in the order of old values."""
    if isinstance(value.owner, relax.TupleOp):
        return list(map(canonical, value.owner.fields))
    taken = [relax.TupleGetItemOp(value, i) for i in range(len(old))]
    assert op.parent is not None
    lines = {line: place for place, line in enumerate(op.parent.ops)}
    order = sorted(range(len(old)), key=lambda i: lines[cast(Operation, old[i].owner)])
    op.parent.insert_ops_before([taken[i] for i in order], op)
    return [t.result for t in taken]


def match_fields(fields: Sequence[Pattern], op: Operation) -> Match | None:
    """Values of a block that patterns match together, the last of which an operation computes.

    Each of them is used, but only after this operation.
    """
    for place, pattern in reversed(list(enumerate(fields))):
        first = pattern.match_value(op.results[0]) if isinstance(pattern, Applied) else None
        if first is not None:
            others = [f for i, f in enumerate(fields) if i != place]
            for found in _match_before(others, op, first):
                values = [found[f] for f in fields]
                if len(set(values)) == len(values) and all(_is_used_after(v, op) for v in values):
                    return Match(values, True, found)
    return None


def _match_before(fields: Sequence[Pattern], op: Operation, found: Matches) -> Iterator[Matches]:
    """The matches of patterns with values that are computed before an operation in its block."""
    if not fields:
        yield found
        return
    current = op.prev_op
    while current is not None and is_pure(current):
        for value in current.results if isinstance(fields[0], Applied) else ():
            inner = fields[0].match_value(value, found)
            if inner is not None:
                yield from _match_before(fields[1:], op, inner)
        current = current.prev_op


def _is_used_after(value: SSAValue, op: Operation) -> bool:
    """Whether a value is used, and only after an operation of its block."""
    block = op.parent
    assert block is not None
    users = [block.find_ancestor_op_in_block(use.operation) for use in value.uses]
    return bool(users) and all(u is not None and op.is_before_in_block(u) for u in users)


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
        is_equal = partial(_computes_as, owner)
        accepts = is_tuple if isinstance(owner, relax.TupleOp) else is_equal
        known[value] = Applied(accepts, parts)
    return known[value]


def _computes_as(wanted: Operation, op: Operation) -> bool:
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
