"""Parts of graph functions as TVMScript, with what their free variables are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.ir import Attribute, Operation, SSAValue

from ..dialects.relax import ConstantOp
from ..dialects.relax.types import type_symbols
from ..display.show import show_code
from ..lowering.graph.values import canonical
from ..script.printer.relax_types import Types

Step = tuple[SSAValue, SSAValue | None]
"""A value that is written, and the variable that it is bound to."""


class Part:
    """What prints as TVMScript: `_text` writes it, `_steps` are the values in it, in order."""

    def script(self, *, verbose_expr: bool = False) -> str:
        """The part as TVMScript; with `verbose_expr` below lines that declare its free variables.

        ``x = T.int64()`` declares a symbol, ``a: R.Tensor((1, x), dtype="float32")`` a variable.
        """
        lines = declarations(self._steps()) if verbose_expr else ()
        return "\n".join([*lines, self._text()])

    def show(self, style: str | None = None, black_format: bool | None = None) -> None:
        """Show the part as TVMScript, as `IRModule.show`."""
        show_code(self.script(), style, black_format)

    def _text(self) -> str:
        raise NotImplementedError

    def _steps(self) -> Iterable[Step]:
        raise NotImplementedError

    def __str__(self) -> str:
        return self.script()

    def __repr__(self) -> str:
        return self.script()


def declarations(steps: Iterable[Step]) -> list[str]:
    """Lines that declare the symbols and variables of some values, in order of appearance."""
    free = _Free()
    for value, variable in steps:
        free.visit(value)
        if variable is not None:
            free.known.add(canonical(variable))
    return free.lines


def symbol_lines(symbols: Iterable[str]) -> list[str]:
    """``n = T.int64()`` for each symbol."""
    return [f"{name} = T.int64()" for name in symbols]


class _Free:
    """Collects the declarations of what values read and no earlier one has bound."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.known: set[SSAValue] = set()
        self._symbols: set[str] = set()

    def visit(self, value: SSAValue) -> None:
        """Declare what a value is made from, or the value itself if it is a variable."""
        value = canonical(value)
        owner = value.owner
        if value in self.known:
            return
        if isinstance(owner, Operation) and (owner.parent is None or isinstance(owner, ConstantOp)):
            self.visit_operands(owner)
        else:
            self._declare(value)

    def visit_operands(self, op: Operation) -> None:
        """Declare what an operation reads, and then the symbols of its results."""
        for inner in op.walk():
            for operand in inner.operands:
                if not _is_inside(operand, op):
                    self.visit(operand)
        for result in op.results:
            self._declare_symbols(result.type)

    def _declare(self, value: SSAValue) -> None:
        from .fragments import value_text

        self.known.add(value)
        self._declare_symbols(value.type)
        self.lines.append(f"{value_text(value)}: {Types({}).text(value.type)}")

    def _declare_symbols(self, type_: Attribute) -> None:
        new = sorted(set(type_symbols(type_)) - self._symbols)
        self._symbols |= {*new}
        self.lines += symbol_lines(new)


def _is_inside(value: SSAValue, op: Operation) -> bool:
    """Whether a value is defined in a region of an operation."""
    return any(region.is_ancestor(value.owner) for region in op.regions)


def steps_of(parts: Iterable[Part]) -> Iterator[Step]:
    """The steps of several parts, one after the other."""
    for part in parts:
        yield from part._steps()  # pyright: ignore[reportPrivateUsage]
