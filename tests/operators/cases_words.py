"""Cases of contractions of words that hold four 8-bit integers or two bf16."""

from __future__ import annotations

from typing import Any

import numpy as np
from cases_nn import attention, grouped_symbols, head_symbols, matmul, matrices, scores
from cases_windows import LETTERS, convolution, convolve
from drawing import Draw
from harness import Case, torch

WORDS = ("int32", "uint32")
SUMS = {"float32": 2e-5}
ROUNDED = {"float32": 3e-2}
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


def of_bfloat16(draw: Any):
    """Operands of words of bf16, whose products are summed in float32."""

    def drawn(d: Draw):
        arrays, attributes = draw(d)
        pairs = [d.array((*x.shape, 2), dtype="bfloat16").view("uint32")[..., 0] for x in arrays]
        return pairs, {**attributes, "out_dtype": "float32"}

    return drawn


def floats(x: Any, axis: int):
    """The two bf16 of each word along an axis, as float64."""
    parts = np.ascontiguousarray(x.movedim(axis, -1).numpy()).view(np.uint16)
    wide = (parts.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return torch.from_numpy(wide).movedim(-1, axis)


def matmul_bfloat16(x: Any, y: Any, transpose_rhs: bool = False, out_dtype: str = "float32"):
    inner = -1 if transpose_rhs or y.ndim == 1 else -2
    return matmul(floats(x, -1), floats(y, inner), transpose_rhs).to(torch.float32)


def convolve_bfloat16(rank: int):
    convolved = convolve(rank, f"conv{rank}d")

    def run(x: Any, w: Any, kernel_layout: str, data_layout: str, out_dtype: str, **options: Any):
        operands = floats(x, data_layout.index("C")), floats(w, kernel_layout.index("I"))
        return convolved(*operands, kernel_layout, data_layout, **options).to(torch.float32)

    return run


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
    if x.dtype == torch.bfloat16:
        pairs = torch.nn.functional.pad(last, (0, last.shape[-1] % 2)).contiguous()
        bits = pairs.view(torch.int16).numpy()
        return torch.from_numpy(bits.view(np.uint32)).movedim(-1, axis)
    filled = torch.nn.functional.pad(last, (0, -last.shape[-1] % 4)).numpy()
    own = np.int32 if x.dtype == torch.int8 else np.uint32
    return torch.from_numpy(np.ascontiguousarray(filled).view(own)).movedim(-1, axis)


def attention_of_bfloat16(d: Draw):
    """Words of query, key and value; that of an odd key may hold any number besides."""
    batch, queries, size, key_words, value_size = (d.size(1) for _ in range(5))
    key_heads, repeats = d.integer(1, 3), d.pick((1, 1, 2))
    keys, heads = 2 * key_words - d.pick((0, 1)), key_heads * repeats
    shapes = [(batch, queries, heads, size), (batch, keys, key_heads, size)]
    pairs = [d.array((*s, 2), -1, 1, "bfloat16") for s in shapes]
    pairs.append(d.array((batch, key_words, key_heads, value_size, 2), dtype="bfloat16"))
    operands = [p.view("uint32")[..., 0] for p in pairs]
    if d.chance(50):
        bias = d.array(d.broadcastable((batch, heads, queries, keys)), dtype="float32")
        operands.append(bias)
    return operands, {"scale": 0.3} | scores(d)


def attention_words(q: Any, k: Any, v: Any, bias: Any = None, **options: Any):
    """Attention in float64, whose weights are not rounded."""
    query, key, value = floats(q, -1), floats(k, -1), floats(v, 1)
    mask = None if bias is None else bias.double()
    return attention(query, key, value[:, : key.shape[1]], mask, **options).to(torch.float32)


CASES = (
    Case(
        "relax.nn.attention_words",
        attention_of_bfloat16,
        attention_words,
        ("uint32",),
        ROUNDED,
        ROUNDED,
        symbolic=head_symbols,
    ),
    Case("relax.nn.pack_words", packed, pack, ("int8", "uint8", "bfloat16")),
    Case("relax.nn.matmul_words", of_words(matrices), matmul_words, WORDS),
    Case(
        "relax.nn.matmul_words",
        of_bfloat16(matrices),
        matmul_bfloat16,
        ("uint32",),
        SUMS,
        SUMS,
        note="bf16",
    ),
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
    *(
        Case(
            f"relax.nn.conv{n}d_words",
            of_bfloat16(convolution(n)),
            convolve_bfloat16(n),
            ("uint32",),
            SUMS,
            SUMS,
            symbolic=grouped_symbols,
            note="bf16",
        )
        for n in LETTERS
        if n < 3
    ),
)
