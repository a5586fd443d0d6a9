"""Makes torchvision importable where its compiled operators do not load.

The wheel of the package index needs CUDA, and its modules register kernels for operators that only
the compiled library declares. None of the models of the sweep calls one of those.
"""

from __future__ import annotations

from typing import Any

_SCHEMA = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
_NAMES = ("nms", "qnms")


def declare() -> Any:
    """Declare the missing operators; the result keeps them."""
    import torch

    library = torch.library.Library("torchvision", "FRAGMENT")
    try:
        import torchvision  # noqa: F401
    except RuntimeError as error:
        if "does not exist" not in str(error):
            raise
        for name in _NAMES:
            library.define(name + _SCHEMA)
    return library
