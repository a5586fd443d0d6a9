"""Products of fixed-point numbers, with which quantized networks scale integers."""

from __future__ import annotations

from .arithmetic import binary, cast, const, convert
from .expr import ExprLike, Imm, PrimExpr


def q_multiply_shift(x: ExprLike, y: ExprLike, q: ExprLike, s: ExprLike) -> PrimExpr:
    """``x * y * 2 ** (s - q)`` of int32, rounded to the nearest integer, halves up.

    TVM's ``q_multiply_shift``. The number `q` says how many bits of `y` are a fraction. `x` is
    shifted left first if `s` is positive, and the product, of 64 bits, right. A result that int32
    cannot hold wraps. Raises TypeError for `x`, `y` or `s` of other dtypes, and ValueError for `q`
    that is not a constant from 1 to 31.
    """
    _verify("q_multiply_shift", x, y, s)
    left, right = binary("max", s, 0), binary("max", binary("sub", 0, s), 0)
    return _scaled(x, y, left, binary("add", right, _fraction("q_multiply_shift", q)))


def q_multiply_shift_per_axis(
    x: ExprLike,
    y: ExprLike,
    ls: ExprLike,
    rs: ExprLike,
    q: ExprLike,
    is_lshift_required: ExprLike,
    is_rshift_required: ExprLike,
) -> PrimExpr:
    """``x * 2 ** ls * y * 2 ** -(q + rs)`` of int32, rounded as by `q_multiply_shift`.

    A shift that is not required counts as 0. Raises TypeError and ValueError as it does.
    """
    name = "q_multiply_shift_per_axis"
    _verify(name, x, y, ls, rs)
    left, right = (
        amount if _constant(name, flag) else 0
        for amount, flag in ((ls, is_lshift_required), (rs, is_rshift_required))
    )
    return _scaled(x, y, left, binary("add", right, _fraction(name, q)))


def _scaled(x: ExprLike, y: ExprLike, left: ExprLike, right: ExprLike) -> PrimExpr:
    """``round(x * 2 ** left * y * 2 ** -right)`` of int32, in 64 bits; `right` is at least 1."""
    wide, left, right = cast("int64", x), cast("int64", left), cast("int64", right)
    if not (isinstance(left, Imm) and left.value == 0):
        wide = binary("shift_left", wide, left)
    one = const(1, "int64")
    half = binary("shift_left", one, binary("sub", right, one))
    if isinstance(right, Imm):
        half = const(1 << int(right.value) - 1, "int64")
    product = binary("add", binary("mul", wide, cast("int64", y)), half)
    return cast("int32", binary("shift_right", product, right))


def _verify(name: str, *values: ExprLike) -> None:
    for value in values:
        if (dtype := convert(value).dtype) != "int32":
            raise TypeError(f"expected '{name}' of int32, got {dtype}")


def _fraction(name: str, bits: ExprLike) -> int:
    found = _constant(name, bits)
    if not 1 <= found <= 31:
        raise ValueError(f"expected 1 to 31 fraction bits of '{name}', got {found}")
    return found


def _constant(name: str, value: ExprLike) -> int:
    expr = convert(value)
    if not isinstance(expr, Imm):
        raise ValueError(f"expected constants for the bits and flags of '{name}', got {expr}")
    return int(expr.value)
