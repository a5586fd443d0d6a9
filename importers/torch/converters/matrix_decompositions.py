"""Decompositions of matrices, and functions that are computed from them."""

from __future__ import annotations

import torch

from ...emitter import Value, dims_of, dtype_of
from ..context import Context
from ..registry import converts
from .linear_systems import swapped, with_info, zeros


@converts("aten.linalg_cholesky.default", "aten.cholesky.default")
def cholesky(ctx: Context, a: Value, upper: bool = False) -> Value:
    """The Cholesky factors; a matrix that is not positive-definite raises an error."""
    if upper:
        return swapped(ctx, ctx.op("linalg.cholesky", swapped(ctx, a)))
    return ctx.op("linalg.cholesky", a)


@converts("aten.linalg_cholesky_ex.default")
def cholesky_ex(
    ctx: Context, a: Value, upper: bool = False, check_errors: bool = False
) -> tuple[Value, Value]:
    """The Cholesky factors, and the orders of leading minors that are not positive."""
    operand = swapped(ctx, a) if upper else a
    factor, info = with_info(ctx, "linalg.cholesky", operand, check_errors=check_errors)
    return swapped(ctx, factor) if upper else factor, info


@converts("aten.linalg_qr.default")
def qr(ctx: Context, a: Value, mode: str = "reduced") -> tuple[Value, Value]:
    """The QR decompositions; with the mode "r", the first result is empty."""
    q, r = ctx.fields(ctx.op("linalg.qr", a, mode="complete" if mode == "complete" else "reduced"))
    return (zeros(ctx, ctx.result[0]) if mode == "r" else q), r


def _lower(ctx: Context, a: Value, uplo: str) -> Value:
    """The matrices with what is read of them, the triangle `uplo`, in their lower triangles."""
    return a if uplo.upper() == "L" else swapped(ctx, a)


@converts("aten.linalg_eigh.default")
def eigh(ctx: Context, a: Value, uplo: str = "L") -> tuple[Value, ...]:
    """The eigenvalues of symmetric matrices in ascending order, and eigenvectors as columns."""
    return ctx.fields(ctx.op("linalg.eigh", _lower(ctx, a, uplo)))


@converts("aten._linalg_eigh.default")
def eigh_or_values(
    ctx: Context, a: Value, uplo: str = "L", compute_v: bool = True
) -> tuple[Value, ...]:
    """As `eigh`, or the eigenvalues and an empty tensor."""
    if compute_v:
        return eigh(ctx, a, uplo)
    return eigvalsh(ctx, a, uplo), zeros(ctx, ctx.result[1])


@converts("aten.linalg_eigvalsh.default")
def eigvalsh(ctx: Context, a: Value, uplo: str = "L") -> Value:
    """The eigenvalues of symmetric matrices in ascending order."""
    return ctx.op("linalg.eigvalsh", _lower(ctx, a, uplo))


@converts("aten.linalg_svd.default")
def svd(
    ctx: Context, a: Value, full_matrices: bool = True, *, driver: str | None = None
) -> tuple[Value, ...]:
    """The singular value decompositions; the driver of another device is ignored."""
    return ctx.fields(ctx.op("linalg.svd", a, full_matrices=full_matrices))


@converts("aten._linalg_svd.default")
def svd_or_values(
    ctx: Context, a: Value, full_matrices: bool = False, compute_uv: bool = True,
    *, driver: str | None = None,
) -> tuple[Value, ...]:  # fmt: skip
    """As `svd`, or the singular values between empty tensors."""
    if compute_uv:
        return svd(ctx, a, full_matrices)
    left, _, right = ctx.result
    return zeros(ctx, left), svdvals(ctx, a), zeros(ctx, right)


@converts("aten.linalg_svdvals.default")
def svdvals(ctx: Context, a: Value, *, driver: str | None = None) -> Value:
    """The singular values in descending order."""
    return ctx.op("linalg.svdvals", a)


@converts("aten.linalg_matrix_exp.default", "aten.matrix_exp.default")
def matrix_exp(ctx: Context, a: Value) -> Value:
    """The exponential function of square matrices."""
    return ctx.op("linalg.matrix_exp", a)


@converts("aten.linalg_pinv.atol_rtol_tensor")
def pinv(
    ctx: Context, a: Value, *, atol: Value | None = None, rtol: Value | None = None,
    hermitian: bool = False,
) -> Value:  # fmt: skip
    """The pseudoinverses: singular values up to ``max(atol, rtol * largest)`` count as 0."""
    if any(d.constant == 0 for d in ctx.dims):
        return zeros(ctx, ctx.result)
    u, s, vh = ctx.fields(ctx.op("linalg.svd", a, full_matrices=False))
    limit = _limit(ctx, a, s, atol, rtol)
    one, nothing = (ctx.number(n, dtype_of(a)) for n in (1, 0))
    inverted = ctx.op("where", ctx.op("greater", s, limit), ctx.op("divide", one, s), nothing)
    scaled = ctx.op("multiply", swapped(ctx, vh), ctx.op("expand_dims", inverted, axis=[-2]))
    return ctx.op("matmul", scaled, swapped(ctx, u))


def _limit(ctx: Context, a: Value, s: Value, atol: Value | None, rtol: Value | None) -> Value:
    """The largest singular value that counts as 0, by PyTorch's rule for missing tolerances."""
    dtype = dtype_of(a)
    if rtol is None:
        rtol = _default_rtol(ctx, a)
        if atol is not None:
            zero = ctx.number(0, dtype)
            rtol = ctx.op("where", ctx.op("greater", ctx.astype(atol, dtype), zero), zero, rtol)
    largest = ctx.op("max", s, axis=[-1], keepdims=True)
    relative = ctx.op("multiply", _column(ctx, rtol, dtype), largest)
    return relative if atol is None else ctx.op("maximum", _column(ctx, atol, dtype), relative)


def _default_rtol(ctx: Context, a: Value) -> Value:
    dtype = dtype_of(a)
    rows, columns = (ctx.number(d, dtype) for d in dims_of(a)[-2:])
    epsilon = ctx.number(torch.finfo(getattr(torch, dtype)).eps, dtype)
    return ctx.op("multiply", ctx.op("maximum", rows, columns), epsilon)


def _column(ctx: Context, tolerance: Value, dtype: str) -> Value:
    return ctx.op("expand_dims", ctx.astype(tolerance, dtype), axis=[-1])
