"""What casts that every call of a graph function runs say about the types of values."""

from __future__ import annotations

from xdsl.ir import Attribute, SSAValue

from .func import DataflowOp, FuncOp
from .types import ObjectType, ShapeType, TensorType
from .values import MatchCastOp


def first_casts(func: FuncOp) -> dict[SSAValue, MatchCastOp]:
    """The first cast of each value, among those that every call of the function runs."""
    found: dict[SSAValue, MatchCastOp] = {}
    for op in func.body.block.ops:
        for inner in op.body.block.ops if isinstance(op, DataflowOp) else (op,):
            if isinstance(inner, MatchCastOp):
                found.setdefault(inner.value, inner)
    return found


def parameter_types(func: FuncOp) -> list[Attribute]:
    """The types of parameters; unknown ranks and dtypes are those of casts, if these know them."""
    casts = first_casts(func)
    return [_known_by(casts[p].result.type, p.type) if p in casts else p.type for p in func.params]


def _known_by(wanted: Attribute, given: Attribute) -> Attribute:
    """The type of a value without dims, from its own and that of a cast of it."""
    match given, wanted:
        case (TensorType(dims=None) | ObjectType(), TensorType()):
            own = given if isinstance(given, TensorType) else wanted
            return TensorType.of(None, own.known_element or wanted.known_element, wanted.rank)
        case (ShapeType(dims=None) | ObjectType(), ShapeType()):
            return ShapeType.of(None, wanted.rank)
        case _:
            return given
