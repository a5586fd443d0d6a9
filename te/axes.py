"""Axes of tensor expressions: variables with a range and a kind."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from .arithmetic import dim_expr, index_value
from .expr import PrimExpr, Var
from .ranges import Range

ITER_TYPES = {"spatial": 0, "thread": 1, "reduce": 2, "scan": 3, "opaque": 4}
"""TVM's numbers of the kinds of axes, ``IterVar.DataPar`` and others."""


class IterVar(Var):
    """An axis with its range ``[start, start + extent)``; TVM's ``IterVar``.

    One of kind "thread" has a `thread_tag`, such as "threadIdx.x".
    """

    def __init__(
        self,
        name: str,
        start: PrimExpr | int,
        extent: PrimExpr | int,
        kind: str,
        dtype: str,
        thread_tag: str = "",
    ):
        super().__init__(name, dtype)
        self.start = start
        self.extent = extent
        self.kind = kind
        self.thread_tag = thread_tag

    @property
    def dom(self) -> Range:
        """The range."""
        return Range.from_min_extent(self.start, self.extent)

    @property
    def var(self) -> Var:
        """The variable of the axis (itself)."""
        return self

    @property
    def iter_type(self) -> int:
        """The kind as TVM numbers it: 0 is spatial, 2 is a reduction."""
        return ITER_TYPES.get(self.kind, ITER_TYPES["opaque"])


def axis_names(fcompute: Callable[..., Any], count: int) -> list[str]:
    """Names of a function's parameters, so many; raises ValueError for another number of them."""
    names: list[str] = []
    for parameter in inspect.signature(fcompute).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            names += [f"{parameter.name}{i}" for i in range(count - len(names))]
        elif parameter.default is parameter.empty:
            names.append(parameter.name)
    if len(names) != count:
        raise ValueError(
            f"expected a function of {count} indices for {count} dims, got {len(names)}"
        )
    return names


def reduce_axis(dom: Sequence[PrimExpr | int], name: str = "rv") -> IterVar:
    """An axis to reduce over, ``dom = (start, stop)``; TVM's ``te.reduce_axis``."""
    if len(dom) != 2:
        raise ValueError(f"expected a range (start, stop) for '{name}', got {len(dom)} numbers")
    start, stop = dom
    first, size = dim_expr(start), dim_expr(stop) - dim_expr(start)
    dtype = "int32" if size.is_constant and first.is_constant else "int64"
    return IterVar(name, index_value(first), index_value(size), "reduce", dtype)
