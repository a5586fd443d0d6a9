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
type, and outputs of dataflow blocks that are no values of theirs, or that are another output. Then
unused operations go away. Before that, symbols that casts declare outside of branches become the
dims that the values are known to have. TVM's ``CanonicalizeBindings``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, TupleType
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ...dialects import relax
from ...dialects.int_expr import IntExpr
from ...dialects.nesting import ancestors
from ...dialects.relax.symbols import determined_symbols
from ...dialects.relax.types import shape_text, type_symbols
from ..functions import graph_functions
from ..substitute import substitute_symbols
from ..verify_calls import blame, unify_types
from .dead_code import remove_all_unused
from .refresh_types import refresh_types
from .values import canonical, visible


@dataclass(frozen=True)
class CanonicalizeBindingsPass(ModulePass):
    """Remove bindings that only give another name to a value, and what is unused then."""

    name = "canonicalize-bindings"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in graph_functions(op):
            canonicalize_bindings(func)


def canonicalize_bindings(func: relax.FuncOp) -> None:
    """Remove the bindings of one function that only give another name, and what is unused then.

    Raises Diagnostic with one line for a cast whose value is known to have another shape.
    """
    replace_known_symbols(func)
    inside = list(func.walk())
    for inner in inside:
        _rename_result(inner)
    for inner in reversed(inside):
        if isinstance(inner, relax.DataflowOp):
            _rename_outputs(inner)
    remove_all_unused(func)


def replace_known_symbols(func: relax.FuncOp) -> None:
    """Replace symbols that casts declare by the dims that their values are known to have."""
    declared, found = set(func.declared_symbols()), False
    casts = [op for op in func.walk() if isinstance(op, relax.MatchCastOp)]
    for cast in casts:
        new = [s for s in determined_symbols([cast.result.type]) if s not in declared]
        declared.update(new)
        if not any(isinstance(outer, relax.IfOp) for outer in ancestors(cast)):
            known = _known_symbols(cast)
            values = {s: known[s] for s in new if s in known}
            for changed in casts if values else ():
                _keep_text(changed, values)
            substitute_symbols(func, values)
            found |= bool(values)
    if found:
        refresh_types(func)


def _known_symbols(cast: relax.MatchCastOp) -> dict[str, IntExpr]:
    types = [cast.result.type], [cast.value.type]
    if not all(isinstance(t, relax.TensorType | relax.ShapeType | TupleType) for (t,) in types):
        return {}
    with blame(cast):
        return unify_types(f"cast to {cast.result.type}", ["the value"], *types).symbols


def _keep_text(cast: relax.MatchCastOp, values: Mapping[str, IntExpr]) -> None:
    """Let messages of a cast have the symbols of the program."""
    type_ = cast.result.type
    if cast.written is None and isinstance(type_, relax.TensorType):
        if not type_symbols(type_).isdisjoint(values):
            cast.written = StringAttr(shape_text(type_))


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
