"""All faults, by where they are."""

from __future__ import annotations

from fault import Fault
from listed import calls, expressions, graphs, loops, memory, primitives

STAGES = (expressions, graphs, primitives, memory, loops, calls)
FAULTS: tuple[Fault, ...] = tuple(fault for stage in STAGES for fault in stage.FAULTS)
