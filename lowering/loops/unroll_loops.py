"""`unroll-loops`: replace unrolled loops by copies of their bodies, with constant indices.

::

    loops.for %i in (0, 2) unrolled {              loops.store %v, %Y[0]
      loops.store %v, %Y[%i]               ⇒       loops.store %v, %Y[1]
    }
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from ...dialects import loops
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
