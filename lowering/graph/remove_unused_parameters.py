"""`remove-unused-parameters`: remove parameters that private functions do not use.

::

    relax.call @f(%x, %y) : …                     relax.call @f(%x) : …
    relax.func private @f(%x: T, %y: U)    ⇒      relax.func private @f(%x: T)

A symbol that only such a parameter determines, and that the function needs, becomes a parameter: a
shape of one dim. TVM's ``RemoveUnusedParameters``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import relax
from ...dialects.int_expr import sym
from ...dialects.relax.symbols import determined_symbols
from ...dialects.relax.types import type_symbols
from ..functions import functions_by_name, graph_functions, private_calls, unique_name
from ..verify_calls import unify_call


def remove_unused_parameters(module: ModuleOp) -> None:
    """Change all private graph functions that are only called, and their calls, in place."""
    functions = functions_by_name(module)
    for func in graph_functions(module):
        calls = private_calls(module, func)
        if calls is not None:
            _remove(func, calls, functions)


def _remove(
    func: relax.FuncOp, calls: Sequence[relax.CallOp], functions: Mapping[str, Operation]
) -> None:
    unused = _removable(func)
    kept = [p for p in func.params if p.index not in unused]
    determined = determined_symbols(p.type for p in kept)  # casts to others are checks
    missing = [s for s in _needed(func, unused) if s not in determined]
    found = [unify_call(call, functions) for call in calls]
    known = [None if u is None else u.symbols for u in found]
    if not unused or not all(k is not None and set(missing) <= k.keys() for k in known):
        return
    for call, symbols in zip(calls, known, strict=True):
        shapes = [relax.ShapeOp([(symbols or {})[s]]) for s in missing]
        args = [a for i, a in enumerate(call.args) if i not in unused]
        new = relax.CallOp(
            func.sym_name.data, [*args, *(s.result for s in shapes)], call.result.type
        )
        new.location = call.location
        new.result.name_hint = call.result.name_hint
        Rewriter.insert_op(shapes, InsertPoint.before(call))
        removed = [a.owner for i, a in enumerate(call.args) if i in unused]
        Rewriter.replace_op(call, new)
        for op in dict.fromkeys(removed):
            if isinstance(op, relax.ShapeOp | relax.PrimValueOp) and op.result.first_use is None:
                Rewriter.erase_op(op)
    func.erase_params(unused)
    for symbol in missing:
        name, type_ = unique_name(f"param_{symbol}", func.names), relax.ShapeType.of([sym(symbol)])
        func.insert_param(len(func.params), name, type_)


def _removable(func: relax.FuncOp) -> set[int]:
    """Parameters without uses; not shapes of single symbols, which would come back."""
    unused = [p for p in func.params if p.first_use is None]
    others = determined_symbols(p.type for p in func.params if p not in unused)
    needed = set(_needed(func, {p.index for p in unused})) - set(others)

    def is_one_symbol(type_: Attribute) -> bool:
        dims = type_.dims if isinstance(type_, relax.ShapeType) else None
        return dims is not None and len(dims) == 1 and set(determined_symbols([type_])) <= needed

    return {p.index for p in unused if not is_one_symbol(p.type)}


def _needed(func: relax.FuncOp, unused: set[int]) -> list[str]:
    """The symbols of the function without some parameters, in order of declaration."""
    used = {s for p in func.params if p.index not in unused for s in type_symbols(p.type)}
    used |= type_symbols(func.result_type)
    for op in func.body.walk():
        for attribute in (*op.result_types, *op.properties.values()):
            used |= type_symbols(attribute)
    return [s for s in func.declared_symbols() if s in used]


@dataclass(frozen=True)
class RemoveUnusedParametersPass(ModulePass):
    """Remove parameters that private functions do not use."""

    name = "remove-unused-parameters"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        remove_unused_parameters(op)
