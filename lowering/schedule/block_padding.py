"""The padding of layouts that store a dim in blocks: ``lambda i: (i // 4, i % 4)``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.ir import Block, SSAValue

from ...dialects import tir
from ...dialects.int_expr import Arg, Compound, IntExpr
from ...dialects.sym import Values
from ..scope import Bound
from .index_map import IndexMap


@dataclass(frozen=True)
class Padding:
    """The padding of a dim in blocks: where index `outer` is `last` and `inner` at least `rest`."""

    outer: int
    last: int
    inner: int
    rest: int

    def bounds(self, new: Sequence[IntExpr]) -> list[Bound]:
        """Pairs of which the first is smaller if and only if new indices are of padding."""
        outer, inner = new[self.outer], new[self.inner]
        last = IntExpr.of(self.last)
        return [(outer, last + 1), (last, outer + 1), (IntExpr.of(self.rest), inner + 1)]

    def condition(self, block: Block, variables: Sequence[SSAValue]) -> SSAValue:
        """Append to a block whether indices are of padding."""
        sides = (self.outer, self.last, "eq", True), (self.inner, self.rest, "sle", False)
        tests: list[SSAValue] = []
        for position, number, predicate, is_left in sides:
            values = Values()
            own = tir.ApplyOp(values.expr(variables[position]), values.list)
            limit = tir.ApplyOp(IntExpr.of(number), [])
            pair = (own, limit) if is_left else (limit, own)
            test = arith.CmpiOp(pair[0].result, pair[1].result, predicate)
            block.add_ops([*pair, test])
            tests.append(test.result)
        both = arith.AndIOp(tests[0], tests[1])
        block.add_op(both)
        return both.result


def padding_of(index_map: IndexMap, dims: Sequence[IntExpr]) -> Padding | None:
    """The padding of a map that only stores dims in blocks, ``i // 4`` and ``i % 4``.

    `None` for other maps, and where not just one dim has padding.
    """
    found: list[Padding] = []
    used: set[int] = set()
    for number, dim in enumerate(dims):
        index = IntExpr.of(Arg(number))
        if index in index_map.results:
            used.add(index_map.results.index(index))
            continue
        blocks = [r for r in index_map.results if _is_quotient_of(r, index)]
        atom = blocks[0].as_atom if len(blocks) == 1 else None
        if not isinstance(atom, Compound) or (size := atom.rhs.constant) is None or size <= 0:
            return None
        extent, rest = dim.constant, index % size
        if extent is None or rest not in index_map.results:
            return None
        outer, inner = (index_map.results.index(e) for e in (blocks[0], rest))
        used |= {outer, inner}
        if extent % size:
            found.append(Padding(outer, extent // size, inner, extent % size))
    return found[0] if len(found) == 1 and len(used) == len(index_map.results) else None


def _is_quotient_of(expr: IntExpr, index: IntExpr) -> bool:
    atom = expr.as_atom
    return isinstance(atom, Compound) and atom.op == "floordiv" and atom.lhs == index
