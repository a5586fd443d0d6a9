"""Divide a block's axes between loops inside a new block around it and loops outside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Operation

from ...dialects import tir
from ...dialects.int_expr import ONE, ZERO, Arg, Atom, IntExpr
from ...dialects.nesting import operations_in
from ...dialects.sym import Values, exprs_of
from ..analysis.iter_map import is_bijective, used_in
from ..scope import Bound
from .blocks import ScheduleError, loops_up_to
from .loop_checks import loop_text
from .reduction_checks import verify_starts_once


@dataclass(frozen=True)
class DividedAxis:
    """``binding == outer * size + inner`` with ``0 <= inner < size``; `extent` is that of outer."""

    kind: str
    name: str
    outer: IntExpr
    extent: IntExpr
    inner: IntExpr
    size: IntExpr

    @property
    def key(self) -> tuple[str, IntExpr, IntExpr]:
        """Equal for axes whose outer parts are the same."""
        return self.kind, self.outer, self.extent


@dataclass(frozen=True)
class DividedBlock:
    """A block, the loops around it within the new one, its axes, and its predicates divided."""

    block: tir.BlockOp
    loops: list[tir.ForOp]
    axes: list[DividedAxis]
    outside: list[Bound]
    inside: list[Bound]

    @property
    def name(self) -> str:
        """The block's name."""
        return self.block.block_name.data


def divide_block(
    block: tir.BlockOp, statements: Sequence[Operation], values: Values
) -> DividedBlock:
    """Divide the axes of a block in `statements`; expressions are over `values`.

    Raises ScheduleError where that is not possible.
    """
    loops = loops_up_to(block, statements)
    extents: dict[Atom, IntExpr] = {}
    for loop in loops:
        if loop.min.data != ZERO or loop.operands_:
            raise ScheduleError(
                f"expected {loop_text(loop)} to start at 0 and to have an extent that does not "
                "depend on loops",
                loop,
            )
        atom = values.atom(loop.loop_var)
        extents[atom] = loop.extent.data
    axes = [_divide_axis(block, i, values, extents) for i in range(len(block.axis_vars))]
    outside: list[Bound] = []
    inside: list[Bound] = []
    for bound in block.predicates.data:
        lhs, rhs = (values.rebase(e.data, block.numbering()) for e in (bound.lhs, bound.rhs))
        used = {a for e in (lhs, rhs) for a in e.atoms()}
        variables = {a for a in used if isinstance(a, Arg)}
        if variables & set(extents) and variables - set(extents):
            raise ScheduleError(
                f"expected predicates of block '{block.block_name.data}' to depend on loops on "
                "only one side of the new block",
                block,
            )
        (inside if variables & set(extents) else outside).append((lhs, rhs))
    return DividedBlock(block, loops, axes, outside, inside)


def verify_init(divided: DividedBlock) -> None:
    """Raise ScheduleError unless the initialization can run before all loops of the new block."""
    block, init = divided.block, divided.block.init
    assert init is not None
    reduce = [v for v, k in zip(block.axis_vars, block.axis_kinds, strict=True) if k != "spatial"]
    verify_starts_once(block, divided.loops)
    if any(v in op.operands for op in operations_in(init) for v in reduce):
        raise ScheduleError(
            f"expected the initialization of block '{divided.name}' to use only its spatial axes",
            block,
        )


def _divide_axis(
    block: tir.BlockOp, position: int, values: Values, extents: dict[Atom, IntExpr]
) -> DividedAxis:
    numbering = block.numbering()
    axis, variable = block.axes.data[position], block.axis_vars[position]
    binding = values.rebase(exprs_of(block.bindings)[position], numbering)
    whole = values.rebase(axis.extent.data, numbering)
    inner, outer = _parts(binding, extents)
    kind, name = axis.kind.data, variable.name_hint or "v"
    if whole == axis.min.data == outer == ZERO:  # one block of nothing
        return DividedAxis(kind, name, ZERO, ONE, inner, ZERO)
    size = ONE
    for atom in used_in(inner, extents):
        size = size * extents[atom]
    where = f"axis '{variable.name_hint}' of block '{block.block_name.data}'"
    used = {a: extents[a] for a in used_in(inner, extents)}
    if axis.min.data != ZERO or not is_bijective(inner, used):
        raise ScheduleError(
            f"expected {where} to begin at 0 and to count the iterations of the loops in the new "
            "block without gaps",
            block,
        )
    start, extent = outer // size, whole // size
    if start * size != outer or extent * size != whole:
        raise ScheduleError(
            f"expected the {size} iterations of loops in the new block to divide {where}, of "
            f"{whole} iterations",
            block,
        )
    return DividedAxis(kind, name, start, extent, inner, size)


def _parts(expr: IntExpr, extents: dict[Atom, IntExpr]) -> tuple[IntExpr, IntExpr]:
    """The terms with variables of these loops, and the others."""
    inner, outer = ZERO, ZERO
    for monomial, coefficient in expr.terms:
        term = IntExpr.from_terms({monomial: coefficient})
        if set(term.atoms()) & set(extents):
            inner = inner + term
        else:
            outer = outer + term
    return inner, outer
