"""Look up blocks: by name, children, producers and consumers."""

from __future__ import annotations

from xdsl.ir import Block, Operation, Region

from ...dialects import tir
from ...dialects.nesting import ancestors, enclosing, operations_in
from .blocks import function_of, loaded_buffers, statements, stored_buffers


def blocks_named(func: tir.PrimFuncOp, name: str | None = None) -> list[tir.BlockOp]:
    """The blocks of a name, or all, in order."""
    blocks = [op for op in operations_in(func) if isinstance(op, tir.BlockOp)]
    return [b for b in blocks if name is None or b.block_name.data == name]


def root_block(func: tir.PrimFuncOp) -> tir.BlockOp:
    """The block around a function's loops, which is created if there is none."""
    parent = statements(func)
    if isinstance(root := parent.parent_op(), tir.BlockOp):
        return root
    body = Block()
    ops = list(parent.ops)
    for op in ops:
        op.detach()
    body.add_ops(ops)
    root = tir.BlockOp.build_from("root", [], Region(body), [])
    root.location = func.location
    parent.add_op(root)
    return root


def drop_plain_root(func: tir.PrimFuncOp) -> None:
    """Erase the block around a function's loops if it has nothing but its name."""
    parent = statements(func)
    root = parent.parent_op()
    if not isinstance(root, tir.BlockOp) or root.block_name.data != "root":
        return
    if root.annotations is None and not root.predicates.data and root.init is None:
        for op in list(parent.ops):
            op.detach()
            func.body.block.insert_op_before(op, root)
        root.detach()
        root.erase()


def child_blocks(op: tir.BlockOp | tir.ForOp) -> list[tir.BlockOp]:
    """The blocks in an operation that are in no other block in it."""
    blocks = [o for o in operations_in(op) if isinstance(o, tir.BlockOp) and o is not op]
    return [b for b in blocks if not any(p in blocks for p in ancestors(b))]


def producers_of(block: tir.BlockOp) -> list[tir.BlockOp]:
    """The blocks before `block`, in the same scope, that store to what it loads."""
    siblings = _scope_blocks(block)
    wanted = loaded_buffers(block) - _own_buffers(block)
    return [b for b in siblings[: siblings.index(block)] if stored_buffers(b) & wanted]


def consumers_of(block: tir.BlockOp) -> list[tir.BlockOp]:
    """The blocks after `block`, in the same scope, that load what it stores to."""
    siblings = _scope_blocks(block)
    stored = stored_buffers(block)
    return [b for b in siblings[siblings.index(block) + 1 :] if loaded_buffers(b) & stored]


def output_blocks(scope: tir.BlockOp) -> list[tir.BlockOp]:
    """The blocks in a block that store to a buffer from outside of it."""
    blocks = [op for op in operations_in(scope) if isinstance(op, tir.BlockOp) and op is not scope]
    own = _own_buffers(scope)
    return [b for b in blocks if stored_buffers(b) - own - _own_buffers(b)]


def _scope_blocks(block: tir.BlockOp) -> list[tir.BlockOp]:
    """The blocks next to a block: in the block or function that holds it, in no other block."""
    scope: Operation = enclosing(block, tir.BlockOp) or function_of(block)
    blocks = [o for o in operations_in(scope) if isinstance(o, tir.BlockOp) and o is not scope]
    return [b for b in blocks if (enclosing(b, tir.BlockOp) or scope) is scope]


def _own_buffers(block: tir.BlockOp) -> set[object]:
    return {op.result for op in operations_in(block) if isinstance(op, tir.AllocBufferOp)}
