"""Matrix products: matmul, linear, outer."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_operand_def, opt_prop_def

from ...int_expr import IntExpr
from ..types import TensorType, shape_text
from .attributes import Bool, OutDType
from .base import BinaryOp, OperatorOp
from .conversion import accumulator, product_element, rounded, wide
from .inference import broadcast_dims, require_dtype
from .language import TensorLanguage


def matmul_type(
    op_name: str, lhs: TensorType, rhs: TensorType, element: Attribute | None
) -> TensorType:
    """The type of ``lhs @ rhs`` with NumPy's rules for vectors and batches."""
    for side in (lhs, rhs):
        if side.rank == 0:
            raise ValueError(
                f"expected operands of '{op_name}' to have at least one dim, got {shape_text(side)}"
            )
    if lhs.dims is None or rhs.dims is None:
        ranks = None if None in (lhs.rank, rhs.rank) else (lhs.rank or 0, rhs.rank or 0)
        return TensorType.of(None, element, None if ranks is None else _product_rank(*ranks))
    a = (IntExpr.of(1), *lhs.dims) if len(lhs.dims) == 1 else lhs.dims
    b = (*rhs.dims, IntExpr.of(1)) if len(rhs.dims) == 1 else rhs.dims
    got = f"{shape_text(lhs)} and {shape_text(rhs)}"
    message = f"expected shapes of '{op_name}' to be compatible, got {got}"
    if a[-1] != b[-2]:
        raise ValueError(message)
    try:
        batch = broadcast_dims(a[:-2], b[:-2])
    except ValueError:
        raise ValueError(message) from None
    rows = [] if len(lhs.dims) == 1 else [a[-2]]
    columns = [] if len(rhs.dims) == 1 else [b[-1]]
    return TensorType.of([*batch, *rows, *columns], element)


def _product_rank(lhs: int, rhs: int) -> int:
    """The rank of a product of tensors of these ranks."""
    return max(lhs, rhs, 2) - (lhs == 1) - (rhs == 1)


def transposed(type_: TensorType) -> TensorType:
    """The type with its last two dims swapped."""
    if type_.dims is None:
        return type_
    *batch, rows, columns = type_.dims
    return TensorType.of([*batch, columns, rows], type_.known_element)


def _require_same_length(te: TensorLanguage, op_name: str, lhs: Any, rhs: Any, dim: int) -> None:
    if te.dim_expr(lhs.shape[-1]) != te.dim_expr(rhs.shape[dim]):
        raise ValueError(
            f"expected shapes of '{op_name}' to be compatible, got {list(lhs.shape)} and "
            f"{list(rhs.shape)}"
        )


class MatrixProductOp(BinaryOp, ABC):
    """A matrix product with batching and broadcasting, and the attributes of `MatmulOp`."""

    @classmethod
    def element(
        cls, operands: Sequence[TensorType], attributes: dict[str, Any]
    ) -> Attribute | None:
        """The element type of the result; raises ValueError for wrong operands."""
        return product_element(cls.name, operands, attributes.get("out_dtype"))

    @classmethod
    def multiply(cls, te: TensorLanguage, left: Any, right: Any, dtype: str) -> Any:
        """The product of two elements, in the dtype of sums."""
        return left.astype(dtype) * right.astype(dtype)

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        lhs, rhs = operands
        element = cls.element(operands, attributes)
        if not attributes.get("transpose_rhs"):
            return matmul_type(cls.name, lhs, rhs, element)
        if rhs.rank is not None and rhs.rank < 2:
            raise ValueError(
                f"expected rhs of '{cls.name}' to have at least two dims to transpose, "
                f"got {shape_text(rhs)}"
            )
        try:
            return matmul_type(cls.name, lhs, transposed(rhs), element)
        except ValueError:
            raise ValueError(
                f"expected lhs (…, k) and transposed rhs (…, n, k) of '{cls.name}' to be "
                f"compatible, got {shape_text(lhs)} and {shape_text(rhs)}"
            ) from None

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        lhs, rhs = tensors
        if 0 in (lhs.ndim, rhs.ndim):
            raise ValueError("expected operands of matmul to have at least one dim, got a scalar")
        transposed, out_dtype = attributes["transpose_rhs"], attributes["out_dtype"]
        inner, outer = (-1, -2) if transposed or rhs.ndim == 1 else (-2, -1)
        _require_same_length(te, cls.name, lhs, rhs, inner)
        batch = te.broadcast_shape(lhs.shape[:-2], rhs.shape[:-2])
        rows = () if lhs.ndim == 1 else (lhs.shape[-2],)
        columns = () if rhs.ndim == 1 else (rhs.shape[outer],)
        dtype = accumulator(lhs.dtype, out_dtype)
        k = te.reduce_axis((0, lhs.shape[-1]), name="k")

        def element(*i: Any) -> Any:
            before, own = i[: len(batch)], i[len(batch) :]
            row, column = own[: len(rows)], own[len(rows) :]
            left = (*te.broadcast_index(lhs.shape[:-2], before), *row, k)
            last = (*column, k) if transposed else (k, *column)
            right = (*te.broadcast_index(rhs.shape[:-2], before), *last)
            return te.sum(cls.multiply(te, lhs(*left), rhs(*right), dtype), axis=k)

        product = te.compute((*batch, *rows, *columns), element, name="matmul")
        return rounded(te, product, out_dtype or lhs.dtype)

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        lhs, rhs = (wide(a, attributes.get("out_dtype")) for a in arrays)
        return np.matmul(lhs, np.swapaxes(rhs, -1, -2) if attributes.get("transpose_rhs") else rhs)


