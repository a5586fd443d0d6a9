"""Find the blocks and loops of a PrimFunc, and the uses of buffers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation, SSAValue

from ...dialects import tir
from ...dialects.diagnostics import Diagnostic
from ...dialects.int_expr import ONE, ZERO, Arg
from ...dialects.nesting import ancestors, enclosing, operations_in
from ...dialects.sym import exprs_of
from ...dialects.tir.regions import root_buffer

IS_SCHEDULED = "tir.is_scheduled"
"""The attribute of a PrimFunc that the default schedules leave as it is."""


class ScheduleError(Diagnostic):
    """A schedule primitive that does not apply; nothing has changed."""


@dataclass
class Uses:
    """The uses of a buffer in a function: `others` are views of it and calls with it."""

    stores: list[tir.StoreOp] = field(default_factory=lambda: [])
    loads: list[tir.LoadOp] = field(default_factory=lambda: [])
    others: list[Operation] = field(default_factory=lambda: [])


def uses_of(buffer: SSAValue) -> Uses:
    """The uses of a buffer, apart from the regions that blocks declare; in no order."""
    found = Uses()
    for use in buffer.uses:
        match use.operation:
            case tir.StoreOp() as op if use.index:
                found.stores.append(op)
            case tir.LoadOp() as op:
                found.loads.append(op)
            case tir.BlockOp():
                pass
            case op:
                found.others.append(op)
    return found


def statements(func: tir.PrimFuncOp) -> Block:
    """The block that holds the function's loop nests: its body, or that of its root block."""
    body = func.body.block
    rest = [op for op in body.ops if not isinstance(op, tir.AllocBufferOp)]
    if len(rest) == 1 and isinstance(root := rest[0], tir.BlockOp) and not root.axes.data:
        if any(isinstance(op, tir.BlockOp) for op in operations_in(root) if op is not root):
            return root.body.block
    return body


def blocks_in(op: Operation) -> list[tir.BlockOp]:
    """The innermost blocks, in order: those that hold no other block."""
    found = [o for o in operations_in(op) if isinstance(o, tir.BlockOp)]
    outer = {p for block in found for p in ancestors(block)}
    return [b for b in found if b not in outer]


def function_of(op: Operation) -> tir.PrimFuncOp:
    """The function that holds the operation; raises ScheduleError if there is none."""
    for parent in (op, *ancestors(op)):
        if isinstance(parent, tir.PrimFuncOp):
            return parent
    raise ScheduleError(f"expected '{op.name}' to be in a function", op)


def statement_in(parent: Block, op: Operation) -> Operation | None:
    """The operation of `parent` that is or holds `op`."""
    current: Operation | None = op
    while current is not None and current.parent is not parent:
        current = current.parent_op()
    return current


def common_block(ops: Sequence[Operation]) -> Block:
    """The innermost block of operations around all of these."""
    first, *others = ops
    parent = first.parent
    while parent is not None and any(statement_in(parent, op) is None for op in others):
        around = parent.parent_op()
        parent = None if around is None else around.parent
    assert parent is not None
    return parent


def loops_around(block: tir.BlockOp) -> list[tir.ForOp]:
    """The loops around a block up to the block or function that holds it, outermost first."""
    loops: list[tir.ForOp] = []
    for parent in ancestors(block):
        if not isinstance(parent, tir.ForOp):
            break
        loops.insert(0, parent)
    return loops


def loops_between(block: tir.BlockOp, loop: tir.ForOp) -> list[tir.ForOp]:
    """The loops around a block that are in a loop, outermost first."""
    return [op for op in loops_around(block) if loop in ancestors(op)]


def loops_up_to(block: tir.BlockOp, parts: Sequence[Operation]) -> list[tir.ForOp]:
    """The loops around a block up to the one among `parts`, outermost first.

    Raises ScheduleError where something else is around the block.
    """
    loops: list[tir.ForOp] = []
    for op in ancestors(block) if block not in parts else ():
        if not isinstance(op, tir.ForOp):
            raise ScheduleError(
                f"expected block '{block.block_name.data}' to be nested in loops only", block
            )
        loops.insert(0, op)
        if op in parts:
            break
    return loops


def perfect_nest(block: tir.BlockOp) -> Operation:
    """The outermost loop that holds nothing but this block; the block if there is none."""
    outermost: Operation = block
    while isinstance(parent := outermost.parent_op(), tir.ForOp):
        if parent.body.block.first_op is not parent.body.block.last_op:
            break
        outermost = parent
    return outermost


def only_writer(buffer: SSAValue) -> tir.BlockOp | None:
    """The only block that stores to a scratch buffer; `None` for other buffers."""
    stores = uses_of(buffer).stores if isinstance(buffer.owner, tir.AllocBufferOp) else []
    writers = {enclosing(op, tir.BlockOp) for op in stores}
    return writers.pop() if len(writers) == 1 else None


