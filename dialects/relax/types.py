"""Types of the `relax` dialect: tensors of known, symbolic or unknown dtype, rank and dims."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    IntAttr,
    IntegerAttr,
    IntegerType,
    NoneAttr,
    TupleType,
)
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ..dtypes import byte_width, dtype_name, is_element_type
from ..int_expr import IntExpr, IntLike
from ..sym import ExprArray, ExprAttr, expr_array, expr_symbols, exprs_of, parse_expr, verify_int64


@irdl_attr_definition
class TensorType(ParametrizedAttribute, TypeAttribute):
    """A tensor: ``!relax.tensor<[1, n * 4], f32>``; TVM's ``TensorStructInfo``.

    ``!relax.tensor<rank 2, f32>`` has unknown dims, ``!relax.tensor<*, f32>`` an unknown rank, and
    ``?`` stands for an unknown dtype.
    """

    name = "relax.tensor"
    shape: ExprArray | IntAttr | NoneAttr = param_def()
    element_type: Attribute = param_def()

    @staticmethod
    def of(
        shape: Sequence[IntLike] | None, element_type: Attribute | None, rank: int | None = None
    ) -> TensorType:
        """The tensor type with these dims or, without them, with this rank if it is given."""
        element = NoneAttr() if element_type is None else element_type
        if shape is not None or rank == 0:
            return _tensor_type(expr_array(shape or ()), element)
        return _tensor_type(NoneAttr() if rank is None else IntAttr(rank), element)

    @property
    def dims(self) -> tuple[IntExpr, ...] | None:
        """The dims; `None` if they are unknown."""
        return exprs_of(self.shape) if isinstance(self.shape, ArrayAttr) else None

    @property
    def rank(self) -> int | None:
        """The number of dims; `None` if it is unknown."""
        if isinstance(self.shape, ArrayAttr):
            return len(self.shape.data)
        return self.shape.data if isinstance(self.shape, IntAttr) else None

    @property
    def dtype(self) -> str | None:
        """The dtype's name; `None` if it is unknown."""
        return None if isinstance(self.element_type, NoneAttr) else dtype_name(self.element_type)

    @property
    def known_element(self) -> Attribute | None:
        """The element type; `None` if it is unknown."""
        return None if isinstance(self.element_type, NoneAttr) else self.element_type

    @property
    def is_known(self) -> bool:
        """Whether shape and dtype are known, so that memory for the tensor can be planned."""
        return self.dims is not None and self.dtype is not None

    def size_in_bytes(self) -> IntExpr:
        """The size of a dense tensor of known shape and dtype in bytes."""
        total = IntExpr.of(byte_width(self.element_type))
        for dim in self.dims or ():
            total = total * dim
        return total

    @property
    def known_bytes(self) -> int | None:
        """The size of the elements in bytes; `None` unless dtype and dims are constant."""
        return self.size_in_bytes().constant if self.is_known else None

    def symbols(self) -> set[str]:
        """The symbols in the dims."""
        return {s for d in self.dims or () for s in d.symbols()}

    def verify(self) -> None:
        if not isinstance(self.element_type, NoneAttr) and not is_element_type(self.element_type):
            raise VerifyException(f"expected an element type of a tensor, got {self.element_type}")
        for dim in self.dims or ():
            if dim.args() or ((value := dim.constant) is not None and value < 0):
                raise VerifyException(f"expected tensor dims over symbols of at least 0, got {dim}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            shape = _parse_shape(parser)
            parser.parse_punctuation(",")
            unknown = parser.parse_optional_punctuation("?")
            return [shape, NoneAttr() if unknown else parser.parse_type()]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(_shape_parameter(self.dims, self.rank) + ", ")
            if isinstance(self.element_type, NoneAttr):
                printer.print_string("?")
            else:
                printer.print_attribute(self.element_type)


_tensor_type = lru_cache(maxsize=1 << 12)(TensorType)


def _parse_shape(parser: AttrParser) -> Attribute:
    if parser.parse_optional_punctuation("*"):
        return NoneAttr()
    if parser.parse_optional_keyword("rank"):
        return IntAttr(parser.parse_integer(allow_boolean=False, allow_negative=False))
    dims = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_expr(parser))
    return ArrayAttr([ExprAttr(d) for d in dims])


