"""`pad_einsum`: extend the domain of a sum of products, with operands padded by zeros.

::

    for i, k in (n, 7):                 for i, k in (n, 8): X_pad[i, k] = X[i, k] if k < 7 else 0
      Y[i] += X[i, k] * W[k]     ⇒      for k in (0, 8): W_pad[k] = W[k] if k < 7 else 0
                                        for i, k in (n, 8): Y[i] += X_pad[i, k] * W_pad[k]

Padded results are computed into a padded copy, whose other elements are copied back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ...dialects import tir
from ...dialects.int_expr import ONE, ZERO, Arg, IntExpr
from ...dialects.sym import ExprAttr, Values, exprs_of
from ...dialects.tir.verify_access import buffer_text
from ..analysis.independence import may_share_memory
from .blocks import (
    ScheduleError,
    insert_before,
    loops_around,
    perfect_nest,
)
from .copy_block import copy_box, redirect
from .loop_checks import loop_text, verify_plain
from .reducer import reducer_of
from .regions import axes_of, refresh_around, replace_header


@dataclass(frozen=True)
class _Access:
    """A buffer of the block, and the axis that each of its dims is indexed by."""

    buffer: SSAValue
    axes: tuple[int, ...]

    @property
    def type(self) -> tir.BufferType:
        """The buffer's type."""
        assert isinstance(self.buffer.type, tir.BufferType)
        return self.buffer.type


