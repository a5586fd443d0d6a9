"""Choices of a random generator, the same for a seed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Choices:
    """Draws with `rng`, which a subclass has."""

    rng: random.Random

    def pick(self, options: Sequence[T]) -> T:
        """One of several."""
        return options[self.rng.randrange(len(options))]

    def chance(self, percent: int) -> bool:
        """True in so many cases out of 100."""
        return self.rng.randrange(100) < percent
