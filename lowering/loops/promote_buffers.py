"""Promote memory to SSA values: accumulators of loops, small scratch buffers.

::

    %t = loops.alloca : !tir.buffer<[2], f32>
    loops.store %a, %t[0]                              ⇒      arith.addf %a, %a
    %b = loops.load %t[0]
    arith.addf %b, %b

See `mem2reg` for scratch buffers, and `promote_accumulators` for loops.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass

from ...dialects import loops
from ..scope import Scope
from .masked_values import replace_load, zero
from .places import Access, Place, are_disjoint, place_of
from .promote_accumulators import promote_accumulators


@dataclass
class _Candidate:
    """A scratch buffer, its accesses by place, and the innermost block that contains them."""

    buffer: loops.AllocaOp
    accesses: dict[Place, list[Access]]
    root: Block


def mem2reg(func: loops.FuncOp) -> None:
    """Promote stack buffers to values.

    ::

        loops.store %zero, %t[0]           %s = loops.for %k in (0, m) carry (%b = %zero : f32) {
        loops.for %k in (0, m) {             …
          %b = loops.load %t[0]      ⇒       %c = arith.addf %b, %x
          …                                  loops.yield %c : f32
          %c = arith.addf %b, %x           }
          loops.store %c, %t[0]
        }

    All accesses must be at constant indices, outside parallel loops, and stores outside conditions;
    if a store to a place has a mask, all accesses to it have that mask.
    A block must not read elements of an earlier execution: its first access to each element is a
    store.
    """
    scope = Scope(Block(), in_place=True)
    by_root: dict[Block, list[_Candidate]] = {}
    for op in list(func.walk()):
        if isinstance(op, loops.AllocaOp) and (found := _candidate(op, scope)) is not None:
            by_root.setdefault(found.root, []).append(found)
    for root, candidates in by_root.items():
        order = {op: i for i, op in enumerate(root.walk())}
        chosen = [c for c in candidates if _is_written_first(c, order)]
        if chosen:
            _Promotion(scope, chosen).promote(root)


def _candidate(op: loops.AllocaOp, scope: Scope) -> _Candidate | None:
    accesses: dict[Place, list[Access]] = {}
    root: Block | None = None
    for use in op.result.uses:
        user = use.operation
        if not isinstance(user, loops.LoadOp | loops.StoreOp):
            return None
        place = _whole(place_of(user, scope))
        if place.buffer != op.result or any(not i.is_constant for i in place.indices):
            return None
        accesses.setdefault(place, []).append(user)
        root = user.parent if root is None else _common_block(root, user)
    if root is None or not are_disjoint(accesses):
        return None
    if any(_leaves_lanes(group, scope) for group in accesses.values()):
        return None
    users = [u for group in accesses.values() for u in group]
    return _Candidate(op, accesses, root) if all(_is_in_loops(u, root) for u in users) else None


def _leaves_lanes(accesses: Sequence[Access], scope: Scope) -> bool:
    """Whether a store to a place may leave lanes as they are that others access."""
    is_masked = any(isinstance(op, loops.StoreOp) and op.mask is not None for op in accesses)
    return is_masked and len({place_of(op, scope).mask for op in accesses}) > 1


def _whole(place: Place) -> Place:
    """A place with all of its lanes."""
    return replace(place, mask=None)


def _common_block(known: Block, op: Operation) -> Block:
    around: set[Block] = set()
    block = op.parent
    while block is not None:
        around.add(block)
        block = _block_around(block)
    while known not in around:
        outer = _block_around(known)
        assert outer is not None
        known = outer
    return known


def _block_around(block: Block) -> Block | None:
    parent = block.parent_op()
    return None if parent is None else parent.parent


def _is_in_loops(op: loops.LoadOp | loops.StoreOp, root: Block) -> bool:
    """Whether only serial or unrolled loops, and conditions of loads, are around an access."""
    block = op.parent
    while block is not root:
        outer = None if block is None else block.parent_op()
        is_choice = isinstance(outer, loops.IfOp | scf.IfOp) and isinstance(op, loops.LoadOp)
        is_loop = isinstance(outer, loops.ForOp) and outer.kind.data in ("serial", "unrolled")
        if outer is None or not (is_choice or is_loop):
            return False
        block = outer.parent
    return True


def _is_written_first(candidate: _Candidate, order: dict[Operation, int]) -> bool:
    """Whether no element of an earlier execution of the root is read; function bodies run once."""
    if isinstance(candidate.root.parent_op(), loops.FuncOp):
        return True
    firsts = [min(ops, key=order.__getitem__) for ops in candidate.accesses.values()]
    return all(isinstance(op, loops.StoreOp) and op.parent is candidate.root for op in firsts)


class _Promotion:
    def __init__(self, scope: Scope, candidates: Sequence[_Candidate]):
        self.scope = scope
        self.candidates = candidates
        self.buffers: set[SSAValue] = {c.buffer.result for c in candidates}
        self.stored: dict[Operation, dict[Place, None]] = {}
        self.unwritten: dict[Attribute, list[Operation]] = {}
        for candidate in candidates:
            for place, accesses in candidate.accesses.items():
                for op in accesses:
                    if isinstance(op, loops.StoreOp):
                        self._note_store(op, place, candidate.root)

    def _note_store(self, op: Operation, place: Place, root: Block) -> None:
        block = op.parent
        while block is not None and block is not root:
            loop = block.parent_op()
            assert loop is not None
            self.stored.setdefault(loop, {})[place] = None
            block = loop.parent

    def promote(self, root: Block) -> None:
        """Replace the accesses in the block, then drop the buffers."""
        self._visit(root, {})
        for ops in self.unwritten.values():
            for op in reversed(ops):
                assert root.first_op is not None
                root.insert_op_before(op, root.first_op)
        for candidate in self.candidates:
            _drop(candidate.buffer)

    def _visit(self, block: Block, contents: dict[Place, SSAValue]) -> None:
        """Replace the accesses in a block; updates `contents`, the values by place."""
        for op in list(block.ops):
            if isinstance(op, loops.LoadOp) and op.buffer in self.buffers:
                content = self._content(_whole(place_of(op, self.scope)), contents)
                replace_load(op, content, self.scope)
            elif isinstance(op, loops.StoreOp) and op.buffer in self.buffers:
                contents[_whole(place_of(op, self.scope))] = op.value
                _drop(op)
            elif isinstance(op, loops.ForOp):
                self._visit_loop(op, contents)
            elif isinstance(op, loops.IfOp | scf.IfOp):
                for region in op.regions:
                    for inner in region.blocks:
                        self._visit(inner, dict(contents))

    def _visit_loop(self, op: loops.ForOp, contents: dict[Place, SSAValue]) -> None:
        places = list(self.stored.get(op, ()))
        inits = [self._content(p, contents) for p in places]
        body = op.body.block
        inner = dict(contents)
        for place in places:
            inner[place] = body.insert_arg(place.type, len(body.args))
            inner[place].name_hint = place.buffer.name_hint
        self._visit(body, inner)
        if not places:
            return
        last = op.yielded
        assert body.last_op is not None
        _drop(body.last_op)
        body.add_op(loops.YieldOp([*last, *(inner[p] for p in places)]))
        loop = op.like(
            op.lower.data,
            op.extent.data,
            list(op.operands_),
            [*op.inits, *inits],
            op.detach_region(op.body),
        )
        loop.location = op.location
        block = op.parent
        assert block is not None
        block.insert_op_before(loop, op)
        for old, new in zip(op.carried, loop.carried, strict=False):
            old.replace_all_uses_with(new)
        for place, result in zip(places, loop.carried[len(op.inits) :], strict=True):
            contents[place] = result
        _drop(op)

    def _content(self, place: Place, contents: dict[Place, SSAValue]) -> SSAValue:
        known = contents.get(place)
        if known is not None:
            return known
        ops = self.unwritten.get(place.type)
        if ops is None:
            ops = self.unwritten[place.type] = zero(place.type)
        return ops[-1].results[0]


def _drop(op: Operation) -> None:
    op.detach()
    op.erase()


@dataclass(frozen=True)
class PromoteBuffersPass(ModulePass):
    """Keep accumulators and small scratch buffers in registers; their sums may be reordered."""

    name = "promote-buffers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.body.block.ops:
            if isinstance(func, loops.FuncOp):
                mem2reg(func)
                promote_accumulators(func)
