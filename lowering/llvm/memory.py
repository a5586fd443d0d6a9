"""Buffers are pointers: loads, stores, views, stack memory, copies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import llvm
from xdsl.dialects.builtin import IntegerType, i1, i8, i64
from xdsl.dialects.llvm import LLVMArrayType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...dialects import llvm_ext, loops, rt
from ...dialects.int_expr import Arg, Atom, IntExpr
from ...dialects.llvm_ext.types import element_type
from ...dialects.sym import ExprArray, exprs_of
from ...dialects.tir.types import BufferType
from .builder import FunctionBuilder
from .control import counted_loop
from .index import index_value, place_sum
from .module_state import Lowering, Term
from .types import (
    NE,
    PTR,
    Properties,
    alignment_of,
    float_attr,
    gep_properties,
    is_bool,
    lane_count,
    lowered,
    memory_type,
    string,
    vector_of,
)

STACK_ALIGNMENT = 64


def lower_load(f: FunctionBuilder, op: loops.LoadOp) -> None:
    """Read an element or a vector; lanes that are off are 0."""
    type_ = cast(BufferType, op.buffer.type)
    pointer = element_address(f, op.buffer, op.indices, op.operands_, op.mask is None)
    f.define(op.result, load_from(f, pointer, type_, lowered(op.result.type), op.mask))


def load_from(
    f: FunctionBuilder, pointer: SSAValue, buffer: BufferType, type_: Attribute, mask: SSAValue | None = None
) -> SSAValue:
    """The element or vector at an address, as a value of the source; `mask` is the source's."""
    element = buffer.element_type
    count = lane_count(type_)
    stored = vector_of(memory_type(element), count) if count else memory_type(element)
    if mask is None:
        loaded = f.emit(llvm.LoadOp, (pointer,), stored, alignment_of(element))
    else:
        args = (pointer, f.value(mask), zero(f, stored))
        loaded = f.intrinsic("llvm.masked.load", args, stored, alignment_of(element))
    if is_bool(type_):
        return f.emit(llvm.ICmpOp, (loaded, zero(f, stored)), type_, NE)
    return loaded


def zero(f: FunctionBuilder, type_: Attribute) -> SSAValue:
    """The number 0, in every lane of a vector."""
    element = element_type(type_)
    if isinstance(element, IntegerType):
        return f.integer(0, type_)
    constant = f.constant(float_attr(0.0, element), element)
    return f.splat(constant, type_) if lane_count(type_) else constant


def lower_store(f: FunctionBuilder, op: loops.StoreOp) -> None:
    """Write an element, or a vector where its mask is on."""
    pointer = element_address(f, op.buffer, op.indices, op.operands_, op.mask is None)
    f.written.add(root_of(op.buffer))
    store_to(f, pointer, cast(BufferType, op.buffer.type), f.value(op.value), op.mask)


def store_to(
    f: FunctionBuilder, pointer: SSAValue, buffer: BufferType, value: SSAValue, mask: SSAValue | None = None
) -> None:
    """Write a value of the source at an address."""
    element = buffer.element_type
    if is_bool(value.type):
        count = lane_count(value.type)
        value = f.emit(llvm.ZExtOp, (value,), vector_of(i8, count) if count else i8)
    if mask is None:
        f.run(llvm.StoreOp, (value, pointer), alignment_of(element))
    else:
        properties: Properties = {"intrinsic": string("llvm.masked.store"), **alignment_of(element)}
        f.run(llvm_ext.IntrinsicOp, (value, pointer, f.value(mask)), properties)


def root_of(buffer: SSAValue) -> SSAValue:
    """The buffer of which a buffer is a view, or itself."""
    while isinstance(owner := buffer.owner, rt.ViewOp):
        buffer = owner.source
    return buffer


def element_address(
    f: FunctionBuilder,
    buffer: SSAValue,
    indices: ExprArray,
    operands: Sequence[SSAValue],
    inbounds: bool = True,
) -> SSAValue:
    """The address of an element.

    A masked access may start beyond the buffer, with all its lanes off, so its address is not `inbounds`.
    """
    type_ = cast(BufferType, buffer.type)
    base, level = f.find(buffer)
    index, inner = place_sum(f, linear_terms(f, type_, exprs_of(indices)), operands)
    return offset_address(f, base, index, max(level, inner), memory_type(type_.element_type), inbounds)


