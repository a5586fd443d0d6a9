"""Types, dims and structures of values as plain data of the runtime."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import cast

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute, SSAValue

from ...dialects.diagnostics import Diagnostic
from ...dialects.int_expr import Atom, Compound, IntExpr, Sym
from ...dialects.relax.types import ObjectType, PrimType, ShapeType, TensorType, type_symbols
from ...dialects.tir.types import BufferType
from ...runtime.signature import Dim, Node, TensorSpec

_SPELLING = {"floordiv": "floordiv", "mod": "floormod", "min": "min", "max": "max"}


def tensor_specs(values: Iterable[SSAValue]) -> tuple[TensorSpec, ...]:
    """The dtypes and shapes of buffers."""
    types = [cast(BufferType, v.type) for v in values]
    return tuple(TensorSpec(t.dtype, plain_dims(t.dims)) for t in types)


def structure_of(
    type_: Attribute,
    tensors: Iterator[Node],
    reported: Collection[str] = frozenset(),
    kept: Iterator[int] = iter(()),
) -> Node:
    """The structure of a value of a graph type; tensors are numbered in order."""
    match type_:
        case TupleType(types=fields):
            return ("tuple", *(structure_of(f, tensors, reported, kept) for f in fields.data))
        case TensorType() if not type_.is_known:
            return ("kept", next(kept), type_.dtype, type_.rank)
        case TensorType() if type_symbols(type_) & set(reported):
            next(tensors)
            return ("sized", type_.dtype, *plain_dims(type_.dims or ()))
        case ObjectType():
            return ("object", next(tensors))
        case ShapeType():
            return ("shape", *plain_dims(type_.dims or ()))
        case PrimType() if type_.expr is not None:
            return ("prim", type_.dtype, plain_dim(type_.expr))
        case PrimType():
            return ("scalar", type_.dtype, next(tensors))
        case _:
            return next(tensors)


def buffer_types(values: Iterable[SSAValue]) -> list[BufferType]:
    """The types of buffers."""
    return [cast(BufferType, v.type) for v in values]


def plain_dims(dims: Iterable[IntExpr]) -> tuple[Dim, ...]:
    """Expressions over symbols as plain data."""
    return tuple(map(plain_dim, dims))


def plain_dim(expr: IntExpr) -> Dim:
    """An expression over symbols as plain data."""
    terms = [_plain_product(m, c) for m, c in expr.terms]
    return _fold("add", terms) if terms else 0


def _plain_product(monomial: tuple[Atom, ...], coefficient: int) -> Dim:
    factors = [_plain_atom(a) for a in monomial]
    if coefficient != 1 or not factors:
        factors.append(coefficient)
    return _fold("mul", factors)


def _plain_atom(atom: Atom) -> Dim:
    if isinstance(atom, Sym):
        return atom.name
    if isinstance(atom, Compound):
        return (_SPELLING[atom.op], plain_dim(atom.lhs), plain_dim(atom.rhs))
    raise Diagnostic(f"expected a dim over symbols, got {IntExpr.of(atom)}")


def _fold(op: str, parts: Sequence[Dim]) -> Dim:
    total = parts[0]
    for part in parts[1:]:
        total = (op, total, part)
    return total
