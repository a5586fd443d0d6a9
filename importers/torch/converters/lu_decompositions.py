"""LU decompositions, their factors, and solutions of systems by them."""

from __future__ import annotations

from ....dialects.int_expr import ZERO, IntExpr, minimum
from ...emitter import Value, dims_of, dtype_of
from ...unsupported import Unsupported
from ..context import Context
from ..registry import converts
from .linear_systems import swapped, zeros


@converts("aten.linalg_lu_factor_ex.default")
def lu_factor(
    ctx: Context, a: Value, *, pivot: bool = True, check_errors: bool = False
) -> tuple[Value, ...]:
    """Both factors in one matrix, the pivots, and for each matrix the pivot that is 0."""
    _require_pivots(pivot)
    return ctx.fields(ctx.op("linalg.lu_factor", a, check_errors=check_errors))


@converts("aten.linalg_lu.default")
def lu(ctx: Context, a: Value, *, pivot: bool = True) -> tuple[Value, ...]:
    """The permutation, the lower and the upper factor."""
    _require_pivots(pivot)
    factors, pivots, _ = ctx.fields(ctx.op("linalg.lu_factor", a))
    return _permutation(ctx, factors, pivots), *_factors(ctx, factors)


@converts("aten.lu_unpack.default")
def lu_unpack(
    ctx: Context, factors: Value, pivots: Value, unpack_data: bool = True,
    unpack_pivots: bool = True,
) -> tuple[Value, ...]:  # fmt: skip
    """As `lu`, of its decomposition; what is not wanted is empty."""
    empty = [zeros(ctx, result) for result in ctx.result]
    permutation = _permutation(ctx, factors, pivots) if unpack_pivots else empty[0]
    return permutation, *(_factors(ctx, factors) if unpack_data else empty[1:])


@converts("aten.linalg_lu_solve.default")
def lu_solve(
    ctx: Context, factors: Value, pivots: Value, b: Value, *, left: bool = True,
    adjoint: bool = False,
) -> Value:  # fmt: skip
    """The solution of ``a @ x = b``, or of ``x @ a = b``, by the decomposition of `a`."""
    permutation = _permutation(ctx, factors, pivots)
    b = b if left else swapped(ctx, b)
    if adjoint != left:
        halfway = ctx.op("matmul", swapped(ctx, permutation), b)
        halfway = _triangular(ctx, factors, halfway, upper=False)
        solution = _triangular(ctx, factors, halfway, upper=True)
    else:
        transposed = swapped(ctx, factors)
        halfway = ctx.op("linalg.solve_triangular", transposed, b, upper=False)
        halfway = ctx.op(
            "linalg.solve_triangular", transposed, halfway, upper=True, unitriangular=True
        )
        solution = ctx.op("matmul", permutation, halfway)
    return solution if left else swapped(ctx, solution)


@converts("aten.lu_solve.default")
def lu_solve_last(ctx: Context, b: Value, factors: Value, pivots: Value) -> Value:
    """As `lu_solve`, with the operands in another order."""
    return lu_solve(ctx, factors, pivots, b)


def _require_pivots(pivot: bool) -> None:
    if not pivot:
        raise Unsupported("expected an LU decomposition with pivots, got pivot=False")


def _triangular(ctx: Context, factors: Value, b: Value, upper: bool) -> Value:
    return ctx.op("linalg.solve_triangular", factors, b, upper=upper, unitriangular=not upper)


def _permutation(ctx: Context, factors: Value, pivots: Value) -> Value:
    """The matrices ``p`` with ``a = p @ l @ u``: column k is 1 in the row that comes k-th."""
    rows = dims_of(factors)[-2]
    order = ctx.op("linalg.lu_permutation", pivots, size=[rows])
    row = ctx.op("arange", start=ZERO, end=rows, step=1, dtype=dtype_of(order))
    columns = ctx.op("expand_dims", order, axis=[-2])
    found = ctx.op("equal", columns, ctx.op("expand_dims", row, axis=[1]))
    return ctx.astype(found, dtype_of(factors))


def _factors(ctx: Context, factors: Value) -> tuple[Value, Value]:
    rows, columns = dims_of(factors)[-2:]
    inner = minimum(rows, columns)
    lower = ctx.op("tril", _first(ctx, factors, -1, inner), k=-1)
    ones = ctx.op("eye", n=rows, m=inner, dtype=dtype_of(factors))
    return ctx.op("add", lower, ones), ctx.op("triu", _first(ctx, factors, -2, inner))


def _first(ctx: Context, x: Value, axis: int, count: IntExpr) -> Value:
    bounds = dict(axes=[axis], begin=[ZERO], end=[count])
    return ctx.op("strided_slice", x, **bounds, assume_inbound=True)
