"""Cases of contractions of words that hold four 8-bit integers."""

from __future__ import annotations

from typing import Any

import numpy as np
from cases_nn import grouped_symbols, matmul, matrices
from cases_windows import LETTERS, convolution, convolve
from drawing import Draw
from harness import Case, torch

WORDS = ("int32", "uint32")
ENDS = -(1 << 31), (1 << 32) - 1


def words(d: Draw, like: Any, dtype: str):
    """Words of any bits, in the shape of an array."""
    return d.array(like.shape, *ENDS, dtype)


def of_words(draw: Any):
    """Operands of words of either sign, and the attributes that another function draws."""

    def drawn(d: Draw):
        (x, y), attributes = draw(d)
        return [words(d, x, d.dtype), words(d, y, d.pick(WORDS))], attributes

    return drawn


def integers(x: Any, axis: int):
    """The four integers of each word along an axis."""
    own = np.int8 if x.dtype == torch.int32 else np.uint8
    parts = np.ascontiguousarray(x.movedim(axis, -1).numpy()).view(own)
    return torch.from_numpy(parts.astype(np.int32)).movedim(-1, axis)


def matmul_words(x: Any, y: Any, transpose_rhs: bool = False):
    inner = -1 if transpose_rhs or y.ndim == 1 else -2
    return matmul(integers(x, -1).long(), integers(y, inner).long(), transpose_rhs).to(torch.int32)


def convolve_words(rank: int):
    convolved = convolve(rank, f"conv{rank}d")

    def run(x: Any, w: Any, kernel_layout: str, data_layout: str, **options: Any):
        operands = integers(x, data_layout.index("C")), integers(w, kernel_layout.index("I"))
        return convolved(*operands, kernel_layout, data_layout, **options)

    return run


def packed(d: Draw):
    shape = d.shape(1)
    return [d.array(shape, -128, 255)], {"axis": d.axis(len(shape))}


def pack(x: Any, axis: int):
    last = x.movedim(axis, -1)
    filled = torch.nn.functional.pad(last, (0, -last.shape[-1] % 4)).numpy()
    own = np.int32 if x.dtype == torch.int8 else np.uint32
    return torch.from_numpy(np.ascontiguousarray(filled).view(own)).movedim(-1, axis)


CASES = (
    Case("relax.nn.pack_words", packed, pack, ("int8", "uint8")),
    Case("relax.nn.matmul_words", of_words(matrices), matmul_words, WORDS),
    *(
        Case(
            f"relax.nn.conv{n}d_words",
            of_words(convolution(n)),
            convolve_words(n),
            WORDS,
            symbolic=grouped_symbols,
        )
        for n in LETTERS
        if n < 3
    ),
)
