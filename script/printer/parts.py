"""Single statements of a kernel as TVMScript."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.tir import PrimFuncOp
from ...dialects.tir.statement_lists import StatementLists
from .module import PrimFuncPrinter
from .tir_statements import Statements
from .writer import Names, Writer


class StatementPrinter:
    """Writes statements of a kernel with the names that values from outside have in it."""

    def __init__(self, func: PrimFuncOp):
        self._kernel = PrimFuncPrinter(Writer(), func, None)
        self._kernel.write()
        self._lists = StatementLists(func)

    def text(self, operations: Sequence[Operation]) -> str:
        """Some statements, one after the other."""
        symbols, expressions = self._kernel.symbols.values(), self._kernel.expressions
        writer, names = Writer(), Names((*symbols, *self.outside(operations)))
        statements = Statements(writer, names, expressions, self._lists)
        defined, known = _defined_by(operations), expressions.names
        expressions.names = {v: name for v, name in known.items() if v not in defined}
        for op in operations:
            statements.statement(op)
        expressions.names = known
        return writer.text()

    def outside(self, operations: Sequence[Operation]) -> dict[str, Attribute]:
        """The names and types of the values from outside that are used."""
        names, defined = self._kernel.expressions.names, _defined_by(operations)
        found: dict[str, Attribute] = {}
        seen = defined.copy()
        pending = [o for root in operations for op in root.walk() for o in op.operands]
        while pending:
            value = pending.pop()
            if value in seen:
                continue
            seen.add(value)
            if value in names:
                found[names[value]] = value.type
            elif isinstance(value.owner, Operation):
                pending += [o for op in value.owner.walk() for o in op.operands]
        return found


def _defined_by(operations: Sequence[Operation]) -> set[SSAValue]:
    return {value for root in operations for op in root.walk() for value in _values_of(op)}


def _values_of(op: Operation) -> Iterator[SSAValue]:
    """The values that an operation and its regions define."""
    yield from op.results
    for region in op.regions:
        for block in region.blocks:
            yield from block.args
