"""The builder that converters use: operators, constants, and PyTorch's fake result of a node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import fx
from xdsl.ir import Block

from ...dialects import relax
from ...dialects.dtypes import element_type
from ...dialects.int_expr import IntExpr
from ..emitter import Emitter, Functions, Number, Value, dims_of, dtype_of, is_tensor
from ..key_parameter import KeyParameter
from .dtypes import Operand, dtype_name, number_dtype, promote
from .shapes import Symbols

_NARROW = ("float16", "bfloat16")


class Context(Emitter):
    """Builds the operations of one graph.

    `node` is the current node, `result` PyTorch's result of it: one or several fake tensors.
    """

    def __init__(self, block: Block, symbols: Symbols, functions: Functions | None = None):
        super().__init__(block, functions)
        self.symbols = symbols
        self.node: fx.Node | None = None
        self.result: Any = None
        self.random: KeyParameter | None = None
        """The key of random numbers; `None` where they are not supported."""
        self.reads_sizes = True
        """Whether sizes without a limit may be read: not in branches, and bodies of loops."""
        self.reals: set[Value] = set()
        """Tensors of rank 0 that represent Python numbers."""
        self.real_symbols: dict[str, Value] = {}
        """Those of them that the graph reads from tensors, by PyTorch's symbols."""

    def common_dtype(self, *operands: Any) -> str:
        """The dtype in which PyTorch computes with tensors and numbers."""
        return promote([_operand(0.0 if self._is_real(o) else o) for o in operands])

    def _is_real(self, value: Any) -> bool:
        return is_tensor(value) and value in self.reals

    def widened(self, operands: Sequence[Any], dtype: str) -> str:
        """The dtype to compute in: float32 if a number among the operands is inexact in `dtype`.

        PyTorch does not round numbers to `dtype`, only the result.
        """
        if dtype not in _NARROW:
            return dtype
        exact = all(_is_exact(o, dtype) for o in operands if isinstance(o, float | int))
        return dtype if exact and not any(map(self._is_real, operands)) else "float32"

    def type_like(self, tensor: torch.Tensor) -> relax.TensorType:
        """The Relax type of a fake tensor."""
        element = element_type(dtype_name(tensor.dtype))
        return relax.TensorType.of(self.symbols.dims(tensor), element)

    @property
    def dims(self) -> list[IntExpr]:
        """The dims of the node's result."""
        return self.symbols.dims(self.result)

    @property
    def dtype(self) -> str:
        """The dtype of the node's result."""
        return dtype_name(self.result.dtype)


def _operand(value: Any) -> Operand:
    if not is_tensor(value):
        return Operand(number_dtype(value), 0)
    return Operand(dtype_of(value), 2 if dims_of(value) else 1)


def _is_exact(value: Number, dtype: str) -> bool:
    stored = torch.tensor(float(value), dtype=torch.float64)
    rounded = stored.to(getattr(torch, dtype)).to(torch.float64)
    return bool(torch.equal(stored, rounded) or torch.isnan(stored))
