"""Replace index values by expressions over other values, in all uses.

::

    for %i in (0, n)                       for %a in (0, n // 4), %b in (0, 4)
      block "Y" (%v = %i + 1)       ⇒        block "Y" (%v = %a * 4 + %b + 1)
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from xdsl.ir import Block, Operation, SSAValue

from ...dialects import tir
from ...dialects.bounds import Ranges
from ...dialects.int_expr import ONE, Arg, Atom, IntExpr
from ...dialects.sym import ExprAttr, Values, expr_array, exprs_of, pack
from ...dialects.tir.ranges import value_range
from ..scope import Bound, Scope
from .regions import replace_header


def replace_indices(meanings: Mapping[SSAValue, IntExpr], values: Values) -> None:
    """Replace index values by expressions over `values` in all uses, simultaneously.

    Operations are modified in place. Ranges of loops and axes simplify the expressions, and
    predicates that they prove are dropped.
    """
    scope = Scope(Block(), values, dict(meanings), in_place=True)
    for op in dict.fromkeys(use.operation for value in meanings for use in value.uses):
        _rewrite(op, meanings, scope)


def add_predicates(block: tir.BlockOp, bounds: Sequence[Bound], values: Values) -> None:
    """Add these bounds over `values` to the predicates of a block."""
    _rewrite_block(block, Scope(Block(), values, in_place=True), bounds)


def simplify_around(expr: IntExpr, values: Values) -> IntExpr:
    """An expression over `values` without the compounds that their ranges decide."""
    scope = Scope(Block(), values, in_place=True)
    _learn_ranges(scope)
    return scope.simplify(expr)


def fixed_values(expr: IntExpr, ranges: Ranges) -> dict[Atom, IntExpr]:
    """The values of variables in an expression that have only one, such as those of unit loops."""
    spans = [(atom, ranges.get(atom)) for atom in map(Arg, sorted(expr.args()))]
    return {atom: span.lower for atom, span in spans if span and span.extent == ONE}


def is_certain(bound: Bound, values: Values) -> bool:
    """Whether the ranges of the values prove a bound over them."""
    scope = Scope(Block(), values, in_place=True)
    _learn_ranges(scope)
    return not scope.undecided([bound])


def undecided(bounds: Sequence[Bound], values: Values) -> list[Bound]:
    """The bounds that the ranges of the values, and the bounds before, do not prove; simplified."""
    found: list[Bound] = []
    for lhs, rhs in bounds:
        bound = (simplify_around(lhs, values), simplify_around(rhs, values))
        if bound not in found and not is_certain(bound, values):
            found.append(bound)
    return found


def _rewrite(op: Operation, replaced: Collection[SSAValue], scope: Scope) -> None:
    match op:
        case tir.ForOp():
            exprs = _expressions([op.min.data, op.extent.data], op.operands_, scope)
            operands, (lower, extent) = pack(exprs, scope.values.list)
            op.operands = operands
            op.properties |= {"min": ExprAttr(lower), "extent": ExprAttr(extent)}
        case tir.BlockOp():
            _rewrite_block(op, scope)
        case tir.LoadOp() | tir.StoreOp() | tir.MatchBufferOp():
            name = "starts" if isinstance(op, tir.MatchBufferOp) else "indices"
            array = op.starts if isinstance(op, tir.MatchBufferOp) else op.indices
            exprs = _expressions(exprs_of(array), op.operands_, scope)
            operands, packed = pack(exprs, scope.values.list)
            op.operands = [*op.operands[: len(op.operands) - len(op.operands_)], *operands]
            op.properties[name] = expr_array(packed)
        case tir.ApplyOp():
            exprs = _expressions([op.expr.data], op.operands, scope)
            operands, (expr,) = pack(exprs, scope.values.list)
            op.operands = operands
            op.properties["expr"] = ExprAttr(expr)
        case _:
            for value in dict.fromkeys(o for o in op.operands if o in replaced):
                _use_value(op, value, scope)


def _expressions(
    exprs: Sequence[IntExpr], operands: Sequence[SSAValue], scope: Scope
) -> list[IntExpr]:
    """Expressions of one operation over the values of a scope, simplified by all their ranges."""
    scope.number(exprs, operands)  # whose ranges then simplify
    _learn_ranges(scope)
    return scope.exprs(exprs, operands)


def _learn_ranges(scope: Scope) -> None:
    for number, value in enumerate(scope.values.list):
        atom = Arg(number)
        if atom not in scope.ranges and (interval := value_range(value)) is not None:
            scope.ranges[atom] = interval


def _use_value(op: Operation, value: SSAValue, scope: Scope) -> None:
    """Compute a value's expression before an operation that takes no expressions."""
    parent = op.parent
    assert parent is not None
    new = tir.ApplyOp(scope.index(value), scope.values.list)
    new.result.name_hint = value.name_hint
    parent.insert_op_before(new, op)
    op.operands = [new.result if o is value else o for o in op.operands]


def _rewrite_block(block: tir.BlockOp, scope: Scope, bounds: Sequence[Bound] = ()) -> None:
    numbering = block.numbering()

    def again(exprs: Sequence[IntExpr]) -> list[IntExpr]:
        return scope.exprs(exprs, numbering)

    everything = [e for a in block.axes.data for e in (a.min.data, a.extent.data)]
    scope.number([*everything, *exprs_of(block.bindings)], numbering)
    for value in numbering:
        scope.values.expr(value)
    _learn_ranges(scope)
    axes = [
        tir.Axis(a.kind.data, *again([a.min.data, a.extent.data, binding]))
        for a, binding in zip(block.axes.data, exprs_of(block.bindings), strict=True)
    ]
    own = [
        (lhs, rhs) for b in block.predicates.data for lhs, rhs in [again([b.lhs.data, b.rhs.data])]
    ]
    regions = [
        [tir.BufferRegion(r.buffer, tuple(again(r.mins)), tuple(again(r.extents))) for r in found]
        for found in (block.regions_of("reads"), block.regions_of("writes"))
    ]
    kept = list(dict.fromkeys(scope.undecided([*own, *bounds])))
    replace_header(block, axes, scope.values, regions[0], regions[1], kept)
