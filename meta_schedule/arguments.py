"""What kernels are measured on: the dtypes and shapes of arguments, and random arrays of these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import IndexType

from ..dialects import tir
from ..dialects.tir.types import BufferType
from ..profiling.work import work_of
from ..reference.expressions import number, shape_of
from ..reference.inputs import random_array

ArgInfo = list[Any]
"""``["TENSOR", dtype, shape]`` or ``["INT", value]``, as in TVM's records."""

Range = tuple[int, int]
"""The least and the greatest value of a symbol."""

SMALL, BYTES = (0, 2), (-64, 64)
"""The values of integers, which may be indices, and of those of 8 bits."""


def sizes_of(func: tir.PrimFuncOp, ranges: Mapping[str, Range]) -> list[dict[str, int]]:
    """Values of a kernel's symbols: the ends of their ranges, and one between.

    Raises ValueError for a symbol without a range.
    """
    names = symbols_of(func)
    unknown = [n for n in names if n not in ranges]
    if unknown:
        raise ValueError(f"expected a range of the symbol '{unknown[0]}', got none")
    if not names:
        return [{}]
    steps = (0.0, 0.5, 1.0)
    found = [{n: _between(ranges[n], step) for n in names} for step in steps]
    return list({tuple(f.values()): f for f in found}.values())


def symbols_of(func: tir.PrimFuncOp) -> list[str]:
    """The symbols of a kernel's parameters."""
    buffers = [p.type for p in func.params if isinstance(p.type, BufferType)]
    return sorted({s for t in buffers for s in t.symbols()} | set(_scalars(func)))


def _scalars(func: tir.PrimFuncOp) -> list[str]:
    pairs = zip(func.names, func.params, strict=True)
    return [name for name, p in pairs if isinstance(p.type, IndexType)]


def _between(span: Range, share: float) -> int:
    """A value between the ends of a range, on a logarithmic scale."""
    low, high = (max(1, n) for n in span)
    return round(low * (high / low) ** share)


def args_info(func: tir.PrimFuncOp, symbols: Mapping[str, int]) -> list[ArgInfo]:
    """The arguments of a kernel; raises ValueError for a parameter that is no buffer or size."""
    found: list[ArgInfo] = []
    for name, param in zip(func.names, func.params, strict=True):
        if isinstance(param.type, BufferType):
            found.append(["TENSOR", param.type.dtype, list(shape_of(param.type.dims, symbols))])
        elif isinstance(param.type, IndexType):
            found.append(["INT", symbols[name]])
        else:
            raise ValueError(f"expected parameter '{name}' to be a buffer, got {param.type}")
    return found


def random_arguments(info: Sequence[ArgInfo], seed: int) -> list[Any]:
    """Random arrays: floats in [-2, 2), small integers."""
    rng = np.random.default_rng(seed)
    found: list[Any] = []
    for kind, *facts in info:
        if kind == "INT":
            found.append(facts[0])
            continue
        dtype, shape = facts
        found.append(random_array(dtype, shape, rng, BYTES if "int8" in dtype else SMALL))
    return found


def terms_of(func: tir.PrimFuncOp, symbols: Mapping[str, int]) -> int:
    """Roundings that may be in an element of a kernel's results: its operations for each."""
    work = work_of(func)
    if work.operations is None:
        return 1 << 10
    written = max(1, number(work.written, symbols))  # bytes, 8 an element at most
    return max(1, 8 * number(work.operations, symbols) // written)
