"""Cases of Winograd convolutions: of transformed weights, and of any others."""

from __future__ import annotations

from typing import Any

import numpy as np
from drawing import WIDE_FLOATS, Draw
from harness import Case, all_symbolic, torch

# Cook and Toom's matrices as in Lavin and Gray's paper; for tiles of 4 with points 5/8 and 3/2.
RESULTS = {
    2: [[1, 1, 1, 0], [0, 1, -1, 1]],
    4: [
        [1, 1, 1, 1, 1, 0],
        [0, 0.625, -0.625, 1.5, -1.5, 0],
        [0, 0.390625, 0.390625, 2.25, 2.25, 0],
        [0, 0.244140625, -0.244140625, 3.375, -3.375, 1],
    ],
}
DATA = {
    2: [[-1, 0, 1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, -1, 0, 1]],
    4: [
        [0.87890625, 0, -2.640625, 0, 1, 0],
        [0, -1.40625, -2.25, 0.625, 1, 0],
        [0, 1.40625, -2.25, -0.625, 1, 0],
        [0, -0.5859375, -0.390625, 1.5, 1, 0],
        [0, 0.5859375, -0.390625, -1.5, 1, 0],
        [0, 0.87890625, 0, -2.640625, 0, 1],
    ],
}
POINTS = {2: (0, 1, -1), 4: (0, 0.625, -0.625, 1.5, -1.5)}


def factors(tile: int) -> Any:
    """The rows that transform a filter: powers of each point over its distances to the others."""
    rows = [
        [p**k / np.prod([p - q for q in POINTS[tile] if q != p]) for k in range(3)]
        for p in POINTS[tile]
    ]
    return torch.tensor([*rows, [0, 0, 1]], dtype=torch.float64)


def weights(d: Draw):
    tile = d.pick(sorted(POINTS))
    return [d.array((3, 3, d.size(), d.size()))], {"tile": tile}


def transformed(w: Any, tile: int):
    g = factors(tile)
    return torch.einsum("ia,jb,abck->ijck", g, g, w.double()).to(w.dtype)


def convolutions(d: Draw):
    tile, channels, outputs = d.pick(sorted(POINTS)), d.size(), d.size()
    before = [d.integer(0, 2) for _ in range(2)]
    sizes = [max(3 - 2 * b, 1) + d.integer(0, 14) for b in before]
    last, out = d.pick(("NCHW", "NHWC")), d.pick(("NCHW", "NHWC"))
    x = d.array((d.size(), channels, *sizes))
    x = x.transpose(0, 2, 3, 1).copy() if last == "NHWC" else x
    w = torch.from_numpy(d.array((3, 3, channels, outputs)))
    attributes = {
        "tile": tile,
        "block": [d.integer(1, 4), d.integer(1, 4)],
        "padding": before,
        "data_layout": last,
        "out_layout": out,
    }
    return [x, transformed(w, tile).numpy()], attributes


def convolve(
    x: Any, u: Any, tile: int, block: Any, padding: Any, data_layout: str, out_layout: str
):
    """The results of all tiles, which overlap by two rows and columns of the data."""
    data = (x.permute(0, 3, 1, 2) if data_layout == "NHWC" else x).double()
    counts = [size + 2 * b - 2 for size, b in zip(data.shape[2:], padding, strict=True)]
    more = [-(-count // tile) * tile - count for count in counts]
    widths = padding[1], padding[1] + more[1], padding[0], padding[0] + more[0]
    seen = torch.nn.functional.pad(data, widths).unfold(2, tile + 2, tile).unfold(3, tile + 2, tile)
    before, after = (torch.tensor(m[tile], dtype=torch.float64) for m in (DATA, RESULTS))
    found = torch.einsum("ia,jb,ncyxab->ncyxij", before, before, seen)
    found = torch.einsum("ncyxij,ijck->nkyxij", found, u.double())
    found = torch.einsum("ai,bj,nkyxij->nkyaxb", after, after, found)
    found = found.flatten(4, 5).flatten(2, 3)[:, :, : counts[0], : counts[1]].to(x.dtype)
    return found.permute(0, 2, 3, 1) if out_layout == "NHWC" else found


def of_channels(shapes: Any, attributes: Any) -> Any:
    """Symbols for all sizes but those of windows."""
    *others, weight = all_symbolic(shapes, attributes)[0]
    return [*others, (*shapes[-1][:2], *weight[2:])], attributes


CASES = (
    Case("relax.nn.winograd_weight", weights, transformed, WIDE_FLOATS, symbolic=of_channels),
    Case(
        "relax.nn.winograd_conv2d",
        convolutions,
        convolve,
        WIDE_FLOATS,
        atol={"float32": 1e-4, "float64": 1e-12},
        symbolic=of_channels,
    ),
)
