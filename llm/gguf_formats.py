"""Block formats of GGUF files as `BlockWeight`s; the layouts are those of llama.cpp's ggml.

Scales of formats with scales of scales (Q4_K, Q6_K) are multiplied out, exactly, in float32.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .block_weights import BlockWeight, Format, panels

Bytes = NDArray[np.uint8]
Parts = tuple[NDArray[np.uint8], NDArray[Any], "NDArray[Any] | None"]
"""Numbers (rows, columns), and scales and minima (rows, blocks)."""

SIZES = {
    "Q4_0": 18, "Q4_1": 20, "Q5_0": 22, "Q5_1": 24, "Q8_0": 34, "Q4_K": 144, "Q6_K": 210,
}  # fmt: skip
"""The bytes of a block."""
FORMATS = {
    "Q4_0": Format(4, 32, 8),
    "Q4_1": Format(4, 32),
    "Q5_0": Format(8, 32, 16),
    "Q5_1": Format(8, 32),
    "Q8_0": Format(8, 32, 128),
    "Q4_K": Format(4, 32),
    "Q6_K": Format(8, 16, 32),
}


def packed(kind: str, data: Bytes) -> BlockWeight:
    """The rows of a tensor, bytes (rows, bytes of a row); raises ValueError for other formats."""
    if kind not in SIZES:
        raise ValueError(f"expected weights of {', '.join(SIZES)}, F32, F16 or BF16, got {kind}")
    blocks = data.reshape(len(data), -1, SIZES[kind])
    if kind in ("Q4_0", "Q4_1"):  # the nibbles of a block are in the order of words already
        scales, minima = _halves(blocks, 0), _halves(blocks, 2) if kind == "Q4_1" else None
        words = np.ascontiguousarray(blocks[..., -16:]).view(np.uint32)
        parts = (panels(scales), None if minima is None else panels(minima))
        return BlockWeight(FORMATS[kind], len(data), panels(words), *parts)
    return BlockWeight.of(FORMATS[kind], *_READERS[kind](blocks))


def quantized(kind: str, values: NDArray[np.float32]) -> BlockWeight:
    """A matrix of floats, rounded to blocks of a format, as llama.cpp does.

    Raises ValueError for rows that are no whole blocks.
    """
    from gguf import GGMLQuantizationType
    from gguf.quants import quantize

    if values.shape[1] % FORMATS[kind].block:
        raise ValueError(
            f"expected rows of a multiple of {FORMATS[kind].block} for {kind}, got "
            f"{values.shape[1]}"
        )
    return packed(kind, quantize(values, GGMLQuantizationType[kind]))


def _halves(blocks: Bytes, at: int) -> NDArray[np.float16]:
    """The f16 at a byte of each block."""
    return np.ascontiguousarray(blocks[..., at : at + 2]).view(np.float16)[..., 0]


def _nibbles(data: Bytes) -> NDArray[Any]:
    """The low ones of some bytes, then the high ones."""
    return np.concatenate([data & 15, data >> 4], axis=-1)


def _rows(numbers: NDArray[Any]) -> NDArray[np.uint8]:
    return numbers.reshape(len(numbers), -1).astype(np.uint8, copy=False)


def _five_bits(blocks: Bytes) -> NDArray[np.uint8]:
    high = np.unpackbits(blocks[..., -20:-16], axis=-1, bitorder="little")
    return _rows(_nibbles(blocks[..., -16:]) | high << 4)


def _q5_0(blocks: Bytes) -> Parts:
    return _five_bits(blocks), _halves(blocks, 0), None


def _q5_1(blocks: Bytes) -> Parts:
    return _five_bits(blocks), _halves(blocks, 0), _halves(blocks, 2)


def _q8_0(blocks: Bytes) -> Parts:
    return _rows(blocks[..., 2:] ^ 0x80), _halves(blocks, 0), None


def _q4_k(blocks: Bytes) -> Parts:
    """Eight blocks of 32, whose scales and minima have 6 bits each."""
    packed = blocks[..., 4:16]
    low, middle, high = packed[..., :4], packed[..., 4:8], packed[..., 8:]
    scales = np.concatenate([low & 63, high & 15 | low >> 6 << 4], axis=-1)
    minima = np.concatenate([middle & 63, high >> 4 | middle >> 6 << 4], axis=-1)
    whole, least = (_halves(blocks, at).astype(np.float32)[..., None] for at in (0, 2))
    numbers = _nibbles(blocks[..., 16:].reshape(*blocks.shape[:-1], 4, 32))
    rows = len(blocks)
    return _rows(numbers), (whole * scales).reshape(rows, -1), (-least * minima).reshape(rows, -1)


def _q6_k(blocks: Bytes) -> Parts:
    """Sixteen blocks of 16 with signed scales; two bits of a number are apart from the others."""
    shape = (*blocks.shape[:-1], 2, -1)
    low, high = blocks[..., :128].reshape(shape), blocks[..., 128:192].reshape(shape)
    pairs = np.concatenate([high >> shift & 3 for shift in (0, 2, 4, 6)], axis=-1)
    scales = blocks[..., 192:208].view(np.int8)
    whole = _halves(blocks, 208).astype(np.float32)[..., None]
    return _rows(_nibbles(low) | pairs << 4), (whole * scales).reshape(len(blocks), -1), None


_READERS: dict[str, Callable[[Bytes], Parts]] = {
    "Q5_0": _q5_0,
    "Q5_1": _q5_1,
    "Q8_0": _q8_0,
    "Q4_K": _q4_k,
    "Q6_K": _q6_k,
}
