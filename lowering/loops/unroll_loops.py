"""`unroll-loops`: replace unrolled loops by copies of their bodies, with constant indices.

::

    loops.for %i in (0, 2) unrolled {              loops.store %v, %Y[0]
      loops.store %v, %Y[%i]               ⇒       loops.store %v, %Y[1]
    }
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from ...dialects import loops
from ...dialects.int_expr import Compound
from ...dialects.nesting import ancestors
from ...dialects.sym import Values
from ..scope import Scope, describe, name_of, replace_by_block
from .copy_ops import Copier

DEFAULT_LIMIT = 1024
"""Loops of more iterations keep their kind, as a hint for the next stage."""


def unroll_loops(block: Block, limit: int, function: str) -> None:
    """Expand the unrolled loops of at most `limit` iterations in a block, outer ones first."""
    for op in list(block.ops):
        _unroll_in(op, limit, function)


def unroll_in_vectorized(block: Block, limit: int, function: str) -> None:
    """Expand the unrolled loops inside the vectorized loops of a block."""
    for op in block.ops:
        is_vectorized = isinstance(op, loops.ForOp) and op.kind.data == "vectorized"
        for region in op.regions:
            for inner in region.blocks:
                (unroll_loops if is_vectorized else unroll_in_vectorized)(inner, limit, function)


def unroll_across_rows(func: loops.FuncOp, limit: int) -> None:
    """Expand the unrolled loops that decide where the lanes inside of them pass from row to row.

    In ``(%v * 16 + %l) floordiv 24`` of lanes ``%l``, the lanes in each row depend on ``%v``.
    """
    found = {loop for op in func.walk() for loop in _deciding_loops(op)}
    for op in reversed(list(func.walk())):  # inner ones first
        if isinstance(op, loops.ForOp) and op in found:
            count = op.extent.data.constant
            if count is not None and count <= limit:
                _expand(op, count, limit)


def _deciding_loops(op: Operation) -> Iterator[loops.ForOp]:
    """The unrolled loops around an access whose variables are in a quotient with the lanes."""
    if not isinstance(op, loops.LoadOp | loops.StoreOp):
        return
    around = [loop for loop in ancestors(op) if isinstance(loop, loops.ForOp)]
    lanes = [loop for loop in around if loop.kind.data == "vectorized"]
    values = Values()
    indices = values.exprs(op.indices, op.operands_)
    quotients = [a for i in indices for a in i.all_atoms if isinstance(a, Compound)]
    for loop in around if lanes and quotients else ():
        if loop.kind.data == "unrolled":
            both = {values.atom(lanes[0].loop_var), values.atom(loop.loop_var)}
            if any(both <= {*a.lhs.leaves, *a.rhs.leaves} for a in quotients):
                yield loop


def _unroll_in(op: Operation, limit: int, function: str) -> None:
    if isinstance(op, loops.ForOp) and op.kind.data == "unrolled":
        count = op.extent.data.constant
        if count is None:
            raise PassFailedException(
                f"in '@{function}': expected unrolled loop '{name_of(op.loop_var)}' to have a "
                f"constant extent, got {describe(op.extent.data, op.operands_)}"
            )
        if count <= limit:
            for copy in _expand(op, count, limit):
                _unroll_in(copy, limit, function)
            return
    for region in op.regions:
        for inner in region.blocks:
            unroll_loops(inner, limit, function)


def _expand(op: loops.ForOp, count: int, limit: int) -> list[Operation]:
    around = Block()
    scope = Scope(around, in_place=True)
    lower = scope.expr(op.lower.data, op.operands_)
    results = Copier(scope, limit).unroll(op, lower, count)
    return replace_by_block(op, around, results)


@dataclass(frozen=True)
class UnrollLoopsPass(ModulePass):
    """Expand loops of kind ``unrolled``; one whose extent is not constant is an error."""

    name = "unroll-loops"
    limit: int = DEFAULT_LIMIT

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.body.block.ops:
            if isinstance(func, loops.FuncOp):
                unroll_loops(func.body.block, self.limit, func.sym_name.data)
