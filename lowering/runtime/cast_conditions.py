"""The conditions of a `match_cast` that are checked at run time."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute

from ...dialects import relax, rt
from ...dialects.diagnostics import Diagnostic
from ...dialects.int_expr import IntExpr


def cast_conditions(op: relax.MatchCastOp, function: str) -> list[rt.AssertOp]:
    """A condition for each dim of the cast's type that the value's type does not imply.

    Raises Diagnostic if the value has no known rank or dtype: these are not checked at run time.
    """
    subject = "a value" if op.value.name_hint is None else f"'{op.value.name_hint}'"
    written = "" if op.written is None else f" to {op.written.data}"
    where = f"match_cast of {subject}{written} in {function}"
    return [
        rt.AssertOp(expected, "eq", actual, f"{where}: expected {what} to be {{0}}, got {{1}}")
        for what, expected, actual in _sizes(where, "", op.result.type, op.value.type)
        if expected != actual
    ]


def _sizes(
    where: str, field: str, wanted: Attribute, given: Attribute
) -> Iterator[tuple[str, IntExpr, IntExpr]]:
    """Pairs of dims that must be equal, each with its description."""
    match wanted, given:
        case relax.TensorType(), relax.TensorType():
            if wanted.dtype is not None and given.dtype is None:
                raise Diagnostic(f"{where}: expected a value of known dtype, got {given}")
            yield from _dims(where, field, wanted, given)
        case relax.ShapeType(), relax.ShapeType():
            yield from _dims(where, field, wanted, given)
        case relax.PrimType(), relax.PrimType() if wanted.expr is not None:
            if given.expr is None:
                raise Diagnostic(f"{where}: expected a number over symbols, got {given}")
            yield f"the number{field}", wanted.expr, given.expr
        case TupleType(), TupleType():
            pairs = zip(wanted.types.data, given.types.data, strict=False)
            for i, (w, g) in enumerate(pairs):
                yield from _sizes(where, f" of field {i}{field}", w, g)
        case _:
            if wanted != given and not isinstance(wanted, relax.ObjectType):
                raise Diagnostic(f"{where}: expected a value of known type, got {given}")


def _dims(
    where: str,
    field: str,
    wanted: relax.TensorType | relax.ShapeType,
    given: relax.TensorType | relax.ShapeType,
) -> Iterator[tuple[str, IntExpr, IntExpr]]:
    if wanted.rank is not None and given.dims is None:
        raise Diagnostic(f"{where}: expected a value of known shape, got {given}")
    pairs = zip(wanted.dims or (), given.dims or (), strict=False)
    for i, (w, g) in enumerate(pairs):
        yield f"dim {i}{field}", w, g
