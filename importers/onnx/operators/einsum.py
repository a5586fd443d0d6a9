"""Sums of products in Einstein notation, and determinants."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.int_expr import ONE, IntExpr
from ....dialects.relax.operators.einsum import parse_subscripts
from ..context import Context, broadcast_dims
from ..formula import Formula
from ..registry import converts
from ..tensor import Tensor


@converts("Einsum")
def einsum(ctx: Context, *inputs: Tensor, equation: str) -> Tensor:
    """The sum of products over the letters that the result does not have.

    Several tensors are multiplied one after the other, so that each sum is over few letters.
    """
    letters, result = parse_subscripts("Einsum", equation, [t.rank for t in inputs])
    fitted = _fitted(ctx, letters, inputs)
    if len(fitted) <= 2:
        return _contracted(ctx, letters, fitted, result)
    wide = [Formula.wide(ctx, t).tensor for t in fitted]
    own, found = letters[0], wide[0]
    for index in range(1, len(wide)):
        rest = {*result, *"".join(letters[index + 1 :])}
        both = dict.fromkeys(own + letters[index])
        kept = result if index == len(wide) - 1 else "".join(c for c in both if c in rest)
        found = _contracted(ctx, [own, letters[index]], [found, wide[index]], kept)
        own = kept
    return ctx.astype(found, inputs[0].dtype)


def _contracted(
    ctx: Context, letters: Sequence[str], tensors: Sequence[Tensor], result: str
) -> Tensor:
    return ctx.emit("einsum", *tensors, subscripts=f"{','.join(letters)}->{result}")


def _fitted(ctx: Context, letters: Sequence[str], tensors: Sequence[Tensor]) -> list[Tensor]:
    """The tensors with equal dims for equal letters, which are checked on calls."""
    common: dict[str, IntExpr] = {}
    for own, tensor in zip(letters, tensors, strict=True):
        for letter, dim in zip(own, tensor.dims, strict=True):
            (common[letter],) = broadcast_dims([common.get(letter, ONE)], [dim])
    found: list[Tensor] = []
    for own, tensor in zip(letters, tensors, strict=True):
        pairs = zip(own, tensor.dims, strict=True)
        found.append(ctx.fitted(tensor, [d if d == ONE else common[c] for c, d in pairs]))
    return found


@converts("Det")
def determinant(ctx: Context, x: Tensor) -> Tensor:
    """The determinants of square matrices, which are the last two dims."""
    *batch, rows, columns = x.dims
    if not rows.is_constant or not columns.is_constant:
        size = columns if columns.is_constant else rows
        x = ctx.fitted(x, [*batch, size, size])
    return ctx.emit("det", x)
