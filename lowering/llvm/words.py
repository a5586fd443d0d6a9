"""Accesses to the words of the context, and callbacks to the runtime through them.

`runtime.context` has their positions.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import llvm
from xdsl.dialects.builtin import i1, i32, i64
from xdsl.dialects.llvm import LLVMArrayType
from xdsl.ir import Attribute, Block, SSAValue

from ...dialects import llvm_ext
from ...runtime.call_words import CALLBACK, CHECK, STATUS_CHECK, TOKEN
from .builder import FunctionBuilder
from .native_calls import field_address
from .types import NE, PTR, UNIT, gep_properties

_INVARIANT = {llvm_ext.INVARIANT: UNIT}


def load_word(f: FunctionBuilder, base: SSAValue, position: int, type_: Attribute) -> SSAValue:
    """A word of memory that does not change during the call."""
    address = word_address(f, base, position)
    op = llvm.LoadOp.create(operands=(address,), result_types=(type_,), attributes=_INVARIANT)
    f.add(op, f.levels[0])
    return op.results[0]


def word_address(f: FunctionBuilder, base: SSAValue, position: int) -> SSAValue:
    """The address of a word, once per function."""
    if position == 0:
        return base
    outermost = f.levels[0]
    key = (word_address, base, position)
    found = outermost.memo.get(key)
    if found is None:
        op = llvm.GEPOp.create(
            operands=(base, f.integer(position)),
            result_types=(PTR,),
            properties=gep_properties(i64, True),
        )
        f.add(op, outermost)
        found = outermost.memo[key] = op.results[0]
    return found


def call_back(f: FunctionBuilder, site: int, data: SSAValue, shape: SSAValue) -> None:
    """Call the runtime for a site; the function returns if that raises an exception."""
    callback = load_word(f, f.context, CALLBACK, PTR)
    token = load_word(f, f.context, TOKEN, i64)
    args = (callback, token, f.integer(site, i32), data, shape)
    status = f.emit(llvm_ext.CallPtrOp, args, i32)
    failed = f.emit(llvm.ICmpOp, (status, f.integer(0, i32)), i1, NE)
    f.return_unless_zero(f.emit(llvm.ZExtOp, (failed,), i32))


def stack_words(f: FunctionBuilder, type_: Attribute, values: Sequence[SSAValue]) -> SSAValue:
    """Values in an array on the stack."""
    array = LLVMArrayType(max(len(values), 1), type_)
    base = f.scratch(array)
    for position, value in enumerate(values):
        f.run(llvm.StoreOp, (value, field_address(f, base, array, position)))
    return base


def fail_check(
    f: FunctionBuilder, holds: SSAValue, message: str, values: Sequence[SSAValue] = ()
) -> None:
    """Return with the id of the check, and with the values, unless the condition holds."""
    f.can_fail = True
    reported = (f.integer(f.module.tables.checks[message]), *values)
    addresses = [word_address(f, f.context, CHECK + i) for i in range(len(reported))]
    failing, following = Block(), f.add_block()
    f.branch_if(holds, following, failing)
    f.push(failing)
    for value, address in zip(reported, addresses, strict=True):
        f.run(llvm.StoreOp, (value, address))
    f.run(llvm.ReturnOp, [f.integer(STATUS_CHECK, i32)])
    f.pop()
    f.continue_in(following)
