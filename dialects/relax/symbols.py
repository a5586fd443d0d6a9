"""Declarations of symbols in graph functions: by parameters, and by `relax.match_cast`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import takewhile

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute, Block, Operation

from ..int_expr import IntExpr, Sym
from .closure import LocalFuncOp
from .control import IfOp
from .types import PrimType, ShapeType, TensorType, type_symbols
from .values import MatchCastOp


def dims_in(type_: Attribute) -> Iterator[IntExpr]:
    """The dims of tensors and shapes and the values of numbers in a type, in order."""
    match type_:
        case TensorType() | ShapeType():
            yield from type_.dims or ()
        case PrimType() if type_.expr is not None:
            yield type_.expr
        case TupleType(types=fields):
            for field in fields.data:
                yield from dims_in(field)
        case _:
            return


def paired_dims(lhs: Attribute, rhs: Attribute) -> Iterator[tuple[IntExpr, IntExpr]]:
    """Pairs of corresponding dims of two types of equal structure, if both are known."""
    match lhs, rhs:
        case TupleType(), TupleType():
            for a, b in zip(lhs.types.data, rhs.types.data, strict=False):
                yield from paired_dims(a, b)
        case _:
            yield from zip(dims_in(lhs), dims_in(rhs), strict=False)


def determined_symbols(types: Iterable[Attribute]) -> list[str]:
    """The symbols that values of these types determine, in order of first occurrence."""
    found: dict[str, None] = {}
    for type_ in types:
        for dim in dims_in(type_):
            if isinstance(atom := dim.as_atom, Sym):
                found[atom.name] = None
    return list(found)


def undeclared_symbol(block: Block, known: set[str]) -> tuple[str, Operation] | None:
    """The first symbol that an operation of the block uses without an earlier declaration.

    `known` are the symbols declared before the block; declarations in the block are added to it.
    The scope of declarations in a branch is the branch.
    """
    for op in block.ops:
        if isinstance(op, MatchCastOp):
            known.update(determined_symbols([op.result.type]))
        for region in op.regions:
            for inner in region.blocks:
                own = determined_symbols(a.type for a in inner.args)
                is_scope = isinstance(op, IfOp | LocalFuncOp)
                found = undeclared_symbol(inner, known.union(own) if is_scope else known)
                if found is not None:
                    return found
        for attribute in (*op.result_types, *op.properties.values()):
            for symbol in sorted(type_symbols(attribute) - known):
                return symbol, op
    return None


def declared_in(block: Block) -> set[str]:
    """The symbols that operations of the block declare or redeclare."""
    found: set[str] = set()
    for op in block.walk():
        if isinstance(op, MatchCastOp):
            found.update(determined_symbols([op.result.type]))
    return found


def declared_before(op: Operation) -> set[str]:
    """The symbols that are declared where an operation is, in its blocks and in those around."""
    found: set[str] = set()
    block = op.parent
    while block is not None:
        found.update(determined_symbols(a.type for a in block.args))
        for other in takewhile(lambda other: other is not op, block.ops):
            found.update(_declared_by(other))
        around = block.parent_op()
        if around is None:
            break
        op, block = around, around.parent
    return found


def _declared_by(op: Operation) -> Iterator[str]:
    """The symbols that an operation declares for what follows it."""
    if isinstance(op, MatchCastOp):
        yield from determined_symbols([op.result.type])
    if not isinstance(op, IfOp | LocalFuncOp):
        for region in op.regions:
            for inner in (o for block in region.blocks for o in block.ops):
                yield from _declared_by(inner)
