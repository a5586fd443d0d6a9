"""The variables in a block: axes and loops, what accesses are over them, and how far these run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Block, Operation, SSAValue

from ...dialects import tir
from ...dialects.bounds import is_non_negative
from ...dialects.int_expr import ZERO, Arg, Atom, IntExpr, IntLike
from ...dialects.nesting import ancestors
from ...dialects.sym import Values, exprs_of
from .required_ranges import extents_run

Offset = tuple[tuple[int, SSAValue, IntExpr], ...]
"""Terms from outside of a block: the position of the index, a value, and its factor."""


def over_variables(
    exprs: Sequence[IntExpr],
    operands: Sequence[SSAValue],
    block: tir.BlockOp,
    ends: Mapping[SSAValue, IntExpr] | None = None,
) -> tuple[tuple[IntExpr, ...], tuple[IntExpr, ...], Offset] | None:
    """How many values axes and loops in a block have that indices use, and these.

    Variables are numbered, axes first, and begin at 0; terms of values from outside of the block
    are apart. Of those in `ends` only so many values count. `None` where indices use other values.
    """
    raw = Values()
    offset: list[tuple[int, SSAValue, IntExpr]] = []
    try:
        indices: list[IntExpr] = []
        for position, index in enumerate(exprs):
            own, terms = _without_outer(index, operands, block)
            offset += [(position, *term) for term in terms]
            indices.append(_expanded(own, operands, block, raw))
        order = sorted(range(len(raw.list)), key=lambda i: _depth(raw.list[i], block))
        ended = ends or {}
        dims = tuple(ended.get(v := raw.list[i]) or _size(v, block) for i in order)
    except ValueError:
        return None
    renumbered: dict[Atom, IntLike] = {Arg(old): Arg(new) for new, old in enumerate(order)}
    return dims, tuple(e.substitute(renumbered) for e in indices), tuple(offset)


def _without_outer(
    expr: IntExpr, operands: Sequence[SSAValue], block: tir.BlockOp
) -> tuple[IntExpr, list[tuple[SSAValue, IntExpr]]]:
    """An expression without its terms of values from outside of a block, and these terms.

    Raises ValueError where such a value is in no term of its own, or an axis of the block is bound
    to it: the term then varies with the axis.
    """
    numbering = block.numbering()
    bound = {numbering[n] for b in exprs_of(block.bindings) for n in b.args()}
    terms: list[tuple[SSAValue, IntExpr]] = []
    for number in sorted(expr.args()):
        owner = operands[number].owner
        around = owner.parent_op() if isinstance(owner, Block) else owner
        if around is None or around is block or block in ancestors(around):
            continue
        split = expr.split_on(Arg(number))
        if split is None or split[0].args() or operands[number] in bound:
            raise ValueError
        terms.append((operands[number], split[0]))
        expr = split[1]
    return expr, terms


def _expanded(
    expr: IntExpr, operands: Sequence[SSAValue], block: tir.BlockOp, values: Values
) -> IntExpr:
    """An expression over axes of the block and loops in it; raises ValueError for other values."""
    mapping: dict[Atom, IntLike] = {}
    for number in expr.args():
        value = operands[number]
        owner = value.owner
        around = owner.parent_op() if isinstance(owner, Block) else owner
        match around:
            case tir.BlockOp() if around is block:
                low = block.axes.data[_number(block, value)].min.data
                mapping[Arg(number)] = values.expr(value) + low
            case tir.BlockOp() if block in ancestors(around):
                binding = exprs_of(around.bindings)[_number(around, value)]
                mapping[Arg(number)] = _expanded(binding, around.numbering(), block, values)
            case tir.ForOp() if block in ancestors(around) and around.min.data == ZERO:
                mapping[Arg(number)] = values.expr(value)
            case _:
                raise ValueError
    return expr.substitute(mapping)


def _depth(variable: SSAValue, block: tir.BlockOp) -> int:
    """The position of an axis among those of the block, or after these of a loop."""
    if variable in block.axis_vars:
        return _number(block, variable)
    assert isinstance(variable.owner, Block)
    return len(block.axis_vars) + _level(variable.owner)


def _size(variable: SSAValue, block: tir.BlockOp) -> IntExpr:
    """How many values a variable has; raises ValueError where others decide that."""
    if variable in block.axis_vars:
        axis = block.axes.data[_number(block, variable)]
        extents = extents_run(block)
        if axis.min.data.args() or axis.extent.data.args():
            raise ValueError
        return axis.extent.data if extents is None else extents[_number(block, variable)]
    assert isinstance(variable.owner, Block)
    loop = variable.owner.parent_op()
    if not isinstance(loop, tir.ForOp) or loop.extent.data.args():
        raise ValueError
    return loop.extent.data


def _level(block: Block) -> int:
    loop = block.parent_op()
    return 0 if loop is None else sum(1 for _ in ancestors(loop))


def _number(block: tir.BlockOp, variable: SSAValue) -> int:
    """The position of an axis."""
    return next(i for i, v in enumerate(block.axis_vars) if v is variable)


def ends_of(op: Operation, block: tir.BlockOp) -> dict[SSAValue, IntExpr] | None:
    """How many values of axes and loops in a block an operation runs for, from the first one on.

    Only variables that predicates of blocks inside end are there. `None` for an operation that
    runs on another condition, or in an initialization.
    """
    found: dict[SSAValue, IntExpr] = {}
    for around in ancestors(op):
        if around is block:
            return found
        if isinstance(around, tir.BlockOp):
            for bound in around.predicates.data:
                end = _end(bound, around, block)
                if end is None or found.setdefault(*end) != end[1]:
                    return None
        elif not isinstance(around, tir.ForOp):
            return None
    return None


def _end(
    bound: tir.BoundAttr, inner: tir.BlockOp, block: tir.BlockOp
) -> tuple[SSAValue, IntExpr] | None:
    """The variable that a predicate of a block inside ends, and how many values that leaves."""
    values = Values()
    try:
        room = _expanded(bound.rhs.data - bound.lhs.data, inner.numbering(), block, values)
        for variable in values.list:
            count = room + values.expr(variable)
            is_some = not count.args() and is_non_negative(count - 1)
            if is_some and is_non_negative(_size(variable, block) - count):
                return variable, count
    except ValueError:
        pass
    return None
