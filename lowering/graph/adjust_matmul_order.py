"""`adjust-matmul-order`: multiply three matrices in the order that needs fewer operations.

::

    %0 = relax.matmul %a, %b : (16, r), (r, 32)
    %1 = relax.matmul %x, %0 : (16), (16, 32)

⇒

    %0 = relax.matmul %x, %a : (16), (16, r)
    %1 = relax.matmul %0, %b : (r), (r, 32)

Products of parameters that are known before the inputs stay together, see `compile_time`. Of
symbolic sizes an order has to be provably cheaper, with bounds of the function's attributes
`tir_var_lower_bound` and `tir_var_upper_bound`. A product with other uses stays. TVM's
``AdjustMatmulOrder``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ...dialects import relax
from ...dialects.int_expr import ONE, IntExpr, Sym
from ...dialects.relax.operators.inference import broadcast_dims
from ...dialects.relax.operators.linear_algebra import MatmulOp
from ..functions import graph_functions
from .compile_time import CompileTime
from .fuse_transpose_matmul import transposed
from .graph_builder import GraphBuilder, dims_of, erase_unused
from .values import canonical

Bounds: TypeAlias = "tuple[int, int | None]"
"""The least and the largest value of a symbol, `None` if it has none."""


@dataclass
class _Adjuster:
    known: CompileTime
    bounds: dict[str, Bounds]

    def adjust(self, op: MatmulOp) -> bool:
        """Rewrite one product of a product; whether it was."""
        if op.attribute_values()["transpose_rhs"]:
            return False
        for on_lhs in (True, False):
            parts = _product(op.lhs if on_lhs else op.rhs, op)
            if parts is None:
                continue
            left, right, is_transposed = parts
            three = [left, right, op.rhs] if on_lhs else [op.lhs, left, right]
            if self._is_better(three, (0, 1) if on_lhs else (1, 2), is_transposed, on_lhs):
                _rewrite(op, three, is_transposed, on_lhs)
                return True
        return False

    def _is_better(
        self,
        three: Sequence[SSAValue],
        positions: tuple[int, int],
        is_transposed: bool,
        on_lhs: bool,
    ) -> bool:
        """Whether the other order is better, where the first two are multiplied now if `on_lhs`."""
        fixed = [v in self.known for v in three]
        if (
            all(fixed)
            or (fixed[:2] == [True, True] and on_lhs)
            or (fixed[1:] == [True, True] and not on_lhs)
        ):
            return False
        if fixed[:2] == [True, True] or fixed[1:] == [True, True]:
            return all(dims_of(v) is not None for v in three)
        shapes = [dims_of(v) for v in three]
        if any(s is None for s in shapes):
            return False
        dims = [list(s) for s in shapes if s is not None]
        if is_transposed:
            for n in positions:
                if len(dims[n]) < 2:
                    return False
                dims[n][-2:] = dims[n][:-3:-1]
        costs = _costs(*dims)
        if costs is None:
            return False
        now, then = costs if on_lhs else costs[::-1]
        return now != then and _never_negative(now - then, self.bounds)


def _never_negative(expr: IntExpr, bounds: Mapping[str, Bounds]) -> bool:
    """Whether an expression that is linear in each symbol is at least 0 for all of their values."""
    symbols = sorted(expr.symbols())
    if not symbols:
        return (expr.constant or 0) >= 0
    low, high = bounds.get(symbols[0], (0, None))

    def at(value: int) -> IntExpr:
        return expr.substitute({Sym(symbols[0]): IntExpr.of(value)})

    slope = at(low + 1) - at(low)
    if at(low + 2) - at(low + 1) != slope or not _never_negative(at(low), bounds):
        return False
    # With a bound both ends decide, without one the expression must not fall.
    return _never_negative(slope if high is None else at(high), bounds)


def _product(value: SSAValue, user: Operation) -> tuple[SSAValue, SSAValue, bool] | None:
    """The factors of a matmul that only `user` uses; those of a transposed one change places."""
    inside = canonical(value)
    if not _has_one_user(value):
        return None
    source = transposed(inside)
    inner = canonical(source) if source is not None else inside
    op = inner.owner
    if not isinstance(op, MatmulOp) or op.attribute_values()["transpose_rhs"]:
        return None
    if source is not None:
        return (op.rhs, op.lhs, True) if _has_one_user(inner) else None
    return op.lhs, op.rhs, False


def _has_one_user(value: SSAValue) -> bool:
    return len(list(value.uses)) == 1


def _costs(a: list[IntExpr], b: list[IntExpr], c: list[IntExpr]) -> tuple[IntExpr, IntExpr] | None:
    """The multiplications of ``(a b) c`` and of ``a (b c)``."""
    a = [ONE, *a] if len(a) == 1 else a
    c = [*c, ONE] if len(c) == 1 else c
    if len(b) == 1:
        return None
    n, r, m, k = a[-2], a[-1], c[-2], c[-1]
    try:
        ab, bc = (broadcast_dims(x[:-2], y[:-2]) for x, y in ((a, b), (b, c)))
        outer = broadcast_dims(ab, c[:-2])
    except ValueError:
        return None
    first = _size([*ab, n, r, m]) + _size([*outer, n, m, k])
    second = _size([*bc, r, m, k]) + _size([*outer, n, r, k])
    return first, second


def _size(dims: Sequence[IntExpr]) -> IntExpr:
    total = ONE
    for dim in dims:
        total = total * dim
    return total


def _rewrite(op: MatmulOp, three: Sequence[SSAValue], is_transposed: bool, on_lhs: bool) -> None:
    build = GraphBuilder(op)

    def factor(n: int) -> SSAValue:
        value, rank = three[n], len(dims_of(three[n]) or ())
        if not is_transposed or n == (2 if on_lhs else 0):
            return value
        axes = {} if rank == 2 else {"axes": [*range(rank - 2), rank - 1, rank - 2]}
        return build("permute_dims", value, **axes)

    if on_lhs:
        first = factor(0)
        result = build("matmul", first, build("matmul", factor(1), factor(2)))
    else:
        result = build("matmul", build("matmul", factor(0), factor(1)), factor(2))
    if result.type != op.result.type:
        raise AssertionError("the product of three matrices has one type")
    result.name_hint = op.result.name_hint
    old = [op.lhs if on_lhs else op.rhs]
    op.result.replace_all_uses_with(result)
    Rewriter.erase_op(op)
    erase_unused(old)


def _bounds(func: relax.FuncOp) -> dict[str, Bounds]:
    """The least and the largest value of symbols that the function's attributes say."""
    found: dict[str, Bounds] = {}
    for symbol in func.declared_symbols():
        low, end = (_bound(func, f"tir_var_{b}_bound", symbol) for b in ("lower", "upper"))
        found[symbol] = (low or 0, None if end is None else end - 1)
    return found


def _bound(func: relax.FuncOp, name: str, symbol: str) -> int | None:
    bounds = None if func.attrs is None else func.attrs.data.get(name)
    value = bounds.data.get(symbol) if isinstance(bounds, DictionaryAttr) else None
    return value.value.data if isinstance(value, IntegerAttr) else None


@dataclass(frozen=True)
class AdjustMatmulOrderPass(ModulePass):
    """Multiply three matrices in the order that needs fewer operations."""

    name = "adjust-matmul-order"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in graph_functions(op):
            adjuster = _Adjuster(CompileTime.of(func), _bounds(func))
            changed = True
            while changed:
                products = [o for o in func.walk() if isinstance(o, MatmulOp)]
                changed = any(adjuster.adjust(o) for o in products)
                if changed:
                    adjuster.known = CompileTime.of(func)
