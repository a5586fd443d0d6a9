"""Cases of operators of layers and sequences, and of markers."""

from __future__ import annotations

import numpy as np
from drawing import ALL, FLOATS, NUMBERS, Draw
from harness import Case, torch


def reversed_sequences(d: Draw):
    shape = list(d.shape(2, 4, least=1))
    sequence, batch = d.rng.sample(range(len(shape)), 2)
    lengths = d.array((shape[batch],), 0, shape[sequence], dtype=d.pick(("int32", "int64")))
    return [d.array(shape), lengths], {"seq_axis": sequence - len(shape), "batch_axis": batch}


def torch_reversed(x, lengths, seq_axis, batch_axis):
    moved = x.movedim((batch_axis, seq_axis), (0, 1)).clone()
    for row, length in zip(moved, lengths.tolist(), strict=True):
        row[:length] = row[:length].flip(0)
    return moved.movedim((0, 1), (batch_axis, seq_axis))


def shuffled(d: Draw):
    r, outer = d.pick((1, 2, 3)), d.shape(0, 1)
    shape = (*outer, d.pick((1, 2)) * r * r, d.size(), d.size())
    return [d.array(shape)], {"upscale_factor": r}


def slopes(d: Draw):
    shape = d.shape(2, 4, least=1)
    count = 1 if d.chance(30) else shape[1]
    return [d.array(shape, special=d.chance(30)), d.array((count,), 0, 1)], {}


def torch_prelu(x, alpha, axis=1):
    slope = alpha.reshape([-1 if a == axis else 1 for a in range(x.ndim)])
    return torch.where(x < 0, x * slope, x)


def eye(d: Draw):
    options = {"k": d.integer(-3, 3)} | ({"dtype": "int32"} if d.chance(30) else {})
    return [d.array((d.size(), d.size()))], options


def torch_eye(x, k, dtype=None):
    result = torch.from_numpy(np.eye(*x.shape, k=k))
    return result.to(x.dtype if dtype is None else torch.int32)


def batched(draw):
    return [draw.array(draw.shape(1, 4))], {}


CASES = (
    Case("relax.reverse_sequence", reversed_sequences, torch_reversed, ALL),
    Case(
        "relax.nn.pixel_shuffle",
        shuffled,
        torch.nn.functional.pixel_shuffle,
        FLOATS,
        symbolic=lambda shapes, attributes: None,
    ),
    Case("relax.nn.prelu", slopes, torch_prelu, FLOATS),
    Case("relax.eye_like", eye, torch_eye, NUMBERS),
    Case("relax.nn.batch_flatten", batched, lambda x: x.reshape(x.shape[0], -1), ALL),
    Case(
        "relax.nn.dropout",
        lambda d: ([d.array(d.shape())], {"rate": 0.25}),
        lambda x, rate: (x, torch.ones_like(x)),
        FLOATS,
    ),
)
