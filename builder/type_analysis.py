"""Relations of types and the symbols in them, as `relax.analysis` offers them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute

from ..dialects import relax
from ..dialects.dims import dim_of
from ..dialects.int_expr import IntExpr, Sym
from ..dialects.relax.symbols import declared_in, determined_symbols
from ..dialects.relax.type_relations import (
    TypeCheck,
    check_type,
    forget_symbols,
    least_supertype,
    without_dims,
)
from ..dialects.relax.types import type_symbols
from ..ir.function import Function
from ..ir.struct_info import AnyStructInfo, shape_of, struct_info, to_type
from ..lowering.substitute import substituted

BaseCheckResult = TypeCheck


def type_base_check(base: Any, derived: Any) -> TypeCheck:
    """Whether values of the type `derived` are values of `base`, or what a run has to check."""
    return check_type(to_type(base), to_type(derived))


def type_lca(lhs: Any, rhs: Any) -> AnyStructInfo:
    """The most precise type that both are; that of any value if they are of different kinds."""
    return struct_info(least_supertype(to_type(lhs), to_type(rhs)))


def get_static_type(info: Any) -> AnyStructInfo:
    """The type without dims and values: kinds, ranks and dtypes are kept."""
    return struct_info(without_dims(to_type(info)))


def erase_to_well_defined(
    info: Any,
    shape_var_map: Mapping[Any, Any] | None = None,
    var_map: Mapping[Any, Any] | None = None,
) -> AnyStructInfo:
    """The type where symbols are replaced by name; shapes with other symbols become unknown.

    Types say nothing of variables for whole shapes, so that `var_map` is not needed.
    """
    known = {str(k): dim_of(v) for k, v in (shape_var_map or {}).items()}
    return struct_info(substituted(forget_symbols(to_type(info), set(known)), known))


def tir_vars_in_type(info: Any) -> list[Any]:
    """The symbols of a type, in order of their first appearance."""
    return _symbols([s for d in _dims(to_type(info)) for s in sorted(d.symbols())])


def definable_tir_vars_in_type(info: Any) -> list[Any]:
    """The symbols that a value of the type determines: those that are a dim by themselves."""
    atoms = [d.as_atom for d in _dims(to_type(info))]
    return _symbols([a.name for a in atoms if isinstance(a, Sym)])


def defined_symbolic_vars(func: Function) -> list[Any]:
    """The symbols that parameters and casts of a function determine."""
    return _symbols(_defined(func))


def free_symbolic_vars(func: Function) -> list[Any]:
    """The symbols that a function uses, and does not define."""
    block = func.op.regions[0].block
    values = [*block.args, *(r for op in block.walk() for r in op.results)]
    used = dict.fromkeys(s for v in values for s in sorted(type_symbols(v.type)))
    defined = set(_defined(func))
    return _symbols([s for s in used if s not in defined])


def collect_non_negative_expressions(info: Any) -> list[Any]:
    """The dims of a type that are no numbers, which hence are not negative, each once."""
    dims = dict.fromkeys(d for d in _dims(to_type(info), prims=False) if d.constant is None)
    return list(shape_of(dims))


struct_info_base_check, struct_info_lca = type_base_check, type_lca
tir_vars_in_struct_info = tir_vars_in_type
definable_tir_vars_in_struct_info = definable_tir_vars_in_type


def _defined(func: Function) -> list[str]:
    block = func.op.regions[0].block
    return [*determined_symbols(a.type for a in block.args), *sorted(declared_in(block))]


def _symbols(names: list[str]) -> list[Any]:
    return list(shape_of(IntExpr.of(Sym(n)) for n in dict.fromkeys(names)))


def _dims(type_: Attribute, prims: bool = True) -> Iterator[IntExpr]:
    """The dims of a type in order, also of functions; with `prims` the values of numbers too."""
    match type_:
        case relax.TensorType() | relax.ShapeType():
            yield from type_.dims or ()
        case relax.PrimType() if prims and type_.expr is not None:
            yield type_.expr
        case TupleType(types=parts):
            for part in parts.data:
                yield from _dims(part, prims)
        case relax.FuncType():
            for part in (*type_.params.data, type_.result):
                yield from _dims(part, prims)
        case _:
            return
