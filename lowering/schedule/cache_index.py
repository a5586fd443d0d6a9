"""`cache_index`: compute what only the axes of a block determine once, in buffers before it.

::

    for i, j:                                      for ax0: index_var_0[ax0] = ax0 // 2 * 3
      block "Y": Y[i, j] = X[i // 2 * 3, j]  ⇒     for i, j:
                                                     block "Y": Y[i, j] = X[index_var_0[i], j]
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import is_side_effect_free

from ...dialects import tir
from ...dialects.bounds import interval_of
from ...dialects.dtypes import dtype_name, element_type
from ...dialects.int_expr import ONE, ZERO
from ...dialects.nesting import operations_in
from ...dialects.sym import Values
from ...dialects.tir.ranges import ranges_of
from ..scalar_builder import ScalarBuilder
from .axis_computations import AxisComputations, AxisIndex, Key
from .blocks import ScheduleError, perfect_nest
from .compact import replace_indices_of
from .copy_block import new_buffer, new_loops, verify_scope
from .copy_place import scope_body, scope_statement
from .regions import refresh_around


def cache_index(block: tir.BlockOp, scope: str, cse_thresh: int = 0) -> list[tir.BlockOp]:
    """Compute indices, and what else only axes determine, in blocks before a block.

    With a `cse_thresh` of 0 those are the indices of loads and stores that are no axes themselves.
    Otherwise they are the computations that the block does at least so many times, the largest
    first, without those that are done for a larger one. Each is stored to a buffer in `scope` with
    the axes that it depends on as dims. Returns the blocks, none where nothing is to be computed.
    TVM's ``cache_index``. Raises ScheduleError for axes that do not begin at 0.
    """
    verify_scope(scope, block)
    if cse_thresh < 0:
        raise ScheduleError(f"expected a cse_thresh of at least 0, got {cse_thresh}", block)
    if any(axis.min.data != ZERO or axis.extent.data.args() for axis in block.axes.data):
        raise ScheduleError(
            f"expected axes of block '{block.block_name.data}' to begin at 0, and not to depend on "
            "loops",
            block,
        )
    found = AxisComputations(block)
    chosen = found.indices() if cse_thresh == 0 else found.repeated(cse_thresh)
    place = scope_statement(block)
    made = [_precompute(found, key, n, scope, place) for n, key in enumerate(chosen)]
    for key, computing in zip(chosen, made, strict=True):
        _load_instead(found, key, computing.write_buffers[0])
    _erase_dead(block)
    refresh_around([block])
    return made


def _erase_dead(block: tir.BlockOp) -> None:
    """Erase the operations in a block that compute or load what nothing uses."""
    for op in reversed(list(operations_in(block))):
        is_pure = isinstance(op, tir.LoadOp) or is_side_effect_free(op)
        if op.results and is_pure and not any(result.uses for result in op.results):
            op.detach()
            op.erase()


def _precompute(
    found: AxisComputations, key: Key, number: int, scope: str, place: Operation
) -> tir.BlockOp:
    """Compute a value for all axes in a block before `place`, and let the block load it."""
    block, axes = found.block, found.axes_of(key)
    extents = [block.axes.data[axis].extent.data for axis in axes]
    body = Block(arg_types=[IndexType()] * len(axes))
    for n, var in enumerate(body.args):
        var.name_hint = f"v{n}"
    value, dtype = _computed(found, key, axes, body)
    element, name = element_type(dtype), f"index_var_{number}"
    buffer = new_buffer(name, extents, element, scope, scope_body(block))
    own = Values()
    here = tuple(own.expr(arg) for arg in body.args)
    body.add_op(tir.StoreOp(value, buffer, here, own.list))
    values = Values()
    loops = new_loops([f"ax{n}" for n in range(len(axes))], extents, values)
    headers = [
        tir.Axis("spatial", ZERO, extent, values.expr(loop.loop_var))
        for extent, loop in zip(extents, loops, strict=True)
    ]
    region = tir.BufferRegion(buffer, tuple(values.expr(a) for a in body.args), (ONE,) * len(axes))
    made = tir.BlockOp.build_from(
        f"index_{number}", headers, Region(body), values.list, (), [], [region]
    )
    made.location = block.location
    loops[-1].body.block.add_op(made)
    assert place.parent is not None
    place.parent.insert_op_before(perfect_nest(made), place)
    return made


def _computed(
    found: AxisComputations, key: Key, axes: Sequence[int], body: Block
) -> tuple[SSAValue, str]:
    """Append a computation over the arguments of a body; returns the value and its dtype."""
    args = {found.block.axis_vars[a]: arg for a, arg in zip(axes, body.args, strict=True)}
    builder, match = ScalarBuilder(body), key
    if len(match) == 1 and isinstance(index := match[0], AxisIndex):
        own = Values()
        for arg in args.values():
            own.expr(arg)
        ranges = ranges_of([found.block.axis_vars[a] for a in axes])
        span = interval_of(index.expr, ranges)
        ends = [None, None] if span is None else [span.lower.constant, span.upper.constant]
        is_short = all(e is not None and -(1 << 31) <= e < 1 << 31 for e in ends)
        dtype = "int32" if is_short else "int64"
        applied = builder.result(tir.ApplyOp(index.expr, own.list))
        return builder.cast(applied, "index", dtype), dtype
    mapped: dict[SSAValue, SSAValue] = {**args}
    for op in found.definition(key):
        copy = op.clone(value_mapper=mapped)
        body.add_op(copy)
    value = mapped[found.values[key][0]]
    if isinstance(value.type, IndexType):
        return builder.cast(value, "index", "int64"), "int64"
    return value, dtype_name(value.type)


def _load_instead(found: AxisComputations, key: Key, buffer: SSAValue) -> None:
    """Let all that uses a computation load it from a buffer."""
    axes = [found.block.axis_vars[axis] for axis in found.axes_of(key)]
    for value in found.values.get(key, ()):
        assert isinstance(value.owner, Operation)
        is_index = isinstance(value.type, IndexType)
        value.replace_all_uses_with(_load_before(value.owner, buffer, axes, is_index))
    for op, position in found.loads.get(key, ()):
        values = Values()
        indices = list(values.exprs(op.indices, op.operands_))
        indices[position] = values.expr(_load_before(op, buffer, axes, is_index=True))
        replace_indices_of(op, indices, values)


def _load_before(
    op: Operation, buffer: SSAValue, axes: Sequence[SSAValue], is_index: bool
) -> SSAValue:
    """Load the element at some axes, as an index or as it is, before an operation."""
    assert isinstance(buffer.type, tir.BufferType) and op.parent is not None
    ops, own = Block(), Values()
    builder = ScalarBuilder(ops)
    loaded = builder.result(tir.LoadOp(buffer, [own.expr(a) for a in axes], own.list))
    if is_index:
        loaded = builder.cast(loaded, buffer.type.dtype, "index")
    for new in list(ops.ops):
        new.detach()
        op.parent.insert_op_before(new, op)
    return loaded