@irdl_op_definition
class MatmulOp(MatrixProductOp):
    """Matrix multiplication with batching and broadcasting: ``(…, m, k) @ (…, k, n)``.

    With `transpose_rhs` the rhs is ``(…, n, k)``. Half precision accumulates in float32, integers
    in `out_dtype`; `numpy.matmul`, `torch.matmul`.
    """

    name = "relax.matmul"
    out_dtype = opt_prop_def(OutDType())
    transpose_rhs = opt_prop_def(Bool(default=False))


@irdl_op_definition
class LinearOp(OperatorOp):
    """``data @ weight.T + bias`` with data (…, k), weight (m, k), bias (m,).

    `torch.nn.functional.linear`.
    """

    name = "relax.linear"
    data = operand_def(TensorType)
    weight = operand_def(TensorType)
    bias = opt_operand_def(TensorType)
    out_dtype = opt_prop_def(OutDType())
    assembly_format = (
        "$data `,` $weight (`bias` $bias^ `:` type($bias))? attr-dict "
        "`:` type($data) `,` type($weight) `->` type($result)"
    )

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        data, weight, *bias = operands
        if weight.rank not in (None, 2):
            raise ValueError(
                f"expected weight of '{cls.name}' to have rank 2, got {shape_text(weight)}"
            )
        element = product_element(cls.name, operands, attributes.get("out_dtype"))
        try:
            product = matmul_type(cls.name, data, transposed(weight), element)
        except ValueError:
            raise ValueError(
                f"expected data (…, k) and weight (m, k) of '{cls.name}' to be compatible, "
                f"got {shape_text(data)} and {shape_text(weight)}"
            ) from None
        for vector in bias:
            if (
                vector.dims is not None
                and weight.dims is not None
                and vector.dims != weight.dims[:1]
            ):
                raise ValueError(
                    f"expected bias of '{cls.name}' to have shape ({weight.dims[0]},), "
                    f"got {shape_text(vector)}"
                )
        return product

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        data, weight, *bias = tensors
        _require_same_length(te, cls.name, data, weight, -1)
        out_dtype = attributes["out_dtype"] or data.dtype
        dtype = accumulator(data.dtype, attributes["out_dtype"])
        k = te.reduce_axis((0, data.shape[-1]), name="k")

        def element(*i: Any) -> Any:
            product = data(*i[:-1], k).astype(dtype) * weight(i[-1], k).astype(dtype)
            return te.sum(product, axis=k)

        product = te.compute((*data.shape[:-1], weight.shape[0]), element, name="dense")
        if not bias:
            return rounded(te, product, out_dtype)
        return te.elementwise(
            lambda x, b: (x + b.astype(dtype)).astype(out_dtype), product, bias[0], name="T_add"
        )

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        data, weight, *bias = (wide(a, attributes.get("out_dtype")) for a in arrays)
        product = data @ weight.T
        return product + bias[0] if bias else product


@irdl_op_definition
class OuterOp(BinaryOp):
    """The outer product of two vectors; `numpy.outer`, `torch.outer`."""

    name = "relax.outer"

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        require_dtype(cls.name, operands, lambda dtype: dtype != "bool", "numbers")
        element = product_element(cls.name, operands, None)
        for side in operands:
            if side.rank not in (None, 1):
                raise ValueError(
                    f"expected operands of '{cls.name}' to have rank 1, got {shape_text(side)}"
                )
        lhs, rhs = operands
        if lhs.dims is None or rhs.dims is None:
            return TensorType.of(None, element, 2)
        return TensorType.of([*lhs.dims, *rhs.dims], element)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        lhs, rhs = tensors
        shape = (lhs.shape[0], rhs.shape[0])
        return te.compute(shape, lambda *i: lhs(i[0]) * rhs(i[1]), name="T_outer")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        return np.multiply.outer(*(wide(a) for a in arrays))
