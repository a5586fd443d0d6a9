"""`specialize-prim-funcs`: clone a symbolic kernel for each call with static shapes.

::

    relax.call_tir @linear0(%x, %w, %b) : (!relax.tensor<[1, 784], f32>, …) -> …
    tir.prim_func @linear0(%X: !tir.buffer<[1, m], f32>, …) { … }

⇒

::

    relax.call_tir @linear0_784_128(%x, %w, %b) : …
    tir.prim_func @linear0(%X: !tir.buffer<[1, m], f32>, …) { … }
    tir.prim_func @linear0_784_128(%X: !tir.buffer<[1, 784], f32>, …) attributes {"private"} { … }

The name lists the values of the callee's symbols in the order in which its parameters declare them;
calls with equal values share a kernel. Calls with symbolic shapes keep the dynamic kernel. A
private kernel without calls is removed. TVM's ``SpecializePrimFuncBasedOnCallSite``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, ModuleOp, StringAttr, SymbolRefAttr, UnitAttr
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import VerifyException

from ...dialects import relax, tir
from ...dialects.diagnostics import Diagnostic
from ..functions import PRIVATE, blame, functions_by_name, graph_functions, is_private, unique_name
from ..substitute import substitute_symbols
from ..verify_calls import unify_call

Specialization: TypeAlias = tuple[str, tuple[int, ...]]


def specialize_prim_funcs(module: ModuleOp) -> None:
    """Retarget every static call of a symbolic PrimFunc to a clone without symbols."""
    functions = functions_by_name(module)
    made: dict[Specialization, str] = {}
    dropped: dict[str, tir.PrimFuncOp] = {}
    calls = [
        op for f in graph_functions(module) for op in f.walk() if isinstance(op, relax.CallTIROp)
    ]
    for call in calls:
        callee = functions.get(call.callee_name)
        values = _static_symbols(call, functions)
        if not isinstance(callee, tir.PrimFuncOp) or not values:
            continue
        key = (call.callee_name, tuple(values.values()))
        if key not in made:
            with blame(call):
                made[key] = _add_clone(callee, values, functions)
        call.callee = SymbolRefAttr(made[key])
        dropped[key[0]] = callee
    called = {c.callee_name for c in calls}
    for name, callee in dropped.items():
        if is_private(callee) and name not in called:
            callee.detach()
            callee.erase()


def _static_symbols(call: relax.CallTIROp, functions: dict[str, Operation]) -> dict[str, int]:
    """The callee's symbols as numbers; empty if it has none or if one of them is not a number."""
    callee, unified = functions.get(call.callee_name), unify_call(call, functions)
    if not isinstance(callee, tir.PrimFuncOp) or unified is None:
        return {}
    found: dict[str, int] = {}
    for symbol in callee.declared_symbols():
        value = unified.symbols.get(symbol)
        if value is None or (number := value.constant) is None:
            return {}
        found[symbol] = number
    return found


def _add_clone(
    func: tir.PrimFuncOp, values: dict[str, int], functions: dict[str, Operation]
) -> str:
    """Add the PrimFunc with numbers for symbols, after the original; returns its name."""
    origin = func.sym_name.data
    name = unique_name("_".join([origin, *(str(v) for v in values.values())]), functions)
    clone = func.clone()
    clone.sym_name = StringAttr(name)
    attrs = (
        {}
        if func.attrs is None
        else {k: v for k, v in func.attrs.data.items() if k != "global_symbol"}
    )
    clone.attrs = DictionaryAttr({**attrs, PRIVATE: UnitAttr()})
    substitute_symbols(clone, values)
    try:
        clone.verify()
    except VerifyException as error:
        listed = ", ".join(f"{s} = {v}" for s, v in values.items())
        raise Diagnostic(f"call of '{origin}' with {listed}: {error.__cause__ or error}") from None
    block = func.parent_block()
    assert block is not None
    block.insert_op_after(clone, func)
    functions[name] = clone
    return name


@dataclass(frozen=True)
class SpecializePrimFuncsPass(ModulePass):
    """Clone symbolic PrimFuncs for calls with static shapes, before kernels are scheduled."""

    name = "specialize-prim-funcs"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        specialize_prim_funcs(op)
