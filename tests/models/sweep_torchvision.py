"""Models of torchvision for the sweep: classification, segmentation and video."""

from __future__ import annotations

import inspect
from typing import Any

import torch
from subjects import Inputs, Subject, noise, perturb
from torchvision_operators import declare

_OPERATORS = declare()


def names() -> list[str]:
    """The names of all models for classification, segmentation and video."""
    from torchvision import models

    modules = (models, models.segmentation, models.video)
    return sorted({name for module in modules for name in models.list_models(module=module)})


def subject(name: str) -> Subject:
    """A model with small images or clips, and three classes."""
    from torchvision import models

    torch.manual_seed(0)
    options = dict(next((o for start, o in _OPTIONS.items() if name.startswith(start)), {}))
    shape = options.pop("shape", (3, 64, 64))
    if name in models.list_models(module=models.segmentation):
        options["weights_backbone"] = None
    model = perturb(models.get_model(name, weights=None, num_classes=3, **options))
    argument = next(iter(inspect.signature(model.forward).parameters))

    def inputs(batch: int, length: int) -> Inputs:
        return {argument: noise(batch, batch, *shape)}

    return Subject(model, inputs)


_OPTIONS: dict[str, dict[str, Any]] = {
    "googlenet": {"init_weights": False},
    "inception_v3": {"init_weights": False, "shape": (3, 80, 80)},
    "maxvit": {"input_size": (224, 224), "shape": (3, 224, 224)},
    "vit_": {"shape": (3, 224, 224)},
    "mc3": {"shape": (3, 4, 32, 32)},
    "r2plus1d": {"shape": (3, 4, 32, 32)},
    "r3d": {"shape": (3, 4, 32, 32)},
    "s3d": {"shape": (3, 14, 224, 224)},
    "mvit": {"shape": (3, 16, 224, 224)},
    "swin3d": {"shape": (3, 4, 64, 64)},
}
"""By the beginning of names: the shape of an input, and arguments that make a model smaller."""
