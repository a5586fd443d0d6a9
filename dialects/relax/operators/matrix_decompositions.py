"""Decompositions of matrices, and functions of matrices that are computed from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from xdsl.dialects.builtin import TupleType
from xdsl.irdl import irdl_op_definition, opt_prop_def

from ...int_expr import IntExpr, minimum
from ..types import TensorType
from .attributes import Bool, Text
from .inference import tuple_type
from .library import INFO, stacked
from .linear_systems import OfMatricesOp


def _sizes(matrices: TensorType) -> tuple[IntExpr, IntExpr, IntExpr]:
    """The number of rows and of columns of matrices, and the smaller one; 0 if they are unknown."""
    rows, columns = (IntExpr.of(0),) * 2 if matrices.dims is None else matrices.dims[-2:]
    return rows, columns, minimum(rows, columns)


@irdl_op_definition
class CholeskyOp(OfMatricesOp):
    """The Cholesky factors of symmetric matrices; `numpy.linalg.cholesky`.

    They are lower triangles ``l`` with ``l @ l.T = data``; only the lower triangles of `data` are
    read. A matrix that is not positive-definite raises `numpy.linalg.LinAlgError`, a ValueError.
    """

    name = "relax.linalg.cholesky"

    @classmethod
    def result_type(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        return operands[0]


@irdl_op_definition
class CholeskyExOp(OfMatricesOp):
    """The Cholesky factors, and the orders of leading minors that are not positive.

    The order is 0 for positive-definite matrices; the factors of others are NaN.
    `torch.linalg.cholesky_ex`.
    """

    name = "relax.linalg.cholesky_ex"

    @classmethod
    def result_type(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TupleType:
        return tuple_type([operands[0], stacked(operands[0], element=INFO)])


@irdl_op_definition
class LUFactorOp(OfMatricesOp):
    """The LU decompositions with partial pivoting; `torch.linalg.lu_factor_ex`.

    The results are both factors in one matrix, the row that each row is exchanged with in turn, and
    the first pivot that is 0. These numbers are counted from 1; 0 means that no pivot is 0. With
    `check_errors`, a pivot that is 0 raises `numpy.linalg.LinAlgError`, a ValueError.
    """

    name = "relax.linalg.lu_factor"
    SQUARE: ClassVar[bool] = False
    check_errors = opt_prop_def(Bool(default=False))

    @classmethod
    def function(cls, attributes: dict[str, Any]) -> str:
        return "lu_factor.checked" if attributes["check_errors"] else "lu_factor"

    @classmethod
    def result_type(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TupleType:
        (data,) = operands
        pivots = stacked(data, _sizes(data)[2], element=INFO)
        return tuple_type([data, pivots, stacked(data, element=INFO)])


@irdl_op_definition
class QROp(OfMatricesOp):
    """The QR decompositions of matrices, `q` and `r`; `numpy.linalg.qr`, `torch.linalg.qr`.

    "reduced" matrices `q` have as many columns as `r` has rows, the smaller dim of `data`;
    "complete" ones are square.
    """

    name = "relax.linalg.qr"
    SQUARE: ClassVar[bool] = False
    mode = opt_prop_def(Text(default="reduced", choices=("reduced", "complete")))

    @classmethod
    def function(cls, attributes: dict[str, Any]) -> str:
        return f"qr.{attributes['mode']}"

    @classmethod
    def result_type(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TupleType:
        (data,) = operands
        rows, columns, inner = _sizes(data)
        inner = rows if attributes["mode"] == "complete" else inner
        return tuple_type([stacked(data, rows, inner), stacked(data, inner, columns)])


@irdl_op_definition
class EighOp(OfMatricesOp):
    """The eigenvalues of symmetric matrices, in ascending order, and eigenvectors as columns.

    Only the lower triangles are read. The element of largest magnitude of an eigenvector is
    positive. `numpy.linalg.eigh`, `torch.linalg.eigh`.
    """

    name = "relax.linalg.eigh"

    @classmethod
    def result_type(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TupleType:
        (data,) = operands
        return tuple_type([stacked(data, _sizes(data)[0]), data])


@irdl_op_definition
class EigvalshOp(OfMatricesOp):
    """The eigenvalues of symmetric matrices as in `eigh`; `numpy.linalg.eigvalsh`."""

    name = "relax.linalg.eigvalsh"

    @classmethod
    def result_type(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        return stacked(operands[0], _sizes(operands[0])[0])


@irdl_op_definition
class SVDOp(OfMatricesOp):
    """The singular value decompositions ``u @ diag(s) @ vh``; `numpy.linalg.svd`.

    Singular values are in descending order. `u` and `vh` are square with `full_matrices`. The
    element of largest magnitude of a column of `u` is positive. `torch.linalg.svd`.
    """

    name = "relax.linalg.svd"
    SQUARE: ClassVar[bool] = False
    full_matrices = opt_prop_def(Bool(default=True))

    @classmethod
    def function(cls, attributes: dict[str, Any]) -> str:
        return "svd.full" if attributes["full_matrices"] else "svd.reduced"

    @classmethod
    def result_type(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TupleType:
        (data,) = operands
        rows, columns, inner = _sizes(data)
        left, right = (rows, columns) if attributes["full_matrices"] else (inner, inner)
        return tuple_type(
            [stacked(data, rows, left), stacked(data, inner), stacked(data, right, columns)]
        )


@irdl_op_definition
class SvdvalsOp(OfMatricesOp):
    """The singular values of matrices, in descending order; `torch.linalg.svdvals`."""

    name = "relax.linalg.svdvals"
    SQUARE: ClassVar[bool] = False

    @classmethod
    def result_type(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        return stacked(operands[0], _sizes(operands[0])[2])


@irdl_op_definition
class SlogdetOp(OfMatricesOp):
    """The signs of determinants, and the logarithms of their magnitudes; `numpy.linalg.slogdet`.

    A singular matrix has the sign 0 and the logarithm -inf.
    """

    name = "relax.linalg.slogdet"

    @classmethod
    def result_type(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TupleType:
        return tuple_type([stacked(operands[0])] * 2)


@irdl_op_definition
class MatrixExpOp(OfMatricesOp):
    """The exponential function of square matrices; `torch.matrix_exp`."""

    name = "relax.linalg.matrix_exp"

    @classmethod
    def result_type(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        return operands[0]
