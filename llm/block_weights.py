"""Weights of few bits in blocks, in the layout of `relax.nn.matmul_blocks`, and layers of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..builder import nn, op
from ..dialects.relax.operators.block_weights import PANEL, PackBlocksOp
from ..ir.expr import Expr

Array = NDArray[Any]


@dataclass(frozen=True)
class Format:
    """Bits of a number, the number that stands for 0, and whether blocks have minima."""

    bits: int
    block: int
    zero_point: int = 0
    has_minima: bool = False


@dataclass(frozen=True)
class BlockWeight:
    """A matrix (rows, columns) of blocks along columns: ``scales (numbers - zero_point) + minima``.

    `words` are those of `relax.nn.pack_blocks`; `scales` and `minima` are (panels, blocks, 16).
    """

    format: Format
    rows: int
    words: NDArray[np.uint32]
    scales: Array
    minima: Array | None = None

    @staticmethod
    def of(format: Format, numbers: Array, scales: Array, minima: Array | None) -> BlockWeight:
        """Pack numbers of 8 bits (rows, columns), with scales and minima (rows, blocks)."""
        attributes = {"bits": format.bits, "block_size": format.block}
        words = PackBlocksOp.reference([numbers], attributes)
        parts = (panels(scales), None if minima is None else panels(minima))
        return BlockWeight(format, len(numbers), words, *parts)

    @property
    def arrays(self) -> list[Array]:
        """Words, scales, and minima if there are some."""
        return [self.words, self.scales, *([] if self.minima is None else [self.minima])]

    @property
    def bytes(self) -> int:
        """The memory that a product reads."""
        return sum(a.nbytes for a in self.arrays)


def panels(factors: Array) -> Array:
    """Factors of rows (rows, …), 16 rows next to each other: (panels, …, 16)."""
    filled = np.pad(factors, [(0, -len(factors) % PANEL), *[(0, 0)] * (factors.ndim - 1)])
    split = filled.reshape(-1, PANEL, *factors.shape[1:])
    return np.ascontiguousarray(np.moveaxis(split, 1, -1))


class _Blocks(nn.Module):
    """The parameters of a matrix in blocks."""

    def __init__(self, weight: BlockWeight):
        self.format, self.rows = weight.format, weight.rows
        self.words = _parameter(weight.words)
        self.scales = _parameter(weight.scales)
        self.minima = None if weight.minima is None else _parameter(weight.minima)

    @property
    def options(self) -> dict[str, Any]:
        """The attributes of operators on the matrix."""
        zero_point, bits = self.format.zero_point, self.format.bits
        return {"columns": self.rows, "bits": bits, "zero_point": zero_point}

    def operands(self) -> Iterator[Expr]:
        """The parameters that there are."""
        return (p for p in (self.words, self.scales, self.minima) if p is not None)


def _parameter(values: Array) -> nn.Parameter:
    parameter = nn.Parameter(values.shape, str(values.dtype))
    parameter.data = values
    return parameter


class Linear(_Blocks):
    """``x @ w.T + bias`` for x (…, columns), with products of integers in each block."""

    def __init__(self, weight: BlockWeight, bias: Array | None = None):
        super().__init__(weight)
        self.bias = None if bias is None else _parameter(bias)

    def forward(self, x: Expr) -> Expr:
        """The product (…, rows)."""
        found = op.nn.matmul_blocks(x, *self.operands(), **self.options, activations="int8")
        return found if self.bias is None else found + self.bias


class Embedding(_Blocks):
    """Rows of a matrix by their numbers."""

    def forward(self, x: Expr) -> Expr:
        """The rows (…, columns) as float32."""
        return op.nn.take_blocks(x, *self.operands(), **self.options)


def joined(weights: Sequence[BlockWeight]) -> BlockWeight | None:
    """The rows of several matrices in one, if they have a common format and whole panels."""
    first, *others = weights
    if any(o.format != first.format or o.scales.dtype != first.scales.dtype for o in others):
        return None
    if any(w.rows % PANEL for w in weights[:-1]):
        return None
    parts = [np.concatenate(p) for p in zip(*(w.arrays for w in weights), strict=True)]
    return BlockWeight(first.format, sum(w.rows for w in weights), *parts)
