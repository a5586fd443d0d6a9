"""Types of the `tir` dialect: buffers, the typed memory of loads, stores and calls."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from xdsl.dialects.builtin import ArrayAttr, NoneAttr, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ..dtypes import byte_width, dtype_name, is_element_type
from ..int_expr import ONE, IntExpr, IntLike
from ..sym import ExprArray, ExprAttr, expr_array, exprs_of, parse_expr

GLOBAL = "global"


@irdl_attr_definition
class BufferType(ParametrizedAttribute, TypeAttribute):
    """Memory of a dtype and shape: ``!tir.buffer<[1, n], f32>``; TVM's ``tir.Buffer``.

    Shapes, strides (in elements; row-major and dense when absent) and the element offset are
    integer expressions over the symbols of the function.
    """

    name = "tir.buffer"
    shape: ExprArray = param_def()
    element_type: Attribute = param_def()
    strides: ExprArray | NoneAttr = param_def()
    offset: ExprAttr = param_def()
    scope: StringAttr = param_def()

    @staticmethod
    def of(
        shape: Sequence[IntLike],
        element_type: Attribute,
        strides: Sequence[IntLike] | None = None,
        offset: IntLike = 0,
        scope: str = GLOBAL,
    ) -> BufferType:
        """The buffer type with these dims; the scope "" is global memory, as in TVM."""
        steps = NoneAttr() if strides is None else expr_array(strides)
        start, where = ExprAttr.of(offset), scope or GLOBAL
        return _buffer_type(expr_array(shape), element_type, steps, start, where)

    @property
    def dims(self) -> tuple[IntExpr, ...]:
        """The shape as expressions."""
        return exprs_of(self.shape)

    @property
    def rank(self) -> int:
        """The number of dims."""
        return len(self.shape.data)

    @property
    def dtype(self) -> str:
        """The dtype's name, such as "float32"."""
        return dtype_name(self.element_type)

    @property
    def is_dense(self) -> bool:
        """Whether the buffer is contiguous in row-major order, without an offset."""
        return isinstance(self.strides, NoneAttr) and self.offset.data == IntExpr.of(0)

    @property
    def has_strides(self) -> bool:
        """Whether strides are explicit, even if they are those of a dense buffer."""
        return not isinstance(self.strides, NoneAttr)

    def element_strides(self) -> tuple[IntExpr, ...]:
        """The strides in elements."""
        if not isinstance(self.strides, NoneAttr):
            return exprs_of(self.strides)
        strides: list[IntExpr] = []
        step = ONE
        for dim in reversed(self.dims):
            strides.append(step)
            step = step * dim
        return tuple(reversed(strides))

    def linear_index(self, indices: Sequence[IntExpr]) -> IntExpr:
        """The offset of an element from the start of the memory, in elements."""
        total = self.offset.data
        for index, stride in zip(indices, self.element_strides(), strict=True):
            total = total + index * stride
        return total

    def size_in_bytes(self) -> IntExpr:
        """The size of a dense buffer in bytes."""
        total = IntExpr.of(byte_width(self.element_type))
        for dim in self.dims:
            total = total * dim
        return total

    @property
    def known_bytes(self) -> int | None:
        """`size_in_bytes` as a number; `None` if it is symbolic."""
        return self.size_in_bytes().constant

    def symbols(self) -> set[str]:
        """The symbols in the shape, strides and offset."""
        arrays = [self.dims, () if isinstance(self.strides, NoneAttr) else exprs_of(self.strides)]
        return {
            s for exprs in arrays for e in exprs for s in e.symbols()
        } | self.offset.data.symbols()

    def verify(self) -> None:
        if not is_element_type(self.element_type):
            raise VerifyException(f"expected an element type of a tensor, got {self.element_type}")
        if not isinstance(self.strides, NoneAttr) and len(self.strides.data) != self.rank:
            raise VerifyException(
                f"expected {self.rank} strides for a buffer of rank {self.rank}, "
                f"got {len(self.strides.data)}"
            )
        for dim in self.dims:
            if dim.args():
                raise VerifyException(f"expected buffer dims over symbols, got {dim}")
            if (value := dim.constant) is not None and value < 0:
                raise VerifyException(f"expected buffer dims of at least 0, got {value}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            shape = _parse_shape(parser)
            parser.parse_punctuation(",")
            element_type = parser.parse_type()
            strides: Attribute = NoneAttr()
            offset, scope = ExprAttr.of(0), StringAttr(GLOBAL)
            while parser.parse_optional_punctuation(","):
                if parser.parse_optional_keyword("strides"):
                    parser.parse_punctuation("=")
                    strides = _parse_shape(parser)
                elif parser.parse_optional_keyword("offset"):
                    parser.parse_punctuation("=")
                    offset = ExprAttr(parse_expr(parser))
                else:
                    scope = StringAttr(parser.parse_str_literal(" of the buffer's scope") or GLOBAL)
        return [shape, element_type, strides, offset, scope]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            print_shape(printer, self.dims)
            printer.print_string(", ")
            printer.print_attribute(self.element_type)
            if not isinstance(self.strides, NoneAttr):
                printer.print_string(", strides = ")
                print_shape(printer, exprs_of(self.strides))
            if self.offset.data.terms:
                printer.print_string(f", offset = {self.offset.data}")
            if self.scope.data != GLOBAL:
                printer.print_string(", ")
                printer.print_string_literal(self.scope.data)


@irdl_attr_definition
class HandleType(ParametrizedAttribute, TypeAttribute):
    """A pointer: ``!tir.handle``, ``!tir.handle<f32>``, ``!tir.handle<f32, "shared">``.

    TVM's ``T.handle``. Without an element type it points to anything.
    """

    name = "tir.handle"
    element_type: Attribute = param_def()
    scope: StringAttr = param_def()

    @staticmethod
    def of(element_type: Attribute | None = None, scope: str = GLOBAL) -> HandleType:
        """The type of pointers to elements in memory of a scope."""
        return HandleType(element_type or NoneAttr(), StringAttr(scope or GLOBAL))

    def verify(self) -> None:
        is_typed = not isinstance(self.element_type, NoneAttr)
        if is_typed and not is_element_type(self.element_type):
            raise VerifyException(f"expected an element type of a tensor, got {self.element_type}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        element: Attribute = NoneAttr()
        scope = StringAttr(GLOBAL)
        if parser.parse_optional_punctuation("<"):
            text = parser.parse_optional_str_literal()
            if text is None:
                element = parser.parse_type()
                if parser.parse_optional_punctuation(","):
                    text = parser.parse_str_literal()
            scope = StringAttr(text or GLOBAL)
            parser.parse_punctuation(">")
        return [element, scope]

    def print_parameters(self, printer: Printer) -> None:
        parts: list[str] = []
        if not isinstance(self.element_type, NoneAttr):
            parts.append(str(self.element_type))
        if self.scope.data != GLOBAL:
            parts.append(f'"{self.scope.data}"')
        if parts:
            printer.print_string(f"<{', '.join(parts)}>")


@lru_cache(maxsize=1 << 12)
def _buffer_type(
    shape: ExprArray,
    element_type: Attribute,
    strides: ExprArray | NoneAttr,
    offset: ExprAttr,
    scope: str,
) -> BufferType:
    return BufferType(shape, element_type, strides, offset, StringAttr(scope))


def _parse_shape(parser: AttrParser) -> ExprArray:
    dims = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_expr(parser))
    return ArrayAttr([ExprAttr(d) for d in dims])


def print_shape(printer: Printer, dims: Sequence[IntExpr]) -> None:
    """Print ``[n, m * 4]``."""
    printer.print_string("[" + ", ".join(str(d) for d in dims) + "]")
