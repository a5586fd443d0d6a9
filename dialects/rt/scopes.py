"""The scopes of symbols in functions of the executable."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from ..tir.func import symbols_of
from .loop import ForOp
from .sizes import ReadSizesOp


def verify_symbols(func: Operation, known: Sequence[str], name: str) -> None:
    """Verify that parameters, a loop around the use, or sizes read earlier declare symbols."""
    work: list[tuple[Operation, frozenset[str]]] = [(func, frozenset(known))]
    while work:
        op, declared = work.pop()
        for symbol in sorted(symbols_of(op) - declared):
            raise VerifyException(
                f"symbol '{symbol}' in '{op.name}' is not determined by the parameters of '{name}'"
            )
        if isinstance(op, ForOp):
            declared = declared | _new(declared, [op.var.data], "a loop")
        for block in (block for region in op.regions for block in region.blocks):
            inner = declared
            for nested in block.ops:
                work.append((nested, inner))
                if isinstance(nested, ReadSizesOp):
                    names = [name for name, _ in nested.symbols]
                    inner = inner | _new(inner, names, f"'{nested.name}'")


def _new(declared: frozenset[str], names: Sequence[str], what: str) -> frozenset[str]:
    for name in names:
        if name in declared:
            raise VerifyException(f"expected a new symbol of {what}, got '{name}'")
    return frozenset(names)
