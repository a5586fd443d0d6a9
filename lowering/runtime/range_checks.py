"""Checks of the ranges that a graph function's attributes give for its symbols.

::

    relax.func @main(%x: !relax.tensor<[n], f32>) -> … attributes
        {"tir_var_lower_bound" = {"n" = 2 : i64}, "tir_var_upper_bound" = {"n" = 8 : i64}}

⇒

::

    rt.assert n ge 2, "expected dim 0 ('n') of argument 'x' to be in [2, 8], got {0}"
    rt.assert 8 ge n, "expected dim 0 ('n') of argument 'x' to be in [2, 8], got {1}"

Front ends simplify sizes by these ranges, so a call outside of them must not run.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute, Operation

from ...dialects import relax, rt
from ...dialects.int_expr import IntExpr, Sym, sym
from ...dialects.relax.symbols import dims_in


def range_checks(func: relax.FuncOp) -> list[Operation]:
    """The checks of a function, each with the first place of its symbol in the parameters."""
    places: dict[str, str] = {}
    for name, param in zip(func.names, func.params, strict=True):
        for dim, place in _places(name, param.type):
            if isinstance(atom := dim.as_atom, Sym):
                places.setdefault(atom.name, place.format(f" ('{atom.name}')"))
    ranges = func.symbol_ranges()
    return [check for n, place in places.items() for check in _checks(n, place, *ranges[n])]


def _places(name: str, type_: Attribute) -> Iterator[tuple[IntExpr, str]]:
    """The dims of a parameter, each with a description."""
    if isinstance(type_, TupleType):
        for i, field in enumerate(type_.types.data):
            yield from _places(f"{name}.{i}", field)
        return
    for i, dim in enumerate(dims_in(type_)):
        is_number = isinstance(type_, relax.PrimType)
        yield dim, f"argument '{name}'" if is_number else f"dim {i}{{}} of argument '{name}'"


def _checks(name: str, place: str, least: int, most: int | None) -> Iterator[Operation]:
    bounds = f"at least {least}" if most is None else f"in [{least}, {most}]"
    message = f"expected {place} to be {bounds}, got "
    if least > 0:
        yield rt.AssertOp(sym(name), "ge", least, message + "{0}")
    if most is not None:
        yield rt.AssertOp(most, "ge", sym(name), message + "{1}")
