"""Cases of matrix products with weights of few bits in blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
from drawing import Draw
from harness import Case, torch

from xrelax.dialects.int_expr import sym

SHORT = ("float32", "float16", "bfloat16")
SUMS = {"float32": 2e-5, "float16": 2e-3, "bfloat16": 1.6e-2}
PANEL = 16


def sizes(d: Draw):
    """Bits, the size of a block, and the number of blocks and columns."""
    bits = d.pick((2, 4, 4, 4, 8))
    block = 32 // bits * d.pick((1, 1, 2, 4))
    return bits, block, d.pick((1, 1, 2, 3)), d.pick((1, 3, 3, 16, 17, 33))


def packed(d: Draw):
    bits, block, blocks, columns = sizes(d)
    x = d.array((columns, blocks * block), 0, (1 << bits) - 1)
    return [x], {"bits": bits, "block_size": block}


def pack(x: Any, bits: int, block_size: int):
    columns, depth = x.shape
    shape = -(-columns // PANEL), depth // block_size, block_size * bits // 32, PANEL
    words = np.zeros(shape, np.uint32)
    for (column, k), number in np.ndenumerate(x.numpy()):
        block, place = divmod(k, block_size)
        (part, word), byte = divmod(place // 4, shape[2]), place % 4
        shift = np.uint32(8 * byte + bits * part)
        words[column // PANEL, block, word, column % PANEL] |= np.uint32(number) << shift
    return torch.from_numpy(words)


def columns_alone(shapes: Any, attributes: Any) -> Any:
    """A symbol for the number of columns of weights, or of rows of data; blocks are static."""
    first, *others = shapes
    *rows, depth = first
    return [(*(r if r == 1 else sym(f"n{r}") for r in rows), depth), *others], attributes


def indices_alone(shapes: Any, attributes: Any) -> Any:
    """Symbols for the indices; the matrix is static."""
    first, *others = shapes
    return [tuple(s if s == 1 else sym(f"n{s}") for s in first), *others], attributes


def product(activations: str):
    def drawn(d: Draw):
        bits, block, blocks, columns = sizes(d)
        rows = d.pick(((), (1,), (2,), (9,), (17,), (2, 3), (0,)))
        x = d.array((*rows, blocks * block))
        panels = -(-columns // PANEL)
        weight = d.array((panels, blocks, block * bits // 32, PANEL), 0, (1 << 32) - 1, "uint32")
        scales = d.array((panels, blocks, PANEL), 0.01, 0.1, d.pick(("float16", "float32")))
        operands = [x, weight, scales]
        if d.chance(50):
            operands.append(d.array(scales.shape, -1, 1, d.pick(("float16", "float32"))))
        zero_point = d.pick((0, 1 << (bits - 1)))
        return operands, {
            "columns": columns,
            "bits": bits,
            "zero_point": zero_point,
            "activations": activations,
        }

    return drawn


def matrix(weight: Any, factors: Any, columns: int, bits: int, zero_point: int):
    """The weight (columns, k) in float64."""
    panels, blocks, words, _ = weight.shape
    parts = weight.numpy().view(np.uint8).reshape(panels, blocks, words, PANEL, 4)
    levels = np.stack([parts >> s & ((1 << bits) - 1) for s in range(0, 8, bits)], 2)
    numbers = levels.transpose(0, 4, 1, 2, 3, 5).reshape(panels * PANEL, blocks, -1)[:columns]
    scales, *minima = (
        f.double().permute(0, 2, 1).reshape(-1, blocks, 1)[:columns] for f in factors
    )
    found = (torch.from_numpy(numbers.astype(np.float64)) - zero_point) * scales
    return sum(minima, found).reshape(columns, -1)


def multiply(
    x: Any, weight: Any, *factors: Any, columns: int, bits: int, zero_point: int, activations: str
):
    data = x.float()
    if activations != "float32" and x.numel():
        # Integers of one byte have a scale for each block, those of two bytes one for each row.
        most, parts = {"int8": (127, weight.shape[1]), "int16": (127 * 257, 1)}[activations]
        data = data.reshape(*x.shape[:-1], parts, -1)
        largest = data.abs().amax(-1, keepdim=True)
        inverse = torch.where(largest > 0, most / largest, torch.zeros_like(largest))
        data = torch.round(data * inverse) * (largest / most)
    rows = data.double().reshape(x.shape)
    return (rows @ matrix(weight, factors, columns, bits, zero_point).T).to(x.dtype)


def taken(d: Draw):
    (_, *operands), attributes = product("float32")(d)
    del attributes["activations"]
    indices = d.array(d.shape(), -2, attributes["columns"] + 1, d.pick(("int32", "int64")))
    return [indices, *operands], attributes


def take(indices: Any, weight: Any, *factors: Any, columns: int, bits: int, zero_point: int):
    rows = matrix(weight, factors, columns, bits, zero_point)
    return rows[indices.long().clamp(0, columns - 1)].float()


CASES = (
    Case("relax.nn.pack_blocks", packed, pack, ("uint8",), symbolic=columns_alone),
    Case("relax.nn.take_blocks", taken, take, ("float32",), SUMS, SUMS, symbolic=indices_alone),
    *(
        Case(
            "relax.nn.matmul_blocks",
            product(activations),
            multiply,
            SHORT,
            SUMS,
            SUMS,
            symbolic=columns_alone,
            note=activations,
        )
        for activations in ("float32", "int8", "int16")
    ),
)
