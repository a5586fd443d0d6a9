"""Determinants of square matrices, by Gaussian elimination with partial pivoting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition

from ..types import TensorType, shape_text
from .base import UnaryOp
from .conversion import accumulator, rounded, wide
from .inference import require_floats
from .language import TensorLanguage


@irdl_op_definition
class DetOp(UnaryOp):
    """The determinants of square matrices, the last two dims; `numpy.linalg.det`, ONNX ``Det``."""

    name = "relax.det"

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        require_floats(cls.name, operands)
        (data,) = operands
        if data.rank is not None and data.rank < 2:
            raise ValueError(
                f"expected data of '{cls.name}' to have at least 2 dims, got {shape_text(data)}"
            )
        if data.dims is None:
            rank = None if data.rank is None else data.rank - 2
            return TensorType.of(None, data.known_element, rank)
        if data.dims[-1] != data.dims[-2]:
            raise ValueError(
                f"expected data of '{cls.name}' to be square matrices, got {shape_text(data)}"
            )
        return TensorType.of(data.dims[:-2], data.known_element)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (data,) = tensors
        batch, dtype = data.shape[:-2], accumulator(data.dtype)

        def eliminate(ib: Any, inputs: Any, outputs: Sequence[Any], *i: Any) -> None:
            rows = _Elimination.allocate(te, ib, data.shape[-1], dtype)
            with ib.for_range(0, rows.size, "i") as row, ib.for_range(0, rows.size, "j") as column:
                ib.store(rows.matrix, (row, column), data(*i, row, column).astype(dtype))
            with ib.for_range(0, rows.size, "k") as k:
                rows.step(k)
            ib.store(outputs[0], i, rows.product(0))

        found = te.statements([batch], [data], eliminate, [dtype], batch, "T_det")[0]
        return rounded(te, found, data.dtype)

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        return np.linalg.det(wide(arrays[0]))


@dataclass(frozen=True)
class _Elimination:
    """A matrix that is eliminated column by column, and the product of its pivots."""

    te: TensorLanguage
    ib: Any
    size: Any
    matrix: Any
    product: Any
    pivot: Any

    @staticmethod
    def allocate(te: TensorLanguage, ib: Any, size: Any, dtype: str) -> _Elimination:
        """Allocate a matrix; the product is 1."""
        matrix = ib.allocate(dtype, (size, size), "matrix")
        product, pivot = ib.allocate(dtype, (1,), "product"), ib.allocate("int64", (1,), "pivot")
        ib.store(product, (0,), te.const(1, dtype))
        return _Elimination(te, ib, size, matrix, product, pivot)

    def step(self, k: Any) -> None:
        """Multiply by the pivot of column `k`, and eliminate the column below it."""
        te, ib, matrix = self.te, self.ib, self.matrix
        self._find_pivot(k)
        chosen = ib.let(self.pivot(0))
        with ib.if_scope(te.NE(chosen, k)):
            self._swap(k, chosen)
            ib.store(self.product, (0,), -self.product(0))
        top = ib.let(matrix(k, k))
        ib.store(self.product, (0,), self.product(0) * top)
        with ib.if_scope(te.NE(top, te.const(0, top.dtype))), ib.for_range(k + 1, self.size) as i:
            factor = ib.let(matrix(i, k) / top)
            with ib.for_range(k + 1, self.size, "j") as j:
                ib.store(matrix, (i, j), matrix(i, j) - factor * matrix(k, j))

    def _find_pivot(self, k: Any) -> None:
        """The row from `k` on with the largest element of column `k`."""
        te, ib, matrix = self.te, self.ib, self.matrix
        ib.store(self.pivot, (0,), te.cast("int64", k))
        with ib.for_range(k + 1, self.size) as i:
            best = te.abs(matrix(self.pivot(0), k))
            with ib.if_scope(te.GT(te.abs(matrix(i, k)), best)):
                ib.store(self.pivot, (0,), te.cast("int64", i))

    def _swap(self, k: Any, chosen: Any) -> None:
        ib, matrix = self.ib, self.matrix
        with ib.for_range(k, self.size, "j") as j:
            upper = ib.let(matrix(k, j))
            ib.store(matrix, (k, j), matrix(chosen, j))
            ib.store(matrix, (chosen, j), upper)
