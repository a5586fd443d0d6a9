"""Philox 4x32-10, the generator of random numbers by counters (Salmon et al. 2011).

Four words of 32 bits and a key of two words give four random words. The words are numbers below
2**32 in uint64: expressions of `te`, or arrays of NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

ROUNDS = 10
_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
_LOW = 0xFFFFFFFF

Words: TypeAlias = Sequence[Any]
Let: TypeAlias = Callable[[Callable[[Any], Any], Any], Any]
"""``let(function, value)`` is ``function(value)``, with the value computed once."""


def philox(counter: Words, key: Words, finish: Callable[[Words], Any], let: Let) -> Any:
    """``finish`` of the four random words for a counter of four words and a key of two."""
    return _rounds(tuple(counter), tuple(key), 0, finish, let)


def _rounds(
    counter: tuple[Any, ...], key: tuple[Any, ...], number: int, finish: Any, let: Let
) -> Any:
    if number == ROUNDS:
        return finish(counter)
    k0, k1 = ((k + (number * step & _LOW)) & _LOW for k, step in zip(key, _KEY_STEPS, strict=True))

    def mixed(p0: Any, p1: Any) -> Any:
        words = (p1 >> 32) ^ counter[1] ^ k0, p1 & _LOW, (p0 >> 32) ^ counter[3] ^ k1, p0 & _LOW
        return _rounds(words, key, number + 1, finish, let)

    return let(
        lambda p0: let(lambda p1: mixed(p0, p1), counter[2] * _MULTIPLIERS[1]),
        counter[0] * _MULTIPLIERS[0],
    )
