"""What moving vectors costs: in cycles for each of them, on top of what is computed.

Schedules and passes over graphs compare these with multiplications, two of which start in a cycle.
Shuffles take a vector apart by halves, so that their number is the logarithm of the lanes.
"""

from __future__ import annotations

from math import log2

LATENCY = 5
"""Cycles until the result of a multiplication or an addition can be added to."""

COPY = 3.5
"""Cycles to copy a vector to where others of its panel are."""


def transpose_cycles(lanes: int) -> float:
    """Cycles for each vector of a square that is transposed: shuffles, and a load or a store."""
    return log2(lanes) + 1


def permute_cycles(lanes: int) -> float:
    """Cycles for each vector of a tensor that is transposed, written, and read once more."""
    return transpose_cycles(lanes) + 2 * COPY


def total_cycles(lanes: int) -> float:
    """Cycles to add up the lanes of a vector beside those of others, as `join_reductions` does."""
    return log2(lanes) / 4
