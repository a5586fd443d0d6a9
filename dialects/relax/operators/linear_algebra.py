"""Matrix products and permutations: matmul, linear, permute_dims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition, operand_def, opt_operand_def, opt_prop_def

from ...int_expr import IntExpr
from ..types import TensorType, shape_text
from .attributes import Ints
from .base import BinaryOp, OperatorOp, UnaryOp
from .inference import broadcast_dims, common_element_type
from .language import TensorLanguage


def matmul_type(op_name: str, lhs: TensorType, rhs: TensorType) -> TensorType:
    """The type of ``lhs @ rhs`` with NumPy's rules for vectors and batches."""
    element = common_element_type(op_name, (lhs, rhs))
    for side in (lhs, rhs):
        if side.rank == 0:
            raise ValueError(
                f"expected operands of '{op_name}' to have at least one dim, got {shape_text(side)}"
            )
    if lhs.dims is None or rhs.dims is None:
        return TensorType.of(None, element)
    a = (IntExpr.of(1), *lhs.dims) if len(lhs.dims) == 1 else lhs.dims
    b = (*rhs.dims, IntExpr.of(1)) if len(rhs.dims) == 1 else rhs.dims
    message = f"expected shapes of '{op_name}' to fit, got {shape_text(lhs)} and {shape_text(rhs)}"
    if a[-1] != b[-2]:
        raise ValueError(message)
    try:
        batch = broadcast_dims(a[:-2], b[:-2])
    except ValueError:
        raise ValueError(message) from None
    rows = [] if len(lhs.dims) == 1 else [a[-2]]
    columns = [] if len(rhs.dims) == 1 else [b[-1]]
    return TensorType.of([*batch, *rows, *columns], element)


def _require_same_length(
    te: TensorLanguage, op_name: str, lhs: Any, rhs: Any, rhs_dim: Any
) -> None:
    if te.dim_expr(lhs.shape[-1]) != te.dim_expr(rhs_dim):
        raise ValueError(
            f"expected shapes of '{op_name}' to fit, got {list(lhs.shape)} and {list(rhs.shape)}"
        )


@irdl_op_definition
class MatmulOp(BinaryOp):
    """Matrix product with batching and broadcasting.

    ``(…, n, k) @ (…, k, m)``; `numpy.matmul`, `torch.matmul`.
    """

    name = "relax.matmul"

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        return matmul_type(cls.name, operands[0], operands[1])

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        lhs, rhs = tensors
        if 0 in (lhs.ndim, rhs.ndim):
            raise ValueError("expected operands of matmul to have at least one dim, got a scalar")
        _require_same_length(te, cls.name, lhs, rhs, rhs.shape[-2 if rhs.ndim > 1 else -1])
        batch = te.broadcast_shape(lhs.shape[:-2], rhs.shape[:-2])
        rows = () if lhs.ndim == 1 else (lhs.shape[-2],)
        columns = () if rhs.ndim == 1 else (rhs.shape[-1],)
        k = te.reduce_axis((0, lhs.shape[-1]), name="k")

        def element(*i: Any) -> Any:
            outer, inner = i[: len(batch)], i[len(batch) :]
            row, column = inner[: len(rows)], inner[len(rows) :]
            left = (*te.broadcast_index(lhs.shape[:-2], outer), *row, k)
            right = (*te.broadcast_index(rhs.shape[:-2], outer), k, *column)
            return te.sum(lhs(*left) * rhs(*right), axis=k)

        return te.compute((*batch, *rows, *columns), element, name="matmul")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        return np.matmul(*arrays)


@irdl_op_definition
class LinearOp(OperatorOp):
    """``data @ weight.T + bias`` with data (…, k), weight (m, k), bias (m,).

    `torch.nn.functional.linear`.
    """

    name = "relax.linear"
    data = operand_def(TensorType)
    weight = operand_def(TensorType)
    bias = opt_operand_def(TensorType)
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
        common_element_type(cls.name, (data, weight))
        turned = TensorType.of(weight.dims and weight.dims[::-1], weight.element_type)
        try:
            product = matmul_type(cls.name, data, turned)
        except ValueError:
            raise ValueError(
                f"expected data (…, k) and weight (m, k) of '{cls.name}' to fit, "
                f"got {shape_text(data)} and {shape_text(weight)}"
            ) from None
        for vector in bias:
            common_element_type(cls.name, (data, vector))
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
        _require_same_length(te, cls.name, data, weight, weight.shape[-1])
        k = te.reduce_axis((0, data.shape[-1]), name="k")
        product = te.compute(
            (*data.shape[:-1], weight.shape[0]),
            lambda *i: te.sum(data(*i[:-1], k) * weight(i[-1], k), axis=k),
            name="dense",
        )
        if not bias:
            return product
        return te.elementwise(lambda x, b: x + b, product, bias[0], name="T_add")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        data, weight, *bias = arrays
        product = data @ weight.T
        return product + bias[0] if bias else product


@irdl_op_definition
class PermuteDimsOp(UnaryOp):
    """Reorder the dims, reversing them without `axes`; `numpy.transpose`, `torch.permute`."""

    name = "relax.permute_dims"
    axes = opt_prop_def(Ints(default=None))

    @classmethod
    def order(cls, rank: int, attributes: dict[str, Any]) -> list[int]:
        """The source dim of each result dim, all non-negative.

        Raises ValueError for a wrong permutation.
        """
        axes = cast("Sequence[int] | None", attributes.get("axes"))
        if axes is None:
            return list(range(rank))[::-1]
        order = [a + rank if a < 0 else a for a in axes]
        if sorted(order) != list(range(rank)):
            raise ValueError(
                f"expected axes of '{cls.name}' to permute {rank} dims, got {tuple(axes)}"
            )
        return order

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        (data,) = operands
        if data.rank is None:
            return data
        order = cls.order(data.rank, attributes)
        if data.dims is None:
            return data
        return TensorType(
            type(data).of([data.dims[i] for i in order], None).shape, data.element_type
        )

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (data,) = tensors
        order = cls.order(len(data.shape), attributes)

        def element(*i: Any) -> Any:
            return data(*(i[order.index(dim)] for dim in range(len(order))))

        return te.compute([data.shape[i] for i in order], element, name="T_transpose")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        return np.transpose(arrays[0], cls.order(arrays[0].ndim, attributes))
