"""Cases of slices whose bounds are tensors."""

from __future__ import annotations

import numpy as np
from drawing import ALL, Draw
from harness import Case, torch


def dynamic_slice(d: Draw):
    x = d.array(d.shape())
    bounds = [np.array([d.integer(-9, 9) for _ in x.shape], "int64") for _ in range(2)]
    strides = np.array([d.pick((1, 2, -1, -3, 0)) for _ in x.shape], "int64")
    return [x, *bounds, strides]


def ranges(x, begin, end, strides):
    bounds = zip(x.shape, begin.tolist(), end.tolist(), strides.tolist(), strict=True)
    return [range(*slice(b, e, s).indices(n)) if s else range(0) for n, b, e, s in bounds]


def torch_slice(x, begin, end, strides, size):
    result = torch.zeros(size, dtype=x.dtype)
    found = ranges(x, begin, end, strides)
    for place in np.ndindex(*size) if strides.all() else ():
        source = [r.start + p * s for r, p, s in zip(found, place, strides.tolist(), strict=True)]
        if all(0 <= s < n for s, n in zip(source, x.shape, strict=True)):
            result[place] = x[tuple(source)]
    return result


def with_size(d: Draw):
    operands = dynamic_slice(d)
    return operands, {"size": tuple(d.pick((0, 2, 5)) for _ in operands[0].shape)}


CASES = (
    Case("relax.dynamic_strided_slice", with_size, torch_slice, ALL),
    Case(
        "relax.dynamic_strided_slice_lengths",
        lambda d: (dynamic_slice(d), {}),
        lambda *operands: torch.tensor([len(r) for r in ranges(*operands)], dtype=torch.int64),
        ALL,
    ),
)
