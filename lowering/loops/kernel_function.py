"""What the function of a kernel takes, and what its callers promise, by its PrimFunc."""

from __future__ import annotations

from xdsl.dialects.builtin import IndexType

from ...dialects import tir


def symbol_order(func: tir.PrimFuncOp) -> list[str]:
    """The kernel's symbols: `index` parameters in order, then those that buffers determine."""
    params = zip(func.names, func.params, strict=True)
    given = [name for name, param in params if isinstance(param.type, IndexType)]
    return list(dict.fromkeys([*given, *func.declared_symbols()]))
