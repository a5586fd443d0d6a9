"""Inverses, and solutions of systems of linear equations."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import TupleType
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from ..types import TensorType
from .attributes import Bool
from .inference import common_element_type, tuple_type
from .library import INFO, MatrixOp, stacked
from .linear_algebra import matmul_type


class OfMatricesOp(MatrixOp, ABC):
    """An operator of one tensor of matrices."""

    data = operand_def(TensorType)
    assembly_format = "$data attr-dict `:` type($data) `->` type($result)"


class SystemOp(MatrixOp, ABC):
    """The solutions `x` of ``a @ x = b``, with the batch dims broadcast."""

    a = operand_def(TensorType)
    b = operand_def(TensorType)
    assembly_format = "$a `,` $b attr-dict `:` type($a) `,` type($b) `->` type($result)"

    @classmethod
    def solution_type(cls, operands: Sequence[TensorType]) -> TensorType:
        """The type of `x`."""
        a, b = operands
        return matmul_type(cls.name, a, b, common_element_type(cls.name, operands))


@irdl_op_definition
class InvOp(OfMatricesOp):
    """The inverses of matrices; `numpy.linalg.inv`, `torch.linalg.inv`.

    A singular matrix raises `numpy.linalg.LinAlgError`, a ValueError.
    """

    name = "relax.linalg.inv"

    @classmethod
    def result_type(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        return operands[0]


@irdl_op_definition
class InvExOp(OfMatricesOp):
    """The inverses of matrices, and for each the pivot that is 0; `torch.linalg.inv_ex`.

    Pivots of the LU decomposition are counted from 1; 0 means that there is an inverse. What
    singular matrices give is NaN.
    """

    name = "relax.linalg.inv_ex"

    @classmethod
    def result_type(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TupleType:
        return tuple_type([operands[0], stacked(operands[0], element=INFO)])


@irdl_op_definition
class SolveOp(SystemOp):
    """The solutions `x` of ``a @ x = b``; `numpy.linalg.solve`, `torch.linalg.solve`.

    `b` has matrices too. A singular matrix raises `numpy.linalg.LinAlgError`, a ValueError.
    """

    name = "relax.linalg.solve"

    @classmethod
    def result_type(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        return cls.solution_type(operands)


@irdl_op_definition
class SolveExOp(SystemOp):
    """The solutions of ``a @ x = b``, and for each `a` the pivot that is 0 as in `inv_ex`.

    `torch.linalg.solve_ex`.
    """

    name = "relax.linalg.solve_ex"

    @classmethod
    def result_type(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TupleType:
        return tuple_type([cls.solution_type(operands), stacked(operands[0], element=INFO)])


@irdl_op_definition
class SolveTriangularOp(SystemOp):
    """The solutions `x` of ``a @ x = b`` for triangular `a`; `torch.linalg.solve_triangular`.

    Elements outside of the triangle are not read, nor is the diagonal with `unitriangular`. Zeros
    on the diagonal give infinities and NaN.
    """

    name = "relax.linalg.solve_triangular"
    upper = opt_prop_def(Bool())
    unitriangular = opt_prop_def(Bool(default=False))

    @classmethod
    def function(cls, attributes: dict[str, Any]) -> str:
        triangle = "upper" if attributes["upper"] else "lower"
        return f"solve_triangular.{triangle}{'.unit' * attributes['unitriangular']}"

    @classmethod
    def result_type(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        return cls.solution_type(operands)