def only_reader(buffer: SSAValue, writer: tir.BlockOp) -> tir.BlockOp | None:
    """The only block beside `writer` that loads a scratch buffer, if it has no other uses."""
    if not isinstance(buffer.owner, tir.AllocBufferOp):
        return None
    uses = uses_of(buffer)
    users = {enclosing(op, tir.BlockOp) for op in uses.loads} - {writer}
    return users.pop() if len(users) == 1 and not uses.others else None


def stored_buffers(op: Operation) -> set[SSAValue]:
    """The buffers that an operation may write, with its regions; of views, the viewed buffer."""
    return _accessed_buffers(op, tir.StoreOp)


def loaded_buffers(op: Operation) -> set[SSAValue]:
    """The buffers that an operation may read, with its regions; of views, the viewed buffer."""
    return _accessed_buffers(op, tir.LoadOp)


def _accessed_buffers(op: Operation, kind: type[tir.LoadOp | tir.StoreOp]) -> set[SSAValue]:
    found: set[SSAValue] = set()
    for inner in operations_in(op):
        if isinstance(inner, kind):
            found.add(root_buffer(inner.buffer))
        elif isinstance(inner, tir.OpaqueCallOp):
            passed = {root_buffer(o) for o in inner.operands if isinstance(o.type, tir.BufferType)}
            found |= passed & _declared_buffers(inner, kind, passed)
    return found


def _declared_buffers(
    call: tir.OpaqueCallOp, kind: type[tir.LoadOp | tir.StoreOp], passed: set[SSAValue]
) -> set[SSAValue]:
    """The buffers that the block around a call declares to read or to write; without, `passed`."""
    block = enclosing(call, tir.BlockOp)
    if block is None or not (block.reads.data or block.writes.data):
        return passed
    declared = block.read_buffers if kind is tir.LoadOp else block.write_buffers
    return {root_buffer(b) for b in declared}


def erase_nest(block: tir.BlockOp) -> None:
    """Erase a block with the loops that hold nothing else."""
    nest = perfect_nest(block)
    nest.detach()
    nest.erase()


def insert_before(op: Operation, block: Block, before: Operation | None) -> None:
    """Insert an operation before another one of a block, or at its end."""
    if before is None:
        block.add_op(op)
    else:
        block.insert_op_before(op, before)


def nest_loops(block: tir.BlockOp) -> list[tir.ForOp]:
    """The loops that hold nothing but the block, outermost first."""
    loops: list[tir.ForOp] = []
    current: Operation = perfect_nest(block)
    while isinstance(current, tir.ForOp):
        loops.append(current)
        following = current.body.block.first_op
        assert following is not None
        current = following
    return loops


def loop_of(block: tir.BlockOp, axis: int, loops: Iterable[tir.ForOp]) -> tir.ForOp | None:
    """The first of some loops that an axis of a block, by its position, is bound to."""
    numbering = block.numbering()
    used = [numbering[i] for i in exprs_of(block.bindings)[axis].args()]
    return next((loop for loop in loops if loop.loop_var in used), None)


def iterator_kinds(loop: tir.ForOp, block: tir.BlockOp) -> set[str]:
    """The kinds of the axes that depend on a loop."""
    numbering = block.numbering()
    pairs = zip(block.axis_kinds, exprs_of(block.bindings), strict=True)
    return {kind for kind, b in pairs if any(numbering[i] is loop.loop_var for i in b.args())}


def plain_loops(block: tir.BlockOp) -> dict[int, tir.ForOp] | None:
    """The loops by axis, if the block's nest is one plain loop from 0 for each axis."""
    nest = perfect_nest(block)
    around = [op for op in ancestors(block) if isinstance(op, tir.ForOp)]
    own = around[: around.index(nest) + 1] if isinstance(nest, tir.ForOp) else []
    numbering: list[SSAValue] = block.numbering()
    found: dict[int, tir.ForOp] = {}
    for axis, binding in enumerate(exprs_of(block.bindings)):
        bounds, atom = block.axes.data[axis], binding.as_atom
        if not isinstance(atom, Arg):
            if bounds.extent.data != ONE:
                return None
            continue
        loop = next((op for op in own if op.loop_var is numbering[atom.index]), None)
        if loop is None or loop in found.values() or not _is_over(loop, bounds):
            return None
        found[axis] = loop
    return found if set(own) == set(found.values()) else None


def _is_over(loop: tir.ForOp, axis: tir.AxisAttr) -> bool:
    return (
        loop.kind.data == "serial"
        and not (loop.annotations is not None and loop.annotations.data)
        and loop.min.data == axis.min.data == ZERO
        and loop.extent.data == axis.extent.data
        and not loop.extent.data.args()
    )
