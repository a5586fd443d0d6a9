"""Lines of graph functions as TVM lists them: bindings of variables to values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from xdsl.ir import Operation

from ..dialects import relax
from .expr import Expr, Var, expression, variable, view
from .parts import Part, Step
from .struct_info import struct_info as info_of
from .struct_info import to_type

_PARTS = relax.OutputOp, relax.OwnFuncOp, relax.func.ReturnOp, relax.YieldOp


class Binding(Part):
    """One line of a block: a variable and what it is bound to."""

    def __init__(self, var: Var, value: Expr):
        self.var = var
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Binding) and (self.var, self.value) == (other.var, other.value)

    def __hash__(self) -> int:
        return hash(self.var)

    def untyped(self) -> str:
        """The line without the type of its variable."""
        return self._line(str(self.var))

    def _text(self) -> str:
        return self._line(self._annotated())

    def _line(self, target: str) -> str:
        owner = self.value.borrowed.owner
        is_statement = isinstance(owner, Operation) and bool(owner.regions)
        return str(self.value) if is_statement else f"{target} = {self.value}"

    def _annotated(self) -> str:
        """The variable with its type, which calls with outputs state themselves."""
        owner = self.value.borrowed.owner
        if isinstance(owner, relax.CallTIROp | relax.CallDPSPackedOp) and owner.parent is None:
            return str(self.var)
        return f"{self.var}: {self.var.struct_info}"

    def _steps(self) -> Iterable[Step]:
        return [(self.value.borrowed, self.var.borrowed)]


class VarBinding(Binding):
    """``var = value``."""


class MatchCast(Binding):
    """``var = R.match_cast(value, struct_info)``."""

    def __init__(self, var: Var, value: Expr, struct_info: Any = None, *, ty: Any = None):
        super().__init__(var, value)
        self.struct_info = self.ty = info_of(to_type(struct_info if ty is None else ty))

    def _line(self, target: str) -> str:
        return f"{target} = R.match_cast({self.value}, {self.struct_info})"


def binding(op: Operation) -> Binding:
    """An operation as a binding."""
    var = variable(op.results[0])
    if isinstance(op, relax.MatchCastOp):
        return MatchCast(var, view(op.value), op.result.type)
    return VarBinding(var, expression(op))


def is_binding(op: Operation) -> bool:
    """Whether an operation is a line of its own: ends of blocks, and most constants, are not."""
    if isinstance(op, relax.ConstantOp):  # a dataflow block has a name for what it gives
        return any(isinstance(use.operation, relax.OutputOp) for use in op.result.uses)
    return not is_result_only(op) if isinstance(op, relax.TupleOp) else not isinstance(op, _PARTS)


def is_result_only(op: relax.TupleOp) -> bool:
    """Whether a tuple is written where the function or branch ends, and nowhere else."""
    last = None if op.parent is None else op.parent.last_op
    users = [use.operation for use in op.result.uses]
    return op.result.name_hint is None and users == [last] and not isinstance(last, relax.OutputOp)
