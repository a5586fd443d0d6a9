"""`fold-permute-dims`: compose permutations, also through reshapes that keep their dims apart.

::

    %1 = relax.reshape %0 : [1, 12, n, 64] -> [12, n, 64]
    %2 = relax.permute_dims %1 {axes = array<i64: 1, 0, 2>} : …

⇒

    %1 = relax.permute_dims %0 {axes = array<i64: 0, 2, 1, 3>} : …
    %2 = relax.reshape %1 : [1, n, 12, 64] -> [n, 12, 64]

So a permutation meets an earlier one, and both become one, or none. Reshapes are views and cost
nothing. Only a permutation that meets another one changes. The counterpart is the canonicalization
of MLIR's ``linalg.transpose``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from ...dialects.int_expr import ONE, IntExpr
from ...dialects.relax.operators.manipulation import PermuteDimsOp
from ...dialects.relax.operators.reshaping import ReshapeOp, product
from ..functions import graph_functions
from .graph_builder import GraphBuilder, dims_of, replace_result
from .written import Written, touches, written_values


@dataclass(frozen=True)
class FoldPermuteDimsPass(ModulePass):
    """Compose permutations, also through reshapes that keep their dims apart."""

    name = "fold-permute-dims"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        written = written_values(op)
        for func in graph_functions(op):
            for inner in list(func.walk()):
                if isinstance(inner, PermuteDimsOp) and not touches(inner, written):
                    _fold(inner, written)


@dataclass(frozen=True)
class _Moved:
    """A value whose dims, in an order, make up a shape; dims of 1 are left out of the order."""

    value: SSAValue
    order: list[int]

    @property
    def is_in_order(self) -> bool:
        """Whether nothing moves but dims of 1."""
        return self.order == sorted(self.order)

    def before(self, written: Written) -> _Moved | None:
        """The same of the operand of a permutation or reshape; `None` where there is none."""
        op = self.value.owner
        if isinstance(op, PermuteDimsOp) and not touches(op, written):
            axes = op.order(len(dims_of(op.data) or ()), op.attribute_values())
            return _Moved(op.data, [axes[axis] for axis in self.order])
        if isinstance(op, ReshapeOp) and not touches(op, written):
            groups = _groups(dims_of(op.x) or (), dims_of(op.result) or ())
            found = None if groups is None else _through(groups, self.order)
            return None if found is None else _Moved(op.x, found)
        return None


def _fold(op: PermuteDimsOp, written: Written) -> None:
    """Replace a permutation by one of the value before an earlier permutation, or by a reshape."""
    if (shape := dims_of(op.result)) is None:
        return
    moved = _Moved(op.result, _wide(shape))
    found: _Moved | None = None
    count = 0
    while (before := moved.before(written)) is not None:
        is_permutation = isinstance(moved.value.owner, PermuteDimsOp)
        moved, count = before, count + is_permutation
        if is_permutation and (count > 1 or moved.is_in_order):
            found = moved
    if found is None:
        return
    build, value, dims = GraphBuilder(op), found.value, dims_of(found.value)
    if not found.is_in_order:
        units = [axis for axis, dim in enumerate(dims or ()) if dim == ONE]
        value = build("permute_dims", value, axes=[*units, *found.order])
    if dims_of(value) != shape:
        value = build("reshape", value, shape=shape)
    replace_result(op, value)


def _wide(dims: Sequence[IntExpr]) -> list[int]:
    return [axis for axis, dim in enumerate(dims) if dim != ONE]


def _groups(
    before: Sequence[IntExpr], after: Sequence[IntExpr]
) -> list[tuple[list[int], list[int]]] | None:
    """The smallest groups of dims with equal products, in order, without dims of 1."""
    left, right = _wide(before), _wide(after)
    found: list[tuple[list[int], list[int]]] = []
    while left or right:
        first, second = [left.pop(0)] if left else [], [right.pop(0)] if right else []
        while (a := product([before[i] for i in first])) != (
            b := product([after[i] for i in second])
        ):
            side, rest = (first, left) if _is_shorter(a, b) else (second, right)
            if not rest:
                return None
            side.append(rest.pop(0))
        found.append((first, second))
    return found


def _is_shorter(lhs: IntExpr, rhs: IntExpr) -> bool:
    """Whether more dims must follow on the left side, if products can be equal at all."""
    if lhs.constant is not None and rhs.constant is not None:
        return lhs.constant < rhs.constant
    return rhs // lhs * lhs == rhs


def _through(groups: Sequence[tuple[list[int], list[int]]], order: list[int]) -> list[int] | None:
    """The order of the dims before a reshape, if those of each group stay together in order."""
    found: list[int] = []
    rest = list(order)
    while rest:
        before, after = next(group for group in groups if rest[0] in group[1])
        if rest[: len(after)] != after:
            return None
        found += before
        rest = rest[len(after) :]
    return found
