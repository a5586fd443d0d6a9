"""The `sym` dialect: integer expressions as attributes, in one syntax for all dialects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import TypeAlias, cast

from xdsl.dialects.builtin import ArrayAttr, IndexType
from xdsl.ir import Attribute, Block, Data, Dialect, Operation, Region, SSAValue
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser, Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from .int_expr import (
    RESERVED,
    Arg,
    Atom,
    IntExpr,
    IntLike,
    Sym,
    arg,
    compound,
    render,
    symbol_text,
)

ParseLeaf: TypeAlias = Callable[[], IntExpr | None]


@irdl_attr_definition
class ExprAttr(Data[IntExpr]):
    """An integer expression over symbols and operands: ``#sym.expr<n * 4 + arg(0)>``."""

    name = "sym.expr"

    @staticmethod
    def of(value: IntLike) -> ExprAttr:
        """The attribute of an int, an atom, or an expression."""
        return _expr_attr(IntExpr.of(value))

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> IntExpr:
        with parser.in_angle_brackets():
            return parse_expr(parser)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(render(self.data))


_expr_attr = lru_cache(maxsize=1 << 16)(ExprAttr)


def verify_int64(value: IntExpr) -> None:
    """Raise VerifyException for a constant that is out of range for int64."""
    number = value.constant
    if number is not None and not -(1 << 63) <= number < 1 << 63:
        raise VerifyException(f"expected a number of int64, got {number}")


ExprArray: TypeAlias = ArrayAttr[ExprAttr]


def expr_array(values: Iterable[IntLike]) -> ExprArray:
    """An array attribute of expressions, such as a shape."""
    return _expr_array(tuple([IntExpr.of(v) for v in values]))


@lru_cache(maxsize=1 << 16)
def _expr_array(exprs: Sequence[IntExpr]) -> ExprArray:
    return ArrayAttr([ExprAttr.of(e) for e in exprs])


def exprs_of(array: ExprArray) -> tuple[IntExpr, ...]:
    """The expressions of an array attribute."""
    return tuple([a.data for a in array.data])


def expr_symbols(attribute: Attribute) -> set[str]:
    """The symbols in an expression or an array of expressions; none in other attributes."""
    match attribute:
        case ExprAttr(data=data):
            return data.symbols()
        case ArrayAttr(data=items):
            return {s for item in cast("Sequence[Attribute]", items) for s in expr_symbols(item)}
        case _:
            return set()


def parse_expr(parser: AttrParser, leaf: ParseLeaf = lambda: None) -> IntExpr:
    """Parse a sum; `leaf` may parse a token of the caller's syntax, such as ``%i``."""
    total = _parse_product(parser, leaf)
    while True:
        if parser.parse_optional_punctuation("+"):
            total = total + _parse_product(parser, leaf)
        elif parser.parse_optional_punctuation("-"):
            total = total - _parse_product(parser, leaf)
        else:
            return total


def _parse_product(parser: AttrParser, leaf: ParseLeaf) -> IntExpr:
    product = _parse_factor(parser, leaf)
    while True:
        if parser.parse_optional_punctuation("*"):
            product = product * _parse_factor(parser, leaf)
        elif op := parser.parse_optional_keyword_in(("floordiv", "mod")):
            product = compound(op, product, _parse_factor(parser, leaf))
        else:
            return product


def _parse_factor(parser: AttrParser, leaf: ParseLeaf) -> IntExpr:
    if (own := leaf()) is not None:
        return own
    if parser.parse_optional_punctuation("-"):
        return -_parse_factor(parser, leaf)
    if parser.parse_optional_punctuation("("):
        inner = parse_expr(parser, leaf)
        parser.parse_punctuation(")")
        return inner
    if (
        value := parser.parse_optional_integer(allow_boolean=False, allow_negative=False)
    ) is not None:
        return IntExpr.of(value)
    return _parse_name(parser, leaf)


def _parse_name(parser: AttrParser, leaf: ParseLeaf) -> IntExpr:
    position = parser.pos
    if (quoted := parser.parse_optional_str_literal()) is not None:
        return IntExpr.of(Sym(quoted))
    name = parser.parse_optional_identifier()
    if name is None:
        parser.raise_error("expected an integer expression")
    if name not in RESERVED:
        return IntExpr.of(Sym(name))
    if name == "arg":
        parser.parse_punctuation("(")
        index = parser.parse_integer(allow_boolean=False, allow_negative=False)
        parser.parse_punctuation(")")
        return IntExpr.of(Arg(index))
    if name in ("min", "max"):
        parser.parse_punctuation("(")
        lhs = parse_expr(parser, leaf)
        parser.parse_punctuation(",")
        rhs = parse_expr(parser, leaf)
        parser.parse_punctuation(")")
        return compound(name, lhs, rhs)
    parser.raise_error(f"expected an integer expression, got '{name}'", position)


def parse_symbol(parser: AttrParser) -> str:
    """Parse the name of a symbol, bare or in quotes."""
    return parser.parse_identifier_or_str_literal(" of a symbol")


