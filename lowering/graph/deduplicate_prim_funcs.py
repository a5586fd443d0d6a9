"""Merge equal kernels.

::

    relax.call_tir @relu(%x) : …
    relax.call_tir @relu_1(%y) : …
    tir.prim_func @relu(%X: !tir.buffer<[4], f32>, …) attributes {"private"} { … }
    tir.prim_func @relu_1(%A: !tir.buffer<[4], f32>, …) attributes {"private"} { … }

⇒

::

    relax.call_tir @relu(%x) : …
    relax.call_tir @relu(%y) : …
    tir.prim_func @relu(%X: !tir.buffer<[4], f32>, …) attributes {"private"} { … }

Names of values, parameters and symbols are ignored; attributes other than the linkage are compared.
Public PrimFuncs are kept, since users may call them; a private one is replaced by an equal public
one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.passes import ModulePass

from ...dialects import relax, rt, tir
from ..canonical_form import CanonicalForm
from ..functions import is_private


def deduplicate_prim_funcs(module: ModuleOp) -> None:
    """Replace the callee of every call by the first equal kernel, a public one if possible."""
    functions = [op for op in module.body.block.ops if isinstance(op, tir.PrimFuncOp)]
    instead = _replacements(functions)
    if not instead:
        return
    _redirect_calls(module, instead)
    for func in functions:
        if func.sym_name.data in instead and is_private(func):
            func.detach()
            func.erase()


def _replacements(functions: Iterable[tir.PrimFuncOp]) -> dict[str, str]:
    """The replacement of each kernel that has one, by name."""
    alike: defaultdict[Hashable, list[tir.PrimFuncOp]] = defaultdict(list)
    for func in sorted(functions, key=is_private):
        alike[_interface(func)].append(func)
    instead: dict[str, str] = {}
    for group in (g for g in alike.values() if len(g) > 1):
        first: dict[Hashable, str] = {}
        for func in group:
            name = func.sym_name.data
            form = CanonicalForm(func, map_free_vars=True, compare_name=False)
            chosen = first.setdefault(tuple(form.program), name)
            if chosen != name:
                instead[name] = chosen
    return instead


def _interface(func: tir.PrimFuncOp) -> Hashable:
    """A hash key that is equal for equal kernels."""
    return tuple(
        (p.type.element_type, tuple(d.constant for d in p.type.dims))
        if isinstance(p.type, tir.BufferType)
        else p.type
        for p in func.params
    )


def _redirect_calls(module: ModuleOp, instead: dict[str, str]) -> None:
    for op in module.walk():
        match op:
            case relax.CallTIROp() | rt.CallDPSOp() if op.callee_name in instead:
                op.callee = SymbolRefAttr(instead[op.callee_name])
            case relax.CallDPSPackedOp() if op.callee_name in instead:
                op.callee = StringAttr(instead[op.callee_name])
            case _:
                pass


@dataclass(frozen=True)
class DeduplicatePrimFuncsPass(ModulePass):
    """Keep one of several equal PrimFuncs, and remove the private duplicates."""

    name = "deduplicate-prim-funcs"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        deduplicate_prim_funcs(op)
