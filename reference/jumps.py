"""`break` and `continue` under masks: lanes that have jumped stay off until the iteration ends."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from xdsl.ir import Operation

from ..dialects import tir
from ..dialects.nesting import operations_in
from ..dialects.tir.control import loop_of
from .values import Value


@dataclass
class Jumps:
    """The lanes of a loop that have skipped the rest of an iteration, and that have left it."""

    skipped: Value = False
    left: Value = False

    def jump(self, mask: Value | None, leaves: bool) -> None:
        """Let the lanes that are on jump."""
        on = True if mask is None else mask
        self.skipped = np.logical_or(self.skipped, on)
        if leaves:
            self.left = np.logical_or(self.left, on)


def around_jumps(root: Operation) -> tuple[frozenset[Operation], frozenset[Operation]]:
    """The jumps with the operations around them up to their loops, and these loops."""
    inside: set[Operation] = set()
    loops: set[Operation] = set()
    for jump in operations_in(root):
        if not isinstance(jump, tir.JumpOp):
            continue
        loop, op = loop_of(jump), jump.parent_op()
        inside.add(jump)
        while op is not None and op is not loop:
            inside.add(op)
            op = op.parent_op()
        if loop is not None:
            loops.add(loop)
    return frozenset(inside), frozenset(loops)
