"""`eliminate-common-subexpr`: merge equal operations.

::

    %0 = relax.nn.relu %x : …
    %1 = relax.nn.relu %x : …
    %2 = relax.add %0, %1 : …          ⇒       %2 = relax.add %0, %0 : …

xDSL's ``cse``, except for tensors that calls may write: such a call needs a copy of its own, and
values that are read before it may differ after it. Calls that `runs_unused` stay. Equal casts of a
value are merged too, which check the same. TVM's ``EliminateCommonSubexpr``.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.transforms.common_subexpression_elimination import CSEDriver

from ...dialects import relax
from .foreign_calls import runs_unused
from .written import Written, touches, written_values

NO_CALLS = (relax.TupleOp, relax.TupleGetItemOp, relax.ConstantOp, relax.ShapeOp, relax.PrimValueOp)
"""Operations that are written without a call."""


@dataclass
class _Driver(CSEDriver):
    """xDSL's driver, restricted to operations on values that no call writes."""

    written: Written = frozenset()
    call_only: bool = False

    def _simplify_operation(self, op: Operation) -> None:
        if isinstance(op, relax.OwnFuncOp) or (self.call_only and isinstance(op, NO_CALLS)):
            return
        if touches(op, self.written) or runs_unused(op):
            return
        if not isinstance(op, relax.MatchCastOp):
            super()._simplify_operation(op)
        elif (existing := self._known_ops.get(op)) is not None:
            self._replace_and_delete(op, existing)
        else:
            self._known_ops[op] = op


@dataclass(frozen=True)
class EliminateCommonSubexprPass(ModulePass):
    """Merge equal operations on values that no call may write; with `call_only` only calls."""

    name = "eliminate-common-subexpr"
    call_only: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        _Driver(written=written_values(op), call_only=self.call_only).simplify(op)
