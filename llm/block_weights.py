"""Weights of few bits in blocks, in the layout of `relax.nn.matmul_blocks`, and layers of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..builder import nn, op
from ..dialects.relax.operators.pack_blocks import PANEL, PackBlocksOp
from ..ir.expr import Expr

Array = NDArray[Any]


@dataclass(frozen=True)
class Format:
    """Bits of a number, numbers of a block, and the number that stands for 0."""

    bits: int
    block: int
    zero_point: int = 0


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


Matrix: TypeAlias = "BlockWeight | NDArray[np.float32]"
"""A matrix (rows, columns) in blocks, or of floats."""


def rows_of(matrix: Matrix) -> int:
    """The number of rows."""
    return matrix.rows if isinstance(matrix, BlockWeight) else len(matrix)


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


class BlockLinear(_Blocks):
    """``x @ w.T + bias`` for x (…, columns); `activations` are those of `matmul_blocks`."""

    def __init__(self, weight: BlockWeight, bias: Array | None, activations: str):
        super().__init__(weight)
        self.bias, self.activations = None if bias is None else _parameter(bias), activations

    def forward(self, x: Expr) -> Expr:
        """The product (…, rows)."""
        options = {**self.options, "activations": self.activations}
        found = op.nn.matmul_blocks(x, *self.operands(), **options)
        return found if self.bias is None else found + self.bias


class BlockEmbedding(_Blocks):
    """Rows of a matrix by their numbers."""

    def forward(self, x: Expr) -> Expr:
        """The rows (…, columns) as float32."""
        return op.nn.take_blocks(x, *self.operands(), **self.options)


def linear(weight: Matrix, bias: Array | None, activations: str) -> nn.Module:
    """The layer of a matrix in blocks, or of floats."""
    if isinstance(weight, BlockWeight):
        return BlockLinear(weight, bias, activations)
    made = nn.Linear(weight.shape[1], weight.shape[0], bias=bias is not None)
    made.weight.data = weight
    if made.bias is not None:
        made.bias.data = bias
    return made


def embedding(weight: Matrix) -> nn.Module:
    """The table of a matrix in blocks, or of floats."""
    if isinstance(weight, BlockWeight):
        return BlockEmbedding(weight)
    made = nn.Embedding(*weight.shape)
    made.weight.data = weight
    return made


def share_parameters(module: nn.Module, other: nn.Module) -> None:
    """Let a module have the parameters of another one that has the same values."""
    for name, parameter in vars(other).items():
        if isinstance(parameter, nn.Parameter):
            setattr(module, name, parameter)


def joined(weights: Sequence[Matrix]) -> Matrix | None:
    """The rows of several matrices in one, if they have a common format and whole panels."""
    blocks = [w for w in weights if isinstance(w, BlockWeight)]
    if not blocks:
        return np.concatenate([w for w in weights if not isinstance(w, BlockWeight)])
    first = blocks[0]
    kinds = {(b.format, b.scales.dtype, b.words.shape[1:], b.minima is None) for b in blocks}
    if len(blocks) < len(weights) or len(kinds) > 1 or any(b.rows % PANEL for b in blocks[:-1]):
        return None
    parts = [np.concatenate(p) for p in zip(*(b.arrays for b in blocks), strict=True)]
    return BlockWeight(first.format, sum(b.rows for b in blocks), *parts)