def pad_einsum(block: tir.BlockOp, padding: Sequence[int]) -> None:
    """Let each axis of a block run to the next multiple of its padding; TVM's ``pad_einsum``.

    The block must add products of elements to a result, each indexed by axes alone, and be alone in
    loops that are its axes. Raises ScheduleError where it is not, and where elements that padding
    does not make 0 would be multiplied by such a 0.
    """
    loops = _own_loops(block)
    extents = [axis.extent.data for axis in block.axes.data]
    if len(padding) != len(extents) or any(p < 1 for p in padding):
        raise ScheduleError(
            f"expected {len(extents)} paddings of at least 1 for block '{block.block_name.data}', "
            f"got {list(padding)}",
            block,
        )
    sizes = [(e + p - 1) // p * p for e, p in zip(extents, padding, strict=True)]
    padded = {i for i, (e, size) in enumerate(zip(extents, sizes, strict=True)) if e != size}
    result, factors = _einsum(block, padded)
    nest = perfect_nest(block)
    assert nest.parent is not None
    for access in dict.fromkeys([*factors, result]):
        if not padded & set(access.axes):
            continue
        new = _padded_copy(access, sizes, block)
        is_result = access is result
        copy = _copy_back(access, new) if is_result else _fill(access, new)
        copy.location = block.location
        insert_before(perfect_nest(copy), nest.parent, nest.next_op if is_result else nest)
        redirect(block, access.buffer, new)
    _widen(block, loops, sizes)
    refresh_around([block])


def _own_loops(block: tir.BlockOp) -> list[tir.ForOp]:
    """The loop of each axis; raises ScheduleError where an axis is anything but a loop's value."""
    where = f"block '{block.block_name.data}'"
    around = loops_around(block)
    nest = perfect_nest(block)
    own = around[around.index(nest) :] if isinstance(nest, tir.ForOp) else []
    by_variable: dict[SSAValue, tir.ForOp] = {loop.loop_var: loop for loop in own}
    found: list[tir.ForOp] = []
    for axis, binding in zip(block.axes.data, exprs_of(block.bindings), strict=True):
        atom = binding.as_atom
        loop = (
            by_variable.pop(block.numbering()[atom.index], None) if isinstance(atom, Arg) else None
        )
        if loop is None or (axis.min.data, axis.extent.data) != (loop.min.data, loop.extent.data):
            raise ScheduleError(
                f"expected each axis of {where} to be bound to a loop of its own", block
            )
        if loop.min.data != ZERO or loop.operands_:
            raise ScheduleError(
                f"expected {loop_text(loop)} to start at 0 and to have an extent over symbols", loop
            )
        verify_plain(loop)
        found.append(loop)
    if by_variable or block.predicates.data:
        raise ScheduleError(
            f"expected {where} to be only in loops of its axes, without predicates", block
        )
    return found


def _einsum(block: tir.BlockOp, padded: set[int]) -> tuple[_Access, list[_Access]]:
    """The result and the factors; raises ScheduleError for a block that adds no products."""
    where = f"block '{block.block_name.data}'"
    if block.init is None:
        raise ScheduleError(f"expected {where} to be a reduction with an initial value", block)
    updates = reducer_of(block).updates
    (update, *others) = updates
    if others or not isinstance(update.store.value.owner, arith.AddfOp | arith.AddiOp):
        raise ScheduleError(f"expected {where} to accumulate one sum", block)
    loads = _factors(update.value, block)
    result, *factors = [_access(op, block) for op in (update.store, *loads)]
    _verify_whole([result, *factors], padded, block)
    reduce = {i for i in padded if block.axis_kinds[i] != "spatial"}
    for factor in factors:
        if not reduce <= set(factor.axes):
            raise ScheduleError(
                f"expected every padded reduction axis of {where} to index "
                f"{buffer_text(factor.buffer)}, which may contain NaN or infinity",
                block,
            )
        if may_share_memory(factor.buffer, result.buffer):
            raise ScheduleError(
                f"expected {where} not to read {buffer_text(factor.buffer)} while it changes", block
            )
    return result, factors


def _verify_whole(accesses: Sequence[_Access], padded: set[int], block: tir.BlockOp) -> None:
    """Raise ScheduleError unless padded axes run over whole dims, each read in one way."""
    for access in accesses:
        for axis, dim in zip(access.axes, access.type.dims, strict=True):
            if axis in padded and dim != block.axes.data[axis].extent.data:
                raise ScheduleError(
                    f"expected axis '{block.axis_vars[axis].name_hint}' of block "
                    f"'{block.block_name.data}' to span a dim of {buffer_text(access.buffer)}",
                    block,
                )
        if any(o.buffer is access.buffer and o != access for o in accesses):
            raise ScheduleError(
                f"expected block '{block.block_name.data}' to access {buffer_text(access.buffer)} "
                "at one index",
                block,
            )


def _factors(value: SSAValue, block: tir.BlockOp) -> list[tir.LoadOp]:
    """The loads whose product a value is; conversions are ignored."""
    match value.owner:
        case tir.LoadOp() as load:
            return [load]
        case arith.MulfOp() | arith.MuliOp() as op:
            return [*_factors(op.lhs, block), *_factors(op.rhs, block)]
        case arith.ExtFOp() | arith.ExtSIOp() | arith.ExtUIOp() | arith.SIToFPOp() as op:
            return _factors(op.input, block)
        case op:
            raise ScheduleError(
                f"expected block '{block.block_name.data}' to accumulate products of elements, "
                f"got {'an argument' if isinstance(op, Block) else repr(op.name)}",
                block,
            )


def _access(op: tir.LoadOp | tir.StoreOp, block: tir.BlockOp) -> _Access:
    axes: list[int] = []
    variables: list[SSAValue] = list(block.axis_vars)
    for index in exprs_of(op.indices):
        atom = index.as_atom
        value = op.operands_[atom.index] if isinstance(atom, Arg) else None
        if value is None or value not in variables:
            raise ScheduleError(
                f"expected block '{block.block_name.data}' to index {buffer_text(op.buffer)} by "
                "its axes",
                block,
            )
        axes.append(variables.index(value))
    return _Access(op.buffer, tuple(axes))


def _padded_copy(access: _Access, sizes: Sequence[IntExpr], block: tir.BlockOp) -> SSAValue:
    """Scratch memory for a buffer with more elements along padded axes."""
    name = f"{access.buffer.name_hint or 'buffer'}_pad"
    dims = [
        sizes[a] if sizes[a] != block.axes.data[a].extent.data else dim
        for a, dim in zip(access.axes, access.type.dims, strict=True)
    ]
    alloc = tir.AllocBufferOp(tir.BufferType.of(dims, access.type.element_type), name)
    alloc.result.name_hint = name
    parent = perfect_nest(block).parent
    assert parent is not None
    others = (op for op in parent.ops if not isinstance(op, tir.AllocBufferOp))
    insert_before(alloc, parent, next(others, None))
    return alloc.result


def _copy_back(access: _Access, new: SSAValue) -> tir.BlockOp:
    """The block that copies back the results without padding."""
    dims = access.type.dims
    box = tir.BufferRegion(new, (ZERO,) * len(dims), dims)
    return copy_box(new, access.buffer, box, new.name_hint or "pad", Values())


def _fill(access: _Access, new: SSAValue) -> tir.BlockOp:
    """The block that copies a buffer and pads it with zeros."""
    assert isinstance(new.type, tir.BufferType)
    dims = new.type.dims
    box = tir.BufferRegion(new, (ZERO,) * len(dims), dims)
    block = copy_box(new, new, box, new.name_hint or "pad", Values())
    body = block.body.block
    (old, store) = body.ops
    values = Values()
    own = [values.expr(v) for v in block.axis_vars]
    bounds = [
        (v, dim) for v, dim, size in zip(own, access.type.dims, dims, strict=True) if dim != size
    ]
    value = _guarded(body, old, access.buffer, own, bounds, values)
    assert isinstance(store, tir.StoreOp)
    store.operands[0] = value
    old.detach()
    old.erase()
    reads = [tir.BufferRegion(access.buffer, tuple(own), (ONE,) * len(own))]
    writes = [tir.BufferRegion(new, tuple(own), (ONE,) * len(own))]
    header = Values()
    for known in block.numbering():
        header.expr(known)
    replace_header(block, axes_of(block), header, reads, writes)
    return block


def _guarded(
    body: Block,
    before: Operation,
    buffer: SSAValue,
    indices: Sequence[IntExpr],
    bounds: Sequence[tuple[IntExpr, IntExpr]],
    values: Values,
) -> SSAValue:
    """An element where the bounds hold, otherwise 0."""
    condition: SSAValue | None = None
    made: list[Operation] = []
    for lhs, rhs in bounds:
        sides = [tir.ApplyOp(e, values.list) for e in (lhs, rhs)]
        test = arith.CmpiOp(sides[0].result, sides[1].result, "slt")
        made += [*sides, test]
        if condition is None:
            condition = test.result
        else:
            both = arith.AndIOp(condition, test.result)
            made.append(both)
            condition = both.result
    assert condition is not None
    load = tir.LoadOp(buffer, indices, values.list)
    zero = _zero(load.result.type)
    arms = [Region(Block([op, scf.YieldOp(op.results[0])])) for op in (load, zero)]
    choice = scf.IfOp(condition, [load.result.type], arms[0], arms[1])
    for op in (*made, choice):
        body.insert_op_before(op, before)
    return choice.results[0]


def _zero(type_: Attribute) -> arith.ConstantOp:
    if isinstance(type_, AnyFloat):
        return arith.ConstantOp(FloatAttr(0.0, type_))
    return arith.ConstantOp(IntegerAttr(0, cast("IntegerType", type_)))


def _widen(block: tir.BlockOp, loops: Sequence[tir.ForOp], sizes: Sequence[IntExpr]) -> None:
    for loop, size in zip(loops, sizes, strict=True):
        loop.properties["extent"] = ExprAttr(size)
    values = Values()
    for value in block.numbering():
        values.expr(value)
    axes = [
        tir.Axis(a.kind, ZERO, size, a.binding)
        for a, size in zip(axes_of(block), sizes, strict=True)
    ]
    reads, writes = block.regions_of("reads"), block.regions_of("writes")
    replace_header(block, axes, values, reads, writes)
