"""Sizes of the parts that a number of iterations is divided into."""

from __future__ import annotations


def largest_divisor(count: int, most: int, above: int = 0) -> int | None:
    """The largest divisor of `count` up to `most` and above `above`; `None` if there is none.

    Parts of this size are all equal.
    """
    return next((n for n in range(min(count, most), above, -1) if count % n == 0), None)


def balanced(count: int, most: int) -> int:
    """The size of as few parts as there can be of at most `most`, all but the last equal."""
    return -(-count // -(-count // most))
