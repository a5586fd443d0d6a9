"""A quicker way than DLPack into the memory of torch tensors, without importing torch."""

from __future__ import annotations

import sys
from typing import Any

from .dlpack import SharedMemory
from .dtype import DTYPES

_names: dict[object, str | None] = {}


def torch_memory(source: Any) -> SharedMemory | None:
    """The memory of a plain torch tensor on the CPU, as DLPack would describe it.

    None for anything else, and where torch has to decide: gradients, other layouts. Raises
    BufferError for a view whose elements are still to be negated, of which DLPack does not tell.
    """
    torch: Any = sys.modules.get("torch")
    if torch is None or not isinstance(source, torch.Tensor):
        return None
    if source.is_neg():
        raise BufferError("expected a tensor without the negative bit, use tensor.resolve_neg()")
    if type(source) is not torch.Tensor:
        return None
    dtype = _dtype_name(source.dtype)
    if (
        dtype is None
        or not source.is_cpu
        or source.layout is not torch.strided
        or source.requires_grad
    ):
        return None
    strides = None if source.is_contiguous() else source.stride()
    return SharedMemory(source.data_ptr(), tuple(source.shape), dtype, strides, False, source)


def _dtype_name(dtype: object) -> str | None:
    try:
        return _names[dtype]
    except KeyError:
        name = str(dtype).removeprefix("torch.")
        return _names.setdefault(dtype, DTYPES[name].name if name in DTYPES else None)
