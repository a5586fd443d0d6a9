"""`convert-relax-to-rt`: convert graph functions to destination-passing style.

::

    relax.func @main(%x: !relax.tensor<[1, n], f32>) -> !relax.tensor<[1, n], f32> {
      %out = relax.dataflow -> !relax.tensor<[1, n], f32> {
        %lv0 = relax.call_tir @relu0(%x) : …
        %lv1 = relax.call_dps_packed "env.relu"(%lv0) : …
        relax.output %lv1 : !relax.tensor<[1, n], f32>
      }
      relax.return %out : !relax.tensor<[1, n], f32>
    }

⇒

::

    rt.func @main(%x: !tir.buffer<[1, n], f32>, %lv1: !tir.buffer<[1, n], f32>) results 1 {
      rt.check %x "x" : !tir.buffer<[1, n], f32>
      rt.dataflow {
        %lv0 = rt.alloc : !tir.buffer<[1, n], f32>
        rt.call_dps @relu0.kernel(%x) outs(%lv0) : …
        rt.call_packed "env.relu"(%lv0) outs(%lv1) : …
      }
    }

Returned values are computed in the memory of the results. Only parameters, constants and values
that are returned twice are copied. A public PrimFunc gets an entry of its name (`kernel_entries`),
and its kernel is renamed to ``NAME.kernel``, unless an `rt.func` of the module calls it already. A
public graph function that others call also has a private copy without checks, ``NAME.body``. TVM's
``CallTIRRewrite`` and ``VMShapeLower``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import relax, rt, tir
from ...dialects.diagnostics import Diagnostic
from ...dialects.int_expr import ZERO
from ...dialects.nesting import enclosing, operations_in
from ..call_signature import extra_symbols
from ..equations import Equation, always_differ, solve
from ..functions import (
    blame,
    call_graph,
    callees_first,
    functions_by_name,
    graph_functions,
    has_own_memory,
    is_private,
    recursive_functions,
    unique_name,
)
from ..graph.normalize import resolve_names
from ..graph.resolve_shapes import resolve_shapes
from ..substitute import substitute_symbols
from ..verify_calls import unify_call, verify_calls, written_params
from .convert_function import convert_function
from .function_memory import CallFacts, ModuleCall
from .kernel_entries import KERNEL_SUFFIX, can_enter, kernel_entry
from .lower_objects import lower_objects

_CALLS = (
    relax.CallTIROp,
    relax.CallTIRInplaceOp,
    relax.CallKernelOp,
    relax.CallOp,
    relax.LoopOp,
)


def impose_call_constraints(
    func: relax.FuncOp, functions: Mapping[str, Operation], recursive: Collection[str]
) -> None:
    """Substitute symbols of the function, in place, until its types imply what its calls need.

    Callees must come first, except for the `recursive` ones. Raises Diagnostic with one line for a
    condition that cannot hold, and for one that does not determine a symbol.
    """
    while (found := _first_undecided(func, functions, recursive)) is not None:
        call, equation = found
        solution = solve(equation.expected, equation.actual, func.declared_symbols())
        if solution is None or (solution[1] == ZERO and _is_between_symbols(equation)):
            verdict = (
                "is never" if always_differ(equation.expected, equation.actual) else "may not be"
            )
            raise Diagnostic(
                f"call of '{call.callee_name}' in '{func.sym_name.data}': {equation.actual} "
                f"of {equation.subject} {verdict} {equation.expected}",
                call,
            )
        substitute_symbols(func, dict([solution]))


def _is_between_symbols(equation: Equation) -> bool:
    """Whether both sides have symbols: ``n * 2`` is n for empty tensors alone, so a mistake."""
    return bool(equation.expected.symbols() and equation.actual.symbols())


def _first_undecided(
    func: relax.FuncOp, functions: Mapping[str, Operation], recursive: Collection[str]
) -> tuple[ModuleCall, Equation] | None:
    for op in func.walk():
        if not isinstance(op, _CALLS) or _is_in_branch(op):
            continue
        if op.callee_name in recursive:
            continue
        if (unified := unify_call(op, functions)) is not None and unified.undecided:
            return op, unified.undecided[0]
    return None


def _is_in_branch(op: Operation) -> bool:
    return enclosing(op, relax.IfOp) is not None


def convert_relax_to_rt(module: ModuleOp) -> None:
    """Replace every graph function by an `rt.func` and give public PrimFuncs entries."""
    # Calls are checked again: from here on, kernels write to memory without further checks.
    resolve_names(module)
    resolve_shapes(module)
    verify_calls(module)
    functions = functions_by_name(module)
    graph = {f.sym_name.data: f for f in graph_functions(module)}
    calls = call_graph(graph)
    recursive = recursive_functions(calls)
    for name in callees_first(calls):
        impose_call_constraints(graph[name], functions, recursive)
    names = _running_names(functions)
    objects = {op: t for func in graph.values() for op, t in lower_objects(func).items()}
    facts = {op: f for func in graph.values() for op, f in _call_facts(func, functions, names)}
    for name, func in functions.items():
        if isinstance(func, tir.PrimFuncOp):
            _add_entry(func, names)
        elif isinstance(func, relax.FuncOp):
            takes_memory = name in recursive or has_own_memory(func)
            _replace(func, names[name], facts, objects, takes_memory)


def _call_facts(
    func: relax.FuncOp, functions: Mapping[str, Operation], names: Mapping[str, str]
) -> Iterator[tuple[Operation, CallFacts]]:
    """The facts of a function's calls, while their callees are still graph functions."""
    for op in func.walk():
        if not isinstance(op, _CALLS):
            continue
        unified, callee = unify_call(op, functions), functions[op.callee_name]
        assert unified is not None
        extra = extra_symbols(callee) if isinstance(callee, relax.FuncOp) else []
        values = tuple(unified.symbols[s] for s in extra)
        written = _written_buffers(callee) if isinstance(op, relax.CallKernelOp) else ()
        yield op, CallFacts(names[op.callee_name], values, tuple(unified.undecided), written)


