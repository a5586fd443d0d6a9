"""What calls name: functions of a module, whose result types are inferred, and registered ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from ..dialects import relax
from ..dialects.diagnostics import verify
from ..dialects.int_expr import IntExpr
from ..dialects.relax.type_relations import forget_symbols
from ..dialects.relax.types import type_symbols
from ..lowering.functions import functions_by_name
from ..lowering.loop_types import LoopOperands, loop_type, unify_loop
from ..lowering.substitute import set_type, substituted
from ..lowering.verify_calls import unify_graph_call
from .base_function import BaseFunc
from .detached import erased_on_error
from .expr import expression
from .function import function_view
from .operators import argument_values
from .struct_info import AnyStructInfo


class ExternFunc:
    """A registered function by its name, as in ``call_dps_packed``."""

    def __init__(self, global_symbol: str):
        self.global_symbol = global_symbol

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ExternFunc) and self.global_symbol == other.global_symbol

    def __hash__(self) -> int:
        return hash(self.global_symbol)

    def same_as(self, other: object) -> bool:
        """Whether the other one has the same name."""
        return self == other

    def __call__(self, *args: Any) -> Any:
        call = relax.CallPackedOp(self.global_symbol, argument_values(args), relax.ObjectType())
        return expression(call)

    def __repr__(self) -> str:
        return f'R.ExternFunc("{self.global_symbol}")'


@dataclass(frozen=True, repr=False)
class GlobalVar:
    """The name of a function of a module; TVM's ``GlobalVar``.

    Two of the same name are equal. `function` is what it names where that is known, so that the
    type of a call can be inferred.
    """

    name_hint: str
    function: BaseFunc | None = field(default=None, compare=False)

    @property
    def struct_info(self) -> AnyStructInfo:
        """What is known of the function; raises ValueError where it is only a name."""
        if self.function is None:
            raise ValueError(f"expected '{self.name_hint}' to be a function of a module")
        return self.function.struct_info

    struct_info_ = ty = struct_info

    @property
    def name(self) -> str:
        """The name; TVM's newer spelling."""
        return self.name_hint

    def same_as(self, other: object) -> bool:
        """Whether the other one has the same name."""
        return self == other

    def __call__(self, *args: Any) -> Any:
        return expression(graph_call(self, argument_values(args)))

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return f'I.GlobalVar("{self.name_hint}")'


_CALLEES: WeakKeyDictionary[Operation, GlobalVar] = WeakKeyDictionary()
"""What calls outside of a module call, as they were made."""


def remember_callee(call: Operation, called: GlobalVar) -> None:
    """Let a call outside of a module know the function that it calls."""
    _CALLEES[call] = called


def graph_call(called: GlobalVar, values: Sequence[SSAValue]) -> relax.CallOp:
    """The call of a graph function, whose result type follows from the arguments."""
    callee = _graph_function(called)
    call = relax.CallOp(called.name_hint, values, callee.result_type)
    with erased_on_error(call):
        symbols = unify_graph_call(call, callee).symbols
    known = {s for v in values for s in type_symbols(v.type)}
    set_type(call.result, forget_symbols(substituted(callee.result_type, symbols), known))
    remember_callee(call, called)
    return call


def graph_loop(
    called: GlobalVar, operands: LoopOperands, trips: IntExpr | None, is_while: bool
) -> relax.LoopOp:
    """The loop over a graph function, whose result type follows from the operands.

    Without trips these are the elements along the first axis of the first scanned tensor.
    """
    callee, name = _graph_function(called), called.name_hint
    trips = operands.trips() if trips is None else trips
    params = [p.type for p in callee.params]
    type_ = loop_type(name, params, callee.result_type, operands, trips, is_while)
    groups = operands.carried, operands.scanned, operands.given
    loop = relax.LoopOp(name, trips, *groups, type_, is_while)
    with erased_on_error(loop):
        verify(loop)
        unify_loop(loop, callee)
    remember_callee(loop, called)
    return loop


def _graph_function(called: GlobalVar) -> relax.FuncOp:
    callee = None if called.function is None else called.function.op
    if not isinstance(callee, relax.FuncOp):
        what = "a name alone" if callee is None else "a PrimFunc: use call_tir"
        raise ValueError(
            f"expected '{called.name_hint}' to be a graph function of a module, got {what}"
        )
    return callee


def callee_of(op: relax.CallOp | relax.LoopOp) -> GlobalVar:
    """The function that a call or a loop names."""
    return _CALLEES.get(op) or global_var(op, op.callee_name)


def global_var(op: Operation, name: str) -> GlobalVar:
    """The global variable of a name in the module that an operation stands in, if it does."""
    root = op
    while (parent := root.parent_op()) is not None:
        root = parent
    found = functions_by_name(root).get(name) if isinstance(root, ModuleOp) else None
    return GlobalVar(name, None if found is None else function_view(found))
