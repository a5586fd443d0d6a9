"""Graph functions become functions on memory, in destination-passing style.

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

The value that a function returns is computed in the memory of the result. Only a parameter, a
constant, or a value that is returned a second time is copied. A public PrimFunc gets an entry of
its name (`kernel_entries`), and so its kernel is called ``NAME.kernel``, unless an `rt.func` of the
given module calls it; a public graph function that others call is there a second time, as
``NAME.body`` without checks.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import relax, rt, tir
from ..blame import blame
from ..functions import callees_first, functions_by_name, graph_functions, is_private, unique_name
from ..graph.normalize import resolve_names
from ..verify_calls import verify_calls
from .call_constraints import impose_call_constraints
from .convert_function import convert_function
from .kernel_entries import can_enter, kernel_entry


def convert_relax_to_rt(module: ModuleOp) -> None:
    """Replace every graph function by an `rt.func` and give public PrimFuncs entries."""
    # Calls are checked again here because what follows lets kernels write where the shapes say.
    resolve_names(module)
    verify_calls(module)
    functions = functions_by_name(module)
    order = callees_first({f.sym_name.data: _graph_calls(f) for f in graph_functions(module)})
    for name in order:
        func = functions[name]
        assert isinstance(func, relax.FuncOp)
        impose_call_constraints(func, functions)
    names = _running_names(functions)
    for func in functions.values():
        if isinstance(func, tir.PrimFuncOp):
            _add_entry(func, names)
        elif isinstance(func, relax.FuncOp):
            _replace(func, names)


def _graph_calls(func: relax.FuncOp) -> list[str]:
    return [op.callee_name for op in func.walk() if isinstance(op, relax.CallOp)]


def _kernel_calls(functions: Iterable[Operation]) -> set[str]:
    return {
        op.callee_name
        for func in functions
        if isinstance(func, relax.FuncOp)
        for op in func.walk()
        if isinstance(op, relax.CallTIROp)
    }


def _planned_calls(functions: Iterable[Operation]) -> set[str]:
    """What functions that are in this form already call: to an entry, the kernel behind it."""
    return {
        op.callee_name
        for func in functions
        if isinstance(func, rt.FuncOp)
        for op in func.walk()
        if isinstance(op, rt.CallDPSOp)
    }


def _running_names(functions: dict[str, Operation]) -> dict[str, str]:
    """The name under which calls reach each function."""
    graph = [f for f in functions.values() if isinstance(f, relax.FuncOp)]
    called = {name for func in graph for name in _graph_calls(func)}
    kernels, planned = _kernel_calls(functions.values()), _planned_calls(functions.values())
    taken, names = set(functions), dict[str, str]()
    for name, func in functions.items():
        suffix = None
        if isinstance(func, tir.PrimFuncOp):
            # A kernel whose indices only a graph can give has no entry, if a graph does call it.
            enters = name not in planned and (can_enter(func) or name not in kernels)
            suffix = ".kernel" if enters else None
        elif isinstance(func, relax.FuncOp) and name in called:
            suffix = ".body"
        names[name] = (
            name if suffix is None or is_private(func) else unique_name(name + suffix, taken)
        )
        taken.add(names[name])
    return names


def _add_entry(func: tir.PrimFuncOp, names: dict[str, str]) -> None:
    kernel = names[func.sym_name.data]
    if kernel != func.sym_name.data:
        with blame(func):
            Rewriter.insert_op(kernel_entry(func, kernel), InsertPoint.before(func))
        func.sym_name = StringAttr(kernel)


def _replace(func: relax.FuncOp, names: dict[str, str]) -> None:
    name = func.sym_name.data
    made: list[Operation] = []
    if not is_private(func):
        made.append(convert_function(func, name, False, names))
    if is_private(func) or names[name] != name:
        made.append(convert_function(func, names[name], True, names))
    Rewriter.replace_op(func, made, [])


@dataclass(frozen=True)
class RelaxToRTPass(ModulePass):
    """Convert legalized graph functions to calls on memory."""

    name = "convert-relax-to-rt"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        convert_relax_to_rt(op)
