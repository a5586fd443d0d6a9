"""Whether scalars have one value: a stricter question than whether they are written the same."""

from __future__ import annotations

from .arithmetic import Binary, Call, Cast, Imm, PrimExpr, as_int_expr
from .expr import Load, Var


def is_equal(a: PrimExpr, b: PrimExpr) -> bool:
    """Whether two expressions have one value where both are evaluated; not for calls with effects.

    Variables of one name are others, unless they are symbols.
    """
    if a.dtype != b.dtype:
        return False
    x, y = as_int_expr(a), as_int_expr(b)
    if x is not None or y is not None:
        return x == y
    match a, b:
        case (Imm(), Imm()):
            return a.value == b.value
        case (Binary(), Binary()) | (Call(), Call()) if a.op != b.op:
            return False
        case (Load(), Load()) if a.source is not b.source:
            return False
        case (Binary(), Binary()) | (Call(), Call()) | (Cast(), Cast()) | (Load(), Load()):
            return all(map(is_equal, a.children(), b.children()))
        case _:
            return isinstance(a, Var) and a.same_as(b)
