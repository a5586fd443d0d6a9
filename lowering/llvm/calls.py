"""Calls of kernels, of functions of the registry and of C; constants and the arena.

Functions that may call themselves count the depth of their calls, and have memory for each of them.
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects import llvm
from xdsl.dialects.builtin import i1, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue

from ...backend.intrinsics import PREFIX, has_intrinsic
from ...dialects import rt, tir
from ...dialects.int_expr import IntExpr
from ...dialects.rt.call import MAX_CALL_DEPTH, depth_message
from ...dialects.sym import exprs_of
from ...dialects.tir.types import BufferType
from ...runtime.call_words import ARENA, CONSTANTS, DEPTH
from ...runtime.callback import GIVE_SITE, TAKE_SITE
from ..call_signature import unify
from ..functions import blame
from .builder import FunctionBuilder, Lowering
from .index import index_value
from .interrupts import poll_signals
from .layout import root_of
from .module_state import Callee
from .native_calls import add_call, call_symbol
from .types import PTR, SLE, is_bool, lane_count, lowered, memory_type
from .words import call_back, fail_check, load_word, stack_words, word_address


def lower_call(f: FunctionBuilder, op: rt.CallDPSOp) -> None:
    """Call a kernel or a private function on data pointers and the values of its symbols."""
    callee = f.module.callees.get(op.callee_name)
    if callee is None:
        raise f.fail(op, f"expected a kernel or a private function called '{op.callee_name}'")
    buffers = (*op.inputs, *op.outputs)
    if len(buffers) != len(callee.formals):
        raise f.fail(
            op, f"'{op.callee_name}' expects {len(callee.formals)} buffers, got {len(buffers)}"
        )
    args = [f.context, *f.values(buffers)]
    args += [index_value(f, e, ()) for e in _symbol_values(f, op, callee)]
    poll_signals(f)
    status = call_symbol(f, callee.symbol, args, i32)
    if callee.can_fail:
        f.return_unless_zero(status)


def _symbol_values(f: FunctionBuilder, op: rt.CallDPSOp, callee: Callee) -> list[IntExpr]:
    if not callee.symbols:
        return []
    given = exprs_of(op.vars)
    actuals = [cast(BufferType, v.type) for v in (*op.inputs, *op.outputs)]
    where = f"in '{f.label}': call of '{op.callee_name}'"
    with blame(op):
        variables = dict(zip(callee.symbols, given, strict=False))
        known = unify(where, callee.formals, actuals, variables)
    for symbol in callee.symbols:
        if symbol not in known.symbols:
            raise f.fail(
                op, f"symbol '{symbol}' of '{op.callee_name}' is not determined by the call"
            )
    return [known.symbols[s] for s in callee.symbols]


def lower_call_packed(f: FunctionBuilder, op: rt.CallPackedOp) -> None:
    """Call a function of the registry through the callback, with pointers and dims on the stack."""
    buffers = (*op.inputs, *op.outputs)
    dims = [d for b in buffers for d in cast(BufferType, b.type).dims]
    data = stack_words(f, PTR, f.values(buffers))
    words = [index_value(f, d, ()) for d in (*dims, *op.numbers)]
    shape = stack_words(f, i64, words)
    for buffer in buffers:
        f.written.add(root_of(buffer))
    call_back(f, f.module.tables.sites[op], data, shape)


def lower_kernel_packed(f: FunctionBuilder, op: tir.CallIntrinOp) -> None:
    """Call a function of the registry from a kernel, with numbers in slots on the stack."""
    data: list[SSAValue] = []
    dims: list[IntExpr] = []
    for arg in op.args[1:]:
        if isinstance(arg.type, BufferType):
            data.append(f.value(arg))
            dims += arg.type.dims
            f.written.add(root_of(arg))
            f.escaping.add(root_of(arg))
        elif not isinstance(arg.owner, tir.StringOp):
            data.append(_slot_of(f, arg))
    result = op.result if op.result is not None and op.result.uses else None
    if result is not None:
        data.append(f.alloca(lowered(result.type), 8))
    shape = stack_words(f, i64, [index_value(f, d, ()) for d in dims])
    call_back(f, f.module.tables.sites[op], stack_words(f, PTR, data), shape)
    if result is not None:
        f.define(result, f.emit(llvm.LoadOp, (data[-1],), lowered(result.type)))


def _slot_of(f: FunctionBuilder, scalar: SSAValue) -> SSAValue:
    """A number in memory, as an element of a buffer."""
    value, type_ = f.value(scalar), memory_type(lowered(scalar.type))
    if is_bool(value.type):
        value = f.emit(llvm.ZExtOp, (value,), type_)
    slot = f.alloca(type_, 8)
    f.run(llvm.StoreOp, (value, slot))
    return slot


def lower_string(f: FunctionBuilder, op: tir.StringOp) -> None:
    """Nothing: the interface of the module has the strings of its calls."""


def lower_constant(f: FunctionBuilder, op: rt.ConstantOp) -> None:
    """The data pointer of a constant, from the table."""
    table = load_word(f, f.context, CONSTANTS, PTR)
    position = f.module.tables.constants[op.value.data]
    f.levels[0].values[op.result] = load_word(f, table, position, PTR)


def lower_loaded(f: FunctionBuilder, op: rt.LoadedOp) -> None:
    """The data pointer of a value computed on load, from the same table, after the constants."""
    table = load_word(f, f.context, CONSTANTS, PTR)
    position = len(f.module.tables.constants) + op.index.data
    f.levels[0].values[op.result] = load_word(f, table, position, PTR)


def lower_arena(f: FunctionBuilder, op: rt.ArenaOp) -> None:
    """The arena that the caller of the module provides, or memory for a nested call."""
    if f.is_private and not f.is_recursive:
        raise f.fail(op, "expected a private function to get its scratch memory from its caller")
    if f.is_private:
        f.define(op.result, take_memory(f, index_value(f, op.size.data, ())))
    else:
        f.define(op.result, load_word(f, f.context, ARENA, PTR))


def lower_check(f: FunctionBuilder, op: rt.CheckOp) -> None:
    """Nothing: the call wrapper, made from the same signature, has checked the arguments."""


def lower_alloc(f: FunctionBuilder, op: rt.AllocOp) -> None:
    """Nothing: memory is planned before conversion to LLVM."""
    raise f.fail(op, "expected memory to be planned by 'plan-memory'")


def lower_dataflow(f: FunctionBuilder, op: rt.DataflowOp) -> None:
    """The calls in their order."""
    f.lower_block(op.body.block)


def lower_call_extern(f: FunctionBuilder, op: tir.CallExternOp) -> None:
    """Call a C function of the process."""
    name, args = op.callee.data, f.values(op.args)
    output = None if op.result is None else lowered(op.result.type)
    for arg in op.args:
        if isinstance(arg.type, BufferType):
            f.written.add(root_of(arg))
            f.escaping.add(root_of(arg))
    types = [a.type for a in args]
    is_intrinsic = name.startswith(PREFIX)
    if is_intrinsic and not has_intrinsic(name, tuple(types), output):
        signature = f"{', '.join(map(str, types))} to {output}"
        raise f.fail(op, f"expected an intrinsic of LLVM from {signature}, got '{name}'")
    for type_ in () if is_intrinsic else [*types, *([] if output is None else [output])]:
        if not _is_c_type(type_):
            raise f.fail(
                op, f"expected '{name}' to take and give numbers of 32 or 64 bits, got {type_}"
            )
    if not f.module.external(name, types, output, pure=False):
        raise f.fail(op, f"expected all calls of '{name}' to have the same types")
    call = add_call(f, name, args, output)
    if op.result is not None:
        f.define(op.result, call.results[0])


def _is_c_type(type_: Attribute) -> bool:
    """Whether C passes the type as it is: smaller integers would depend on their sign."""
    return not lane_count(type_) and str(type_) in ("i32", "i64", "f32", "f64", "!llvm.ptr")


CALLS: dict[type[Operation], Lowering] = {
    rt.AllocOp: lower_alloc,
    rt.ArenaOp: lower_arena,
    rt.CallDPSOp: lower_call,
    rt.CallPackedOp: lower_call_packed,
    rt.CheckOp: lower_check,
    rt.ConstantOp: lower_constant,
    rt.DataflowOp: lower_dataflow,
    rt.LoadedOp: lower_loaded,
    tir.CallExternOp: lower_call_extern,
    tir.CallIntrinOp: lower_kernel_packed,
    tir.StringOp: lower_string,
}
"""The lowerings of calls, and of their operands."""


def enter(f: FunctionBuilder, name: str) -> None:
    """Count one more call; the function returns with a failed check if there are too many."""
    f.is_recursive = True
    address = word_address(f, f.context, DEPTH)
    depth = f.emit(llvm.AddOp, (f.emit(llvm.LoadOp, (address,), i64), f.integer(1)), i64)
    f.run(llvm.StoreOp, (depth, address))
    fits = f.emit(llvm.ICmpOp, (depth, f.integer(MAX_CALL_DEPTH)), i1, SLE)
    fail_check(f, fits, depth_message(name))


def leave(f: FunctionBuilder) -> None:
    """Release the memory of the call, and decrement the depth."""
    if f.nested_memory is not None:
        words = stack_words(f, PTR, [f.nested_memory])
        call_back(f, GIVE_SITE, words, words)
    address = word_address(f, f.context, DEPTH)
    depth = f.emit(llvm.LoadOp, (address,), i64)
    f.run(llvm.StoreOp, (f.emit(llvm.AddOp, (depth, f.integer(-1)), i64), address))


def take_memory(f: FunctionBuilder, size: SSAValue) -> SSAValue:
    """Memory of this call: the runtime replaces the size in the slot by the address."""
    words = stack_words(f, i64, [size])
    call_back(f, TAKE_SITE, words, words)
    f.nested_memory = f.emit(llvm.LoadOp, (words,), PTR)
    return f.nested_memory
