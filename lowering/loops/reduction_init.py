"""Hoist a reduction's initialization into a loop nest before the first reduction loop.

The counterpart is TVM's ``decompose_reduction``. A block initializes when all its reduce axes have
their first values, which is a condition in the innermost loop that prevents vectorization. To
initialize all elements before the reduction loops is equivalent if the difference is not
observable: see `plan_init`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Operation, SSAValue

from ...dialects import loops, tir
from ...dialects.bounds import is_non_negative
from ...dialects.int_expr import ZERO, Atom, IntExpr
from ...dialects.sym import Values
from ...dialects.tir.regions import root_buffer
from ...dialects.tir.types import BufferType
from ..analysis.iter_map import IterMap
from ..scope import Bound, Scope, is_inside


@dataclass(frozen=True)
class Level:
    """A loop around the current position, and its bounds over new values."""

    source: tir.ForOp
    loop: loops.ForOp
    var: Atom
    lower: IntExpr
    extent: IntExpr


@dataclass(frozen=True)
class InitPlan:
    """A nest before `before` that repeats `loops`; other variables have their `first` values."""

    before: loops.ForOp
    loops: tuple[Level, ...]
    first: dict[Atom, IntExpr]
    bounds: list[Bound]


Access = tuple[SSAValue, str]


@dataclass
class Accesses:
    """How often each operation reads and writes each buffer; views count as what they view."""

    counts: dict[Operation, Counter[Access]] = field(default_factory=lambda: {})

    def of(self, op: Operation) -> Counter[Access]:
        """The accesses in an operation, counted once per operation of the function."""
        known = self.counts.get(op)
        if known is None:
            known = self.counts[op] = self._count(op)
        return known

    def _count(self, op: Operation) -> Counter[Access]:
        found: Counter[Access] = Counter()
        if not isinstance(op, tir.BlockOp | tir.MatchBufferOp):
            kinds = (
                "r" if isinstance(op, tir.LoadOp) else "w" if isinstance(op, tir.StoreOp) else "rw"
            )
            for operand in op.operands:
                if isinstance(operand.type, BufferType):
                    found.update((root_buffer(operand), kind) for kind in kinds)
        for region in op.regions:
            for block in region.blocks:
                for inner in block.ops:
                    found.update(self.of(inner))
        return found


def plan_init(
    block: tir.BlockOp,
    bounds: Sequence[Bound],
    nest: Sequence[Level],
    scope: Scope,
    accesses: Accesses,
) -> InitPlan | None:
    """How to initialize before the reduction loops; `None` if that is not equivalent.

    With L the outermost loop that binds a reduce axis, all of these must hold:

    - from L to the block there are loops only, each binds either reduce or other axes, and
      different iterations bind different values (a loop that binds nothing would start the
      reduction over);
    - the first iteration of the reduce loops gives the reduce axes their first values;
    - nothing else in L accesses the buffers that are initialized, and nothing in L writes what the
      initialization reads;
    - if other loops lie inside L, the block accesses those buffers at one place per iteration only;
    - what the initialization uses exists before L.

    A predicate on reduce loops is kept for their first iteration, except where it only says that
    there is something to reduce: an empty sum is its initial value, although TVM's condition in
    place leaves the output unwritten then.
    """
    reduce, other = _bindings_by_kind(block, scope)
    inner = _loops_inside(reduce, nest, scope)
    if not inner:
        return None
    reducing = [level for level in inner if _mentions(reduce, level)]
    kept = [level for level in inner if _mentions(other, level)]
    if len(reducing) + len(kept) != len(inner) or set(reducing) & set(kept):
        return None
    if not (_is_injective(reduce, reducing, scope) and _is_injective(other, kept, scope)):
        return None
    first = _first_values(block, reducing, kept, reduce, scope)
    if first is None or not _is_alone(block, inner[0], bool(kept), accesses):
        return None
    conditions = [b for p in bounds if (b := _at_first(p, reducing, first, scope)) is not None]
    conditions += _has_elements(block, scope)
    plan = InitPlan(inner[0].loop, tuple(kept), first, conditions)
    return plan if _is_available(block, plan, other, scope) else None


def _bindings_by_kind(block: tir.BlockOp, scope: Scope) -> tuple[list[IntExpr], list[IntExpr]]:
    reduce: list[IntExpr] = []
    other: list[IntExpr] = []
    for kind, axis_var in zip(block.axis_kinds, block.axis_vars, strict=True):
        (reduce if kind == "reduce" else other).append(scope.index(axis_var))
    return reduce, other


def _mentions(exprs: Sequence[IntExpr], level: Level) -> bool:
    return any(level.var in e.atoms() for e in exprs)


def _loops_inside(
    reduce: Sequence[IntExpr], nest: Sequence[Level], scope: Scope
) -> Sequence[Level]:
    """The loops from the outermost that binds a reduce axis; none if one is out of reach."""
    used = {atom for e in reduce for atom in e.atoms() if atom in scope.loop_vars}
    if used - {level.var for level in nest}:
        return ()
    positions = [i for i, level in enumerate(nest) if level.var in used]
    return nest[positions[0] :] if positions else ()


def _is_injective(exprs: Sequence[IntExpr], levels: Sequence[Level], scope: Scope) -> bool:
    """Whether different iterations of the loops give different values of the expressions."""
    variables = {level.var for level in levels}
    return IterMap(exprs, variables, scope.ranges).tells(variables)


def _first_values(
    block: tir.BlockOp,
    reducing: Sequence[Level],
    kept: Sequence[Level],
    reduce: Sequence[IntExpr],
    scope: Scope,
) -> dict[Atom, IntExpr] | None:
    """The first value of each reduce loop, if these and the other loops are independent."""
    first: dict[Atom, IntExpr] = {}
    for level in reducing:
        first[level.var] = level.lower.substitute(first)
    if any(_mentions([value], level) for value in first.values() for level in kept):
        return None
    if any(_mentions([k.lower, k.extent], level) for k in kept for level in reducing):
        return None
    mins = [
        a.min.data
        for a, kind in zip(block.axes.data, block.axis_kinds, strict=True)
        if kind == "reduce"
    ]
    starts = scope.exprs(mins, block.numbering())
    at_first = [scope.simplify(e.substitute(first)) for e in reduce]
    return first if at_first == starts else None


def _is_alone(block: tir.BlockOp, outermost: Level, has_others: bool, accesses: Accesses) -> bool:
    init = block.init
    assert init is not None
    around, own, initial = accesses.of(outermost.source), accesses.of(block), accesses.of(init)
    written = {buffer for buffer, kind in initial if kind == "w"}
    if any(around[access] != own[access] for b in written for access in ((b, "r"), (b, "w"))):
        return False
    if any(kind == "r" and around[(buffer, "w")] for buffer, kind in initial):
        return False
    loop = outermost.source
    return not has_others or all(_accessed_at_one_place(block, b, loop) for b in written)


def _accessed_at_one_place(block: tir.BlockOp, buffer: SSAValue, loop: tir.ForOp) -> bool:
    """Whether a block uses one element of a buffer at a time, maybe of a view from outside."""
    numbering = Values()
    places: set[tuple[SSAValue | IntExpr, ...]] = set()
    for op in block.walk():
        if isinstance(op, tir.LoadOp | tir.StoreOp) and root_buffer(op.buffer) == buffer:
            if op.buffer != buffer and is_inside(op.buffer, loop):
                return False
            indices = numbering.exprs(op.indices, op.operands_)
            places.add((op.buffer, *indices))
    return len(places) == 1


def _at_first(
    bound: Bound, reducing: Sequence[Level], first: dict[Atom, IntExpr], scope: Scope
) -> Bound | None:
    """A bound in the first reduce iteration; `None` where it need not be tested."""
    if not any(_mentions(bound, level) for level in reducing):
        return bound
    lhs, rhs = (scope.simplify(e.substitute(first)) for e in bound)
    if not scope.undecided([(lhs, rhs)]):
        return None
    says_nonempty = not (lhs.args() or rhs.args()) and all(
        _is_non_decreasing(bound[0] - bound[1], level) for level in reducing
    )
    return None if says_nonempty else (lhs, rhs)


def _has_elements(block: tir.BlockOp, scope: Scope) -> list[Bound]:
    """The bounds that spatial axes bound to no loop are not empty."""
    numbering = block.numbering()
    bounds = [
        (ZERO, scope.expr(axis.extent.data, numbering))
        for axis, variable in zip(block.axes.data, block.axis_vars, strict=True)
        if axis.kind.data != "reduce" and not scope.index(variable).args()
    ]
    return scope.undecided(bounds)


def _is_non_decreasing(expr: IntExpr, level: Level) -> bool:
    split = expr.split_on(level.var)
    return split is not None and is_non_negative(split[0])


def _is_available(
    block: tir.BlockOp, plan: InitPlan, other: Sequence[IntExpr], scope: Scope
) -> bool:
    """Whether all that the nest uses is defined before it."""
    init = block.init
    assert init is not None
    exprs = [*other, *plan.first.values(), *(e for b in plan.bounds for e in b)]
    exprs += [e for level in plan.loops for e in (level.lower, level.extent)]
    repeated = {level.var for level in plan.loops} | set(plan.first)
    used: list[SSAValue] = []
    for value in _operands_from_outside(init):
        if isinstance(value.type, IndexType):
            exprs.append(scope.index(value))
        elif (view := scope.views.get(value)) is not None:
            exprs += view.starts
            used.append(view.buffer)
        else:
            used.append(scope.data[value])
    atoms = {i for e in exprs for i in e.substitute({v: 0 for v in repeated}).args()}
    used += [scope.values.list[i] for i in atoms]
    return not any(is_inside(value, plan.before) for value in used)


def _operands_from_outside(init: tir.InitOp) -> set[SSAValue]:
    return {v for op in init.walk() for v in op.operands if not is_inside(v, init)}
