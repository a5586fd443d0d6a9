"""Greatest common divisors and least common multiples, by Euclid's algorithm in a loop."""

from __future__ import annotations

from ....dialects.int_expr import IntExpr
from ...emitter import Emitter, Value, dtype_of
from ...loops import emit_loop
from ..context import Context
from ..formulas import Formula
from ..registry import converts


@converts("aten.gcd.default")
def gcd(ctx: Context, x: Value, other: Value) -> Value:
    """The greatest common divisor, of the sizes of numbers; that of 0 and a number is its size."""
    given = [ctx.broadcast(ctx.astype(v, ctx.dtype), ctx.dims) for v in (x, other)]
    first, second = (v if ctx.dtype.startswith("uint") else ctx.op("abs", v) for v in given)

    def step(
        inner: Emitter, _: IntExpr, own: list[Value], *__: list[Value]
    ) -> tuple[list[Value], list[Value]]:
        large, small = own[1:]
        is_done = inner.op("equal", small, inner.number(0, dtype_of(small)))
        divisor = inner.op("where", is_done, inner.number(1, dtype_of(small)), small)
        rest = inner.op("where", is_done, small, inner.op("floor_mod", large, divisor))
        found = inner.op("where", is_done, large, small)
        return [_has_rest(inner, rest), found, rest], []

    carried = [_has_rest(ctx, second), first, second]
    return emit_loop(ctx, "gcd_body", step, carried, is_while=True)[1]


def _has_rest(emitter: Emitter, rest: Value) -> Value:
    """Whether a number is left to divide by."""
    return emitter.op("any", emitter.op("not_equal", rest, emitter.number(0, dtype_of(rest))))


@converts("aten.lcm.default")
def lcm(ctx: Context, x: Value, other: Value) -> Value:
    """The least common multiple, of the sizes of numbers; 0 if one of them is."""
    divisor = Formula(ctx, gcd(ctx, x, other))
    first, second = (Formula(ctx, ctx.astype(v, ctx.dtype)) for v in (x, other))
    quotient = first.op("floor_divide", divisor.equals(0).where(divisor.number(1), divisor))
    multiple = quotient * second
    return multiple.value if ctx.dtype.startswith("uint") else abs(multiple).value
