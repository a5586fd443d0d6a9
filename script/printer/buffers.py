"""Buffers in TensorIR text: their declarations and boxes of them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import NoneAttr
from xdsl.ir import SSAValue

from ...dialects.int_expr import ONE, IntExpr
from ...dialects.sym import exprs_of
from ...dialects.tir import BufferType
from ...dialects.tir.types import GLOBAL
from .expressions import Expressions
from .literals import call_text, quote, tuple_text


def shape_text(expressions: Expressions, dims: Sequence[IntExpr]) -> str:
    """``(1, n)``."""
    return tuple_text([expressions.dim(d) for d in dims])


def declare_buffer(expressions: Expressions, function: str, type_: BufferType, *source: str) -> str:
    """``T.alloc_buffer((1, n), "int32")``: defaults are left out."""
    strides = type_.strides
    return call_text(
        function,
        *source,
        shape_text(expressions, type_.dims),
        *([] if type_.dtype == "float32" else [quote(type_.dtype)]),
        strides=None
        if isinstance(strides, NoneAttr)
        else shape_text(expressions, exprs_of(strides)),
        elem_offset=expressions.dim(type_.offset.data) if type_.offset.data.terms else None,
        scope=quote(type_.scope.data) if type_.scope.data != GLOBAL else None,
    )


def region_text(
    expressions: Expressions,
    buffer: SSAValue,
    mins: Sequence[IntExpr],
    extents: Sequence[IntExpr],
    operands: Sequence[SSAValue],
) -> str:
    """``X[vi * 4:vi * 4 + 4, j]``: a slice for each extent other than 1."""
    ranges: list[str] = []
    for lower, extent in zip(mins, extents, strict=True):
        first = expressions.index(lower, operands)
        last = expressions.index(lower + extent, operands)
        ranges.append(first if extent == ONE else f"{first}:{last}")
    return expressions.element(buffer, ranges)


def symbols_in_order(type_: BufferType) -> list[str]:
    """The symbols of a buffer's shape and layout as they appear."""
    strides = () if isinstance(type_.strides, NoneAttr) else exprs_of(type_.strides)
    exprs = (*type_.dims, *strides, type_.offset.data)
    return list(dict.fromkeys(s for expr in exprs for s in sorted(expr.symbols())))