def parse_body(parser: Parser) -> Region:
    """Parse a region of one block without arguments; ``{ }`` is an empty block, not no block."""
    region = parser.parse_region()
    if not region.blocks:
        region.add_block(Block())
    return region


class OperandScope:
    """The index operands in parsed expressions: each distinct ``%name`` becomes one operand."""

    def __init__(self, parser: Parser):
        self.parser = parser
        self.names: dict[str, int] = {}
        self.unresolved: list[UnresolvedOperand] = []
        self.first = 0

    def number_first(self, names: Sequence[str]) -> None:
        """Give these names, which are not operands, the first positions."""
        self.first = len(names)
        self.names = {name: number + self.first for name, number in self.names.items()}
        self.names |= {name: number for number, name in enumerate(names)}

    def leaf(self) -> IntExpr | None:
        """Take ``%name`` if it comes next."""
        operand = self.parser.parse_optional_unresolved_operand()
        if operand is None:
            return None
        key = operand.operand_name
        if key not in self.names:
            self.names[key] = self.first + len(self.unresolved)
            self.unresolved.append(operand)
        return IntExpr.of(Arg(self.names[key]))

    def expr(self) -> IntExpr:
        """Parse one expression."""
        return parse_expr(self.parser, self.leaf)

    def exprs(self) -> list[IntExpr]:
        """Parse ``[expr, …]``."""
        return self.parser.parse_comma_separated_list(self.parser.Delimiter.SQUARE, self.expr)

    def resolve(self) -> list[SSAValue]:
        """The operands, in the order of their positions."""
        return [self.parser.resolve_operand(u, IndexType()) for u in self.unresolved]


class Values:
    """A numbering of SSA values for expressions under construction.

    ``arg(i)`` is the i-th distinct value.
    """

    def __init__(self) -> None:
        self.list: list[SSAValue] = []
        self._numbers: dict[SSAValue, int] = {}

    def expr(self, value: SSAValue) -> IntExpr:
        """The expression of a value."""
        number = self._numbers.get(value)
        if number is None:
            number = self._numbers[value] = len(self.list)
            self.list.append(value)
        return arg(number)

    def atom(self, value: SSAValue) -> Atom:
        """The atom of a value in expressions."""
        atom = self.expr(value).as_atom
        assert atom is not None
        return atom

    def rebase(self, expr: IntExpr, operands: Sequence[SSAValue]) -> IntExpr:
        """Renumber an expression of an operation, whose ``arg(i)`` is ``operands[i]``."""
        return expr.substitute({Arg(i): self.expr(operands[i]) for i in expr.args()})

    def exprs(self, array: ExprArray, operands: Sequence[SSAValue]) -> list[IntExpr]:
        """Renumber an operation's expressions, such as the indices of a load."""
        return [self.rebase(e, operands) for e in exprs_of(array)]


def print_expr(
    printer: Printer, expr: IntExpr, operands: Sequence[SSAValue], names: Sequence[SSAValue] = ()
) -> None:
    """Print an expression with the names of its operands.

    `names` precede `operands` in the numbering.
    """
    values = [*names, *operands]

    def mark(atom: Sym | Arg) -> str:
        return symbol_text(atom.name) if isinstance(atom, Sym) else f"\0{atom.index}\0"

    for position, piece in enumerate(render(expr, mark).split("\0")):
        if position % 2:
            printer.print_ssa_value(values[int(piece)])
        else:
            printer.print_string(piece)


def print_exprs(printer: Printer, exprs: Iterable[IntExpr], operands: Sequence[SSAValue]) -> None:
    """Print ``[expr, …]``."""
    with printer.in_square_brackets():
        printer.print_list(exprs, lambda e: print_expr(printer, e, operands))


def verify_args(op: Operation, exprs: Sequence[IntExpr], operands: int) -> None:
    """Raise VerifyException unless every ``arg(i)`` of the expressions is an operand."""
    for expr in exprs:
        for index in expr.args():
            if index >= operands:
                raise VerifyException(
                    f"expected at most {operands} index operands in '{op.name}', got arg({index})"
                )


def pack(
    exprs: Iterable[IntExpr], values: Sequence[SSAValue], first: Sequence[SSAValue] = ()
) -> tuple[list[SSAValue], list[IntExpr]]:
    """Renumber operands by first occurrence; merge equal ones and drop unused ones.

    The operands of `exprs` are positions in `values`. Returns the operands in use, and the new
    expressions. The values in `first` get the first positions, and are not returned.
    """
    exprs = list(exprs)
    position = {value: number for number, value in enumerate(first)}
    used = dict.fromkeys(index for expr in exprs for index in expr.args_in_order)
    mapping: dict[Atom, IntLike] = {
        Arg(index): Arg(position.setdefault(values[index], len(position))) for index in used
    }
    if any(old is not new for old, new in mapping.items()):
        exprs = [e.substitute(mapping) for e in exprs]
    return list(position)[len(first) :], exprs


SymDialect = Dialect("sym", [], [ExprAttr])
