"""What PyTorch assumes of the sizes of inputs: `torch.export` traces one branch of each condition.

For ``torch.export.Dim.AUTO``, an exported program has guards such as ``L['x'].size()[0] % 2 == 0``.
Each becomes a `relax.match_cast` of a shape, which fails for other sizes.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import count, takewhile
from typing import Any

from torch import fx

from ...dialects import relax
from ...dialects.bounds import never_negative
from ...dialects.int_expr import ZERO, IntExpr, maximum, minimum
from ..unsupported import Unsupported
from .context import Context
from .shapes import Symbols

_OPERATORS: dict[type[ast.operator], Callable[[IntExpr, IntExpr], IntExpr]] = {
    ast.Add: lambda a, b: a + b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
    ast.Mult: lambda a, b: a * b,
    ast.Sub: lambda a, b: a - b,
}
_FUNCTIONS: dict[str, Callable[[IntExpr, IntExpr], IntExpr]] = {"max": maximum, "min": minimum}

_EQUALITIES: dict[type[ast.cmpop], Callable[[IntExpr, IntExpr], tuple[IntExpr, IntExpr]]] = {
    ast.Eq: lambda a, b: (a, b),
    ast.NotEq: lambda a, b: (minimum(maximum(a - b, b - a), 1), IntExpr.of(1)),
    ast.GtE: lambda a, b: (maximum(b - a, 0), ZERO),
    ast.Gt: lambda a, b: (maximum(b - a + 1, 0), ZERO),
    ast.LtE: lambda a, b: (maximum(a - b, 0), ZERO),
    ast.Lt: lambda a, b: (maximum(a - b + 1, 0), ZERO),
}
"""Two numbers that are equal where a comparison is true."""
_JOINS: dict[type[ast.boolop], Callable[[IntExpr, IntExpr], IntExpr]] = {
    ast.And: maximum,
    ast.Or: minimum,
}
"""Of numbers that are 0 where their conditions are true, one for which all or any of these are."""


@dataclass(frozen=True)
class Guards:
    """The guards of a program, in Python.

    `arguments` are the placeholders of its inputs, in the structure of the model's arguments, by
    the names of these.
    """

    texts: Sequence[str] = ()
    arguments: Mapping[str, Any] = field(default_factory=lambda: dict[str, Any]())

    def check(self, context: Context) -> None:
        """Emit the checks of those that the ranges of symbols do not imply.

        Raises Unsupported for a guard that does not consist of comparisons of sizes.
        """
        for text in self.texts:
            reader = _Reader(context.symbols, self.arguments, text)
            _check(context, *reader.equality(ast.parse(text, mode="eval").body), text)


def _check(context: Context, given: IntExpr, wanted: IntExpr, text: str) -> None:
    intervals = context.symbols.intervals
    if all(never_negative(d, intervals) for d in (given - wanted, wanted - given)):
        return
    shape = relax.ShapeOp([given])
    context.insert(shape)
    context.insert(relax.MatchCastOp(shape.result, relax.ShapeType.of([wanted]), text))


class _Reader:
    """The values of a guard's expressions."""

    def __init__(self, symbols: Symbols, arguments: Mapping[str, Any], text: str):
        self.symbols, self.arguments, self.text = symbols, arguments, text

    def equality(self, tree: ast.expr) -> tuple[IntExpr, IntExpr]:
        """Two numbers that are equal where the condition `tree` is true."""
        match tree:
            case ast.Compare(left, [operator], [right]) if type(operator) in _EQUALITIES:
                return _EQUALITIES[type(operator)](self.number(left), self.number(right))
            case ast.BoolOp(op, values):
                return reduce(_JOINS[type(op)], map(self.distance, values)), ZERO
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return minimum(self.distance(operand), 1), IntExpr.of(1)
            case _:
                raise _unsupported(self.text)

    def distance(self, tree: ast.expr) -> IntExpr:
        """A number that is 0 where the condition `tree` is true, and positive elsewhere."""
        given, wanted = self.equality(tree)
        return maximum(given - wanted, wanted - given)

    def number(self, tree: ast.expr) -> IntExpr:
        match tree:
            case ast.Constant(value=int() as value):
                return IntExpr.of(value)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self.number(operand)
            case ast.BinOp(op=op) if type(op) in _OPERATORS:
                return _OPERATORS[type(op)](self.number(tree.left), self.number(tree.right))
            case ast.Call(func=ast.Name(id=name), args=args) if name in _FUNCTIONS:
                return reduce(_FUNCTIONS[name], map(self.number, args))
            case ast.Subscript(
                value=ast.Call(func=ast.Attribute(value=tensor, attr="size")),
                slice=ast.Constant(value=int() as axis),
            ):
                return self.symbols.expr(self.input(tensor).shape[axis])
            case _:
                return self.symbols.expr(self.input(tree))

    def input(self, tree: ast.expr) -> Any:
        """PyTorch's fake value of an input."""
        node = self.part(tree)
        if not isinstance(node, fx.Node):
            raise _unsupported(self.text)
        return node.meta["val"]

    def part(self, tree: ast.expr) -> Any:
        match tree:
            case ast.Subscript(value=ast.Name(id="L"), slice=ast.Constant(value=str() as name)):
                return self.argument(name)
            case ast.Subscript(slice=ast.Constant(value=key)):
                try:
                    return self.part(tree.value)[key]
                except (KeyError, IndexError, TypeError):
                    raise _unsupported(self.text) from None
            case _:
                raise _unsupported(self.text)

    def argument(self, name: str) -> Any:
        """An argument, or those of ``*name``, which are called `name_0` etc."""
        if name in self.arguments:
            return self.arguments[name]
        names = takewhile(self.arguments.__contains__, (f"{name}_{i}" for i in count()))
        return [self.arguments[n] for n in names]


def _unsupported(text: str) -> Unsupported:
    return Unsupported(
        f"expected guards that compare sizes of inputs, got {text}",
        "export the model with a torch.export.Dim that has a range",
    )
