"""`tir.prim_func` and assertions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IndexType, IntegerType, StringAttr
from xdsl.ir import (
    Attribute,
    BlockArgument,
    Operation,
    Region,
    SSAValue,
)
from xdsl.irdl import (
    operand_def,
    opt_prop_def,
    prop_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, NoTerminator, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from ..attributes import from_attribute, to_attribute
from ..dtypes import dtype_name, element_type, is_element_type, value_type
from ..int_expr import Sym
from ..irdl import IRDLOperation, irdl_op_definition
from ..nesting import operations_in
from ..parameters import FunctionOp, parse_parameters, print_parameters, print_text
from ..sym import ExprAttr
from .block_attributes import AxisAttr, BoundAttr, RegionAttr
from .types import BufferType, HandleType

LAYOUT_FREE = "layout_free_buffers"
"""The attribute with the positions of parameters whose layout a schedule may choose."""

REUSE_DISTANCE = "reuse_distance"
"""The attribute with the least bytes that its callers read and write until they call it again."""

LAYOUT_FREE_INPUTS = "layout_free_placeholders"
"""The attribute of a definition or block that lists inputs whose layout a schedule may choose."""


@irdl_op_definition
class PrimFuncOp(FunctionOp):
    """A function on buffers in destination-passing style; TVM's ``tir.PrimFunc``.

    ``tir.prim_func @relu(%X: !tir.buffer<[1, n], f32>, %Y: !tir.buffer<[1, n], f32>) { … }``. A
    symbol in the shape of a parameter is declared if it is a whole dim of a parameter, or the name
    of an `index` parameter. `param_names` are the user-visible names of parameters; a buffer
    parameter of a handle has the handle's name there, and the buffer's name as its SSA name.
    Scalars are signless, as in `arith`; `unsigned` has the names of unsigned parameters: ``(%s: i8)
    unsigned ("s")``.
    """

    name = "tir.prim_func"
    sym_name = prop_def(StringAttr)
    attrs = opt_prop_def(DictionaryAttr)
    unsigned = opt_prop_def(ArrayAttr[StringAttr])
    traits = traits_def(NoTerminator(), IsolatedFromAbove(), SymbolOpInterface())

    def __init__(
        self,
        name: str,
        param_names: Sequence[str],
        body: Region,
        attrs: DictionaryAttr | None = None,
        unsigned: Sequence[str] = (),
    ):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "param_names": ArrayAttr([StringAttr(n) for n in param_names]),
                "attrs": attrs,
                "unsigned": ArrayAttr([StringAttr(n) for n in unsigned]) if unsigned else None,
            },
            regions=[body],
        )

    def element_type_of(self, param: BlockArgument) -> Attribute:
        """The type of a scalar parameter in memory, with its signedness."""
        name = self.names[param.index]
        if self.unsigned is not None and StringAttr(name) in self.unsigned.data:
            return element_type(f"u{dtype_name(param.type)}")
        return param.type

    @property
    def reuse_distance(self) -> int:
        """The bytes of `REUSE_DISTANCE`; 0 where they are not known."""
        distance = self.attr(REUSE_DISTANCE)
        return int(from_attribute(distance)) if distance is not None else 0

    def declared_symbols(self) -> list[str]:
        """The symbols that parameters determine, in order of first occurrence."""
        found: dict[str, None] = {}
        for name, param in zip(self.names, self.params, strict=True):
            if isinstance(param.type, BufferType):
                for dim in param.type.dims:
                    if isinstance(atom := dim.as_atom, Sym):
                        found[atom.name] = None
            elif isinstance(param.type, IndexType):
                found[name] = None
        return list(found)

    def matched_symbols(self) -> list[str]:
        """Symbols that are only a whole stride or the offset of a parameter.

        They match the strides and offset of the argument's buffer: a function with such symbols is
        the implementation of a tensor intrinsic, and is not compiled by itself.
        """
        found: dict[str, None] = {}
        for param in self.params:
            if isinstance(param.type, BufferType):
                strides = param.type.element_strides() if param.type.has_strides else ()
                for expr in (*strides, param.type.offset.data):
                    if isinstance(atom := expr.as_atom, Sym):
                        found[atom.name] = None
        return [s for s in found if s not in self.declared_symbols()]

    def attr(self, key: str) -> Attribute | None:
        """A function attribute, such as "global_symbol" or "tir.noalias"."""
        return None if self.attrs is None else self.attrs.data.get(key)

    def set_attr(self, key: str, value: Any) -> None:
        """Set a function attribute to a Python value; `None` removes it."""
        attrs = {} if self.attrs is None else dict(self.attrs.data)
        if value is not None:
            self.attrs = DictionaryAttr({**attrs, key: to_attribute(value)})
        elif attrs.pop(key, None) is not None:
            self.attrs = DictionaryAttr(attrs)

    @property
    def layout_free(self) -> list[BlockArgument]:
        """The parameters with constant arguments, whose layout a schedule may choose."""
        positions = self.attr(LAYOUT_FREE)
        return [] if positions is None else [self.params[i] for i in from_attribute(positions)]

    def _verify_layout_free(self, positions: Attribute) -> None:
        buffers = [p.index for p in self.params if isinstance(p.type, BufferType)]
        given = from_attribute(positions)
        if not isinstance(positions, ArrayAttr) or any(p not in buffers for p in given):
            raise VerifyException(
                f"expected '{LAYOUT_FREE}' of '{self.sym_name.data}' to be a list of positions of "
                f"buffers ({', '.join(map(str, buffers))}), got {given}"
            )

    def verify_(self) -> None:
        self.verify_parameters()
        if (positions := self.attr(LAYOUT_FREE)) is not None:
            self._verify_layout_free(positions)
        for name, param in zip(self.names, self.params, strict=True):
            if not (
                isinstance(param.type, BufferType | HandleType | IndexType)
                or (is_element_type(param.type) and value_type(param.type) == param.type)
            ):
                raise VerifyException(
                    f"expected parameter '{name}' to be a buffer or a scalar, got {param.type}"
                )
        params = zip(self.names, self.params, strict=True)
        integers = {n for n, p in params if is_element_type(p.type) and "int" in dtype_name(p.type)}
        for name in () if self.unsigned is None else self.unsigned.data:
            if name.data not in integers:
                raise VerifyException(f"expected '{name.data}' to be an integer parameter")
        declared = {*self.declared_symbols(), *self.matched_symbols()}
        for op in operations_in(self):
            for symbol in sorted(symbols_of(op) - declared):
                raise VerifyException(
                    f"symbol '{symbol}' in '{op.name}' is not determined by the parameters of "
                    f"'{self.sym_name.data}'"
                )

    @classmethod
    def parse(cls, parser: Parser) -> PrimFuncOp:
        name = parser.parse_symbol_name().data
        args, names = parse_parameters(parser)
        unsigned: list[str] = []
        if parser.parse_optional_keyword("unsigned"):
            unsigned = parser.parse_comma_separated_list(
                parser.Delimiter.PAREN, parser.parse_str_literal
            )
        attrs = parser.parse_optional_attr_dict_with_keyword()
        body = parser.parse_region(args)
        return PrimFuncOp(name, names, body, attrs, unsigned)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_parameters(printer, self.sym_name.data, self.params, self.names)
        if self.unsigned is not None:
            printer.print_string(" unsigned ")
            with printer.in_parens():
                printer.print_list(self.unsigned.data, lambda n: print_text(printer, n.data))
        if self.attrs is not None and self.attrs.data:
            printer.print_string(" attributes ")
            printer.print_attribute(self.attrs)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)


def _add_symbols(attribute: Any, found: set[str]) -> None:
    kind = cast("type[Any]", type(attribute))  # `isinstance` would double the time
    if kind is ExprAttr:
        if not attribute.data.is_constant:
            found |= attribute.data.symbols()
    elif kind is ArrayAttr:
        for item in attribute.data:
            _add_symbols(item, found)
    elif kind in (AxisAttr, BoundAttr, RegionAttr):
        for parameter in attribute.parameters:
            _add_symbols(parameter, found)


def symbols_of(op: Operation) -> set[str]:
    """The symbols in an operation's expressions, and in its result and block argument types."""
    found: set[str] = set()
    for attribute in op.properties.values():
        _add_symbols(attribute, found)
    values: list[SSAValue] = [
        *op.results,
        *(a for r in op.regions for b in r.blocks for a in b.args),
    ]
    for value in values:
        if isinstance(value.type, BufferType):
            found |= value.type.symbols()
    return found


@irdl_op_definition
class AssertOp(IRDLOperation):
    """Fail at run time with a message unless the condition holds.

    ``tir.assert %ok, "n must be even"``.
    """

    name = "tir.assert"
    condition = operand_def(IntegerType(1))
    message = prop_def(StringAttr)
    assembly_format = "$condition `,` $message attr-dict"

    def __init__(self, condition: SSAValue, message: str):
        super().__init__(operands=[condition], properties={"message": StringAttr(message)})
