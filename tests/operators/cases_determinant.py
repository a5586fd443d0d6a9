"""A case of `relax.det`."""

from __future__ import annotations

from drawing import FLOATS, Draw
from harness import Case, torch


def matrices(d: Draw):
    size = d.size()
    return [d.array((*d.shape(0, 2), size, size), -1, 1)], {}


def determinant(data):
    wide = torch.float64 if data.dtype == torch.float64 else torch.float32
    return torch.linalg.det(data.to(wide)).to(data.dtype)


CASES = (Case("relax.det", matrices, determinant, FLOATS),)
