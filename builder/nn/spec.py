"""What the inputs of exported methods are; struct infos and annotations do as well."""

from __future__ import annotations

from typing import Any

from ...ir.struct_info import ObjectStructInfo, TensorStructInfo, TupleStructInfo

__script_path__ = "relax.frontend.nn.spec"


class Int:
    """An integer that may be a dim, also as ``int`` and ``"int"``: the method gets its symbol.

    Callers of the function pass a shape of this one dim.
    """


def Tensor(shape: Any, dtype: str = "float32") -> TensorStructInfo:
    """A tensor; strings among the dims are symbols."""
    return TensorStructInfo(shape, dtype)


def Tuple(name: str, elements: Any) -> TupleStructInfo:
    """Several values as one; the name says nothing more than the input's own."""
    return TupleStructInfo(elements)


def Object(object_type: Any = None) -> ObjectStructInfo:
    """Any value."""
    return ObjectStructInfo()
