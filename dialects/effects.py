"""Memory effects that xDSL's traits do not tell precisely enough."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from xdsl.ir import Operation
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind


class AllocatesResult(MemoryEffect):
    """The operation's result is fresh memory: dead if unused, never merged with an equal operation.

    xDSL's ``MemoryAllocEffect`` does not say what is allocated, so nothing with it is ever dead.
    """

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance]:
        return frozenset((EffectInstance(MemoryEffectKind.ALLOC, op.results[0]),))
