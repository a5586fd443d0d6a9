"""Primitives that sample: tile sizes, categorical choices, and compute locations."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import comb, prod
from random import Random

from ....dialects import tir
from ....dialects.int_expr import ONE
from ..blocks import ScheduleError, iterator_kinds, loops_around
from ..compute_at import compute_at
from ..inline import compute_inline
from ..loop_checks import loop_text
from ..navigate import consumers_of
from .base import Primitives
from .instructions import primitive
from .random_variables import BlockRV, ExprRV, LoopRV

INLINE, ROOT = -2, -1
"""Decisions of `sample_compute_location` that are not loops."""


class SamplingPrimitives(Primitives):
    """Primitives that sample a search space, by the schedule's seed or by a given decision."""

    @primitive(is_pure=True)
    def sample_categorical(
        self, candidates: Sequence[int], probs: Sequence[float], decision: int | None = None
    ) -> ExprRV:
        """Sample one of `candidates` with probabilities `probs`; `decision` is its position.

        Raises ScheduleError unless there is a probability for each candidate, and for a decision
        out of range.
        """
        if len(candidates) != len(probs) or not candidates:
            raise ScheduleError(
                f"expected a probability for each candidate, got {len(probs)} for {len(candidates)}"
            )
        if decision is None:
            decision = self.random.choices(range(len(candidates)), probs)[0]
        if not 0 <= decision < len(candidates):
            raise ScheduleError(
                f"expected a decision from 0 to {len(candidates) - 1}, got {decision}"
            )
        self.record(decision=decision)
        return self.new_number(int(candidates[decision]))

    @primitive(is_pure=True)
    def sample_perfect_tile(
        self,
        loop: LoopRV,
        n: int,
        max_innermost_factor: int = 16,
        decision: Sequence[int] | None = None,
    ) -> list[ExprRV]:
        """Sample `n` factors of a loop's extent, the last at most `max_innermost_factor`.

        All such factorizations are equally likely. For a symbolic extent, the first factor is
        inferred by `split` and the others are 1. Raises ScheduleError for a decision with another
        product.
        """
        found = self.loop(loop)
        extent = found.extent.data.constant
        if n < 1:
            raise ScheduleError(f"expected at least one factor, got {n}", found)
        if extent is None:
            factors = [-1, *[1] * (n - 1)]
        elif decision is None:
            factors = draw_factors(extent, n, max_innermost_factor, self.random)
        else:
            factors = [int(f) for f in decision]
            if len(factors) != n or prod(factors) != extent:
                raise ScheduleError(
                    f"expected {n} factors of the extent {extent} of {loop_text(found)}, "
                    f"got {factors}",
                    found,
                )
        self.record(decision=factors)
        return [self.new_number(None if f == -1 else f) for f in factors]

    @primitive(is_pure=True)
    def sample_compute_location(self, block: BlockRV | str, decision: int | None = None) -> LoopRV:
        """Sample a loop of a block's first consumer to compute the block at, "inline", or "root".

        `decision` is -2 for inline, -1 to keep the location, or the position of a loop around the
        first consumer, outermost first. Those are sampled that make a difference: loops of several
        iterations, up to spatial ones in a reduction's, in which work would be repeated. Raises
        ScheduleError for a decision out of range.
        """
        producer = self.block(block)
        consumers = consumers_of(producer)
        loops = loops_around(consumers[0]) if consumers else []
        if decision is None:
            decision = self.random.choice(self._locations(producer, consumers[:1]))
        if not INLINE <= decision < len(loops):
            raise ScheduleError(
                f"expected a decision from {INLINE} to {len(loops) - 1}, got {decision}", producer
            )
        self.record(decision=decision)
        return self.new_loop({INLINE: "inline", ROOT: "root"}.get(decision) or loops[decision])

    def _locations(self, producer: tir.BlockOp, consumers: Sequence[tir.BlockOp]) -> list[int]:
        """The decisions that apply, found by trying each on a copy of the module."""
        found = [ROOT]
        for decision in [INLINE, *(n for c in consumers for n in _distinct_places(c))]:
            (copy,) = self.state.copies_of(producer)
            try:
                if decision == INLINE:
                    compute_inline(copy)
                else:
                    compute_at(copy, loops_around(consumers_of(copy)[0])[decision])
            except ScheduleError:
                continue
            found.append(decision)
        return found


def _distinct_places(consumer: tir.BlockOp) -> list[int]:
    """The positions of loops around a block at which its producer is worth computing."""
    found: list[int] = []
    is_reduction = False
    for position, loop in enumerate(loops_around(consumer)):
        if loop.extent.data == ONE:
            continue
        reduces = "reduce" in iterator_kinds(loop, consumer)
        if is_reduction and not reduces:
            break
        is_reduction = is_reduction or reduces
        found.append(position)
    return found


def draw_factors(extent: int, n: int, max_innermost: int, random: Random) -> list[int]:
    """`n` factors of `extent`, the last at most `max_innermost` if n > 1; all equally likely."""
    factors: list[int] = []
    for left in range(n - 1, 0, -1):
        limit = max_innermost if not factors else extent
        choices = [d for d in _divisors(extent) if d <= limit]
        ways = [_ways(extent // d, left) for d in choices]
        weights = [way / sum(ways) for way in ways]  # as floats: the numbers can be any length
        factors.insert(0, random.choices(choices, weights)[0] if choices else 1)
        extent //= factors[0] or 1
    return [extent, *factors]


@cache
def _primes(number: int) -> dict[int, int]:
    """The prime factors of a number with their multiplicities."""
    found: dict[int, int] = {}
    prime = 2
    while prime * prime <= number:
        while number % prime == 0:
            found[prime] = found.get(prime, 0) + 1
            number //= prime
        prime += 1
    return found | ({number: found.get(number, 0) + 1} if number > 1 else {})


@cache
def _divisors(number: int) -> tuple[int, ...]:
    found = [1]
    for prime, power in _primes(number).items() if number else ():
        found = [d * prime**e for d in found for e in range(power + 1)]
    return tuple(sorted(found)) if number else ()


@cache
def _ways(number: int, parts: int) -> int:
    """The number of ways to write a number as a product of `parts` factors."""
    return prod(comb(power + parts - 1, power) for power in _primes(number).values())
