"""Regions of structured control flow while they are lowered."""

from __future__ import annotations

from typing import TypeAlias

from xdsl.ir import Block, Operation, SSAValue

from ...dialects import loops
from ...dialects.int_expr import Sym
from .layout import root_of

Source: TypeAlias = SSAValue | Sym
"""What a function of the source knows: a value, or a symbol."""


class Level:
    """A region of structured control flow: its current block, its values, its index arithmetic.

    The block stays open while inner regions are lowered, so that arithmetic on what this level
    knows can still be added to it: so index expressions leave the loops that do not change them.
    """

    __slots__ = ("_written", "block", "loop", "memo", "values")

    def __init__(self, block: Block):
        self.block = block
        self.loop: Operation | None = None
        """The loop whose body this is, if that runs whenever the region around it does."""
        self._written: set[SSAValue] | None = None
        self.values: dict[Source, SSAValue] = {}
        self.memo: dict[object, SSAValue] = {}

    def leaves(self, root: SSAValue) -> bool:
        """Whether this is a loop's body that runs, and writes nothing to the buffer `root`."""
        if self.loop is None:
            return False
        if self._written is None:
            stores = (op for op in self.loop.walk() if isinstance(op, loops.StoreOp))
            self._written = {root_of(op.buffer) for op in stores}
        return root not in self._written