@irdl_attr_definition
class ShapeType(ParametrizedAttribute, TypeAttribute):
    """A shape as a value: ``!relax.shape<[n, 4]>``; TVM's ``ShapeStructInfo``.

    ``!relax.shape<rank 2>`` has unknown dims, ``!relax.shape<*>`` an unknown rank.
    """

    name = "relax.shape"
    shape: ExprArray | IntAttr | NoneAttr = param_def()

    @staticmethod
    def of(dims: Sequence[IntLike] | None, rank: int | None = None) -> ShapeType:
        """The type of a shape with these dims or, without them, with this rank if it is given."""
        if dims is not None:
            return ShapeType(expr_array(dims))
        return ShapeType(NoneAttr() if rank is None else IntAttr(rank))

    @property
    def dims(self) -> tuple[IntExpr, ...] | None:
        """The dims; `None` if they are unknown."""
        return exprs_of(self.shape) if isinstance(self.shape, ArrayAttr) else None

    @property
    def rank(self) -> int | None:
        """The number of dims; `None` if it is unknown."""
        if isinstance(self.shape, ArrayAttr):
            return len(self.shape.data)
        return self.shape.data if isinstance(self.shape, IntAttr) else None

    def verify(self) -> None:
        for dim in self.dims or ():
            if dim.args():
                raise VerifyException(f"expected a shape over symbols, got {dim}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return [_parse_shape(parser)]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(_shape_parameter(self.dims, self.rank))


def _shape_parameter(dims: Sequence[IntExpr] | None, rank: int | None) -> str:
    if dims is not None:
        return "[" + ", ".join(str(d) for d in dims) + "]"
    return "*" if rank is None else f"rank {rank}"


@irdl_attr_definition
class PrimType(ParametrizedAttribute, TypeAttribute):
    """A scalar: ``!relax.prim<i64, n + 1>``, or ``!relax.prim<i64>`` with an unknown value.

    TVM's ``PrimStructInfo``.
    """

    name = "relax.prim"
    element_type: Attribute = param_def()
    value: ExprAttr | NoneAttr = param_def()

    @staticmethod
    def of(element_type: Attribute, value: IntLike | None = None) -> PrimType:
        """The type of a scalar of this element type, with this value if it is given."""
        return PrimType(element_type, NoneAttr() if value is None else ExprAttr.of(value))

    @property
    def dtype(self) -> str:
        """The dtype's name."""
        return dtype_name(self.element_type)

    @property
    def expr(self) -> IntExpr | None:
        """The value over symbols; `None` if it is unknown."""
        return self.value.data if isinstance(self.value, ExprAttr) else None

    def verify(self) -> None:
        if not is_element_type(self.element_type):
            raise VerifyException(f"expected the type of a number, got {self.element_type}")
        if self.expr is not None and (
            self.expr.args() or not isinstance(self.element_type, IntegerType)
        ):
            raise VerifyException(f"expected an integer over symbols, got {self.expr}")
        if self.expr is not None and self.dtype == "int64":
            verify_int64(self.expr)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            type_ = parser.parse_type()
            if parser.parse_optional_punctuation(",") is None:
                return [type_, NoneAttr()]
            return [type_, ExprAttr(parse_expr(parser))]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.element_type)
            if self.expr is not None:
                printer.print_string(f", {self.expr}")


@irdl_attr_definition
class ObjectType(ParametrizedAttribute, TypeAttribute):
    """Any run-time value: ``!relax.object``; TVM's ``ObjectStructInfo``."""

    name = "relax.object"


@irdl_attr_definition
class FuncType(ParametrizedAttribute, TypeAttribute):
    """A function type: ``!relax.func<(!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>>``.

    ``impure`` comes first if calls may have effects. TVM's ``FuncStructInfo``.
    """

    name = "relax.func"
    params: ArrayAttr[Attribute] = param_def()
    result: Attribute = param_def()
    purity: BoolAttr = param_def()

    @property
    def impure(self) -> bool:
        """Whether calls may have effects."""
        return not self.purity.value.data

    @staticmethod
    def of(params: Sequence[Attribute], result: Attribute, impure: bool = False) -> FuncType:
        """The type of functions with these parameter types and this result type."""
        return FuncType(ArrayAttr(params), result, IntegerAttr.from_bool(not impure))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            impure = parser.parse_optional_keyword("impure") is not None
            params = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
            parser.parse_punctuation("->")
            result = parser.parse_type()
        return FuncType.of(params, result, impure).parameters

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string("impure " if self.impure else "")
            with printer.in_parens():
                printer.print_list(self.params.data, printer.print_attribute)
            printer.print_string(" -> ")
            printer.print_attribute(self.result)


def type_symbols(type_: Attribute) -> set[str]:
    """The symbols in a graph type, or in an array of expressions."""
    match type_:
        case ArrayAttr() | ExprAttr():
            return expr_symbols(type_)
        case TensorType():
            return type_.symbols()
        case ShapeType():
            return {s for d in type_.dims or () for s in d.symbols()}
        case PrimType():
            return set() if type_.expr is None else type_.expr.symbols()
        case TupleType(types=types):
            return {s for t in types.data for s in type_symbols(t)}
        case _:
            return set()


def tensors_in(type_: Attribute) -> list[TensorType]:
    """The tensors of a tensor or tuple type, flattened in order.

    A scalar of unknown value is held as a tensor of rank 0.
    """
    if isinstance(type_, TensorType):
        return [type_]
    if isinstance(type_, PrimType) and type_.expr is None:
        return [TensorType.of([], type_.element_type)]
    if isinstance(type_, TupleType):
        return [t for inner in type_.types.data for t in tensors_in(inner)]
    return []


def shape_text(type_: TensorType) -> str:
    """The shape as users write it: ``(1, n)``."""
    if type_.dims is None:
        return "of unknown rank" if type_.rank is None else f"of rank {type_.rank}"
    return python_shape(type_.dims)


def python_shape(dims: Sequence[IntExpr | int]) -> str:
    """A shape in Python's spelling: ``(1, n)``, ``(n,)``, ``()``."""
    inner = ", ".join(str(d) for d in dims)
    return f"({inner},)" if len(dims) == 1 else f"({inner})"
