"""Divides the operations of a function into dataflow blocks, around operations with regions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from xdsl.ir import Block, Operation, Region

from ..dialects import relax
from .emitter import Value


def in_dataflow(source: Block, target: Block, values: Sequence[Value]) -> list[Value]:
    """Move operations to the end of `target`, and return what became of the values.

    Operations without regions go to dataflow blocks; those with regions, such as `relax.if`, stand
    between them, and their branches are divided as well. A constant is repeated in every dataflow
    block that uses it, as an output of a block would be copied.
    """
    if not any(op.regions for op in source.ops):
        return _dataflow(list(source.ops), target, values, values)
    _repeat_constants(source, values)
    return _divided(source, target, list(values))


def _divided(source: Block, target: Block, values: list[Value]) -> list[Value]:
    runs = [(has, list(ops)) for has, ops in groupby(source.ops, lambda op: bool(op.regions))]
    for has_regions, ops in runs:
        if not has_regions:
            values = _dataflow(ops, target, _outputs(ops, values), values)
            continue
        for op in ops:
            for region in op.regions:
                _divide_branch(region)
            op.detach()
            target.add_op(op)
    return values


def _divide_branch(region: Region) -> None:
    old, new = region.block, Block()
    last = old.last_op
    assert isinstance(last, relax.YieldOp)
    value = last.value
    last.detach()
    last.erase()
    (result,) = _divided(old, new, [value])
    new.add_op(relax.YieldOp(result))
    region.detach_block(old)
    region.add_block(new)


def _outputs(ops: Sequence[Operation], values: Sequence[Value]) -> list[Value]:
    """The results of operations that others use, or that are among the values."""
    own = set(ops)
    return [
        result
        for op in ops
        for result in op.results
        if result in values or any(use.operation not in own for use in result.uses)
    ]


def _dataflow(
    ops: Sequence[Operation],
    target: Block,
    outputs: Sequence[Value],
    values: Sequence[Value],
) -> list[Value]:
    """Move operations to a new dataflow block, and return the values outside of it."""
    body = Block()
    for op in ops:
        op.detach()
        body.add_op(op)
    output = relax.OutputOp(outputs)
    body.add_op(output)
    dataflow = relax.DataflowOp(Region(body), [v.type for v in outputs])
    target.add_op(dataflow)
    own = {*ops, output}
    outside = dict(zip(outputs, dataflow.outputs, strict=True))
    for inner, outer in outside.items():
        inner.replace_uses_with_if(outer, lambda use: use.operation not in own)
    return [outside.get(v, v) for v in values]


def _repeat_constants(source: Block, values: Sequence[Value]) -> None:
    """Give each run of operations without regions its own constants."""
    places = _places(source)
    repeated: dict[tuple[object, Operation], Value] = {}
    for op in list(places):
        for index, operand in enumerate(op.operands):
            owner = operand.owner
            if isinstance(owner, relax.ConstantOp) and places.get(owner) != places[op]:
                key = (places[op], owner)
                if key not in repeated:
                    repeated[key] = _copied(owner, op)
                op.operands[index] = repeated[key]
    for op in places:
        if isinstance(op, relax.ConstantOp) and not op.result.uses and op.result not in values:
            op.detach()
            op.erase()


def _copied(constant: relax.ConstantOp, user: Operation) -> Value:
    copy, block = constant.clone(), user.parent
    assert block is not None
    block.insert_op_before(copy, user)
    copy.result.name_hint = constant.result.name_hint
    return copy.result


def _places(block: Block) -> dict[Operation, tuple[Block, int]]:
    """The block of every operation, and the number of operations with regions before it."""
    found: dict[Operation, tuple[Block, int]] = {}
    number = 0
    for op in block.ops:
        found[op] = (block, number)
        number += bool(op.regions)
        for region in op.regions:
            for inner in region.blocks:
                found |= _places(inner)
    return found
