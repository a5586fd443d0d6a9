"""How a language model is compiled."""

from __future__ import annotations

from dataclasses import dataclass

ACTIVATIONS = ("int8", "int16", "float32")
CACHES = ("int8", "float16", "bfloat16", "float32")
WEIGHTS = ("q4_0", "q4_1", "q5_0", "q5_1", "q8_0")


@dataclass(frozen=True)
class Options:
    """What `load` says of each; raises ValueError with one line for other values."""

    activations: str
    cache: str
    weights: str | None
    target: str

    def __post_init__(self) -> None:
        checks = (
            ("activations of", ACTIVATIONS, self.activations),
            ("a cache of", CACHES, self.cache),
            ("weights of", (None, *WEIGHTS), self.weights),
        )
        for what, known, got in checks:
            if got not in known:
                names = ", ".join(map(str, known))
                raise ValueError(f"expected {what} {names}, got {got!r}")

    @property
    def key(self) -> tuple[str, ...]:
        """What distinguishes models of the same file in the cache."""
        return (self.activations, self.cache, str(self.weights))
