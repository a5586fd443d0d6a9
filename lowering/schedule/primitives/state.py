"""The state of a schedule: its module, and the values of its variables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import IntFlag
from typing import TypeVar, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ....dialects import tir
from ....dialects.nesting import ancestors, operations_in
from ..blocks import ScheduleError, function_of
from ..navigate import drop_plain_root
from .random_variables import RandomVariable

T = TypeVar("T", bound=Operation)

Value = tir.BlockOp | tir.ForOp | int | None | str
"""The value of a variable; a string is one of the locations ``inline`` and ``root``."""


class UnknownVariableError(ScheduleError, IndexError):
    """A variable that no block, loop or number of the schedule has; in TVM an IndexError."""


class UnknownFunctionError(ScheduleError, ValueError):
    """A lookup in one of several functions, of which none is chosen; in TVM a ValueError."""


class ScheduleDebugMask(IntFlag):
    """What TVM verifies after each primitive; here any of it lets the module be verified."""

    VERIFY_SREF_TREE = 1
    VERIFY_CACHED_FLAGS = 2


@dataclass(frozen=True)
class StmtSRef:
    """A reference to a block or loop of a scheduled module; TVM's ``StmtSRef``."""

    stmt: tir.BlockOp | tir.ForOp

    @property
    def parent(self) -> StmtSRef | None:
        """The block or loop around; `None` for an outermost one."""
        around = (op for op in ancestors(self.stmt) if isinstance(op, tir.BlockOp | tir.ForOp))
        return next((StmtSRef(op) for op in around), None)

    def same_as(self, other: object) -> bool:
        """Whether another one refers to the same block or loop."""
        return isinstance(other, StmtSRef) and other.stmt is self.stmt


@dataclass
class ScheduleState:
    """The module that a schedule transforms, which it owns, and its variables."""

    module: ModuleOp
    values: dict[RandomVariable, Value] = field(default_factory=lambda: {})
    ended: dict[RandomVariable, str] = field(default_factory=lambda: {})
    """For dead variables, their former value and the primitive that removed it, as text."""
    variables: dict[Operation, RandomVariable] = field(default_factory=lambda: {})
    """A valid variable for each block and loop that has one."""
    _snapshot: ModuleOp | None = None

    @property
    def snapshot(self) -> ModuleOp:
        """A copy of the current module, which later primitives do not change."""
        if self._snapshot is None:
            self._snapshot = self.module.clone()
            for func in _prim_funcs(self._snapshot):
                drop_plain_root(func)  # a root block without effect, added when it was looked up
        return self._snapshot

    def functions(self) -> Iterator[tir.PrimFuncOp]:
        """The PrimFuncs of the module."""
        return _prim_funcs(self.module)

    def function(self, name: str) -> tir.PrimFuncOp:
        """The PrimFunc with this name; raises ScheduleError if there is none."""
        for func in self.functions():
            if func.sym_name.data == name:
                return func
        names = ", ".join(f.sym_name.data for f in self.functions())
        raise ScheduleError(f"expected a PrimFunc of the module ({names}), got '{name}'")

    def functions_of(self, variables: Iterable[RandomVariable]) -> list[tir.PrimFuncOp]:
        """The functions of the blocks and loops among the values of variables."""
        values = [self.values.get(v) for v in variables]
        return list(dict.fromkeys(function_of(v) for v in values if isinstance(v, Operation)))

    def define(self, variable: RandomVariable, value: Value) -> None:
        """Set the value of a variable."""
        self.values[variable] = value
        if isinstance(value, Operation):
            self.variables.setdefault(value, variable)

    def resolve(self, variable: RandomVariable) -> Value:
        """The value of a variable; raises ScheduleError if it is invalid or of another schedule."""
        if variable in self.ended:
            raise ScheduleError(f"expected a valid variable, got that of {self.ended[variable]}")
        if variable not in self.values:
            kind = type(variable).__name__
            raise UnknownVariableError(f"expected a variable of this schedule, got another {kind}")
        return self.values[variable]

    def get_sref(self, stmt: tir.BlockOp | tir.ForOp) -> StmtSRef:
        """The reference to a block or loop; raises ScheduleError for one of another module."""
        stmt = getattr(stmt, "op", stmt)  # of a view
        if not self.module.is_ancestor(stmt):
            raise ScheduleError(f"expected a statement of the module, got another '{stmt.name}'")
        return StmtSRef(stmt)

    def after(self, primitive: str, names: dict[RandomVariable, str]) -> None:
        """Invalidate the variables whose operations were replaced; `names` are for messages."""
        self._snapshot = None
        inside: set[Operation] = {self.module}
        for variable, value in list(self.values.items()):
            if isinstance(value, Operation) and not _reaches(value, inside):
                self.ended[variable] = f"{names[variable]}, which '{primitive}' replaced"
                self.forget(variable)

    def forget(self, variable: RandomVariable) -> None:
        """Remove the value of a variable."""
        value = self.values.pop(variable)
        if isinstance(value, Operation) and self.variables.get(value) is variable:
            del self.variables[value]

    def copies_of(self, *ops: T) -> list[T]:
        """The operations that correspond to `ops` in a new copy of the module."""
        _, copies = self._clone()
        return [cast(T, copies[op]) for op in ops]

    def _clone(self) -> tuple[ModuleOp, dict[Operation, Operation]]:
        module = self.module.clone()
        pairs = zip(operations_in(self.module), operations_in(module), strict=True)
        return module, dict(pairs)

    def copy(self) -> ScheduleState:
        """A copy of the module with the same variables."""
        module, copies = self._clone()
        state = ScheduleState(module, ended=dict(self.ended))
        for variable, value in self.values.items():
            new = copies[value] if isinstance(value, Operation) else value
            assert not isinstance(new, Operation) or isinstance(new, tir.BlockOp | tir.ForOp)
            state.define(variable, new)
        return state


def _reaches(op: Operation, inside: set[Operation]) -> bool:
    """Whether `op` is nested in one of `inside`; adds it and the operations between to `inside`."""
    path: list[Operation] = []
    current: Operation | None = op
    while current is not None and current not in inside:
        path.append(current)
        current = current.parent_op()
    if current is not None:
        inside.update(path)
    return current is not None


def _prim_funcs(module: ModuleOp) -> Iterator[tir.PrimFuncOp]:
    return (op for op in module.body.block.ops if isinstance(op, tir.PrimFuncOp))
