"""Matmuls and their fused forms."""

from __future__ import annotations

from ....dialects.int_expr import ONE, IntExpr
from ..context import Context, broadcast_dims
from ..formula import Formula
from ..registry import MICROSOFT, converts, find_converter
from ..tensor import Tensor


@converts("MatMul")
def matmul(ctx: Context, a: Tensor, b: Tensor) -> Tensor:
    """``a @ b``; lengths that are not provably equal are checked on calls."""
    return product(ctx, a, b)


def product(ctx: Context, a: Tensor, b: Tensor, out_dtype: str | None = None) -> Tensor:
    """``a @ b`` with sums in `out_dtype`."""
    if not a.rank or not b.rank:
        raise ValueError("expected operands of at least one dim, got a number")
    rows, columns = a.dims[:-1], b.dims[b.rank - 1 :] if b.rank > 1 else []
    inner = equal_dim(a.dims[-1], b.dims[max(b.rank - 2, 0)])
    batch = broadcast_dims(rows[:-1], b.dims[:-2])
    a = ctx.fitted(a, [*_own(rows[:-1], batch), *rows[-1:], inner])
    b = ctx.fitted(b, [*_own(b.dims[:-2], batch), inner, *columns])
    return ctx.emit("matmul", a, b, out_dtype=out_dtype)


def equal_dim(one: IntExpr, other: IntExpr) -> IntExpr:
    """What two dims are that must be equal: the constant one, else the first."""
    if one.is_constant and other.is_constant and one != other:
        raise ValueError(f"expected dims of one size, got {one} and {other}")
    return other if other.is_constant else one


def _own(dims: list[IntExpr], whole: list[IntExpr]) -> list[IntExpr]:
    shared = whole[len(whole) - len(dims) :]
    return [d if d == ONE else w for d, w in zip(dims, shared, strict=True)]


@converts("Gemm")
def gemm(
    ctx: Context,
    a: Tensor,
    b: Tensor,
    c: Tensor | None = None,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    transA: int = 0,
    transB: int = 0,
    broadcast: int = 1,
) -> Tensor:
    """``alpha * a @ b + beta * c``, with either matrix transposed."""
    for matrix in (a, b):
        if matrix.rank != 2:
            raise ValueError(f"expected matrices, got rank {matrix.rank}")
    a = ctx.permute(a, [1, 0]) if transA else a
    bias = None if c is None or beta == 0 else c
    if transB and alpha == 1 and (bias is None or beta == 1):
        return _linear(ctx, a, b, bias)
    found = matmul(ctx, a, ctx.permute(b, [1, 0]) if transB else b)
    found = scaled(ctx, found, alpha)
    return found if bias is None else _plus(ctx, found, scaled(ctx, bias, beta))


def _linear(ctx: Context, a: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """``a @ weight.T + bias``."""
    rows, inner = a.dims[0], equal_dim(a.dims[1], weight.dims[1])
    a, weight = ctx.fitted(a, [rows, inner]), ctx.fitted(weight, [weight.dims[0], inner])
    if bias is None:
        return ctx.emit("linear", a, weight)
    if bias.dims[-1:] == weight.dims[:1] and all(d == ONE for d in bias.dims[:-1]):
        return ctx.emit("linear", a, weight, ctx.reshape(bias, weight.dims[:1]))
    return _plus(ctx, ctx.emit("linear", a, weight), bias)


def _plus(ctx: Context, product: Tensor, bias: Tensor) -> Tensor:
    total = ctx.elementwise("add", product, bias)
    if total.rank != product.rank:
        raise ValueError(f"expected C to broadcast to a matrix, got rank {bias.rank}")
    return total


def scaled(ctx: Context, x: Tensor, factor: float) -> Tensor:
    """The tensor times a number."""
    return x if factor == 1 else ctx.emit("multiply", x, ctx.number(factor, x.dtype))


@converts("FusedMatMul", "TransposeMatMul", domain=MICROSOFT)
def fused_matmul(
    ctx: Context,
    a: Tensor,
    b: Tensor,
    *,
    alpha: float = 1.0,
    transA: int = 0,
    transB: int = 0,
    transBatchA: int = 0,
    transBatchB: int = 0,
) -> Tensor:
    """``alpha * a @ b``, with dims of either operand permuted first."""
    left = _permuted(ctx, a, transA, transBatchA)
    return scaled(ctx, matmul(ctx, left, _permuted(ctx, b, transB, transBatchB)), alpha)


def _permuted(ctx: Context, x: Tensor, swaps: int, rotates: int) -> Tensor:
    """The operand with its first dim behind those of the batch, then with its last two swapped."""
    order = list(range(x.rank))
    if x.rank < 2:
        return x
    if rotates:
        order = [*order[1:-1], order[0], order[-1]]
    if swaps:
        order[-2:] = order[-1], order[-2]
    return ctx.permute(x, order)


@converts("FusedGemm", domain=MICROSOFT)
def fused_gemm(
    ctx: Context,
    a: Tensor,
    b: Tensor,
    c: Tensor | None = None,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    transA: int = 0,
    transB: int = 0,
    activation: str = "",
    activation_alpha: float | None = None,
    activation_beta: float | None = None,
    activation_gamma: float | None = None,
) -> Tensor:
    """A gemm and an activation function."""
    found = gemm(ctx, a, b, c, alpha=alpha, beta=beta, transA=transA, transB=transB)
    given = {"alpha": activation_alpha, "beta": activation_beta, "gamma": activation_gamma}
    known = {name: value for name, value in given.items() if value is not None}
    return activated(ctx, found, activation, **known)


def activated(ctx: Context, x: Tensor, name: str, **attributes: float) -> Tensor:
    """The activation function of a name that fused operators have, "" for none."""
    if not name:
        return x
    if name == "Clip":
        return ctx.emit("clip", x, **attributes)
    converter = find_converter("", name, ctx.opset)
    if converter is None:
        raise ValueError(f"expected the name of an activation function, got '{name}'")
    return converter(ctx, x, **attributes)


@converts("Inverse", domain=MICROSOFT)
def inverse(ctx: Context, x: Tensor) -> Tensor:
    """The inverses of matrices."""
    return ctx.emit("linalg.inv", x)


@converts("CDist", domain=MICROSOFT)
def distances(ctx: Context, a: Tensor, b: Tensor, *, metric: str = "sqeuclidean") -> Tensor:
    """The distances of all pairs of rows, or their squares."""
    if metric not in ("euclidean", "sqeuclidean"):
        raise ValueError(f"expected a metric euclidean or sqeuclidean, got '{metric}'")
    rows, columns = (ctx.emit("expand_dims", m, axis=[axis]) for m, axis in ((a, 1), (b, 0)))
    difference = Formula(ctx, rows) - columns
    squares = (difference * difference).apply("sum", axis=[-1])
    return (squares if metric == "sqeuclidean" else squares.apply("sqrt")).tensor
