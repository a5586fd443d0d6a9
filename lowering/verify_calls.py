"""Calls of a complete module against their callees: names, arity, dtypes, ranks, shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue

from ..dialects import relax, tir
from ..dialects.diagnostics import Diagnostic
from ..dialects.int_expr import IntExpr
from ..dialects.relax.type_relations import forget_symbols, says_less
from ..dialects.relax.types import tensors_in
from ..dialects.sym import exprs_of
from ..runtime.registry import get_global_func
from .call_signature import (
    Formal,
    Unification,
    buffer_formals,
    index_values,
    unify,
    unify_types,
)
from .functions import (
    blame,
    count_text,
    functions_by_name,
    graph_functions,
    names_text,
)
from .kernel_arguments import KernelArguments, kernel_arguments
from .loop_types import unify_loop
from .substitute import substituted

KernelCall: TypeAlias = (
    relax.CallTIROp | relax.CallTIRInplaceOp | relax.CallDPSPackedOp | relax.CallKernelOp
)
Call: TypeAlias = "KernelCall | relax.CallOp | relax.LoopOp"


def verify_calls(module: ModuleOp) -> None:
    """Check every call of a graph function against its callee in the module.

    A `call_dps_packed` is checked if it names a PrimFunc of the module; other names belong to the
    registry. Raises Diagnostic with one line that names the call and the argument.
    Symbolic dims that may turn out equal are accepted: see `Unification.undecided`.
    """
    functions = functions_by_name(module)
    for func in graph_functions(module):
        for op in func.walk():
            unify_call(op, functions)
            if isinstance(op, relax.InvokeOp):
                with blame(op):
                    unify_invoke(op.callee, [a.type for a in op.args], op.result.type)


def unify_call(op: Operation, functions: Mapping[str, Operation]) -> Unification | None:
    """The unification of a call with its callee in the module; `None` if the operation calls none.

    Raises Diagnostic with one line where the call does not fit.
    """
    with blame(op):
        match op:
            case relax.CallTIROp():
                return unify_kernel_call(op, _kernel(op.callee_name, functions))
            case relax.CallTIRInplaceOp() | relax.CallKernelOp():
                return unify_kernel_call(op, _kernel(op.callee_name, functions))
            case relax.CallDPSPackedOp():
                callee = functions.get(op.callee_name)
                return unify_kernel_call(op, callee) if isinstance(callee, tir.PrimFuncOp) else None
            case relax.CallOp():
                return unify_graph_call(op, _graph_function(op.callee_name, functions))
            case relax.LoopOp():
                return unify_loop(op, _graph_function(op.callee_name, functions))
            case _:
                return None


def _kernel(name: str, functions: Mapping[str, Operation]) -> tir.PrimFuncOp:
    callee = functions.get(name)
    if isinstance(callee, tir.PrimFuncOp):
        return callee
    known = names_text(n for n, f in functions.items() if isinstance(f, tir.PrimFuncOp))
    raise Diagnostic(f"expected call_tir of a PrimFunc of the module ({known}), got '{name}'")


def _graph_function(name: str, functions: Mapping[str, Operation]) -> relax.FuncOp:
    callee = functions.get(name)
    if isinstance(callee, relax.FuncOp):
        return callee
    known = names_text(n for n, f in functions.items() if isinstance(f, relax.FuncOp))
    raise Diagnostic(f"expected a call of a graph function of the module ({known}), got '{name}'")


def unify_kernel_call(op: KernelCall, callee: tir.PrimFuncOp) -> Unification:
    """Unify a destination-passing call with a PrimFunc: inputs, then outputs, then index values.

    Raises Diagnostic with one line where they do not fit.
    """
    name = callee.sym_name.data
    where = f"call of '{name}'"
    formals = buffer_formals(callee.names, [p.type for p in callee.params])
    outputs, changed = tensors_in(op.result.type), list[int]()
    if isinstance(op, relax.CallTIRInplaceOp):
        pairs = list(zip(op.positions, outputs, strict=True))
        outputs = [t for position, t in pairs if position == -1]
        changed = [position for position, _ in pairs if position != -1]
    elif isinstance(op, relax.CallKernelOp):
        changed = [*range(len(op.args))]
    given = call_arguments(op, callee)
    arguments = zip(formals, given.tensors, strict=False)
    inputs = [_tensor_type(where, f, a) for f, a in arguments]
    variables = None if isinstance(op, relax.CallDPSPackedOp) else op.tir_vars
    values: Sequence[IntExpr] = () if variables is None else exprs_of(variables)
    indices = index_values(callee, values, given.integers(callee))
    unified = unify(where, formals, [*inputs, *outputs], indices)
    read = {param.index for i, (param, _) in enumerate(given.pairs) if i not in changed}
    for position in written_params(callee):
        if position in read:
            written = callee.names[position]
            raise Diagnostic(f"{where}: expected its inputs to be read only, it writes '{written}'")
    return unified


def call_arguments(op: KernelCall, callee: tir.PrimFuncOp) -> KernelArguments:
    """The arguments of a destination-passing call, with the parameters that they are for.

    Raises Diagnostic with one line where they do not fit.
    """
    outputs = len(tensors_in(op.result.type))
    if isinstance(op, relax.CallTIRInplaceOp):
        outputs = op.positions.count(-1)
    return kernel_arguments(f"call of '{callee.sym_name.data}'", callee, op.args, outputs)


def _tensor_type(where: str, formal: Formal, value: SSAValue) -> relax.TensorType:
    if isinstance(value.type, relax.TensorType):
        return value.type
    raise Diagnostic(f"{where}: expected {formal.subject} to be a tensor, got {value.type}")


def written_params(func: tir.PrimFuncOp) -> list[int]:
    """Positions of the parameters that a PrimFunc stores to, directly or through views of them."""
    return [param.index for param in func.params if _is_written(param)]


def _is_written(buffer: SSAValue) -> bool:
    users = [use.operation for use in buffer.uses]
    return any(isinstance(op, tir.StoreOp) for op in users) or any(
        isinstance(op, tir.MatchBufferOp) and _is_written(op.result) for op in users
    )


def call_result_type(op: relax.CallOp, callee: relax.FuncOp) -> Attribute:
    """What is known of a call's result: by the callee's type and the arguments, or as stated.

    Raises Diagnostic with one line where the arguments do not fit.
    """
    with blame(op):
        symbols = _unify_arguments(op, callee, with_result=False).symbols
    known = forget_symbols(callee.result_type, symbols.keys())
    inferred = substituted(known, symbols)
    return inferred if says_less(op.result.type, inferred) else op.result.type


def unify_graph_call(op: relax.CallOp, callee: relax.FuncOp) -> Unification:
    """Unify a call with a graph function: arguments, then results, tuples field by field.

    Raises Diagnostic with one line where they do not fit.
    """
    return _unify_arguments(op, callee, with_result=True)


def _unify_arguments(op: relax.CallOp, callee: relax.FuncOp, with_result: bool) -> Unification:
    name = callee.sym_name.data
    where = f"call of '{name}'"
    if len(op.args) != len(callee.params):
        raise Diagnostic(
            f"'{name}' expects {count_text(len(callee.params), 'argument')} "
            f"({', '.join(callee.names)}), got {len(op.args)}"
        )
    subjects = [f"argument '{n}'" for n in callee.names]
    expected, got = [p.type for p in callee.params], [a.type for a in op.args]
    if with_result:
        subjects.append("the result")
        expected.append(callee.result_type)
        got.append(op.result.type)
    return unify_types(where, subjects, expected, got)


def unify_invoke(
    function: SSAValue, args: Sequence[Attribute], result: Attribute | None = None
) -> Unification:
    """Unify a call of a function value with its type: arguments, then the result if it is known.

    Raises Diagnostic with one line where they do not fit.
    """
    type_, name = function.type, function.name_hint or "a function"
    assert isinstance(type_, relax.FuncType)
    expected: list[Attribute] = list(type_.params.data)
    if len(args) != len(expected):
        raise Diagnostic(
            f"'{name}' expects {count_text(len(expected), 'argument')}, got {len(args)}"
        )
    pairs = zip(expected, args, strict=True)
    expected = [a if isinstance(e, relax.ObjectType) else e for e, a in pairs]  # any value is one
    subjects = [f"argument {i}" for i in range(len(expected))]
    if result is None:
        return unify_types(f"call of '{name}'", subjects, expected, args)
    return unify_types(
        f"call of '{name}'",
        [*subjects, "the result"],
        [*expected, type_.result],
        [*args, result],
    )


def verify_packed_names(module: ModuleOp) -> None:
    """Raise Diagnostic for a call whose name is neither a PrimFunc of the module nor registered."""
    functions = functions_by_name(module)
    for op in module.walk():
        if isinstance(op, relax.CallDPSPackedOp | relax.CallPackedOp | relax.CallPurePackedOp):
            name = op.callee.data
            if isinstance(functions.get(name), tir.PrimFuncOp):
                continue
            if get_global_func(name, allow_missing=True) is None:
                raise Diagnostic(
                    f"expected '{name}' to be a PrimFunc of the module or a registered function, "
                    "got neither",
                    op,
                )
