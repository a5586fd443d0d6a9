"""`canonicalize-bindings`: remove bindings that only give another name to a value.

::

    %t = relax.tuple(%x, %y) : …
    %o = relax.dataflow -> T, T {
      %a = relax.tuple_get_item %t[0] : …
      %b = relax.match_cast %a : T -> T
      %c = relax.add %b, %y : …
      relax.output %c, %b : T, T
    }

⇒

    %o = relax.dataflow -> T {
      %c = relax.add %x, %y : …
      relax.output %c : T
    }

Such are fields of a tuple that is known, the tuple of all fields of another, casts to the same
type, whose symbols are replaced by the dims that they match, and outputs of dataflow blocks that
are no values of theirs, or that are another output. Then unused operations go away.
TVM's ``CanonicalizeBindings``.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TupleType
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ...dialects import relax
from ...dialects.relax.type_relations import forget_symbols
from ..functions import graph_functions
from .cast_symbols import CastResolver
from .dead_code import remove_all_unused
from .values import canonical, visible


@dataclass(frozen=True)
class CanonicalizeBindingsPass(ModulePass):
    """Remove bindings that only give another name to a value, and what is unused then."""

    name = "canonicalize-bindings"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in graph_functions(op):
            canonicalize_bindings(func)


def canonicalize_bindings(func: relax.FuncOp) -> None:
    """Remove the bindings of one function that only give another name, and what is unused then."""
    resolver = CastResolver(func, {})
    resolver.block(func.body.block)
    if resolver.values:
        func.result_type = forget_symbols(func.returned.type, set(func.declared_symbols()))
    inside = list(func.walk())
    for inner in inside:
        _rename_result(inner)
    for inner in reversed(inside):
        if isinstance(inner, relax.DataflowOp):
            _rename_outputs(inner)
    remove_all_unused(func)


def _rename_result(op: Operation) -> None:
    same = _same_value(op)
    if same is not None and same.type == op.results[0].type:
        op.results[0].replace_all_uses_with(same)


def _rename_outputs(op: relax.DataflowOp) -> None:
    first: dict[SSAValue, SSAValue] = {}
    for value, result in zip(op.output.values, op.outputs, strict=True):
        same = value if _is_outside(value, op) else first.setdefault(value, result)
        if same is not result:
            result.replace_all_uses_with(same)


def _is_outside(value: SSAValue, op: relax.DataflowOp) -> bool:
    owner = value.owner
    return not (isinstance(owner, Operation) and owner.parent is op.body.block)


def _same_value(op: Operation) -> SSAValue | None:
    """The value that an operation only gives another name to, as it is seen there."""
    match op:
        case relax.MatchCastOp():
            return op.value
        case relax.TupleGetItemOp():
            made = canonical(op.tuple_value).owner
            is_known = isinstance(made, relax.TupleOp)
            return visible(canonical(made.fields[op.index.data]), op) if is_known else None
        case relax.TupleOp():
            return _unpacked(op)
        case _:
            return None


def _unpacked(op: relax.TupleOp) -> SSAValue | None:
    """The tuple whose fields, all of them and in order, an operation puts together."""
    owners = [canonical(f).owner for f in op.fields]
    items = [o for o in owners if isinstance(o, relax.TupleGetItemOp)]
    if not items or [i.index.data for i in items] != list(range(len(owners))):
        return None
    sources = {canonical(i.tuple_value) for i in items}
    (source, *others) = sources
    type_ = source.type
    is_whole = isinstance(type_, TupleType) and len(type_.types.data) == len(items)
    return visible(source, op) if is_whole and not others else None
