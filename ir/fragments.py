"""Parts of graph functions as TVMScript: single values and lines, also of unfinished functions."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, Operation, Region, SSAValue

from ..dialects.relax import ConstantOp, DataflowOp, FuncOp, IfOp, LocalFuncOp, ObjectType
from ..dialects.relax.func import ReturnOp
from ..lowering.graph.values import canonical
from ..script.printer.metadata import Metadata
from ..script.printer.relax import FunctionPrinter
from ..script.printer.writer import RESERVED, Writer
from .detached import FreeVariable


class FragmentPrinter(FunctionPrinter):
    """Writes parts of the function that an operation stands in.

    A value that waits to be emitted is written where it is used.
    """

    def __init__(self, func: FuncOp | None):
        super().__init__(Writer(), func or _NOWHERE, Metadata(), None)
        if func is not None:
            self.write()
            self.writer = Writer()

    def value(self, value: SSAValue) -> str:
        value = canonical(value)
        owner = value.owner
        if value in self.values:
            return self.values[value]
        if isinstance(owner, FreeVariable):
            return f"{owner.name}_1" if owner.name in RESERVED else owner.name
        if isinstance(owner, ConstantOp):
            return self.metadata.constant(owner)
        if isinstance(owner, Operation) and owner.parent is None:
            return self._text(owner)
        return value.name_hint or "_"

    def operation(self, op: Operation) -> str:
        """What an operation computes."""
        if isinstance(op, IfOp):
            return "\n".join(self._choice_lines(op))
        if isinstance(op, LocalFuncOp):
            return "\n".join(self._written(op))
        return self.metadata.constant(op) if isinstance(op, ConstantOp) else self._text(op)

    def lines(self, op: Operation) -> list[str]:
        """An operation as statements."""
        if isinstance(op, DataflowOp):
            inner = [line for o in op.body.block.ops for line in self.lines(o)]
            outputs = ", ".join(self.value(v) for v in op.output.values)
            return [
                "with R.dataflow():",
                *(f"    {line}" for line in [*inner, f"R.output({outputs})"]),
            ]
        if isinstance(op, IfOp):
            return self._choice_lines(op)
        if isinstance(op, LocalFuncOp):
            return self._written(op)
        if isinstance(op, ConstantOp) or not op.results:
            return []
        return [f"{self.annotated(self.value(op.results[0]), op)} = {self._text(op)}"]

    def _written(self, op: LocalFuncOp) -> list[str]:
        inner = [line for o in op.body.block.ops for line in self.lines(o)]
        params = ", ".join(map(self.value, op.params))
        head, end = f"def {self.value(op.result)}({params}):", f"return {self.value(op.returned)}"
        return ["@R.function", head, *(f"    {line}" for line in [*inner, end])]

    def _choice_lines(self, op: IfOp) -> list[str]:
        found: list[str] = []
        heads = (f"if {self.value(op.condition)}:", "else:")
        for head, block, value in zip(heads, op.branches, op.yielded, strict=True):
            inner = [line for o in block.ops for line in self.lines(o)]
            if op.parent is None:  # no variable is bound to the choice yet
                inner.append(self.value(value))
            elif self.value(value) != self.value(op.result):
                inner.append(f"{self.value(op.result)} = {self.value(value)}")
            found += [head, *(f"    {line}" for line in inner)]
        return found


_NOWHERE = FuncOp("nowhere", [], ObjectType(), Region(Block()))


def _printer_for(op: Operation | None) -> FragmentPrinter:
    while op is not None and not isinstance(op, FuncOp):
        op = op.parent_op()
    is_complete = op is not None and isinstance(op.body.block.last_op, ReturnOp)
    return FragmentPrinter(op if is_complete else None)


def _place(value: SSAValue) -> Operation | None:
    return value.owner if isinstance(value.owner, Operation) else value.owner.parent_op()


def name_of(value: SSAValue) -> str:
    """The name of a variable."""
    owner = value.owner
    if isinstance(owner, FreeVariable):
        return owner.name
    func = owner.parent_op() if isinstance(owner, Block) else None
    if isinstance(func, FuncOp | LocalFuncOp):
        return func.names[list(func.params).index(value)]  # pyright: ignore[reportArgumentType]
    printer = _printer_for(_place(value))
    if isinstance(owner, ConstantOp):  # named where its dataflow block gives it
        return next(printer.values[v] for v in printer.values if canonical(v) is value)
    return value.name_hint or printer.value(value)


def value_text(value: SSAValue) -> str:
    """A value as it is written where it is used; one that has no name yet by what computes it."""
    place = _place(value)
    if isinstance(value.owner, Operation) and value.owner.parent is None:
        place = next((p for p in map(_place, value.owner.operands) if p is not None), place)
    return _printer_for(place).value(value)


def expression_text(op: Operation) -> str:
    """What an operation computes, as the right side of a statement."""
    return _printer_for(op).operation(op)


def block_text(operations: Sequence[Operation]) -> list[str]:
    """Operations of one function as statements."""
    printer = _printer_for(operations[0] if operations else None)
    return [line for op in operations for line in printer.lines(op)]
