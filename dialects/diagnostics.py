"""Diagnostics of the IR: one-line messages with the operation and its location."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from xdsl.dialects.builtin import FileLineColLoc, StringAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import DiagnosticException, VerifyException

from ..runtime.errors import TVMError


def suggestion(name: str, known: Iterable[str]) -> str:
    """``, did you mean 'grid'?`` if a known name is similar, else the empty string."""
    close = get_close_matches(name, known, 1)
    return f", did you mean '{close[0]}'?" if close else ""


class OpError(TVMError, TypeError, ValueError):
    """Arguments that an operator of the graph does not take, or whose types do not fit it."""


class BuilderError(TVMError, ValueError):
    """A function that is built in a wrong order, or of parts that do not fit."""


class Diagnostic(DiagnosticException, TVMError):
    """A violation of a rule: the message, the operation, and its location if known."""

    def __init__(self, message: str, op: Operation | None = None):
        self.message = message
        self.op_name = None if op is None else op.name
        location = None if op is None else op.location
        known = isinstance(location, FileLineColLoc)
        self.filename = location.filename.data if known else None
        self.line = location.line.data if known else None
        self.column = location.column.data if known else None
        super().__init__(str(self))

    def __str__(self) -> str:
        place = (
            "" if self.filename is None else f"{self.filename}:{self.line}:{self.column}: error: "
        )
        name = (
            ""
            if self.op_name is None or f"'{self.op_name}'" in self.message
            else f"'{self.op_name}': "
        )
        return f"{place}{name}{self.message}"


def verify(root: Operation) -> None:
    """Verify an operation and all nested ones, and that definitions dominate uses.

    Raises Diagnostic for the first violation. Works at any nesting depth.
    """
    defined: set[SSAValue] = set()
    work: list[tuple[Operation | Block, bool]] = [(root, False)]
    while work:
        item, leaving = work.pop()
        if isinstance(item, Block):
            if leaving:
                _forget(item, defined)
            else:
                defined.update(item.args)
                if _is_only_block(item):
                    work.append((item, True))
                work += [(op, False) for op in reversed(list(item.ops))]
        elif leaving:
            defined.update(item.results)
        else:
            _verify_op(item, defined, item is root)
            work.append((item, True))
            work += [
                (block, False)
                for region in reversed(item.regions)
                for block in _blocks(region, defined)
            ]


def _is_only_block(block: Block) -> bool:
    """Whether the block is alone in its region, so that no other block can use its values."""
    region = block.parent
    return region is None or region.first_block is region.last_block


def _blocks(region: Region, defined: set[SSAValue]) -> list[Block]:
    blocks = list(region.blocks)
    if len(blocks) > 1:  # a control flow graph, whose dominance LLVM verifies
        for block in blocks:
            defined.update(r for op in block.ops for r in op.results)
            defined.update(block.args)
    return blocks[::-1]


def _forget(block: Block, defined: set[SSAValue]) -> None:
    defined.difference_update(block.args)
    for op in block.ops:
        defined.difference_update(op.results)


def _verify_op(op: Operation, defined: set[SSAValue], is_root: bool) -> None:
    if not is_root:
        for operand in op.operands:
            if operand not in defined:
                name = operand.name_hint or "a value"
                raise Diagnostic(
                    f"expected '{name}' to be defined before its use in '{op.name}'", op
                )
    try:
        op.verify(verify_nested_ops=False)
    except VerifyException as error:
        raise _outside_value(op) or Diagnostic(_one_line(str(error)), op) from None
    except RecursionError:
        raise Diagnostic("regions are nested too deeply", op) from None


def _outside_value(op: Operation) -> Diagnostic | None:
    """The error of a function that uses a value from outside, if it does."""
    name = op.properties.get("sym_name")
    if not op.has_trait(IsolatedFromAbove) or not isinstance(name, StringAttr):
        return None
    uses = ((v, user) for user in op.walk() if user is not op for v in user.operands)
    for value, user in uses:
        if not op.is_ancestor(value.owner):
            text = f"expected '{value.name_hint}' to be defined in '{name.data}'"
            return Diagnostic(text, user)
    return None


def _one_line(message: str) -> str:
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    return lines[-1] if lines else "does not verify"
