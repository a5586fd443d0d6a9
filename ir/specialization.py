"""`PrimFunc.specialize`: parameters get shapes and values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, IndexType, StringAttr
from xdsl.ir import BlockArgument

from ..dialects.dims import dim_of
from ..dialects.int_expr import Atom, IntExpr, Sym
from ..dialects.tir import BufferType, PrimFuncOp
from ..lowering.substitute import substitute_symbols
from .buffers import Buffer


def specialize(func: PrimFuncOp, values: Mapping[Any, Any]) -> PrimFuncOp:
    """A copy of a PrimFunc whose parameters are these; see `PrimFunc.specialize`."""
    symbols: dict[str, IntExpr] = {}
    numbers = {n: p for n, p in zip(func.names, func.params, strict=True) if not _is_buffer(p)}
    for key, value in values.items():
        if isinstance(key, Buffer):
            for expr, given in _pairs(key, value):
                if isinstance(atom := expr.as_atom, Sym):
                    _set(symbols, atom.name, given, key.name)
        elif (name := str(key)) in numbers:
            _set(symbols, name, _integer(name, numbers[name], value), name)
        else:
            raise ValueError(f"expected parameters of '{func.sym_name.data}', got {key!r}")
    for key, value in values.items():
        _check(key, value, symbols)
    copy = func.clone()
    substitute_symbols(copy, symbols)
    for index in reversed(range(len(func.names))):
        if func.names[index] in symbols and not _is_buffer(func.params[index]):
            copy.body.block.erase_arg(copy.params[index])
    kept = [n for n in func.names if n not in symbols or n not in numbers]
    copy.properties["param_names"] = ArrayAttr([StringAttr(n) for n in kept])
    return copy


def _is_buffer(param: BlockArgument) -> bool:
    return isinstance(param.type, BufferType)


def _integer(name: str, param: BlockArgument, value: Any) -> IntExpr:
    """The value of a parameter: an integer, which may be negative, or one over symbols."""
    if not isinstance(param.type, IndexType):
        raise ValueError(f"expected '{name}' to be an integer or a buffer, got {param.type}")
    is_int = isinstance(value, int) and not isinstance(value, bool)
    return IntExpr.of(int(value)) if is_int else dim_of(value)


def _pairs(param: Buffer, value: Any) -> list[tuple[IntExpr, IntExpr]]:
    """Expressions of a parameter that is to be like another buffer, and what they are there."""
    if not isinstance(value, Buffer):
        raise TypeError(f"expected a buffer for '{param.name}', got {type(value).__name__}")
    own, new = param.type, value.type
    if own.rank != new.rank or own.element_type != new.element_type:
        raise ValueError(f"expected a buffer like {own} for '{param.name}', got {new}")
    pairs = [*zip(own.dims, new.dims, strict=True), (own.offset.data, new.offset.data)]
    if own.has_strides:
        pairs += zip(own.element_strides(), new.element_strides(), strict=True)
    return pairs


def _check(param: Any, value: Any, symbols: Mapping[str, IntExpr]) -> None:
    """Raise ValueError where a parameter is not like another buffer, with values of symbols."""
    atoms: dict[Atom, IntExpr] = {Sym(name): e for name, e in symbols.items()}
    for expr, given in _pairs(param, value) if isinstance(param, Buffer) else ():
        if (expr.substitute(atoms) - given).constant != 0:
            raise ValueError(
                f"expected a buffer like {param.type} for '{param.name}', got {value.type}"
            )


def _set(symbols: dict[str, IntExpr], name: str, value: IntExpr, where: str) -> None:
    if symbols.setdefault(name, value) != value:
        raise ValueError(f"expected {name} = {symbols[name]} of '{where}', got {value}")
