"""The configuration of a language model from the ``config.json`` of a model folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .configuration import Configuration
from .rotary_scaling import RotaryScaling, rotary_scaling


@dataclass(frozen=True)
class Kind:
    """What a `model_type` has that its ``config.json`` need not say."""

    architecture: str
    """The name in GGUF files."""
    functions: tuple[str, ...] = ("silu", "swish")
    """Names of the function of the gates, or of the feed-forward layers."""
    is_tied: bool = False
    """Whether the head has the weights of the embedding by default."""
    period: int = 0
    """Every so-manieth layer sees all positions, and the others a window."""


GELU = ("gelu_pytorch_tanh", "gelu_new", "gelu")  # Gemma's first files say gelu, and mean the first
KINDS = {
    "llama": Kind("llama"),
    "mistral": Kind("llama"),
    "qwen2": Kind("qwen2"),
    "qwen3": Kind("qwen3"),
    "gemma": Kind("gemma", GELU, True),
    "gemma2": Kind("gemma2", GELU, True, 2),
    "gemma3_text": Kind("gemma3", GELU, True, 6),
    "gpt2": Kind("gpt2", ("gelu_new", "gelu_pytorch_tanh"), True),
}
GPT2 = {
    "num_hidden_layers": "n_layer",
    "hidden_size": "n_embd",
    "num_attention_heads": "n_head",
    "max_position_embeddings": "n_positions",
    "rms_norm_eps": "layer_norm_epsilon",
    "hidden_act": "activation_function",
}
"""Other names of GPT-2."""
UNSUPPORTED = {
    "partial_rotary_factor": (None, 1, 1.0),
    "use_bidirectional_attention": (None, False),
    "scale_attn_weights": (None, True),
    "scale_attn_by_inverse_layer_idx": (None, False),
    "quantization_config": (None,),
}
"""Options, and the values that are supported."""


class Settings:
    """The options of a ``config.json``."""

    def __init__(self, options: Mapping[str, Any], path: Any):
        self._options, self.path = options, path
        name = options.get("model_type")
        if name not in KINDS:
            known = ", ".join(KINDS)
            raise ValueError(f"expected a model_type of {known}, got {name!r} in '{path}'")
        self.kind = KINDS[name]
        for option, values in UNSUPPORTED.items():
            if (got := options.get(option)) not in values:
                raise ValueError(f"expected {option} of {values[-1]} in '{path}', got {got!r}")
        function = self.get("hidden_activation") or self.get("hidden_act", self.kind.functions[0])
        if function not in self.kind.functions:
            known = " or ".join(self.kind.functions)
            raise ValueError(f"expected hidden_act of {known} in '{path}', got {function!r}")

    @property
    def is_tied(self) -> bool:
        """Whether the head has the weights of the embedding."""
        return bool(self.get("tie_word_embeddings", self.kind.is_tied))

    def __call__(self, name: str) -> Any:
        """An option; raises ValueError with one line where there is none."""
        if (found := self.get(name)) is None:
            raise ValueError(f"expected '{name}' in '{self.path}/config.json', got none")
        return found

    def get(self, name: str, default: Any = None) -> Any:
        """An option, or the default where there is none."""
        if self.kind.architecture == "gpt2":
            name = GPT2.get(name, name)
        found = self._options.get(name)
        return default if found is None else found


def configuration_of(value: Settings, activations: str, cache: str) -> Configuration:
    """The sizes of a model; raises ValueError with one line for options that are not supported."""
    heads, width, layers = (
        int(value(n)) for n in ("num_attention_heads", "hidden_size", "num_hidden_layers")
    )
    size, context = (
        int(value.get("head_dim", width // heads)),
        int(value("max_position_embeddings")),
    )
    options, local = _rotations(value)
    base = float(options.get("rope_theta") or value.get("rope_theta", 10000.0))
    scaling = _scaling(value, options, base, size, context)
    divisor = value.get("query_pre_attn_scalar")
    return Configuration(
        architecture=value.kind.architecture,
        layers=layers,
        width=width,
        heads=heads,
        key_heads=value.get("num_key_value_heads", heads),
        size=size,
        vocabulary=value("vocab_size"),
        context=context,
        epsilon=value("rms_norm_eps"),
        base=base,
        activations=activations,
        cache=cache,
        factors=scaling.divisors,
        magnitude=scaling.magnitude,
        windows=_windows(value, layers),
        local_base=local,
        scale=None if divisor in (None, size) else divisor**-0.5,
        softcap=value.get("attn_logit_softcapping"),
        logit_softcap=value.get("final_logit_softcapping"),
    )


def _rotations(value: Settings) -> tuple[Mapping[str, Any], float | None]:
    """The options of rotary positions, and the base of layers with a window."""
    options: dict[str, Any] = value.get("rope_parameters") or value.get("rope_scaling") or {}
    if value.kind.architecture != "gemma3":
        return options, None
    own: dict[str, Any] = options.get("sliding_attention", {})
    local = own.get("rope_theta")
    return options.get("full_attention", options), float(
        local or value.get("rope_local_base_freq", 10000.0)
    )


def _scaling(
    value: Settings, options: Mapping[str, Any], base: float, size: int, context: int
) -> RotaryScaling:
    kind = options.get("rope_type") or options.get("type") or "default"
    try:
        return rotary_scaling(kind, options, base, size, context)
    except KeyError as error:
        raise ValueError(
            f"expected {error} of rope_parameters in '{value.path}', got none"
        ) from None
    except ValueError as error:
        raise ValueError(f"'{value.path}': {error}") from None


def _windows(value: Settings, layers: int) -> tuple[int, ...]:
    """The windows of layers, by their types, or by a period."""
    window, kinds = value.get("sliding_window") or 0, value.get("layer_types")
    if not window or value.get("use_sliding_window") is False:
        return ()
    if kinds is not None:
        return tuple(window if kind == "sliding_attention" else 0 for kind in kinds)
    if value.get("use_sliding_window"):  # Qwen2: the first layers see all positions
        first = value("max_window_layers")
        return tuple(window if layer >= first else 0 for layer in range(layers))
    period = value.get("sliding_window_pattern", value.kind.period)
    return tuple(0 if period and (i + 1) % period == 0 else window for i in range(layers))
