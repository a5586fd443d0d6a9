"""Functions that may call themselves: the depth of their calls, and memory for each of them."""

from __future__ import annotations

from xdsl.dialects import llvm
from xdsl.dialects.builtin import i1, i64
from xdsl.ir import SSAValue

from ...dialects.rt.call import MAX_CALL_DEPTH, depth_message
from ...runtime.call_words import DEPTH
from ...runtime.callback import GIVE_SITE, TAKE_SITE
from .builder import FunctionBuilder
from .types import PTR, SLE
from .words import call_back, fail_check, stack_words, word_address


def enter(f: FunctionBuilder, name: str) -> None:
    """Count one more call; the function returns with a failed check if there are too many."""
    f.is_recursive = True
    address = word_address(f, f.context, DEPTH)
    depth = f.emit(llvm.AddOp, (f.emit(llvm.LoadOp, (address,), i64), f.integer(1)), i64)
    f.run(llvm.StoreOp, (depth, address))
    fits = f.emit(llvm.ICmpOp, (depth, f.integer(MAX_CALL_DEPTH)), i1, SLE)
    fail_check(f, fits, depth_message(name))


def leave(f: FunctionBuilder) -> None:
    """Give the memory of the call back, and count it no more."""
    if f.nested_memory is not None:
        words = stack_words(f, PTR, [f.nested_memory])
        call_back(f, GIVE_SITE, words, words)
    address = word_address(f, f.context, DEPTH)
    depth = f.emit(llvm.LoadOp, (address,), i64)
    f.run(llvm.StoreOp, (f.emit(llvm.AddOp, (depth, f.integer(-1)), i64), address))


def take_memory(f: FunctionBuilder, size: SSAValue) -> SSAValue:
    """Memory of this call alone: the run time puts its address where the size was."""
    words = stack_words(f, i64, [size])
    call_back(f, TAKE_SITE, words, words)
    f.nested_memory = f.emit(llvm.LoadOp, (words,), PTR)
    return f.nested_memory
