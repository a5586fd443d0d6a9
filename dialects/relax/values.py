"""Shapes and scalars as values of the `relax` dialect, and casts that are checked at run time."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr, TupleType, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, opt_prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ..int_expr import IntExpr, IntLike
from ..irdl import IRDLOperation, irdl_op_definition
from ..sym import ExprArray, expr_array, exprs_of
from .types import ObjectType, PrimType, ShapeType, TensorType


@irdl_op_definition
class MatchCastOp(IRDLOperation):
    """The same value with another type, checked at run time; TVM's ``R.match_cast``.

    ``%y = relax.match_cast %x : !relax.tensor<rank 2, f32> -> !relax.tensor<[n, m], f32>``. It
    declares symbols that are a whole dim of the type and have no earlier declaration. `written` is
    the type as the user wrote it, if symbols in it have been replaced.
    """

    name = "relax.match_cast"
    value = operand_def()
    written = opt_prop_def(StringAttr)
    result = result_def()
    assembly_format = "$value (`written` $written^)? attr-dict `:` type($value) `->` type($result)"

    def __init__(self, value: SSAValue, type_: Attribute, written: str | None = None):
        super().__init__(
            operands=[value],
            properties={"written": None if written is None else StringAttr(written)},
            result_types=[type_],
        )

    def verify_(self) -> None:
        if not may_be(self.value.type, self.result.type):
            raise VerifyException(
                f"expected a value that can be {self.result.type}, got {self.value.type}"
            )


def may_be(given: Attribute, wanted: Attribute) -> bool:
    """Whether a value of the type `given` can have the type `wanted`; dims are not compared."""
    match given, wanted:
        case (ObjectType(), _) | (_, ObjectType()):
            return True
        case TensorType(), TensorType():
            dtypes = {given.dtype, wanted.dtype} - {None}
            return len(dtypes) < 2 and _ranks_agree(given, wanted)
        case ShapeType(), ShapeType():
            return _ranks_agree(given, wanted)
        case PrimType(), PrimType():
            return given.element_type == wanted.element_type
        case TupleType(), TupleType():
            pairs = list(zip(given.types.data, wanted.types.data, strict=False))
            same = len(given.types.data) == len(wanted.types.data)
            return same and all(may_be(g, w) for g, w in pairs)
        case _:
            return given == wanted


def _ranks_agree(given: TensorType | ShapeType, wanted: TensorType | ShapeType) -> bool:
    return None in (given.rank, wanted.rank) or given.rank == wanted.rank


@irdl_op_definition
class ShapeOfOp(IRDLOperation):
    """The shape of a tensor: ``%s = relax.shape_of %x : !relax.tensor<[n], f32> -> …``."""

    name = "relax.shape_of"
    tensor = operand_def(TensorType)
    result = result_def(ShapeType)
    traits = traits_def(Pure())
    assembly_format = "$tensor attr-dict `:` type($tensor) `->` type($result)"

    def __init__(self, tensor: SSAValue):
        super().__init__(operands=[tensor], result_types=[shape_type_of(tensor.type)])

    def verify_(self) -> None:
        expected = shape_type_of(self.tensor.type)
        if self.result.type != expected:
            raise VerifyException(f"expected {expected}, got {self.result.type}")


LARGEST = 2**63 - 1
"""The largest int64, which is the limit of dims without one."""


@irdl_op_definition
class TensorToShapeOp(IRDLOperation):
    """The shape that the numbers of an i64 tensor are; TVM's ``R.tensor_to_shape``.

    ``%s = relax.tensor_to_shape %t at_most [n * 4] : !relax.tensor<[1], i64>``. A `match_cast` of
    the result declares symbols for its dims. A number outside of 0 to `at_most` is an error at run
    time. The limits are what memory for tensors of these dims is planned for: expressions over
    earlier symbols. Without them memory is allocated once the dims are known.
    """

    name = "relax.tensor_to_shape"
    tensor = operand_def(TensorType)
    at_most = opt_prop_def(ExprArray)
    result = result_def(ShapeType)
    traits = traits_def(Pure())
    assembly_format = (
        "$tensor (`at_most` $at_most^)? attr-dict `:` type($tensor) `->` type($result)"
    )

    def __init__(self, tensor: SSAValue, at_most: Sequence[IntLike] | None = None):
        super().__init__(
            operands=[tensor],
            properties={"at_most": None if at_most is None else expr_array(at_most)},
            result_types=[ShapeType.of(None, _length(tensor.type))],
        )

    @property
    def limits(self) -> tuple[IntExpr, ...]:
        """The largest value of each dim: that of an int64 without limits."""
        if self.at_most is not None:
            return exprs_of(self.at_most)
        return (IntExpr.of(LARGEST),) * (_length(self.tensor.type) or 0)

    def verify_(self) -> None:
        length = _length(self.tensor.type)
        if self.at_most is not None and length != len(self.at_most):
            wanted = TensorType.of([len(self.at_most)], i64)
            raise VerifyException(
                f"expected {wanted} for {len(self.at_most)} limits, got {self.tensor.type}"
            )
        if length is None:
            raise VerifyException(
                f"expected an i64 tensor of rank 1 and known length, got {self.tensor.type}"
            )
        expected = ShapeType.of(None, length)
        if self.result.type != expected:
            raise VerifyException(f"expected {expected}, got {self.result.type}")


def _length(type_: Attribute) -> int | None:
    """The number of elements of an i64 tensor of rank 1; `None` for others."""
    if not isinstance(type_, TensorType) or type_.dtype != "int64" or type_.rank != 1:
        return None
    return None if type_.dims is None else type_.dims[0].constant


def shape_type_of(type_: Attribute) -> ShapeType:
    """The type of a tensor's shape; raises ValueError for other types."""
    if not isinstance(type_, TensorType):
        raise ValueError(f"expected a tensor, got {type_}")
    return ShapeType.of(type_.dims, type_.rank)


@irdl_op_definition
class ShapeOp(IRDLOperation):
    """A shape value, given by its type: ``%s = relax.shape : !relax.shape<[n, 4]>``."""

    name = "relax.shape"
    result = result_def(ShapeType)
    traits = traits_def(Pure())
    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, dims: Sequence[IntLike]):
        super().__init__(result_types=[ShapeType.of(dims)])

    def verify_(self) -> None:
        if self.result.type.dims is None:
            raise VerifyException(f"expected a shape of known dims, got {self.result.type}")


@irdl_op_definition
class PrimValueOp(IRDLOperation):
    """A scalar, given by its type: ``%n = relax.prim_value : !relax.prim<i64, n + 1>``."""

    name = "relax.prim_value"
    result = result_def(PrimType)
    traits = traits_def(Pure())
    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, value: IntLike, element_type: Attribute = i64):
        super().__init__(result_types=[PrimType.of(element_type, value)])

    def verify_(self) -> None:
        if self.result.type.expr is None:
            raise VerifyException(f"expected a number of known value, got {self.result.type}")
