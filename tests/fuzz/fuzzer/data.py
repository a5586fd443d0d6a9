"""The contents of drawn inputs: the same numbers for a seed, a name and a shape."""

from __future__ import annotations

import zlib

import numpy as np

from .numbers import Array, rounded, storage
from .syntax import FLOATS, INTEGERS, SHORT_FLOATS, Buffer

SPECIAL = (np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-40, 1.5)


def contents(buffer: Buffer, shape: tuple[int, ...], seed: int) -> Array:
    """An array of numbers as `buffer.content` says."""
    rng = np.random.default_rng([seed, zlib.crc32(buffer.name.encode())])
    dtype = buffer.dtype
    if buffer.content == "place":
        return rng.integers(0, max(buffer.high, 1), shape).astype(storage(dtype))
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if buffer.content == "extreme" and dtype in INTEGERS:
        limits = np.iinfo(dtype)
        return rng.choice(np.array([limits.min, limits.max, 0, 1, 7], dtype), shape)
    if buffer.content == "real" and dtype in FLOATS:
        return rounded(np.asarray(rng.uniform(-2, 2, shape)), dtype)
    small = rng.integers(0 if dtype.startswith("u") else -3, 4, shape)
    if buffer.content == "special" and dtype in FLOATS:
        chosen = rng.choice(np.array(SPECIAL), shape)
        mixed = np.where(rng.random(shape) < 0.3, chosen, small)
        with np.errstate(all="ignore"):
            # Denormal numbers of the short types are computed with in float32.
            return rounded(np.where((mixed == 1e-40) & (dtype in SHORT_FLOATS), 0, mixed), dtype)
    return rounded(np.asarray(small), dtype)
