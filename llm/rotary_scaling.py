"""How models stretch rotary positions to longer contexts than they were trained with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, floor, log, pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

KINDS = ("default", "linear", "llama3", "yarn")


@dataclass(frozen=True)
class RotaryScaling:
    """Divisors of the frequencies (size / 2,), if there are some, and a factor of the rotations."""

    divisors: tuple[float, ...] = ()
    magnitude: float = 1.0


def rotary_scaling(
    kind: str, options: Mapping[str, Any], base: float, size: int, context: int
) -> RotaryScaling:
    """The scaling of a kind, with the names of options that `transformers` has for them.

    Raises ValueError for other kinds, and KeyError for an option that is missing.
    """
    exponents = np.arange(0, size, 2) / size
    frequencies: NDArray[Any] = base**-exponents
    match kind:
        case "default":
            return RotaryScaling()
        case "linear":
            return RotaryScaling((float(options["factor"]),) * len(frequencies))
        case "llama3":
            return RotaryScaling(_llama3(options, frequencies))
        case "yarn":
            return _yarn(options, base, size, context)
        case _:
            raise ValueError(f"expected rotary positions of {', '.join(KINDS)}, got {kind!r}")


def _llama3(options: Mapping[str, Any], frequencies: NDArray[Any]) -> tuple[float, ...]:
    """Llama 3.1: long waves are stretched, short ones are not, and those between partly."""
    factor, low, high = (
        float(options[n]) for n in ("factor", "low_freq_factor", "high_freq_factor")
    )
    turns = options["original_max_position_embeddings"] * frequencies / (2 * pi)
    kept = np.clip((turns - low) / (high - low), 0, 1)
    return tuple((1 / ((1 - kept) / factor + kept)).tolist())


def _yarn(options: Mapping[str, Any], base: float, size: int, context: int) -> RotaryScaling:
    """YaRN (Peng 2023): as Llama 3, with a ramp over the numbers of frequencies."""
    factor = float(options["factor"])
    trained = options.get("original_max_position_embeddings") or context

    def number(turns: float) -> float:
        """Which frequency turns so often in the context of the training."""
        return size * log(trained / (turns * 2 * pi)) / (2 * log(base))

    first, last = (number(options.get(n) or d) for n, d in (("beta_fast", 32), ("beta_slow", 1)))
    if options.get("truncate", True):
        first, last = floor(first), ceil(last)
    first, last = max(first, 0), min(last, size - 1)
    ramp = (np.arange(size // 2) - first) / max(last - first, 1e-3)
    stretched = np.clip(ramp, 0, 1)
    divisors = 1 / (stretched / factor + 1 - stretched)
    magnitude = options.get("attention_factor")
    if magnitude is None:
        parts = (options.get("mscale"), options.get("mscale_all_dim"))
        above, below = (_magnitude(factor, p) for p in parts) if all(parts) else (
            _magnitude(factor, 1.0), 1.0
        )  # fmt: skip
        magnitude = above / below
    return RotaryScaling(tuple(divisors.tolist()), float(magnitude))


def _magnitude(factor: float, share: Any) -> float:
    return 0.1 * float(share) * log(factor) + 1.0 if factor > 1 else 1.0
