"""The configuration of a language model from the metadata of a GGUF file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .architectures import ARCHITECTURES
from .configuration import Configuration
from .rotary_scaling import RotaryScaling, rotary_scaling

EPSILON = "attention.layer_norm_epsilon"
SCALING = "rope.scaling."
YARN = {"beta_fast": "yarn_beta_fast", "beta_slow": "yarn_beta_slow"}
LARGEST = {"gemma2": 46, "gemma3": 62}
"""The layers of models of 27B, whose files do not say that products are divided by another root."""
LOCAL_BASE = 10000.0
"""The base of rotary positions in Gemma 3's layers with a window."""


class Metadata:
    """The numbers of an architecture in a file, under names without that of the architecture."""

    def __init__(self, metadata: Mapping[str, Any], path: Any):
        self._metadata, self.path = metadata, path
        self.kind: str = metadata.get("general.architecture", "")
        if self.kind not in ARCHITECTURES:
            known, got = ", ".join(ARCHITECTURES), metadata.get("general.architecture")
            raise ValueError(f"expected an architecture of {known}, got {got!r} in '{path}'")

    def __call__(self, name: str, default: Any = None) -> Any:
        """A number; raises ValueError with one line where there is none, and no default."""
        found = self.get(name, default)
        if found is None:
            raise ValueError(f"expected '{self.kind}.{name}' in '{self.path}', got none")
        return found

    def get(self, name: str, default: Any = None) -> Any:
        """A number, or the default where there is none."""
        return self._metadata.get(f"{self.kind}.{name}", default)


def configuration_of(
    value: Metadata, vocabulary: int, factors: Sequence[float], activations: str, cache: str
) -> Configuration:
    """The sizes of a model; `factors` are divisors of the rotary frequencies, if there are some.

    Raises ValueError with one line for numbers that are missing or not supported.
    """
    heads, width, layers = (
        int(value(n)) for n in ("attention.head_count", "embedding_length", "block_count")
    )
    size, context = value("attention.key_length", width // heads), value("context_length")
    for name in ("rope.dimension_count", "attention.value_length"):
        if (got := value(name, size)) != size:
            raise ValueError(f"expected '{name}' of {size} in '{value.path}', got {got}")
    base = value("rope.freq_base", 10000.0)
    scaling = _scaling(value, base, size, context)
    is_gemma3 = value.kind == "gemma3"
    return Configuration(
        architecture=value.kind,
        layers=layers,
        width=width,
        heads=heads,
        key_heads=value("attention.head_count_kv", heads),
        size=size,
        vocabulary=vocabulary,
        context=context,
        epsilon=value("attention.layer_norm_rms_epsilon", value(EPSILON, 0.0)),
        base=base,
        activations=activations,
        cache=cache,
        factors=tuple(factors) or scaling.divisors,
        magnitude=scaling.magnitude,
        windows=_windows(value, layers),
        local_base=value("rope.freq_base_swa", LOCAL_BASE) if is_gemma3 else None,
        scale=(heads / width) ** 0.5 if LARGEST.get(value.kind) == layers else None,
        softcap=value.get("attn_logit_softcapping"),
        logit_softcap=value.get("final_logit_softcapping"),
    )


def _windows(value: Metadata, layers: int) -> tuple[int, ...]:
    """The windows of layers: Gemma 2 has one in every second, Gemma 3 in five of six."""
    window = value.get("attention.sliding_window") or 0
    if not window:
        return ()
    period = value(
        "attention.sliding_window_pattern", {"gemma2": 2, "gemma3": 6}.get(value.kind, 0)
    )
    if not isinstance(period, int):
        return tuple(window if is_local else 0 for is_local in period)
    return tuple(0 if period and (i + 1) % period == 0 else window for i in range(layers))


def _scaling(value: Metadata, base: float, size: int, context: int) -> RotaryScaling:
    kind = value.get(f"{SCALING}type", "none")
    options: dict[str, Any] = {name: value.get(SCALING + key) for name, key in YARN.items()}
    options["factor"] = value.get(f"{SCALING}factor", 1.0)
    options["original_max_position_embeddings"] = value.get(f"{SCALING}original_context_length")
    try:
        return rotary_scaling("default" if kind == "none" else kind, options, base, size, context)
    except ValueError as error:
        raise ValueError(f"'{value.path}': {error}") from None
