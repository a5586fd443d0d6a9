"""Patterns of a dataflow block that are linked by uses: ``conv >> bias >> relu``.

::

    with PatternContext() as ctx:
        product = is_op("relax.matmul")(wildcard(), wildcard())
        product >> is_op("relax.nn.relu")(wildcard())   # the relu is the only user
    found = ctx.match_dfb(func.body.blocks[0])          # {product: variable, …}
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NamedTuple

from xdsl.ir import Operation, SSAValue

from ..dialects import relax
from ..ir.blocks import DataflowBlock
from ..ir.expr import view
from ..lowering.graph.dataflow_pattern import Matches, Pattern
from ..lowering.graph.values import canonical


class Link(NamedTuple):
    """A use of what `producer` matches by what `consumer` matches; the only one if `only`.

    It is the operand of the consumer with the number `position`, any where that is negative.
    """

    producer: Pattern
    consumer: Pattern
    only: bool
    position: int


class PatternContext:
    """Patterns that have to match values of one block together; TVM's ``PatternContext``.

    They are those that are made or linked inside of ``with PatternContext() as ctx``, and with
    `incremental` those of the context around too. Different patterns match different values.
    """

    _open: ClassVar[list[PatternContext]] = []

    def __init__(self, incremental: bool = False):
        outer = PatternContext.current() if incremental else None
        self.patterns: dict[Linked, None] = {} if outer is None else dict(outer.patterns)
        self.links: list[Link] = [] if outer is None else list(outer.links)
        self.same_shapes: list[tuple[Pattern, Pattern]] = (
            [] if outer is None else list(outer.same_shapes)
        )

    @staticmethod
    def current() -> PatternContext | None:
        """The innermost context, if there is one."""
        return PatternContext._open[-1] if PatternContext._open else None

    def __enter__(self) -> PatternContext:
        PatternContext._open.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        PatternContext._open.pop()

    def match_dfb(self, dfb: DataflowBlock) -> dict[Any, Any] | None:
        """What each pattern matches, as variables and values; `None` unless all of them match."""
        if dfb.op is None:
            raise ValueError("expected a dataflow block of a function, got one of no function")
        roots = [p for p in self.patterns if not any(p in q.parts for q in self.patterns)]
        found = self._match(roots, _values(dfb.op), {})
        if found is None:
            return None
        every = dict.fromkeys(part for root in roots for part in root.all_parts())
        return {p: view(found[p.core]) for p in every if p.core in found}

    def _match(
        self, roots: Sequence[Linked], values: Sequence[SSAValue], found: Matches
    ) -> Matches | None:
        """The first matches of all roots, in order, that fit the links."""
        if not roots:
            return found
        root = roots[0].core
        taken = [v for p, v in found.items() if p.is_operation]
        for value in [found[root]] if root in found else values:
            inner = root.match_value(value, found)
            if inner is None or (root not in found and root.is_operation and value in taken):
                continue
            if all(_holds(link, inner) for link in self.links) and self._have_same_shapes(inner):
                rest = self._match(roots[1:], values, inner)
                if rest is not None:
                    return rest
        return None

    def _have_same_shapes(self, found: Matches) -> bool:
        """Whether what is found so far has the same shapes where that is required."""
        pairs = [(found[a], found[b]) for a, b in self.same_shapes if a in found and b in found]
        types = [(a.type, b.type) for a, b in pairs]
        return all(
            isinstance(a, relax.TensorType)
            and isinstance(b, relax.TensorType)
            and a.dims is not None
            and a.dims == b.dims
            for a, b in types
        )


class Linked(ABC):
    """A pattern that may be linked to others in a context: ``a >> b``, ``a ^ b``."""

    def __init__(self, pattern: Pattern, parts: Sequence[Linked] = ()):
        self.core = pattern
        self.parts = tuple(parts)
        if (context := PatternContext.current()) is not None:
            context.patterns[self] = None

    @abstractmethod
    def dup(self) -> Linked:
        """The same pattern, for another value."""

    def all_parts(self) -> Iterator[Any]:
        """The pattern, and all that it is made of."""
        yield self
        for part in self.parts:
            yield from part.all_parts()

    def used_by(self, other: Linked | PatternSeq, index: int = -1) -> PatternSeq:
        """The other pattern uses this one, as operand `index` if it is given; ``self ^ other``."""
        return PatternSeq([self]).used_by(other, index)

    def only_used_by(self, other: Linked | PatternSeq, index: int = -1) -> PatternSeq:
        """The other pattern uses this one, and nothing else does; ``self >> other``."""
        return PatternSeq([self]).only_used_by(other, index)

    def fork_to(self, *others: Linked | PatternSeq) -> None:
        """All of the other patterns use this one."""
        for other in others:
            self.used_by(other)

    def __xor__(self, other: Linked | PatternSeq) -> PatternSeq:
        return self.used_by(other)

    def __rshift__(self, other: Linked | PatternSeq) -> PatternSeq:
        return self.only_used_by(other)


class PatternSeq:
    """Linked patterns in order; the next one is linked to the last."""

    def __init__(self, patterns: Sequence[Linked], steps: Sequence[tuple[bool, int]] = ()):
        self.patterns = list(patterns)
        self.steps = list(steps)
        """Of each link whether it is the only use, and the operand."""

    def dup(self) -> PatternSeq:
        """The same patterns and links, for other values."""
        first, *others = [p.dup() for p in self.patterns]
        copy = PatternSeq([first])
        for pattern, (only, index) in zip(others, self.steps, strict=True):
            copy = copy._link(pattern, only, index)
        return copy

    def used_by(self, other: Linked | PatternSeq, index: int = -1) -> PatternSeq:
        """The other pattern uses the last one."""
        return self._link(other, False, index)

    def only_used_by(self, other: Linked | PatternSeq, index: int = -1) -> PatternSeq:
        """The other pattern uses the last one, and nothing else does."""
        return self._link(other, True, index)

    def _link(self, other: Linked | PatternSeq, only: bool, index: int) -> PatternSeq:
        context = PatternContext.current()
        if context is None:
            raise ValueError("expected links of patterns inside of 'with PatternContext()'")
        others = other.patterns if isinstance(other, PatternSeq) else [other]
        steps = other.steps if isinstance(other, PatternSeq) else []
        context.patterns |= dict.fromkeys([self.patterns[-1], *others])
        context.links.append(Link(self.patterns[-1].core, others[0].core, only, index))
        return PatternSeq([*self.patterns, *others], [*self.steps, (only, index), *steps])

    def __xor__(self, other: Linked | PatternSeq) -> PatternSeq:
        return self.used_by(other)

    def __rshift__(self, other: Linked | PatternSeq) -> PatternSeq:
        return self.only_used_by(other)


def _values(block: relax.DataflowOp) -> list[SSAValue]:
    """What patterns may match: results in the block in order, then values from outside."""
    inside = [r for op in block.body.block.ops for r in op.results]
    used = [canonical(o) for op in block.body.block.ops for o in op.operands]
    return list(dict.fromkeys([*inside, *used]))


def _holds(link: Link, found: Matches) -> bool:
    """Whether a link holds, or is not known to be broken yet."""
    if link.producer not in found or link.consumer not in found:
        return True
    producer, consumer = found[link.producer], found[link.consumer]
    user = consumer.owner
    if not isinstance(user, Operation):
        return False
    operands = [canonical(o) for o in user.operands]
    first = link.position
    chosen = operands if first < 0 else operands[first : first + 1]
    users = {use.operation for use in producer.uses}
    return producer in chosen and (not link.only or users == {user})
