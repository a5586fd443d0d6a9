"""Buffers are pointers: loads, stores, views, stack memory, copies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    IntegerAttr,
    IntegerType,
    VectorType,
    f16,
    f32,
    f64,
    i1,
    i8,
    i32,
    i64,
)
from xdsl.dialects.llvm import LLVMArrayType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...dialects import llvm_ext, loops, rt
from ...dialects.int_expr import Arg
from ...dialects.llvm_ext import CastKind
from ...dialects.llvm_ext.types import element_type, like
from ...dialects.sym import ExprArray, expr_array, exprs_of
from ...dialects.tir.types import BufferType
from ...runtime.memory import ALIGNMENT
from .builder import FunctionBuilder, Lowering
from .control import counted_loop
from .index import index_value, place_sum
from .layout import Layout, root_of
from .streaming import can_stream, store_past_caches
from .types import (
    NE,
    PTR,
    Properties,
    cast_kind,
    float_attr,
    gep_properties,
    lane_count,
    string,
    vector_of,
)

_PREFETCH_READ, _KEEP_IN_ALL_CACHES, _PREFETCH_DATA = 0, 3, 1
"""Arguments of LLVM's intrinsic."""


def lower_load(f: FunctionBuilder, op: loops.LoadOp) -> None:
    """Read an element or a vector; inactive lanes are 0."""
    (buffer, *operands), mask = _split_mask(op.operands)
    (result,) = op.results
    layout = f.module.layout(cast(BufferType, buffer.type))
    pointer, level = element_address(f, layout, buffer, op.indices, operands, mask is None)
    count = lane_count(result.type)
    stored = vector_of(layout.memory, count) if count else layout.memory
    if mask is None:
        here = len(f.levels) - 1 if count else _earliest(f, root_of(buffer), level)
        load = llvm.LoadOp.create(
            operands=(pointer,), result_types=(stored,), properties=layout.alignment
        )
        f.add(load, f.levels[here])
        loaded = load.results[0]
    else:
        args = (pointer, f.value(mask), zero(f, stored))
        loaded = f.intrinsic("llvm.masked.load", args, stored, layout.alignment)
        if f.module.isa.unmasks_loads:
            loaded = _fenced(f, loaded)
    if layout.is_bool:
        loaded = f.emit(llvm.ICmpOp, (loaded, zero(f, stored)), result.type, NE)
    f.define(result, loaded)


def _fenced(f: FunctionBuilder, value: SSAValue) -> SSAValue:
    """A value that LLVM does not fold into an instruction as its operand; see `unmasks_loads`.

    Integers are fenced as floats of their size. Instructions for narrower ones, and for bfloat16,
    have no such forms.
    """
    own, element, bitcast = value.type, element_type(value.type), cast_kind(CastKind.BITCAST)
    if element in (f16, f32, f64):
        return f.intrinsic("llvm.arithmetic.fence", (value,), own)
    if element not in (i32, i64):
        return value
    type_ = like(own, f32 if element == i32 else f64)
    fenced = f.intrinsic(
        "llvm.arithmetic.fence", (f.emit(llvm_ext.CastOp, (value,), type_, bitcast),), type_
    )
    return f.emit(llvm_ext.CastOp, (fenced,), own, bitcast)


def _earliest(f: FunctionBuilder, root: SSAValue, level: int) -> int:
    """The outermost level, up from `level`, to which a load can be hoisted over loops that run."""
    here = len(f.levels) - 1
    if _is_alone(f, root):
        while here > level and f.levels[here].leaves(root):
            here -= 1
    return here


def _is_alone(f: FunctionBuilder, root: SSAValue) -> bool:
    """Whether a buffer of the source aliases no other one."""
    owner = f if f.parent is None else f.parent
    return root in owner.noalias or isinstance(root.owner, loops.AllocaOp)


def _split_mask(operands: Sequence[SSAValue]) -> tuple[Sequence[SSAValue], SSAValue | None]:
    """The operands of an access without its mask, and the mask.

    The accessors of operand segments would dominate the time of this lowering; a mask is the one
    vector after the buffer.
    """
    last = operands[-1]
    return (operands[:-1], last) if isinstance(last.type, VectorType) else (operands, None)


def zero(f: FunctionBuilder, type_: Attribute) -> SSAValue:
    """The number 0, in every lane of a vector."""
    element = element_type(type_)
    if isinstance(element, IntegerType):
        return f.integer(0, type_)
    constant = f.constant(float_attr(0.0, element), element)
    return f.splat(constant, type_) if lane_count(type_) else constant


def lower_store(f: FunctionBuilder, op: loops.StoreOp) -> None:
    """Write an element, or a vector where its mask is on."""
    (source, buffer, *operands), mask = _split_mask(op.operands)
    layout = f.module.layout(cast(BufferType, buffer.type))
    pointer, _ = element_address(f, layout, buffer, op.indices, operands, mask is None)
    f.written.add(root_of(buffer))
    value = f.value(source)
    if layout.is_bool:
        count = lane_count(value.type)
        value = f.emit(llvm.ZExtOp, (value,), vector_of(i8, count) if count else i8)
    if mask is None and op.nontemporal is not None and can_stream(f, value):
        store_past_caches(f, value, pointer, layout.alignment)
    elif mask is None:
        f.run(llvm.StoreOp, (value, pointer), layout.alignment)
    else:
        properties = {"intrinsic": string("llvm.masked.store"), **layout.alignment}
        f.run(llvm_ext.IntrinsicOp, (value, pointer, f.value(mask)), properties)


