"""Expressions and statements among the operations of a TensorIR function.

In TVMScript, and when programs are compared, operations on scalars are part of the statement that
uses them. A load may move to that statement only if there are no effects in between.
"""

from __future__ import annotations

from xdsl.dialects import scf
from xdsl.dialects.arith import ConstantOp, IndexCastOp
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, SSAValue

from . import AllocBufferOp, ApplyOp, CallIntrinOp, DeclBufferOp, LoadOp, MatchBufferOp, StringOp

BUFFERS = (AllocBufferOp, DeclBufferOp, MatchBufferOp)
ARITHMETIC = ("arith.", "math.", "tir.dp4a", "tir.bfdot")
"""What the names of operations on scalars, which are elementwise on vectors, begin with."""


def is_expression(op: Operation) -> bool:
    """Whether the operation only computes a scalar, possibly from memory."""
    if isinstance(op, LoadOp | ApplyOp | StringOp) or op.name.startswith(ARITHMETIC):
        return True
    if isinstance(op, CallIntrinOp):
        return op.is_pure
    return isinstance(op, scf.IfOp) and is_conditional_expression(op)


def is_conditional_expression(op: scf.IfOp) -> bool:
    """Whether an `scf.if` is TVM's ``if_then_else``: its branches only compute one result."""
    return len(op.output) == 1 and all(
        is_expression(inner) or isinstance(inner, scf.YieldOp)
        for region in op.regions
        for inner in region.block.ops
    )


def is_index_arithmetic(op: Operation) -> bool:
    """Whether the operation is repeated at each use: constants and index arithmetic."""
    return isinstance(op, ConstantOp | ApplyOp | StringOp) or (
        isinstance(op, IndexCastOp) and IndexType() in (op.input.type, op.result.type)
    )


def reads_memory(op: Operation) -> bool:
    """Whether the value of an expression depends on the time of its evaluation."""
    return isinstance(op, LoadOp) or any(reads_memory(o) for r in op.regions for o in r.block.ops)


def epochs(block: Block) -> dict[Operation, int]:
    """For each operation, the number of preceding operations with effects in the block."""
    found: dict[Operation, int] = {}
    count = 0
    for op in block.ops:
        found[op] = count
        if not is_expression(op) and not isinstance(op, BUFFERS):
            count += 1
    return found


def users(value: SSAValue) -> list[Operation]:
    """The users of a value, once for each use, through index arithmetic."""
    found: list[Operation] = []
    for use in value.uses:
        if is_index_arithmetic(use.operation):
            found += users(use.operation.results[0])
        else:
            found.append(use.operation)
    return found


def yielded(op: Operation) -> list[SSAValue]:
    """The yielded values of a conditional expression's branches; none for other operations."""
    return [v for r in op.regions if r.block.last_op is not None for v in r.block.last_op.operands]
