"""Bytes of values as far as known: which results are worth their memory, or fit on the stack."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Attribute, SSAValue

from ..dialects import tir
from ..dialects.relax.types import tensors_in
from ..dialects.tir.types import BufferType

ALWAYS = 64 << 10
"""Bytes of a result that may be much larger than its operands."""
GROWTH = 2
"""How many times the bytes of its operands any other result may have."""
GROWTH_OF_ELEMENTS = 4
"""The same for a result of the dtype of its operands, such as transformed weights; floats may be
converted as well, and `GROWTH` applies to that. Other wider dtypes have more bytes, where narrow
elements are there to be read from memory."""
LARGEST_FOLDED = 1 << 20
"""Bytes of what is still computed at compile time: what is larger, such as weights in another
layout, is computed when the module is loaded, so that files do not hold it a second time."""


def known_bytes(values: Iterable[SSAValue]) -> int | None:
    """The bytes of buffers, tensors and tuples of them, `None` where some are not known."""
    total = 0
    for value in values:
        types = [value.type] if isinstance(value.type, BufferType) else tensors_in(value.type)
        for type_ in types:
            if (size := type_.known_bytes) is None:
                return None
            total += size
    return total


def is_worth_keeping(made: int, given: int, growth: int = GROWTH) -> bool:
    """Whether so many bytes are worth their memory beside those that they are computed from."""
    return made <= max(ALWAYS, growth * given)


def are_worth_keeping(results: Iterable[SSAValue], operands: Iterable[SSAValue]) -> bool:
    """Whether results of known sizes are worth their memory beside what they are computed from."""
    results, operands = list(results), list(operands)
    made, given = known_bytes(results), known_bytes(operands)
    if made is None or given is None:
        return False
    return is_worth_keeping(made, given, _growth(_dtypes(results), _dtypes(operands)))


def _growth(made: set[Attribute], given: set[Attribute]) -> int:
    """How many times as many bytes results of some dtypes may have, for operands of others."""
    if made <= given:
        return GROWTH_OF_ELEMENTS
    are_floats = all(isinstance(dtype, AnyFloat) for dtype in made | given)
    return GROWTH * GROWTH_OF_ELEMENTS if are_floats else GROWTH


def _dtypes(values: Iterable[SSAValue]) -> set[Attribute]:
    found: set[Attribute] = set()
    for value in values:
        types = [value.type] if isinstance(value.type, BufferType) else tensors_in(value.type)
        found |= {t.element_type for t in types}
    return found


STACK_BYTES = 16 * 1024
"""The maximum total size of one function's scratch buffers on the stack."""


def stack_buffers(func: tir.PrimFuncOp) -> set[tir.AllocBufferOp]:
    """The allocations of constant size that fit on the stack, earlier ones first.

    What registered functions get is not among them, as these may keep tensors.
    """
    chosen: set[tir.AllocBufferOp] = set()
    used = 0
    for op in func.walk():
        if not isinstance(op, tir.AllocBufferOp) or _may_be_kept(op.result):
            continue
        size = op.result.type.known_bytes
        if size is not None and used + size <= STACK_BYTES:
            used += size
            chosen.add(op)
    return chosen


def _may_be_kept(buffer: SSAValue) -> bool:
    calls = (use.operation for use in buffer.uses)
    return any(isinstance(c, tir.CallIntrinOp) and c.packed_callee is not None for c in calls)