def lower_prefetch(f: FunctionBuilder, op: loops.PrefetchOp) -> None:
    """Prefetch a line that will be read, into all caches."""
    layout = f.module.layout(cast(BufferType, op.buffer.type))
    pointer, _ = element_address(f, layout, op.buffer, op.indices, op.operands_, False)
    hints = (_PREFETCH_READ, _KEEP_IN_ALL_CACHES, _PREFETCH_DATA)
    numbers = [f.constant(IntegerAttr(hint, i32), i32) for hint in hints]
    f.run(llvm_ext.IntrinsicOp, (pointer, *numbers), {"intrinsic": string("llvm.prefetch")})


def element_address(
    f: FunctionBuilder,
    layout: Layout,
    buffer: SSAValue,
    indices: ExprArray,
    operands: Sequence[SSAValue],
    is_whole: bool,
) -> tuple[SSAValue, int]:
    """The address of an element, and the level that knows it; `is_whole` says it has no mask."""
    base, level = f.find(buffer)
    index, inner = place_sum(f, layout.linear_terms(exprs_of(indices)), operands)
    address = layout.address if is_whole else layout.masked_address
    level = max(level, inner)
    return offset_address(f, base, index, level, address), level


def offset_address(
    f: FunctionBuilder, base: SSAValue, index: SSAValue, level: int, properties: Properties
) -> SSAValue:
    """`base` moved by a number of elements, in the region at `level`."""
    if index is f.integer(0):
        return base
    here = f.levels[level]
    # Properties of addresses are shared objects: their identity says which they are.
    key = (base, index, id(properties))
    found = here.memo.get(key)
    if found is None:
        op = llvm.GEPOp.create(operands=(base, index), result_types=(PTR,), properties=properties)
        f.add(op, here)
        found = here.memo[key] = op.results[0]
    return found


def lower_view(f: FunctionBuilder, op: rt.ViewOp) -> None:
    """A tensor placed in an arena: a pointer into it."""
    base, level = f.find(op.source)
    offset, inner = place_sum(f, op.offset.data.terms, ())
    level = max(level, inner)
    f.levels[level].values[op.result] = offset_address(
        f, base, offset, level, gep_properties(i8, True)
    )


def lower_element_view(f: FunctionBuilder, op: loops.ViewOp) -> None:
    """A buffer from an element on: a pointer to that."""
    base, level = f.find(op.source)
    offset, inner = f.find(op.offset)
    level = max(level, inner)
    address = f.module.layout(cast(BufferType, op.source.type)).address
    f.levels[level].values[op.result] = offset_address(f, base, offset, level, address)


def lower_reinterpret(f: FunctionBuilder, op: rt.ReinterpretOp) -> None:
    """The same pointer: the accesses know the dims."""
    base, level = f.find(op.source)
    f.levels[level].values[op.result] = base


def lower_alloca(f: FunctionBuilder, op: loops.AllocaOp) -> None:
    """Stack memory, taken once per call of the function around."""
    type_ = op.result.type
    size = type_.known_bytes
    if size is None:
        raise f.fail(op, f"expected stack memory of constant size, got {type_}")
    f.define(op.result, f.alloca(LLVMArrayType(max(size, 1), i8), ALIGNMENT))


def lower_copy(f: FunctionBuilder, op: rt.CopyOp) -> None:
    """Copy a tensor: as bytes if both are dense, element by element otherwise."""
    source, target = (f.module.layout(cast(BufferType, v.type)) for v in op.operands)
    f.written.add(root_of(op.target))
    if source.type.is_dense and target.type.is_dense:
        copy_dense(f, source, f.value(op.source), f.value(op.target))
    else:
        _copy_dims(f, op, [])


def copy_dense(f: FunctionBuilder, layout: Layout, source: SSAValue, target: SSAValue) -> None:
    """Copy a dense tensor as bytes, from pointer to pointer."""
    size = index_value(f, layout.type.size_in_bytes(), ())
    properties = {"intrinsic": string("llvm.memcpy"), **layout.alignment}
    f.run(llvm_ext.IntrinsicOp, (target, source, size, f.integer(0, i1)), properties)


def _copy_dims(f: FunctionBuilder, op: rt.CopyOp, position: list[SSAValue]) -> None:
    source, target = (f.module.layout(cast(BufferType, v.type)) for v in op.operands)
    depth = len(position)
    if depth < source.type.rank:
        # A block argument of the source stands for the loop variable: addresses are made as usual.
        var = Block(arg_types=[i64]).args[0]
        upper = index_value(f, source.type.dims[depth], ())
        counted_loop(f, var, f.integer(0), upper, lambda: _copy_dims(f, op, [*position, var]))
        return
    indices = expr_array(Arg(i) for i in range(depth))
    read, _ = element_address(f, source, op.source, indices, position, True)
    write, _ = element_address(f, target, op.target, indices, position, True)
    value = f.emit(llvm.LoadOp, (read,), source.memory, source.alignment)
    f.run(llvm.StoreOp, (value, write), source.alignment)


MEMORY: dict[type[Operation], Lowering] = {
    loops.AllocaOp: lower_alloca,
    loops.LoadOp: lower_load,
    loops.PrefetchOp: lower_prefetch,
    loops.ViewOp: lower_element_view,
    loops.StoreOp: lower_store,
    rt.CopyOp: lower_copy,
    rt.ReinterpretOp: lower_reinterpret,
    rt.ViewOp: lower_view,
}
"""How each access to memory is lowered."""
