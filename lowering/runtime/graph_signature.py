"""Signatures of graph functions on memory: their tensors, and symbols that no tensor determines."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute

from ...dialects import relax
from ...dialects.relax.symbols import determined_symbols
from ...dialects.relax.types import tensors_in


def extra_symbols(func: relax.FuncOp) -> list[str]:
    """The symbols of a function that only shapes and numbers among its parameters determine."""
    tensors = [t for p in func.params for t in tensors_in(p.type)]
    by_memory = set(determined_symbols(tensors))
    return [s for s in func.declared_symbols() if s not in by_memory]


def is_plain(params: Sequence[Attribute], result: Attribute) -> bool:
    """Whether users pass tensors alone and get a tensor or a flat tuple of tensors."""
    fields = result.types.data if isinstance(result, TupleType) else (result,)
    return all(isinstance(t, relax.TensorType) for t in (*params, *fields))


def leaf_names(name: str, type_: Attribute) -> list[str]:
    """Names of the tensors of a parameter: its own, or ``t.0``, ``t.1.0`` in a tuple."""
    if isinstance(type_, TupleType):
        fields: Sequence[Attribute] = type_.types.data
        return [n for i, field in enumerate(fields) for n in leaf_names(f"{name}.{i}", field)]
    return [name] if isinstance(type_, relax.TensorType) else []
