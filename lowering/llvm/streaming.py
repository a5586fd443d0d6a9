"""Nontemporal stores: the alignment of their addresses, and a fence at the end of the function.

    %low = and i64 %address, 63
    br %low == 0: store <16 x float> %v, ptr %p, align 64, !nontemporal
        or else   store <16 x float> %v, ptr %p, align 4

A line that is written as a whole is not read before, and evicts nothing from the caches. Such
stores need aligned addresses, but memory of users may be aligned only to its elements. The
processor orders them with others only at fences, so that a thread runs one before it reports
completion.
"""

from __future__ import annotations

from xdsl.dialects import llvm
from xdsl.dialects.builtin import ArrayAttr, VectorType, i1, i64
from xdsl.ir import Block, SSAValue

from ...dialects import llvm_ext
from ...dialects.dtypes import byte_width
from ...dialects.llvm_ext.types import element_type
from .builder import FunctionBuilder
from .types import EQ, UNIT, Properties, integer_attr, lane_count, string


def can_stream(f: FunctionBuilder, value: SSAValue) -> bool:
    """Whether a value can be stored nontemporally: vectors whose bytes are a power of two."""
    stores = f.module.isa.nontemporal
    if stores is None or not isinstance(value.type, VectorType):
        return False
    size = _size(value)
    return size >= stores.least_bytes and size.bit_count() == 1


def store_past_caches(
    f: FunctionBuilder, value: SSAValue, pointer: SSAValue, properties: Properties
) -> None:
    """Emit a nontemporal store if the address is aligned at run time, otherwise a plain one."""
    f.module.streaming.add(f.symbol)
    size = _size(value)
    address = f.emit(llvm.PtrToIntOp, (pointer,), i64)
    low = f.emit(llvm.AndOp, (address, f.integer(size - 1)), i64)
    is_aligned = f.emit(llvm.ICmpOp, (low, f.integer(0)), i1, EQ)
    past, through, following = Block(), Block(), Block()
    f.branch_if(is_aligned, past, through)
    aligned: Properties = {"alignment": integer_attr(size, i64), "nontemporal": UNIT}
    for block, own in ((past, aligned), (through, properties)):
        f.continue_in(block)
        f.run(llvm.StoreOp, (value, pointer), own)
        f.branch(following)
    f.continue_in(following)


def end_streams(f: FunctionBuilder) -> None:
    """Emit a fence after the function's nontemporal stores."""
    stores = f.module.isa.nontemporal
    if stores is not None and f.symbol in f.module.streaming:
        fence: Properties = {"intrinsic": string(stores.fence), "overloads": ArrayAttr([])}
        f.run(llvm_ext.IntrinsicOp, (), fence)


def _size(value: SSAValue) -> int:
    return lane_count(value.type) * byte_width(element_type(value.type))
