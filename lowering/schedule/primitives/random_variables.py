"""What a schedule's methods give and take: names for blocks, loops and numbers of its module."""

from __future__ import annotations

from typing import TypeAlias


class RandomVariable:
    """A name for something of a schedule's module, equal to itself only.

    What it stands for is in the schedule: the same variable is good in copies of the schedule,
    where it stands for the same thing of the copy.
    """

    prefix = "v"


class BlockRV(RandomVariable):
    """A block; TVM's ``SBlockRV``, which was ``BlockRV``."""

    prefix = "b"


class LoopRV(RandomVariable):
    """A loop, or one of the places ``inline`` and ``root`` that a block can be computed at."""

    prefix = "l"


class ExprRV(RandomVariable):
    """A number that was drawn."""


SBlockRV: TypeAlias = BlockRV
