"""PyTorch's own decompositions of operators, as far as they lead to operators with converters."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import torch
from torch import _decomp

from .registry import overload_name

Table = dict[Any, Callable[..., Any]]

_FURTHER = "torch._decomp.decompositions"
"""Where PyTorch keeps decompositions that its export does not apply by itself.

Those that it has elsewhere end in operators of its own compiler, `prims`.
"""


def decompositions(known: Collection[str]) -> Table:
    """What the export decomposes, and what else can be, without the overloads that are known."""
    given: Any = _decomp  # whose types are partly unknown
    known_to_pytorch: Table = given.decomposition_table
    further = {op: f for op, f in known_to_pytorch.items() if f.__module__ == _FURTHER}
    table: Any = torch.export.default_decompositions()
    for op, function in further.items():
        if op not in table and overload_name(op).startswith("aten."):
            table[op] = function
    for op in list(table):
        if overload_name(op) in known:
            table.pop(op)
    return table
