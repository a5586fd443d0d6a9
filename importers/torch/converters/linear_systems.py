"""Determinants, inverses, and solutions of systems of linear equations."""

from __future__ import annotations

from typing import Any

from ...emitter import Value, dims_of, dtype_of
from ..context import Context
from ..registry import converts


def swapped(ctx: Context, x: Value) -> Value:
    """The transposes of matrices."""
    batch = list(range(len(dims_of(x)) - 2))
    return ctx.permute(x, [*batch, len(batch) + 1, len(batch)])


def zeros(ctx: Context, result: Any) -> Value:
    """A tensor of zeros of the type of one of PyTorch's results."""
    type_ = ctx.type_like(result)
    return ctx.broadcast(ctx.number(0, type_.dtype or ""), list(type_.dims or ()))


def with_info(
    ctx: Context, operator: str, *operands: Value, check_errors: bool
) -> tuple[Value, Value]:
    """A result and `info`; with `check_errors`, failures are errors and all of `info` is 0."""
    if check_errors:
        return ctx.op(operator, *operands), zeros(ctx, ctx.result[-1])
    result, info = ctx.fields(ctx.op(f"{operator}_ex", *operands))
    return result, info


@converts("aten.linalg_det.default", "aten.det.default")
def det(ctx: Context, a: Value) -> Value:
    """The determinants of square matrices."""
    return ctx.op("det", a)


@converts("aten._linalg_det.default")
def det_with_factors(ctx: Context, a: Value) -> tuple[Value, None, None]:
    """Determinants; the further results, the LU decomposition, must be unused."""
    return ctx.op("det", a), None, None


@converts("aten.linalg_slogdet.default", "aten.slogdet.default")
def slogdet(ctx: Context, a: Value) -> tuple[Value, ...]:
    """The signs of determinants, and the logarithms of their magnitudes."""
    return ctx.fields(ctx.op("linalg.slogdet", a))


@converts("aten._linalg_slogdet.default")
def slogdet_with_factors(ctx: Context, a: Value) -> tuple[Value | None, ...]:
    """As `slogdet`; the further results, the LU decomposition, must be unused."""
    return *slogdet(ctx, a), None, None


@converts("aten.linalg_inv.default", "aten.inverse.default")
def inv(ctx: Context, a: Value) -> Value:
    """The inverses of matrices; a singular one raises an error."""
    return ctx.op("linalg.inv", a)


@converts("aten.linalg_inv_ex.default")
def inv_ex(ctx: Context, a: Value, check_errors: bool = False) -> tuple[Value, Value]:
    """The inverses of matrices, and for each the pivot that is 0."""
    return with_info(ctx, "linalg.inv", a, check_errors=check_errors)


@converts("aten.linalg_solve.default")
def solve(ctx: Context, a: Value, b: Value, left: bool = True) -> Value:
    """The solution of ``a @ x = b``, or of ``x @ a = b``; a singular matrix raises an error."""
    return _solved(ctx, a, b, left, check_errors=True)[0]


@converts("aten.linalg_solve_ex.default")
def solve_ex(
    ctx: Context, a: Value, b: Value, left: bool = True, check_errors: bool = False
) -> tuple[Value, Value]:
    """As `solve`, and for each matrix the pivot that is 0."""
    solution, info = _solved(ctx, a, b, left, check_errors)
    assert info is not None
    return solution, info


@converts("aten._linalg_solve_ex.default")
def solve_with_factors(
    ctx: Context, a: Value, b: Value, left: bool = True, check_errors: bool = False
) -> tuple[Value | None, ...]:
    """As `solve_ex`; the LU decomposition, which comes between its results, must be unused."""
    solution, info = _solved(ctx, a, b, left, check_errors)
    return solution, None, None, info


def _solved(
    ctx: Context, a: Value, b: Value, left: bool, check_errors: bool
) -> tuple[Value, Value | None]:
    """The solution, and `info` if the node has several results."""
    is_vector = len(dims_of(b)) == 1 or dims_of(b) == dims_of(a)[:-1]
    if is_vector:
        b = ctx.op("expand_dims", b, axis=[-1])
    elif not left:
        a, b = swapped(ctx, a), swapped(ctx, b)
    if hasattr(ctx.result, "shape"):
        solution, info = ctx.op("linalg.solve", a, b), None
    else:
        a = ctx.broadcast(a, [*ctx.symbols.dims(ctx.result[-1]), *dims_of(a)[-2:]])
        solution, info = with_info(ctx, "linalg.solve", a, b, check_errors=check_errors)
    if is_vector:
        return ctx.op("squeeze", solution, axis=[-1]), info
    return solution if left else swapped(ctx, solution), info


def _triangular(
    ctx: Context, a: Value, b: Value, upper: bool, unitriangular: bool = False
) -> Value:
    return ctx.op("linalg.solve_triangular", a, b, upper=upper, unitriangular=unitriangular)


@converts("aten.linalg_solve_triangular.default")
def solve_triangular(
    ctx: Context, a: Value, b: Value, *, upper: bool, left: bool = True,
    unitriangular: bool = False,
) -> Value:  # fmt: skip
    """The solution of ``a @ x = b``, or of ``x @ a = b``, for triangular `a`."""
    if left:
        return _triangular(ctx, a, b, upper, unitriangular)
    solution = _triangular(ctx, swapped(ctx, a), swapped(ctx, b), not upper, unitriangular)
    return swapped(ctx, solution)


@converts("aten.triangular_solve.default")
def triangular_solve(
    ctx: Context, b: Value, a: Value, upper: bool = True, transpose: bool = False,
    unitriangular: bool = False,
) -> tuple[Value, Value]:  # fmt: skip
    """The solution for a triangular matrix or its transpose, and the matrix."""
    operand = swapped(ctx, a) if transpose else a
    solution = _triangular(ctx, operand, b, upper != transpose, unitriangular)
    return solution, ctx.broadcast(a, ctx.symbols.dims(ctx.result[1]))


@converts("aten.cholesky_solve.default")
def cholesky_solve(ctx: Context, b: Value, factor: Value, upper: bool = False) -> Value:
    """The solution of ``a @ x = b`` by the Cholesky factor of `a`."""
    first, second = (swapped(ctx, factor), factor) if upper else (factor, swapped(ctx, factor))
    return _triangular(ctx, second, _triangular(ctx, first, b, upper=False), upper=True)


@converts("aten.cholesky_inverse.default")
def cholesky_inverse(ctx: Context, factor: Value, upper: bool = False) -> Value:
    """The inverse of a matrix by its Cholesky factor."""
    size = dims_of(factor)[-1]
    identity = ctx.op("eye", n=size, m=size, dtype=dtype_of(factor))
    return cholesky_solve(ctx, identity, factor, upper)