def _written_buffers(kernel: Operation) -> tuple[int, ...]:
    """The positions, among a kernel's buffers, of those that it writes."""
    assert isinstance(kernel, tir.PrimFuncOp)
    buffers = [p for p in kernel.params if isinstance(p.type, tir.BufferType)]
    return tuple(buffers.index(kernel.params[i]) for i in written_params(kernel))


def _running_names(functions: dict[str, Operation]) -> dict[str, str]:
    """The name of each function in calls."""
    calls = call_graph(functions)
    called = {c for n, f in functions.items() if isinstance(f, relax.FuncOp) for c in calls[n]}
    # An `rt.func` that was converted before calls the kernel, not an entry.
    planned = {c for n, f in functions.items() if isinstance(f, rt.FuncOp) for c in calls[n]}
    taken, names = set(functions), dict[str, str]()
    for name, func in functions.items():
        suffix = None
        if isinstance(func, tir.PrimFuncOp):
            # A called kernel with indices that no shape determines has no entry.
            enters = name not in planned and (can_enter(func) or name not in called)
            suffix = KERNEL_SUFFIX if enters else None
        elif isinstance(func, relax.FuncOp) and name in called:
            suffix = ".body"
        names[name] = (
            name if suffix is None or is_private(func) else unique_name(name + suffix, taken)
        )
        taken.add(names[name])
    return names


def _add_entry(func: tir.PrimFuncOp, names: dict[str, str]) -> None:
    kernel = names[func.sym_name.data]
    _verify_no_calls(func)
    if kernel != func.sym_name.data:
        with blame(func):
            Rewriter.insert_op(kernel_entry(func, kernel), InsertPoint.before(func))
        func.sym_name = StringAttr(kernel)


def _verify_no_calls(func: tir.PrimFuncOp) -> None:
    """Raise Diagnostic for a call of another kernel, whose name and scalars change here."""
    for op in operations_in(func):
        if isinstance(op, tir.CallOp):
            name = op.callee_name
            raise Diagnostic(f"expected a kernel without calls of others, got one of '{name}'", op)


def _replace(
    func: relax.FuncOp,
    running: str,
    facts: Mapping[Operation, CallFacts],
    objects: Mapping[Operation, FunctionType],
    recursive: bool,
) -> None:
    name = func.sym_name.data
    made: list[Operation] = []
    if not is_private(func):
        made.append(convert_function(func, name, False, facts, objects))
    if is_private(func) or running != name:
        made.append(convert_function(func, running, True, facts, objects, recursive))
    Rewriter.replace_op(func, made, [])


@dataclass(frozen=True)
class RelaxToRTPass(ModulePass):
    """Convert legalized graph functions to destination-passing style."""

    name = "convert-relax-to-rt"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        convert_relax_to_rt(op)
