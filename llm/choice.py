"""The kernel that chooses the next token of each sequence from logits.

A row is chosen in passes over its logits, by vectors. Those that stay are the ones with weights
``exp((logit - best) / temperature)`` of at least a threshold, which `top_k`, `top_p` and `min_p`
raise. The first two search for it among the bits of floats, which have the order of the numbers: a
sort of all logits would take longer than a token of a small model. A random number, by a key and a
counter of the row, then is the place in the running sum of these weights. Nothing depends on other
rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .. import te
from ..dialects.relax.operators.philox import philox

LANES = 64
"""The logits of a step of a loop, a few vectors."""
STEPS = 16
"""The steps of a block, whose weights are summed for the search of the place."""
ABOVE_ONE = 0x3F800001
"""The bits of the least float above 1, the weight of the best token."""


def chosen(logits: te.Tensor, factors: te.Tensor, numbers: te.Tensor, seen: te.Tensor) -> te.Tensor:
    """The tokens (n,) of logits (n, vocabulary), with the options of each row.

    `factors` (n, 4) and `numbers` (n, 4) have the columns of `FACTORS` and `NUMBERS`. `seen` (n, m)
    are the tokens of the text so far, and -1. A row with NaN, or without a best token, gives -1.
    """
    (tokens,) = te.statements(
        [[logits.shape[0]]],
        [logits, factors, numbers, seen],
        _choose,
        ["int32"],
        axes=[logits.shape[0]],
        name="choice",
    )
    return tokens


def _choose(ib: Any, inputs: Sequence[Any], outputs: Sequence[Any], row: Any) -> None:
    logits, factors, numbers, seen = inputs
    _Row(ib, logits, factors, numbers, seen, row).choose(outputs[0])


@dataclass
class _Row:
    """The statements for one row."""

    ib: Any
    logits: Any
    factors: Any
    numbers: Any
    seen: Any
    row: Any

    def __post_init__(self) -> None:
        self.count: int = self.logits.shape[1]
        self.blocks = -(-self.count // (LANES * STEPS))
        self.steps = self.blocks * STEPS
        self.weights = self.ib.allocate("float32", (self.steps * LANES,), "weights")
        self.sums = self.ib.allocate("float32", (self.blocks,), "sums")
        self.limit = self.variable("float32", "limit")

    def variable(self, dtype: str, name: str, value: Any = 0) -> Any:
        """A number that changes."""
        made = self.ib.allocate(dtype, (1,), name)
        self.ib.store(made, (0,), te.const(value, dtype))
        return made

    def choose(self, tokens: Any) -> None:
        """Store the token of the row."""
        ib, token = self.ib, self.variable("int32", "token", -1)
        is_number = self.load()
        self.penalize()
        best, place = self.best()
        with ib.if_scope(is_number & (best > te.const(float("-inf"), "float32"))):
            temperature = ib.let(self.factors(self.row, 0))
            ib.store(token, (0,), place)
            with ib.if_scope(temperature > te.const(0, "float32")):
                self.exponentials(best, temperature)
                self.restrict()
                self.draw(token)
        ib.store(tokens, (self.row,), token(0))

    def in_steps(self, statement: Callable[[Any, Any], None], steps: Any = None) -> None:
        """A statement of the place and lane of each weight."""
        ib = self.ib
        with (
            ib.for_range(0, self.steps if steps is None else steps, "step") as step,
            ib.for_range(0, LANES, "lane", kind="vectorized") as lane,
        ):
            statement(step * LANES + lane, lane)

    def lanes(self, dtype: str, name: str, value: Any) -> Any:
        """Numbers (lanes,)."""
        made = self.ib.allocate(dtype, (LANES,), name)
        with self.ib.for_range(0, LANES, "lane", kind="vectorized") as lane:
            self.ib.store(made, (lane,), te.const(value, dtype))
        return made

    def load(self) -> Any:
        """Copy the logits, with minus infinity after them; whether they are numbers."""
        ib, row, whole = self.ib, self.row, self.count // LANES
        others, lowest = self.lanes("int32", "others", 0), te.const(float("-inf"), "float32")
        zero, one = (te.const(n, "int32") for n in (0, 1))

        def copy(place: Any, lane: Any) -> None:
            value = ib.let(self.logits(row, place))
            ib.store(self.weights, (place,), value)
            ib.store(others, (lane,), others(lane) + te.select(te.EQ(value, value), zero, one))

        self.in_steps(copy, whole)
        with ib.for_range(whole * LANES, self.count, "rest") as place:
            copy(place, 0)
        with ib.for_range(self.count, self.steps * LANES, "rest") as place:
            ib.store(self.weights, (place,), lowest)
        return te.EQ(self.total("int32", others), zero)

    def penalize(self) -> None:
        """Make the logits of tokens that occurred smaller; each once, from its first value."""
        ib, row, zero = self.ib, self.row, te.const(0, "float32")
        penalty = ib.let(self.factors(row, 3))
        with ib.for_range(0, self.seen.shape[1], "seen") as i:
            token = ib.let(self.seen(row, i))
            with ib.if_scope((token >= 0) & (token < self.count)):
                logit = ib.let(self.logits(row, token))
                changed = te.select(logit > zero, logit / penalty, logit * penalty)
                ib.store(self.weights, (token,), changed)

    def best(self) -> tuple[Any, Any]:
        """The largest logit, and its first place."""
        ib = self.ib
        tops = self.lanes("float32", "tops", float("-inf"))
        places = self.lanes("int32", "places", 0)

        def compare(place: Any, lane: Any) -> None:
            value, at = ib.let(self.weights(place)), te.cast("int32", place)
            is_larger = ib.let(value > tops(lane))
            ib.store(places, (lane,), te.select(is_larger, at, places(lane)))
            ib.store(tops, (lane,), te.select(is_larger, value, tops(lane)))

        self.in_steps(compare)
        top, first = self.variable("float32", "top", float("-inf")), self.variable("int32", "first")
        with ib.for_range(0, LANES, "lane") as lane:
            value, place = ib.let(tops(lane)), ib.let(places(lane))
            is_tie = te.EQ(value, top(0)) & (place < first(0))
            with ib.if_scope((value > top(0)) | is_tie):
                ib.store(top, (0,), value)
                ib.store(first, (0,), place)
        return ib.let(top(0)), ib.let(first(0))

    def exponentials(self, best: Any, temperature: Any) -> None:
        """Replace logits by weights."""
        ib = self.ib
        factor = ib.let(te.const(1, "float32") / temperature)

        def replace(place: Any, _: Any) -> None:
            ib.store(self.weights, (place,), te.exp((self.weights(place) - best) * factor))

        self.in_steps(replace)

    def restrict(self) -> None:
        """Raise the limit of weights that stay, by each option that the row has."""
        ib, row = self.ib, self.row
        most = ib.let(te.cast("int64", self.numbers(row, 0)))
        with ib.if_scope((most > 0) & (most < self.count)):
            self.search(lambda count, _: count >= most)
        part = ib.let(te.cast("float64", self.factors(row, 1)))
        with ib.if_scope(part < te.const(1, "float64")):
            _, mass = self.above(self.limit(0))
            wanted = ib.let(mass * part)
            self.search(lambda _, mass: mass >= wanted)
        ib.store(self.limit, (0,), te.max(self.limit(0), self.factors(row, 2)))

    def search(self, holds: Callable[[Any, Any], Any]) -> None:
        """Raise the limit as far as the count and sum of the weights above it permit."""
        ib = self.ib
        low, high = (self.variable("int32", n) for n in ("low", "high"))
        below, over = (self.variable("int64", n) for n in ("below", "over"))
        ib.store(low, (0,), te.reinterpret("int32", self.limit(0)))
        ib.store(high, (0,), te.const(ABOVE_ONE, "int32"))
        ib.store(below, (0,), te.const(self.count + LANES * STEPS, "int64"))
        # A weight alone between the bounds is the lower one.
        with ib.while_loop((high(0) - low(0) > 1) & (below(0) - over(0) > 1)):
            middle = ib.let(low(0) + (high(0) - low(0)) // 2)
            count, mass = self.above(ib.let(te.reinterpret("float32", middle)))
            is_low = ib.let(holds(count, mass))
            for bound, number, side in ((low, below, is_low), (high, over, te.Not(is_low))):
                with ib.if_scope(side):
                    ib.store(bound, (0,), middle)
                    ib.store(number, (0,), count)
        ib.store(self.limit, (0,), te.reinterpret("float32", low(0)))

    def above(self, limit: Any) -> tuple[Any, Any]:
        """How many weights are at least a limit, and their sum."""
        counts, sums = self.lanes("int32", "counts", 0), self.lanes("float32", "above", 0)
        ib, (zero, one) = self.ib, (te.const(n, "int32") for n in (0, 1))

        def add(place: Any, lane: Any) -> None:
            value = ib.let(self.weights(place))
            is_above = ib.let(value >= limit)
            ib.store(counts, (lane,), counts(lane) + te.select(is_above, one, zero))
            kept = te.select(is_above, value, te.const(0, "float32"))
            ib.store(sums, (lane,), sums(lane) + kept)

        self.in_steps(add)
        return self.total("int64", counts), self.total("float64", sums)

    def total(self, dtype: str, values: Any) -> Any:
        """The sum of numbers (lanes,)."""
        ib, total = self.ib, self.variable(dtype, "total")
        with ib.for_range(0, LANES, "lane") as lane:
            ib.store(total, (0,), total(0) + te.cast(dtype, values(lane)))
        return ib.let(total(0))

    def draw(self, token: Any) -> None:
        """Store the token at a random place of the running sum."""
        ib = self.ib
        self.add_up()
        total, running, before = (self.variable("float64", n) for n in ("all", "running", "before"))
        with ib.for_range(0, self.blocks, "block") as block:
            ib.store(total, (0,), total(0) + te.cast("float64", self.sums(block)))
        wanted, chosen = ib.let(self.uniform() * total(0)), self.variable("int64", "chosen")
        with ib.for_range(0, self.blocks, "block") as block:
            added = ib.let(te.cast("float64", self.sums(block)))
            # Of blocks without weights, none is chosen, also where rounding leads past the last.
            with ib.if_scope((running(0) <= wanted) & (added > te.const(0, "float64"))):
                ib.store(chosen, (0,), block)
                ib.store(before, (0,), running(0))
            ib.store(running, (0,), running(0) + added)
        self.draw_in_block(ib.let(chosen(0)), before, wanted, token)

    def draw_in_block(self, block: Any, running: Any, wanted: Any, token: Any) -> None:
        """Store the token whose weight reaches a sum, or the last one that stays."""
        ib, place = self.ib, self.variable("int64", "place")
        ib.store(place, (0,), block * (LANES * STEPS))
        end = ib.let(place(0) + LANES * STEPS)
        with ib.while_loop((place(0) < end) & (running(0) <= wanted)):
            weight = ib.let(self.weights(place(0)))
            with ib.if_scope((weight >= self.limit(0)) & (weight > te.const(0, "float32"))):
                ib.store(token, (0,), te.cast("int32", place(0)))
                ib.store(running, (0,), running(0) + te.cast("float64", weight))
            ib.store(place, (0,), place(0) + 1)

    def add_up(self) -> None:
        """The sums of the weights that stay, of each block."""
        ib = self.ib
        limit = ib.let(self.limit(0))
        with ib.for_range(0, self.blocks, "block") as block:
            sums = self.lanes("float32", "kept", 0)

            def add(place: Any, lane: Any, sums: Any = sums, block: Any = block) -> None:
                value = ib.let(self.weights(block * (LANES * STEPS) + place))
                kept = te.select(value >= limit, value, te.const(0, "float32"))
                ib.store(sums, (lane,), sums(lane) + kept)

            self.in_steps(add, STEPS)
            ib.store(self.sums, (block,), self.total("float32", sums))

    def uniform(self) -> Any:
        """A number of [0, 1) by the seed and the position of the row."""
        ib, row = self.ib, self.row
        low, high, position = (te.cast("uint64", self.numbers(row, n)) for n in (1, 2, 3))
        none = te.const(0, "uint64")

        def finish(words: Sequence[Any]) -> Any:
            bits = (words[0] << 21) | (words[1] >> 11)
            return te.cast("float64", te.cast("int64", bits)) * te.const(2.0**-53, "float64")

        counter = (ib.let(position), none, none, none)
        return philox(counter, (ib.let(low), ib.let(high)), finish, lambda f, v: f(ib.let(v)))
