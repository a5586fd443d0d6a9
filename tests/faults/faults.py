"""All faults, by where they are."""

from __future__ import annotations

from fault import Fault
from listed import expressions, memory, primitives

FAULTS: tuple[Fault, ...] = (*expressions.FAULTS, *memory.FAULTS, *primitives.FAULTS)
