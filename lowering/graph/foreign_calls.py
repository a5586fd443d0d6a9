"""Calls of functions that the module does not have: registered ones, and those that users pass."""

from __future__ import annotations

from xdsl.ir import BlockArgument, Operation

from ...dialects import relax


def runs_unused(op: Operation) -> bool:
    """Whether a call is kept that is pure and whose result has no uses.

    A function parameter is pure unless its annotation says otherwise, and registered functions are
    often called for what they print or store. In a dataflow block, calls are for their results.
    """
    is_passed = isinstance(op, relax.InvokeOp) and isinstance(op.callee, BlockArgument)
    is_foreign = is_passed or isinstance(op, relax.CallPurePackedOp)
    return (
        is_foreign
        and all(r.first_use is None for r in op.results)
        and not isinstance(op.parent_op(), relax.DataflowOp)
    )
