"""What the inputs of exported methods are; struct infos and annotations do as well."""

from __future__ import annotations

from typing import Any

from ...ir.struct_info import ObjectStructInfo, PrimStructInfo, TensorStructInfo, TupleStructInfo

__script_path__ = "relax.frontend.nn.spec"


def Int(dtype: str = "int64") -> PrimStructInfo:
    """A number."""
    return PrimStructInfo(dtype)


def Tensor(shape: Any, dtype: str = "float32") -> TensorStructInfo:
    """A tensor; strings among the dims are symbols."""
    return TensorStructInfo(shape, dtype)


def Tuple(name: str, elements: Any) -> TupleStructInfo:
    """Several values as one; the name says nothing more than the input's own."""
    return TupleStructInfo(elements)


def Object(object_type: Any = None) -> ObjectStructInfo:
    """Any value."""
    return ObjectStructInfo()
