"""What every graph operator declares once: operands, attributes, inference, reference."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    OptOperandDef,
    ParsePropInAttrDict,
    operand_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ...int_expr import ONE, IntExpr
from ..types import TensorType, python_shape, shape_text


class OperatorOp(IRDLOperation, ABC):
    """A pure function of tensors.

    A subclass gives `infer` (the result type from operand types and attributes, for static,
    symbolic and unknown shapes), `compute` (its definition in the tensor expression language, which
    is how it is lowered) and `reference` (NumPy). The text form and the Python call
    ``relax.op.NAME`` follow from the operand names and properties.
    """

    result = result_def(TensorType)
    traits = traits_def(Pure())
    irdl_options = (ParsePropInAttrDict(),)

    @classmethod
    def operand_names(cls) -> tuple[str, ...]:
        """Names of the operands, in order."""
        return tuple(name for name, _ in cls.get_irdl_definition().operands)

    @classmethod
    def attribute_names(cls) -> tuple[str, ...]:
        """Names of the attributes, in order."""
        return tuple(cls.get_irdl_definition().properties)

    @classmethod
    @abstractmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        """The type of the result; raises ValueError with one line where the operands do not fit."""

    @classmethod
    @abstractmethod
    def compute(cls, te: Any, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        """The result as a tensor expression; `te` is the tensor expression module."""

    @classmethod
    @abstractmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        """The result by NumPy."""

    @classmethod
    def encode(cls, attributes: dict[str, Any]) -> dict[str, Attribute | None]:
        """Python attribute values as properties."""
        if attributes:
            raise ValueError(
                f"expected no attributes for '{cls.name}', got {', '.join(attributes)}"
            )
        return {}

    def attribute_values(self) -> dict[str, Any]:
        """Properties as Python attribute values, the inverse of `encode`."""
        return {}

    @classmethod
    def of(
        cls, operands: Sequence[SSAValue], attributes: dict[str, Any] | None = None
    ) -> OperatorOp:
        """The operation on these operands, with its result type inferred.

        Raises ValueError with one line where operands or attributes do not fit.
        """
        values = attributes or {}
        cls._verify_count(len(operands))
        for name, operand in zip(cls.operand_names(), operands, strict=False):
            if not isinstance(operand.type, TensorType):
                raise ValueError(
                    f"expected {name} of '{cls.name}' to be a tensor, got {operand.type}"
                )
        types = [o.type for o in operands if isinstance(o.type, TensorType)]
        return cls.create(
            operands=list(operands),
            properties={k: v for k, v in cls.encode(values).items() if v is not None},
            result_types=[cls.infer(types, values)],
        )

    @classmethod
    def _verify_count(cls, given: int) -> None:
        declared = cls.get_irdl_definition().operands
        least = sum(not isinstance(d, OptOperandDef) for _, d in declared)
        if not least <= given <= len(declared):
            count = f"{least}" if least == len(declared) else f"{least} to {len(declared)}"
            raise ValueError(f"expected {count} operands of '{cls.name}', got {given}")

    def verify_(self) -> None:
        types = [o.type for o in self.operands if isinstance(o.type, TensorType)]
        try:
            inferred = type(self).infer(types, self.attribute_values())
        except ValueError as error:
            raise VerifyException(str(error)) from None
        if inferred != self.result.type:
            raise VerifyException(
                f"expected '{self.name}' to give {inferred}, got {self.result.type}"
            )


class UnaryOp(OperatorOp, ABC):
    """An operator of one tensor."""

    data = operand_def(TensorType)
    assembly_format = "$data attr-dict `:` type($data) `->` type($result)"


class BinaryOp(OperatorOp, ABC):
    """An operator of two tensors."""

    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)
    assembly_format = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)"


def common_element_type(op_name: str, operands: Sequence[TensorType]) -> Attribute | None:
    """The element type that all operands share.

    `None` if one is unknown; raises ValueError if they differ.
    """
    known = [o for o in operands if o.dtype is not None]
    for operand in known[1:]:
        if operand.dtype != known[0].dtype:
            raise ValueError(
                f"expected operands of '{op_name}' to have one dtype, "
                f"got {known[0].dtype} and {operand.dtype}"
            )
    return known[0].element_type if len(known) == len(operands) else None


def broadcast_types(op_name: str, lhs: TensorType, rhs: TensorType) -> TensorType:
    """NumPy broadcasting of two tensor types; raises ValueError where provably impossible."""
    element = common_element_type(op_name, (lhs, rhs))
    if lhs.dims is None or rhs.dims is None:
        ranks = (lhs.rank, rhs.rank)
        return TensorType.of(
            None, element, None if None in ranks else max(r for r in ranks if r is not None)
        )
    try:
        return TensorType.of(broadcast_dims(lhs.dims, rhs.dims), element)
    except ValueError:
        raise ValueError(
            f"expected shapes of '{op_name}' to broadcast, "
            f"got {shape_text(lhs)} and {shape_text(rhs)}"
        ) from None


def broadcast_dims(lhs: Sequence[IntExpr], rhs: Sequence[IntExpr]) -> list[IntExpr]:
    """The broadcast shape.

    A symbolic dim against another is taken to be equal only if it is the same expression.
    """
    rank = max(len(lhs), len(rhs))
    padded = ([ONE] * (rank - len(side)) + list(side) for side in (lhs, rhs))
    dims: list[IntExpr] = []
    for a, b in zip(*padded, strict=True):
        if a == b or b == ONE:
            dims.append(a)
        elif a == ONE:
            dims.append(b)
        else:
            raise ValueError(f"{python_shape(lhs)} and {python_shape(rhs)} do not broadcast")
    return dims
