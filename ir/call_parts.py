"""The parts of calls as TVM lists them, and calls on other operands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue

from ..dialects import relax
from ..dialects.diagnostics import suggestion, verify
from ..dialects.int_expr import IntExpr
from ..dialects.relax import OPERATORS
from ..dialects.relax.type_relations import forget_symbols
from ..dialects.relax.types import type_symbols
from ..dialects.sym import exprs_of
from ..lowering.functions import functions_by_name
from ..lowering.loop_types import LoopOperands, loop_type, unify_loop
from ..lowering.substitute import set_type, substituted
from ..lowering.verify_calls import unify_graph_call
from .base_function import BaseFunc
from .detached import erased_on_error
from .expr import apply_operator, expression, view
from .function import function_view
from .operators import argument_values
from .struct_info import AnyStructInfo, shape_of

CALLS = ("relax.call_tir", "relax.call_dps_packed")
"""Calls whose first argument says what is called."""

SPECIAL = (
    *CALLS,
    "relax.assert_op",
    "relax.builtin.alloc_tensor",
    "relax.call_pure_packed",
    "relax.call_tir_inplace",
    "relax.loop",
    "relax.match_cast",
    "relax.memory.alloc_storage",
    "relax.memory.alloc_tensor",
    "relax.memory.kill_storage",
    "relax.memory.kill_tensor",
    "relax.prim_to_tensor",
    "relax.print",
    "relax.shape_of",
    "relax.tensor_to_prim",
    "relax.tensor_to_shape",
    "relax.vm.call_tir_dyn",
)
"""Operations of the graph that are no operators of the operator set."""

OTHER_NAMES = {
    "relax.alloc_tensor": "relax.builtin.alloc_tensor",
    "relax.call_kernel": "relax.vm.call_tir_dyn",
    "relax.vm.alloc_storage": "relax.memory.alloc_storage",
    "relax.vm.alloc_tensor": "relax.memory.alloc_tensor",
    "relax.vm.kill_object": "relax.memory.kill_tensor",
}
"""Other names of operations, those of our dialect and of TVM's virtual machine."""

_INTERNED: dict[str, Op] = {}


class Op:
    """An operator of the graph by its full name; there is one object for each."""

    def __init__(self, name: str):
        self.name = name

    @staticmethod
    def get(name: str) -> Op:
        """The operator of a name; raises ValueError with the nearest names for an unknown one."""
        name = OTHER_NAMES.get(name, name)
        if name not in OPERATORS and name not in SPECIAL:
            hint = suggestion(name, [*OPERATORS, *SPECIAL])
            raise ValueError(f"expected an operator of the graph, got '{name}'{hint}")
        return _INTERNED.setdefault(name, Op(name))

    @staticmethod
    def list_op_names() -> list[str]:
        """The names of all operators."""
        return sorted({*OPERATORS, *SPECIAL})

    def get_attr(self, attr_name: str) -> Any:
        """The gradient as a function on expressions for "FPrimalGradient"; else `None`."""
        from .gradients import primal_gradient

        return primal_gradient(self.name) if attr_name == "FPrimalGradient" else None

    def same_as(self, other: Any) -> bool:
        """Whether both are the same operator."""
        return self is other

    def __call__(self, *args: Any, **attributes: Any) -> Any:
        return apply_operator(self.name, args, attributes)

    def __reduce__(self) -> tuple[Any, ...]:
        return Op.get, (self.name,)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"Op({self.name})"


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

    def __call__(self, *args: Any) -> Any:
        return expression(graph_call(self, argument_values(args)))

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return f'I.GlobalVar("{self.name_hint}")'


class Arguments(tuple[Any, ...]):
    """The arguments of a call in destination-passing style, as a tuple of expressions."""

    @property
    def fields(self) -> list[Any]:
        """The arguments."""
        return list(self)


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


def called_by(op: Operation) -> Any:
    """What an operation calls."""
    match op:
        case relax.CallOp():
            return _callee(op)
        case relax.CallKernelOp() if op.tir_vars is None:
            return _global_var(op, op.callee_name)
        case relax.CallPackedOp():
            return ExternFunc(op.callee.data)
        case relax.InvokeOp():
            return view(op.callee)
        case relax.AssertOp():
            return Op.get("relax.assert_op")
        case _:
            return Op.get(op.name)


def _callee(op: relax.CallOp | relax.LoopOp) -> GlobalVar:
    return _CALLEES.get(op) or _global_var(op, op.callee_name)


def _global_var(op: Operation, name: str) -> GlobalVar:
    """The global variable of a name in the module that an operation stands in, if it does."""
    root = op
    while (parent := root.parent_op()) is not None:
        root = parent
    found = functions_by_name(root).get(name) if isinstance(root, ModuleOp) else None
    return GlobalVar(name, None if found is None else function_view(found))


def arguments_of(op: Operation) -> list[Any]:
    """The arguments of a call as TVM lists them; those of `call_tir` are name, tuple, variables."""
    args = [view(o) for o in op.operands]
    match op:
        case relax.CallTIROp() | relax.CallTIRInplaceOp():
            callee = _global_var(op, op.callee_name)
            variables = [] if op.tir_vars is None else [shape_of(exprs_of(op.tir_vars))]
            return [callee, Arguments(args), *variables]
        case relax.CallKernelOp() if op.tir_vars is not None:
            values = shape_of(exprs_of(op.tir_vars))
            return [_global_var(op, op.callee_name), Arguments([*args, values])]
        case relax.AllocStorageOp():
            return [shape_of([op.size.data])]
        case relax.StorageTensorOp():
            dims, dtype = op.result.type.dims or (), op.result.type.dtype
            return [*args, shape_of([op.offset.data])[0], shape_of(dims), dtype]
        case relax.LoopOp():
            groups = (op.carried, op.scanned, op.given)
            return [_callee(op), *(Arguments(map(view, group)) for group in groups)]
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
        _CALLEES[copy] = _callee(op)
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
