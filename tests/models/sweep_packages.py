"""Networks of other packages for the sweep: faces of facenet-pytorch, pitches of torchcrepe.

Both packages demand versions of others that the extras do not have, so that no extra has them:
``pip install --no-deps facenet-pytorch==2.6.0 torchcrepe==0.0.24`` adds them to the extra `sweep`.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import torch
from subjects import Inputs, Subject, noise, perturb
from torchvision_operators import declare

_OPERATORS = declare()

_SHAPES = {
    "facenet_pytorch.InceptionResnetV1": (3, 160, 160),
    "facenet_pytorch.ONet": (3, 48, 48),
    "facenet_pytorch.PNet": (3, 60, 84),
    "facenet_pytorch.RNet": (3, 24, 24),
    "torchcrepe.full": (1024,),
    "torchcrepe.tiny": (1024,),
}
"""The shape of an image or of a frame of sound, by a package and its network."""


def names() -> list[str]:
    """The packages' networks."""
    return list(_SHAPES)


def subject(name: str) -> Subject:
    """A network with the parameters that its package contains, or random ones."""
    package, _, network = name.partition(".")
    model = _pitches(network) if package == "torchcrepe" else _faces(network)

    def inputs(batch: int, length: int) -> Inputs:
        return {"x": noise(batch, batch, *_SHAPES[name])}

    return Subject(model.eval(), inputs)


def _faces(network: str) -> torch.nn.Module:
    """A network that finds or identifies faces: the package has no parameters of the latter."""
    import facenet_pytorch

    torch.manual_seed(0)
    model = getattr(facenet_pytorch, network)()
    return perturb(model) if network == "InceptionResnetV1" else model


def _pitches(capacity: str) -> torch.nn.Module:
    """A network of torchcrepe, whose modules import packages that the network does not need."""
    for name in ("librosa", "resampy", "torchaudio"):
        if name not in sys.modules and find_spec(name) is None:
            sys.modules[name] = ModuleType(name)
    import torchcrepe

    model = torchcrepe.Crepe(capacity)
    file = Path(torchcrepe.__file__).parent / "assets" / f"{capacity}.pth"
    model.load_state_dict(torch.load(file, weights_only=True))
    return model
