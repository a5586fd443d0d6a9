"""Which operations of a kernel's blocks are statements, and which values need a name.

Other operations are parts of the expressions of statements, as in TVMScript.
"""

from __future__ import annotations

from xdsl.dialects import scf
from xdsl.ir import Block, Operation

from .block_attributes import InitOp
from .calls import OpaqueCallOp
from .scalar_ops import epochs, is_expression, is_index_arithmetic, reads_memory, users
from .types import HandleType


class StatementLists:
    """The statements of the blocks inside `root`, and the operations whose results have names."""

    def __init__(self, root: Operation):
        self._live = live_operations(root)
        self._bound: dict[Block, set[Operation]] = {}

    def of(self, block: Block) -> list[Operation]:
        """The statements of a block, in order; without those of `tir.init`."""
        bound = self.bound_in(block)
        return [
            op
            for op in block.ops
            if op in bound
            or not (
                is_expression(op)
                or isinstance(op, InitOp | scf.YieldOp)
                or (isinstance(op, OpaqueCallOp) and self.is_inlined(op))
            )
        ]

    def bound_in(self, block: Block) -> set[Operation]:
        """The operations of a block whose results need names; see `bound_operations`."""
        if block not in self._bound:
            self._bound[block] = bound_operations(block, self._live)
        return self._bound[block]

    def is_inlined(self, op: OpaqueCallOp) -> bool:
        """Whether a statement uses the result of a call."""
        return op.result is not None and any(u.operation in self._live for u in op.result.uses)


def live_operations(root: Operation) -> set[Operation]:
    """Operations inside `root` that a statement depends on, and the statements."""
    live: set[Operation] = set()
    for op in reversed(list(root.walk())):
        if not is_expression(op) or any(u.operation in live for r in op.results for u in r.uses):
            live.add(op)
    return live


def bound_operations(block: Block, live: set[Operation]) -> set[Operation]:
    """The operations of the block whose result needs a name.

    These are results used more than once or in another block, and loads and calls that would have
    to cross an effect to reach the statement that uses them.
    """
    before = epochs(block)
    statement_of: dict[Operation, Operation] = {}
    bound: set[Operation] = set()
    for op in reversed(list(block.ops)):
        is_call = isinstance(op, OpaqueCallOp) and not is_expression(op) and op.result is not None
        if op not in live or is_index_arithmetic(op) or not (is_expression(op) or is_call):
            continue
        using = [u for u in users(op.results[0]) if u in live]
        if is_call and not using:
            continue
        if len(using) == 1 and using[0].parent is block and not is_typed_handle(op):
            statement = statement_of.get(using[0], using[0])
            moment = before[op] + is_call
            if not (is_call or reads_memory(op)) or moment == before[statement]:
                # What a call takes is computed before the call, wherever its result goes.
                statement_of[op] = op if is_call else statement
                continue
        bound.add(op)
    return bound


def is_typed_handle(op: Operation) -> bool:
    """Whether an operation gives a pointer whose element type only a name for it says."""
    type_ = op.results[0].type
    return isinstance(type_, HandleType) and type_ != HandleType.of()