def offset_address(
    f: FunctionBuilder, base: SSAValue, index: SSAValue, level: int, element: Attribute, inbounds: bool
) -> SSAValue:
    """`base` moved by a number of elements, in the region at `level`."""
    if index is f.integer(0):
        return base
    here = f.levels[level]
    properties = gep_properties(element, inbounds)
    key = (base, index, id(properties))
    found = here.memo.get(key)
    if found is None:
        op = llvm.GEPOp.create(operands=(base, index), result_types=(PTR,), properties=properties)
        here.block.add_op(op)
        found = here.memo[key] = op.results[0]
    return found


def linear_terms(f: FunctionBuilder, type_: BufferType, indices: Sequence[IntExpr]) -> Sequence[Term]:
    """The element offset of an access as a sum of products."""
    known = f.module.strides.get(id(type_))
    if known is None:
        strides = [s.terms for s in type_.element_strides()]
        known = f.module.strides[id(type_)] = (type_, strides, type_.offset.data.terms)
    _, strides, offset = known
    terms: dict[tuple[Atom, ...], int] = dict(offset)
    for index, stride in zip(indices, strides, strict=True):
        for own, factor in index.terms:
            for step, size in stride:
                product = own + step
                terms[product] = terms.get(product, 0) + factor * size
    return [(m, c) for m, c in terms.items() if c]


def lower_view(f: FunctionBuilder, op: rt.ViewOp) -> None:
    """A tensor placed in an arena: a pointer into it."""
    base, level = f.find(op.source)
    offset, inner = place_sum(f, op.offset.data.terms, ())
    level = max(level, inner)
    f.levels[level].values[op.result] = offset_address(f, base, offset, level, i8, True)


def lower_alloca(f: FunctionBuilder, op: loops.AllocaOp) -> None:
    """Stack memory, taken once per call of the function around."""
    type_ = cast(BufferType, op.result.type)
    size = type_.size_in_bytes().constant
    if size is None:
        raise f.fail(op, f"expected stack memory of constant size, got {type_}")
    f.define(op.result, f.alloca(LLVMArrayType(max(size, 1), i8), STACK_ALIGNMENT))


def lower_copy(f: FunctionBuilder, op: rt.CopyOp) -> None:
    """Copy a tensor: as bytes if both are dense, element by element otherwise."""
    source, target = cast(BufferType, op.source.type), cast(BufferType, op.target.type)
    f.written.add(root_of(op.target))
    if source.is_dense and target.is_dense:
        size = index_value(f, source.size_in_bytes(), ())
        args = (f.value(op.target), f.value(op.source), size, f.integer(0, i1))
        alignment = {"alignment": alignment_of(source.element_type)["alignment"]}
        f.run(llvm_ext.IntrinsicOp, args, {"intrinsic": string("llvm.memcpy"), **alignment})
        return
    _copy_dims(f, op, [])


def _copy_dims(f: FunctionBuilder, op: rt.CopyOp, position: list[SSAValue]) -> None:
    source, target = cast(BufferType, op.source.type), cast(BufferType, op.target.type)
    rank = len(position)
    if rank < source.rank:
        # A block argument of the source stands for the loop variable, so that addresses are made as usual.
        var = Block(arg_types=[i64]).args[0]
        upper = index_value(f, source.dims[rank], ())
        counted_loop(f, var, f.integer(0), upper, lambda: _copy_dims(f, op, [*position, var]))
        return
    indices = [IntExpr.of(Arg(i)) for i in range(rank)]
    places: list[SSAValue] = []
    for buffer, type_ in ((op.source, source), (op.target, target)):
        base, level = f.find(buffer)
        index, inner = place_sum(f, linear_terms(f, type_, indices), position)
        element = memory_type(type_.element_type)
        places.append(offset_address(f, base, index, max(level, inner), element, True))
    alignment = alignment_of(source.element_type)
    value = f.emit(llvm.LoadOp, (places[0],), memory_type(source.element_type), alignment)
    f.run(llvm.StoreOp, (value, places[1]), alignment)


MEMORY: dict[type[Operation], Lowering] = {
    loops.AllocaOp: lower_alloca,
    loops.LoadOp: lower_load,
    loops.StoreOp: lower_store,
    rt.CopyOp: lower_copy,
    rt.ViewOp: lower_view,
}
"""How each access to memory is lowered."""
