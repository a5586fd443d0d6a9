"""`unsafe_set_dtype`: store a scratch buffer in another dtype.

::

    for i: T[i] = X[i] * 2            ⇒      for i: T[i] = float16(X[i] * 2)
    for i: Y[i] = T[i] + 1                   for i: Y[i] = float32(T[i]) + 1
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from ...dialects import tir
from ...dialects.dtypes import DTYPES, dtype_name, element_type
from ...dialects.sym import exprs_of
from ...dialects.tir.verify_access import buffer_text
from ..scalar_builder import ScalarBuilder
from .blocks import ScheduleError
from .storage import scratch_of


def set_dtype(block: tir.BlockOp, buffer: int | str, dtype: str) -> None:
    """Store a scratch buffer that a block writes in another dtype; TVM's ``unsafe_set_dtype``.

    Stored values are converted to `dtype`, and loaded ones back. Raises ScheduleError for a
    parameter, for an unknown dtype, and for a buffer that is passed to a call.
    """
    old = scratch_of(block, buffer).result
    if dtype not in DTYPES:
        raise ScheduleError(f"expected a dtype ({', '.join(DTYPES)}), got '{dtype}'", block)
    accesses = list(_accesses(old))
    for op in accesses:
        if not isinstance(op, tir.LoadOp | tir.StoreOp):
            raise ScheduleError(
                f"expected {buffer_text(old)} only to be loaded and stored to, got '{op.name}'",
                block,
            )
    assert isinstance(old.type, tir.BufferType)
    before = dtype_name(old.type.element_type)
    if before == dtype:
        return
    _retype(old, dtype)
    for op in accesses:
        if isinstance(op, tir.LoadOp):
            _convert_load(op, before, dtype)
        elif isinstance(op, tir.StoreOp):
            _convert_store(op, before, dtype)


def _accesses(buffer: SSAValue) -> Iterator[Operation]:
    """The operations that use a buffer or its views, without views and regions of blocks."""
    for use in buffer.uses:
        if isinstance(use.operation, tir.MatchBufferOp):
            yield from _accesses(use.operation.result)
        elif not isinstance(use.operation, tir.BlockOp):
            yield use.operation


def _retype(buffer: SSAValue, dtype: str) -> None:
    """Give a buffer, and views of it, an element type."""
    old = buffer.type
    assert isinstance(old, tir.BufferType)
    type_ = tir.BufferType(old.shape, element_type(dtype), old.strides, old.offset, old.scope)
    new = Rewriter.replace_value_with_new_type(buffer, type_)
    for use in list(new.uses):
        if isinstance(use.operation, tir.MatchBufferOp):
            _retype(use.operation.result, dtype)


def _convert_load(load: tir.LoadOp, before: str, dtype: str) -> None:
    new = Block()
    loaded = tir.LoadOp(load.buffer, exprs_of(load.indices), load.operands_)
    loaded.location = load.location
    new.add_op(loaded)
    value = _cast(new, loaded.result, dtype, before, load)
    value.name_hint = load.result.name_hint
    load.result.replace_all_uses_with(value)
    _insert(new, load)
    load.detach()
    load.erase()


def _convert_store(store: tir.StoreOp, before: str, dtype: str) -> None:
    new = Block()
    value = _cast(new, store.value, before, dtype, store)
    _insert(new, store)
    store.operands = [value, *store.operands[1:]]


def _cast(block: Block, value: SSAValue, source: str, target: str, where: Operation) -> SSAValue:
    builder = ScalarBuilder(block)
    builder.location = where.location
    return builder.cast(value, source, target)


def _insert(block: Block, before: Operation) -> None:
    parent = before.parent
    assert parent is not None
    for op in list(block.ops):
        op.detach()
        parent.insert_op_before(op, before)
