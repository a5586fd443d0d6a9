"""The parts of calls as TVM lists them, and calls on other operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import Attribute, Operation, SSAValue

from ..dialects import relax
from ..dialects.sym import exprs_of
from .callees import ExternFunc, callee_of, global_var, remember_callee
from .expr import view
from .op import Op
from .struct_info import shape_of

STATED = (
    relax.AllocTensorOp,
    relax.CallDPSPackedOp,
    relax.CallPackedOp,
    relax.CallPurePackedOp,
    relax.CallTIRInplaceOp,
    relax.CallTIROp,
)
"""Calls whose result has the type that the program states."""


class Arguments(tuple[Any, ...]):
    """The arguments of a call in destination-passing style, as a tuple of expressions."""

    @property
    def fields(self) -> list[Any]:
        """The arguments."""
        return list(self)


def called_by(op: Operation) -> Any:
    """What an operation calls."""
    match op:
        case relax.CallOp():
            return callee_of(op)
        case relax.CallKernelOp() if op.tir_vars is None:
            return global_var(op, op.callee_name)
        case relax.CallPackedOp():
            return ExternFunc(op.callee.data)
        case relax.InvokeOp():
            return view(op.callee)
        case relax.AssertOp():
            return Op.get("relax.assert_op")
        case relax.CallPurePackedOp() if op.positions:
            return Op.get("relax.call_inplace_packed")
        case _:
            return Op.get(op.name)


def arguments_of(op: Operation) -> list[Any]:
    """The arguments of a call as TVM lists them; those of `call_tir` are name, tuple, variables."""
    args = [view(o) for o in op.operands]
    match op:
        case relax.CallTIROp() | relax.CallTIRInplaceOp():
            callee = global_var(op, op.callee_name)
            variables = [] if op.tir_vars is None else [shape_of(exprs_of(op.tir_vars))]
            return [callee, Arguments(args), *variables]
        case relax.CallKernelOp() if op.tir_vars is not None:
            values = shape_of(exprs_of(op.tir_vars))
            return [global_var(op, op.callee_name), Arguments([*args, values])]
        case relax.AllocStorageOp():
            return [shape_of([op.size.data])]
        case relax.StorageTensorOp():
            dims, dtype = op.result.type.dims or (), op.result.type.dtype
            return [*args, shape_of([op.offset.data])[0], shape_of(dims), dtype]
        case relax.LoopOp():
            groups = (op.carried, op.scanned, op.given)
            return [callee_of(op), *(Arguments(map(view, group)) for group in groups)]
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
        return [op.results[0].type]
    return [op.result.type] if isinstance(op, relax.MatchCastOp) else []


def with_operands(op: Operation, operands: Sequence[SSAValue]) -> Operation:
    """A detached copy of an operation on other operands; its type is inferred where it can be.

    Raises ValueError with one line where the operands do not fit.
    """
    copy = _with_operands(op, operands)
    copy.location = op.location
    if isinstance(op, relax.CallOp | relax.LoopOp):
        remember_callee(copy, callee_of(op))
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
        case relax.PrimToTensorOp() | relax.TensorToPrimOp():
            return type(op)(operands[0])
        case relax.LoopOp():
            carried, scanned = len(op.carried), len(op.carried) + len(op.scanned)
            groups = operands[:carried], operands[carried:scanned], operands[scanned:]
            type_ = op.result_on(groups[0])
            return relax.LoopOp(
                op.callee_name, op.trip_count, *groups, type_, op.is_while is not None
            )
        case _:
            return type(op).create(
                operands=operands,
                result_types=op.result_types,
                properties=dict(op.properties),
                attributes=dict(op.attributes),
            )
