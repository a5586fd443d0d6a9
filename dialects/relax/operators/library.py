"""Operators that the runtime computes, by functions that it registers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, NoReturn

from numpy.typing import NDArray

from ....runtime.linear_algebra import FUNCTIONS, PREFIX
from ...dtypes import element_type
from ...int_expr import IntExpr
from ..types import TensorType, shape_text
from .base import OperatorOp, ResultType
from .inference import require_dtype
from .language import TensorLanguage

INFO = element_type("int32")
"""The element type of the places of failures."""


class LibraryOp(OperatorOp, ABC):
    """An operator that is lowered to a call of a registered function instead of a kernel.

    Such functions compute in float64, and have no tensor expression.
    """

    @classmethod
    def function(cls, attributes: dict[str, Any]) -> str:
        """The name of the function in `FUNCTIONS`."""
        return cls.name.rpartition(".")[2]

    @classmethod
    def callee(cls, attributes: dict[str, Any]) -> str:
        """The name under which the runtime registers the function."""
        return PREFIX + cls.function(attributes)

    @classmethod
    def compute(
        cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]
    ) -> NoReturn:
        raise ValueError(
            f"expected an operator with a tensor expression, got '{cls.name}', which is a call "
            f"of '{cls.callee(attributes)}'"
        )

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> Any:
        results = FUNCTIONS[cls.function(attributes)].results(arrays)
        return results[0] if len(results) == 1 else results


class MatrixOp(LibraryOp, ABC):
    """A function of the matrices in the last two dims of its operands, in float32 or float64."""

    SQUARE: ClassVar[bool] = True
    """Whether the first operand must have square matrices."""

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> ResultType:
        require_dtype(
            cls.name, operands, lambda d: d in ("float32", "float64"), "float32 or float64"
        )
        for label, operand in zip(cls.operand_labels(len(operands)), operands, strict=True):
            _require_matrices(cls.name, label, operand, cls.SQUARE and operand is operands[0])
        return cls.result_type(operands, attributes)

    @classmethod
    @abstractmethod
    def result_type(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> ResultType:
        """The type of the result for operands whose ranks and dtypes are right."""


def _require_matrices(op_name: str, label: str, type_: TensorType, is_square: bool) -> None:
    if type_.rank is not None and type_.rank < 2:
        raise ValueError(
            f"expected {label} of '{op_name}' to have at least 2 dims, got {shape_text(type_)}"
        )
    if is_square and type_.dims is not None and type_.dims[-1] != type_.dims[-2]:
        raise ValueError(
            f"expected {label} of '{op_name}' to be square matrices, got {shape_text(type_)}"
        )


def stacked(matrices: TensorType, *dims: IntExpr, element: Any = None) -> TensorType:
    """A tensor with these dims for each matrix, by default of the dtype of the matrices."""
    element = matrices.known_element if element is None else element
    if matrices.dims is None:
        rank = None if matrices.rank is None else matrices.rank - 2 + len(dims)
        return TensorType.of(None, element, rank)
    return TensorType.of([*matrices.dims[:-2], *dims], element)
