"""The parts of calls as TVM lists them, and calls on other operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

from xdsl.dialects.builtin import ModuleOp, TupleType
from xdsl.ir import Attribute, Operation, SSAValue

from ..dialects import relax
from ..dialects.sym import exprs_of
from ..lowering.functions import functions_by_name
from .dims import shape_of
from .function import function_view
from .module import GlobalVar
from .op import Op

STATED = (
    relax.AllocTensorOp,
    relax.CallDPSPackedOp,
    relax.CallPackedOp,
    relax.CallPurePackedOp,
    relax.CallTIRInplaceOp,
    relax.CallTIROp,
)
"""Calls whose result has the type that the program states."""


class ExternFunc:
    """A registered function by its name, as in ``call_dps_packed``."""

    def __init__(self, global_symbol: str):
        self.global_symbol = global_symbol

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ExternFunc) and self.global_symbol == other.global_symbol

    def __hash__(self) -> int:
        return hash(self.global_symbol)

    def __call__(self, *args: Any) -> Any:
        from .call_expr import Call

        return Call(self, args)

    def __repr__(self) -> str:
        return f'R.ExternFunc("{self.global_symbol}")'


_CALLEES: WeakKeyDictionary[Operation, GlobalVar] = WeakKeyDictionary()
"""What calls outside of a module call, as they were made."""


def remember_callee(call: Operation, called: GlobalVar) -> None:
    """Let a call outside of a module know the function that it calls."""
    _CALLEES[call] = called


def called_by(op: Operation) -> Any:
    """What an operation calls."""
    match op:
        case relax.CallOp():
            return _CALLEES.get(op) or _global_var(op, op.callee_name)
        case relax.CallPackedOp():
            return ExternFunc(op.callee.data)
        case relax.InvokeOp():
            from .expr import view

            return view(op.callee)
        case relax.AssertOp():
            return Op.get("relax.assert_op")
        case _:
            return Op.get(op.name)


def _global_var(op: Operation, name: str) -> GlobalVar:
    """The global variable of a name in the module that an operation stands in, if it does."""
    root = op
    while (parent := root.parent_op()) is not None:
        root = parent
    found = functions_by_name(root).get(name) if isinstance(root, ModuleOp) else None
    return GlobalVar(name, None if found is None else function_view(found))


def arguments_of(op: Operation) -> list[Any]:
    """The arguments of a call as TVM lists them; those of `call_tir` are name, tuple, variables."""
    from .call_expr import Arguments
    from .expr import view

    args = [view(o) for o in op.operands]
    match op:
        case relax.CallTIROp() | relax.CallTIRInplaceOp():
            callee = _global_var(op, op.callee_name)
            variables = [] if op.tir_vars is None else [shape_of(exprs_of(op.tir_vars))]
            return [callee, Arguments(args), *variables]
        case relax.CallDPSPackedOp():
            return [ExternFunc(op.callee_name), Arguments(args)]
        case relax.CallPurePackedOp():
            return [ExternFunc(op.callee.data), *args]
        case relax.InvokeOp():
            return args[1:]
        case relax.AllocTensorOp():
            return [shape_of(op.result.type.dims or ())]
        case _:
            return args


def type_arguments(op: Operation) -> list[Attribute]:
    """The types that a call states, because they do not follow from its arguments."""
    if isinstance(op, STATED):
        type_ = op.results[0].type
        return list(type_.types.data) if isinstance(type_, TupleType) else [type_]
    return [op.result.type] if isinstance(op, relax.MatchCastOp) else []


def with_operands(op: Operation, operands: Sequence[SSAValue]) -> Operation:
    """A detached copy of an operation on other operands; its type is inferred where it can be.

    Raises ValueError with one line where the operands do not fit.
    """
    copy = _with_operands(op, operands)
    copy.location = op.location
    if isinstance(op, relax.CallOp):
        _CALLEES[copy] = _CALLEES.get(op) or _global_var(op, op.callee_name)
    return copy


def _with_operands(op: Operation, operands: Sequence[SSAValue]) -> Operation:
    match op:
        case relax.OperatorOp():
            return type(op).of(operands, op.attribute_values())
        case relax.TupleOp():
            return relax.TupleOp(operands)
        case relax.TupleGetItemOp():
            return relax.TupleGetItemOp(operands[0], op.index.data)
        case relax.ShapeOfOp():
            return relax.ShapeOfOp(operands[0])
        case _:
            return type(op).create(
                operands=operands,
                result_types=op.result_types,
                properties=dict(op.properties),
                attributes=dict(op.attributes),
            )
