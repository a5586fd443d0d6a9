"""Well-known networks at full size as ONNX files, for ``python benchmarks/run.py --only onnx``.

``python benchmarks/exported_models.py`` exports them from torchvision and transformers with random
weights, beside the files that ``python tests/models/onnx_files.py`` downloads. It needs the extras
`bench` and `sweep`.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "models"))

IMAGES = (
    "resnet50",
    "mobilenet_v3_large",
    "efficientnet_b0",
    "convnext_tiny",
    "swin_t",
    "vit_b_16",
    "vgg16",
)
TOKENS = ("bert_base", "gpt2")
SEQUENCE = 128


def exported() -> Mapping[str, Path]:
    """The paths of the models' files, whether they are there or not."""
    from onnx_files import folder

    return {name: folder() / "exported" / f"{name}.onnx" for name in IMAGES + TOKENS}


def inputs(name: str) -> Mapping[str, np.ndarray]:
    """An image or a sentence, by the name of the file's input."""
    rng = np.random.default_rng(0)
    if name in TOKENS:
        return {"input_ids": rng.integers(0, 30000, (1, SEQUENCE))}
    return {"x": rng.standard_normal((1, 3, 224, 224), np.float32)}


def model(name: str) -> Any:
    """A network for inference, the same weights each time."""
    import torch
    import transformers

    torch.manual_seed(0)
    if name == "bert_base":
        made = transformers.BertModel(transformers.BertConfig(), add_pooling_layer=False)
    elif name == "gpt2":
        made = transformers.GPT2LMHeadModel(transformers.GPT2Config(use_cache=False))
    else:
        from subjects import perturb
        from torchvision_operators import declare

        declared = declare()
        from torchvision import models

        made = perturb(models.get_model(name, weights=None))
        made.declared = declared
    return made.eval()


def export(name: str, path: Path) -> None:
    """Write a model's file."""
    import torch

    path.parent.mkdir(parents=True, exist_ok=True)
    given = tuple(torch.from_numpy(array) for array in inputs(name).values())
    torch.onnx.export(
        model(name),
        given,
        path,
        input_names=list(inputs(name)),
        external_data=False,
        verbose=False,
    )


if __name__ == "__main__":
    from tqdm import tqdm

    warnings.simplefilter("ignore")
    for each in tqdm([n for n, p in exported().items() if not p.exists()], unit="model"):
        export(each, exported()[each])
