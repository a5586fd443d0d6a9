"""Regions of structured control flow while they are lowered."""

from __future__ import annotations

from typing import TypeAlias

from xdsl.ir import Block, SSAValue

from ...dialects.int_expr import Sym

Source: TypeAlias = SSAValue | Sym
"""What a function of the source knows: a value, or a symbol."""


class Level:
    """A region of structured control flow: its current block, its values, its index arithmetic.

    The block stays open while inner regions are lowered, so that arithmetic on what this level
    knows can still be added to it: so index expressions leave the loops that do not change them.
    """

    __slots__ = ("block", "memo", "values")

    def __init__(self, block: Block):
        self.block = block
        self.values: dict[Source, SSAValue] = {}
        self.memo: dict[object, SSAValue] = {}
