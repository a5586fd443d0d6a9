"""Arguments of primitives that are expressions of sampled numbers, also in index maps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

from ....dialects.dims import expr_of
from ....dialects.index_map import IndexExprs
from ....dialects.int_expr import Atom, Compound, IntExpr, IntLike, Sym
from ..index_map import IndexMap
from .random_variables import ExprRV, RandomVariable


def replaced(value: Any, change: Callable[[Any], Any]) -> Any:
    """A value with what `change` makes of it, or of the items of nested lists and dicts."""
    if isinstance(value, Mapping):
        entries = cast("Mapping[str, Any]", value).items()
        return {k: replaced(v, change) for k, v in entries}
    if isinstance(value, list | tuple):
        items = [replaced(v, change) for v in cast("Sequence[Any]", value)]
        return tuple(items) if isinstance(value, tuple) else items
    return change(value)


def sampled_in(value: Any) -> Iterator[ExprRV]:
    """The sampled numbers in an expression or in the results of a map; none in other values."""
    if isinstance(value, IntExpr | IndexExprs):
        found = map(ExprRV.of_symbol, sorted(value.symbols()))
        yield from (variable for variable in found if variable is not None)


def has_sampled(value: Any) -> bool:
    """Whether there are sampled numbers in an expression or map."""
    return next(sampled_in(value), None) is not None


def expression_in(value: Any) -> Any:
    """The integer expression of an expression of sampled numbers; any other value unchanged."""
    if isinstance(value, RandomVariable):
        return value
    expr = expr_of(value)
    return value if expr is None or not has_sampled(expr) else expr


def is_recordable(value: IntExpr | IndexMap) -> bool:
    """Whether a trace can print an expression or map: Python has other symbols and `min` not."""
    has_others = any(ExprRV.of_symbol(name) is None for name in value.symbols())
    return not has_others and not any(a.op in ("min", "max") for a in _compounds(value))


def divides_by_zero(value: IntExpr | IndexMap) -> bool:
    """Whether an expression or map has a divisor that is 0."""
    return any(a.op in ("floordiv", "mod") and a.rhs.constant == 0 for a in _compounds(value))


def _compounds(value: IntExpr | IndexMap) -> Iterator[Compound]:
    exprs = value.results if isinstance(value, IndexMap) else (value,)
    return (a for e in exprs for a in e.all_atoms if isinstance(a, Compound))


def with_variables(value: Any, known: Mapping[RandomVariable, RandomVariable]) -> Any:
    """A variable, or an expression or map of them, with others in their places."""
    if isinstance(value, RandomVariable):
        return known.get(value, value)
    new = {v: cast(ExprRV, known[v]) for v in sampled_in(value) if v in known}
    return value.substitute({v.symbol: other.expr for v, other in new.items()}) if new else value


def named(value: Any, names: Mapping[RandomVariable, str]) -> Any:
    """An expression or map in which sampled numbers are symbols of these names."""
    return value.substitute({v.symbol: Sym(names.get(v, "_")) for v in sampled_in(value)})


def unnamed(value: Any, variables: Mapping[str, RandomVariable]) -> Any:
    """An expression or map whose symbols are names of sampled numbers, of these numbers."""
    found = {Sym(name): cast(ExprRV, variables[name]).expr for name in value.symbols()}
    return value.substitute(cast("Mapping[Atom, IntLike]", found))
