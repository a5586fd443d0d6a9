"""Loops without `break` and `continue`: flags say what the rest of an iteration does.

::

    tir.for %i in (0, n) {                 tir.store %false, %left[]
      scf.if %c { tir.break }              tir.for %i in (0, n) {
      …                            ⇒         if not %left[] {
    }                                          tir.store %false, %skipped[]
                                               scf.if %c { both flags are true }
                                               if not %skipped[] { … }
                                             }
                                           }
"""

from __future__ import annotations

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr, IntegerType
from xdsl.ir import Block, Operation, Region, SSAValue

from ...dialects import tir
from ...dialects.nesting import operations_in
from ...dialects.tir.control import has_jumps, loop_of

_BOOL = IntegerType(1)


def without_jumps(func: tir.PrimFuncOp) -> tir.PrimFuncOp:
    """The function, or a copy without jumps if it has some."""
    if not has_jumps(func):
        return func
    copy = func.clone()
    jumps = [op for op in operations_in(copy) if isinstance(op, tir.JumpOp)]
    for loop in dict.fromkeys(loop_of(jump) for jump in jumps):
        assert loop is not None
        _Loop(loop, [j for j in jumps if loop_of(j) is loop]).lower()
    return copy


class _Loop:
    """A loop and its jumps, of which none is in a loop inside."""

    def __init__(self, loop: tir.ForOp | scf.WhileOp, jumps: list[tir.JumpOp]):
        self.loop = loop
        self.around: set[Operation] = set()
        for jump in jumps:
            op: Operation | None = jump
            while op is not None and op is not loop:
                self.around.add(op)
                op = op.parent_op()
        self.skipped = self._flag()
        self.left = self._flag() if any(isinstance(j, tir.BreakOp) for j in jumps) else None

    def _flag(self) -> SSAValue:
        """A flag that is false before the loop."""
        memory = tir.AllocBufferOp(tir.BufferType.of((), _BOOL))
        _insert_before(self.loop, [memory, *_store(memory.result, False)])
        return memory.result

    def lower(self) -> None:
        """Replace the jumps."""
        body = self._body()
        self._guard(body)
        first = body.first_op
        assert first is not None
        _insert_before(first, _store(self.skipped, False))
        if self.left is None:
            return
        if isinstance(self.loop, scf.WhileOp):
            self._test(self.loop.before_region.block, self.left)
        else:
            self._move(list(body.ops), self.left)

    def _body(self) -> Block:
        loop = self.loop
        return loop.after_region.block if isinstance(loop, scf.WhileOp) else loop.body.block

    def _guard(self, block: Block) -> None:
        """Let the operations after those with jumps run only if none has been made."""
        for op in block.ops:
            if op not in self.around:
                continue
            ops = list(block.ops)
            after = ops[ops.index(op) + 1 :]
            rest = [o for o in after if not isinstance(o, scf.YieldOp)]
            if isinstance(op, tir.JumpOp):
                self._jump(op, rest)
                return
            for region in op.regions:
                for inner in region.blocks:
                    self._guard(inner)
            if rest:
                self._guard(self._move(rest, self.skipped))
            return

    def _jump(self, jump: tir.JumpOp, rest: list[Operation]) -> None:
        """Set the flags, and erase what nothing reaches."""
        flags = [self.skipped]
        if isinstance(jump, tir.BreakOp) and self.left is not None:
            flags.append(self.left)
        _insert_before(jump, [op for flag in flags for op in _store(flag, True)])
        for op in [*reversed(rest), jump]:
            op.detach()
            op.erase(safe_erase=False)

    def _move(self, ops: list[Operation], flag: SSAValue) -> Block:
        """Move operations into a condition that a flag is false; returns the block inside."""
        condition = _is_false(flag)
        _insert_before(ops[0], condition)
        inner = Block()
        choice = scf.IfOp(condition[-1].results[0], [], Region(inner))
        _insert_before(ops[0], [choice])
        for op in ops:
            op.detach()
            inner.add_op(op)
        inner.add_op(scf.YieldOp())
        return inner

    def _test(self, block: Block, left: SSAValue) -> None:
        """Evaluate the condition of a while loop only if the loop has not been left."""
        *computed, condition = block.ops
        assert isinstance(condition, scf.ConditionOp)
        goes_on = _is_false(left)
        first = block.first_op
        assert first is not None
        _insert_before(first, goes_on)
        then, otherwise = Block(), Block()
        for op in computed:
            op.detach()
            then.add_op(op)
        then.add_op(scf.YieldOp(condition.operands[0]))
        false = arith.ConstantOp(IntegerAttr.from_bool(False))
        otherwise.add_ops([false, scf.YieldOp(false.result)])
        test = scf.IfOp(goes_on[-1].results[0], [_BOOL], Region(then), Region(otherwise))
        _insert_before(condition, [test])
        condition.operands[0] = test.results[0]


def _insert_before(op: Operation, new: list[Operation]) -> None:
    assert op.parent is not None
    op.parent.insert_ops_before(new, op)


def _store(flag: SSAValue, value: bool) -> list[Operation]:
    constant = arith.ConstantOp(IntegerAttr.from_bool(value))
    return [constant, tir.StoreOp(constant.result, flag, ())]


def _is_false(flag: SSAValue) -> list[Operation]:
    load = tir.LoadOp(flag, ())
    true = arith.ConstantOp(IntegerAttr.from_bool(True))
    return [load, true, arith.XOrIOp(load.result, true.result)]
