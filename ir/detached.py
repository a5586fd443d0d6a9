"""Operations and variables outside of functions: who owns them, and when they are erased.

An operation uses its operands from its creation on. It is erased if it is not emitted and has no
references, so that a discarded expression leaves no uses in the IR.
"""

from __future__ import annotations

import weakref
from collections.abc import Generator
from contextlib import contextmanager
from weakref import WeakKeyDictionary, WeakSet, WeakValueDictionary

from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue
from xdsl.rewriter import Rewriter

from ..dialects.parameters import value_name

VARIABLES: WeakKeyDictionary[SSAValue, SSAValue] = WeakKeyDictionary()
"""What the values of built functions are known as: parameters are the variables given for them.

A copy of a module that is being built has the values of the original.
"""


def known_as(value: SSAValue) -> SSAValue:
    """The value that views of this one stand for."""
    while (other := VARIABLES.get(value)) is not None:
        value = other
    return value


def copy_values(func: Operation, copy: Operation) -> None:
    """Let the values of a copy be known as those of the original."""
    for old, new in zip(func.walk(), copy.walk(), strict=True):
        VARIABLES.update(zip(new.results, old.results, strict=True))
        for region, other in zip(old.regions, new.regions, strict=True):
            for block, same in zip(region.blocks, other.blocks, strict=True):
                VARIABLES.update(zip(same.args, block.args, strict=True))


class FreeVariable(Block):
    """The owner of a variable that is no parameter yet: a block of its own."""

    def __init__(self, name: str, type_: Attribute, is_dataflow: bool = False):
        super().__init__(arg_types=[type_])
        self.is_dataflow = is_dataflow
        self.rename(name)

    def rename(self, name: str) -> None:
        """Give the variable a name."""
        self.name = name
        self.args[0].name_hint = value_name(name)

    def retype(self, type_: Attribute) -> SSAValue:
        """Give the variable a type; returns its value, which views know as the former one."""
        former = self.args[0]
        value = Rewriter.replace_value_with_new_type(former, type_)
        VARIABLES[value] = former
        return value


class OpenDataflow(Block):
    """A dataflow block that is being built, and the values that it outputs so far."""

    def __init__(self) -> None:
        super().__init__()
        self.outputs: list[SSAValue] = []


class Keeper:
    """Held by the views of a detached operation: while there is one, the operation is kept."""


_KEEPERS: WeakValueDictionary[Operation, Keeper] = WeakValueDictionary()
_SHARED: WeakSet[Operation] = WeakSet()


def keep(op: Operation) -> Keeper:
    """What a view of a detached operation holds on to."""
    keeper = _KEEPERS.get(op)
    if keeper is None:
        keeper = _KEEPERS[op] = Keeper()
        weakref.finalize(keeper, _release, op).atexit = False
    return keeper


def share(op: Operation) -> None:
    """Leave a detached operation to a program that works on operations: it stays without views."""
    if op.parent is None:
        _SHARED.add(op)


def is_detached(op: Operation) -> bool:
    """Whether an operation waits for a function to be emitted into; an erased one does not."""
    return op.parent is None and _is_wanted(op)


def _is_wanted(op: Operation) -> bool:
    return op in _KEEPERS or op in _SHARED or any(r.first_use is not None for r in op.results)


def attach(op: Operation, block: Block) -> None:
    """Append a detached operation to a block."""
    _KEEPERS.pop(op, None)
    _SHARED.discard(op)
    block.add_op(op)


def _release(op: Operation) -> None:
    work = [op]
    while work:
        unused = work.pop()
        if unused.parent is not None or _is_wanted(unused):
            continue
        operands = list(dict.fromkeys(map(_owner, unused.operands)))
        unused.erase()
        work += [o for o in operands if o is not None]


def _owner(value: SSAValue) -> Operation | None:
    """The detached operation that a value comes from, if it comes from one."""
    if not isinstance(value, OpResult):
        return None
    return value.owner if value.owner.parent is None else None


@contextmanager
def erased_on_error(op: Operation) -> Generator[None]:
    """An operation that turns out to be ill-typed does not stay among the users of its operands."""
    try:
        yield
    except Exception:
        op.erase()
        raise
