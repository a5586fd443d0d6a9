"""Architectures of `transformers` for the sweep, with tiny configurations and random weights."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import torch
from subjects import Inputs, Subject, noise, perturb, tokens
from tiny_configs import tiny_fields
from tiny_overrides import OVERRIDES
from torchvision_operators import declare

_OPERATORS = declare() if find_spec("torchvision") else None
"""Where torchvision is installed, `transformers` imports it."""


def names() -> list[str]:
    """The types of models with a base class."""
    from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

    return sorted(MODEL_MAPPING_NAMES)


def subject(name: str) -> Subject:
    """The base model of a type."""
    logging.disable(logging.WARNING)
    from transformers import AutoModel

    config = configuration(name)
    torch.manual_seed(0)
    model = perturb(AutoModel.from_config(config))
    known = inspect.signature(model.forward).parameters
    options = {"use_cache": False} if "use_cache" in known else {}
    return Subject(model, _inputs(name, model, config), options)


def configuration(name: str) -> Any:
    """The tiny configuration of a type."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    config_class = CONFIG_MAPPING[name]
    return config_class(**tiny_fields(config_class, OVERRIDES.get(name, {}).get("config", {})))


def _inputs(name: str, model: Any, config: Any) -> Callable[[int, int], Inputs]:
    makers = OVERRIDES.get(name, {}).get("inputs", {})
    wanted = list(dict.fromkeys([*_parameters(model, config), *makers]))

    def inputs(batch: int, length: int) -> Inputs:
        found: Inputs = {}
        for argument in wanted:
            maker = makers.get(argument) or _MAKERS.get(argument)
            if maker is None:
                raise NotImplementedError(f"expected inputs of a known kind, got '{argument}'")
            found[argument] = maker(config, batch, length)
        return found

    return inputs


def _parameters(model: Any, config: Any) -> list[str]:
    """The names of the inputs: the main one, required ones, and usual companions."""
    known = inspect.signature(model.forward).parameters
    empty, some = inspect.Parameter.empty, inspect.Parameter.POSITIONAL_OR_KEYWORD
    found = [n for n, p in known.items() if p.default is empty and p.kind is some]
    if model.main_input_name in known:
        found.append(model.main_input_name)
    if model.main_input_name == "input_ids" and "attention_mask" in known:
        found.append("attention_mask")
    if getattr(config, "is_encoder_decoder", False) and "decoder_input_ids" in known:
        found.append("decoder_input_ids")
    if "return_loss" in known and "pixel_values" in known:
        found.append("pixel_values")
    return found


def _part(config: Any, name: str, default: Any) -> Any:
    """A field of a configuration or of one of its parts."""
    parts = [getattr(config, part, None) for part in getattr(config, "sub_configs", {})]
    for owner in (config, *parts):
        if getattr(owner, name, None) is not None:
            return getattr(owner, name)
    return default


def _size(config: Any) -> tuple[int, int]:
    size = _part(config, "image_size", 32)
    return tuple(size) if isinstance(size, list | tuple) else (size, size)


def image(config: Any, batch: int, length: int) -> torch.Tensor:
    """Images of the configuration's size."""
    return noise(batch, batch, _part(config, "num_channels", 3), *_size(config))


def video(config: Any, batch: int, length: int) -> torch.Tensor:
    """Frames of the configuration's size."""
    frames = _part(config, "num_frames", _part(config, "frames_per_clip", 2))
    return noise(batch, batch, frames, _part(config, "num_channels", 3), *_size(config))


def ids(config: Any, batch: int, length: int) -> torch.Tensor:
    """Token ids."""
    return tokens(batch, batch, length)


def mask(config: Any, batch: int, length: int) -> torch.Tensor:
    """A mask of tokens that leaves the last two of the last sequence out."""
    found = torch.ones(batch, length, dtype=torch.int64)
    found[-1, -2:] = 0
    return found


def wave(config: Any, batch: int, length: int) -> torch.Tensor:
    """Samples of sound."""
    return noise(batch, batch, 100 * length)


def mel(config: Any, batch: int, length: int) -> torch.Tensor:
    """Bands of a spectrogram by frames."""
    return noise(batch, batch, _part(config, "num_mel_bins", 16), 4 * length)


_MAKERS: dict[str, Callable[[Any, int, int], torch.Tensor]] = {
    "attention_mask": mask,
    "decoder_input_ids": ids,
    "input_features": mel,
    "input_ids": ids,
    "input_values": wave,
    "pixel_values": image,
    "pixel_values_videos": video,
}
