"""Choose the groups of kernel calls to fuse, along the post-dominator tree, as in TVM.

A group has one result, that of its last call; other values are used only in the group. Thus no call
is repeated, and no other operation comes between its calls. Computations on constants are not
grouped with others, so that they can be hoisted (`hoist-to-load`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation
from xdsl.traits import is_side_effect_free

from ...dialects import relax
from ..sizes import are_worth_keeping
from .fusion_patterns import KernelSummary, OpPattern

MAX_CALLS = 64
"""The most calls of one group, which keeps compile time close to linear."""

Summaries = Callable[[Operation], KernelSummary]


@dataclass(eq=False)
class Node:
    """An operation of a segment; `dominator` is its immediate post-dominator."""

    op: Operation
    summary: KernelSummary
    position: int
    users: list[Node] = field(default_factory=lambda: [])
    is_once: bool = False
    """Whether it can be computed once, when the module is loaded."""
    escapes: bool = False
    dominator: Node | None = None
    depth: int = 0
    group: Group = field(init=False)

    def __post_init__(self) -> None:
        self.group = Group([self])

    @property
    def pattern(self) -> OpPattern:
        """The operation's pattern."""
        return self.summary.pattern

    def edge_to(self, user: Node) -> OpPattern:
        """The pattern of a user's result in this node's."""
        (result,) = self.op.results
        positions = [i for i, v in enumerate(user.op.operands) if v is result]
        return max(user.summary.edge(i) for i in positions)


@dataclass(eq=False)
class Group:
    """Nodes that run as one kernel."""

    nodes: list[Node]

    @property
    def anchors(self) -> list[Node]:
        """The reductions among them, of which there is one at most."""
        return [n for n in self.nodes if n.pattern >= OpPattern.COMM_REDUCE]


def fusion_groups(block: Block, summarize: Summaries) -> Iterator[list[Operation]]:
    """The groups of two and more calls in a block, each in the order of the program."""
    once = _computed_once(block)
    for segment in _segments(block):
        nodes = _nodes(segment, summarize)
        for node in nodes:
            node.is_once = node.op in once
        _find_dominators(nodes)
        for node in nodes:
            _fuse(node)
        for group in dict.fromkeys(n.group for n in nodes):
            if len(group.nodes) > 1:
                yield [n.op for n in sorted(group.nodes, key=lambda n: n.position)]


def _computed_once(block: Block) -> frozenset[Operation]:
    """The kernel calls and views on constants only whose results are worth their memory."""
    found: set[Operation] = set()
    for op in block.ops:
        is_view = isinstance(op, relax.OperatorOp) and op.is_view
        if not (isinstance(op, relax.CallTIROp) or is_view) or not op.operands:
            continue
        if not all(isinstance(o.owner, relax.ConstantOp) or o.owner in found for o in op.operands):
            continue
        if are_worth_keeping(op.results, op.operands):
            found.add(op)
    return frozenset(found)


def _segments(block: Block) -> Iterator[list[Operation]]:
    """Runs of operations that may be reordered."""
    run: list[Operation] = []
    for op in block.ops:
        if _may_be_passed(op):
            run.append(op)
        else:
            yield run
            run = []
    yield run


def _may_be_passed(op: Operation) -> bool:
    """Whether a kernel may as well run after the operation as before.

    A call in place ends the life of an argument, and functions of the module may make such calls.
    """
    if isinstance(op, relax.CallTIRInplaceOp | relax.CallOp | relax.LoopOp):
        return False
    if isinstance(op, relax.CallPurePackedOp) and op.positions:
        return False
    return isinstance(op, relax.MatchCastOp) or is_side_effect_free(op)


def _nodes(segment: Sequence[Operation], summarize: Summaries) -> list[Node]:
    nodes = [Node(op, summarize(op), i) for i, op in enumerate(segment)]
    known = {node.op: node for node in nodes}
    for node in nodes:
        users: dict[Node, None] = {}
        for result in node.op.results:
            for use in result.uses:
                user = known.get(use.operation)
                if user is None:
                    node.escapes = True
                else:
                    users[user] = None
        node.users = list(users)
    return nodes


def _find_dominators(nodes: Iterable[Node]) -> None:
    """The immediate post-dominators; searches stop where a group could not reach."""
    for node in reversed(list(nodes)):
        if node.escapes or not node.users:
            continue
        found: Node | None = node.users[0]
        for user in node.users[1:]:
            found = _meet(found, user)
        node.dominator = found
        node.depth = 0 if found is None else found.depth + 1


def _meet(a: Node | None, b: Node | None) -> Node | None:
    for _ in range(2 * MAX_CALLS):
        if a is b or a is None or b is None:
            break
        if a.depth >= b.depth:
            a = a.dominator
        else:
            b = b.dominator
    return a if a is b else None


def _fuse(node: Node) -> None:
    """Fuse a node with its post-dominator, and all nodes between them, if that is allowed."""
    end = node.dominator
    if end is None or node.pattern > OpPattern.OUT_EWISE_FUSABLE or node.group is end.group:
        return
    if node.is_once and not end.is_once:
        return
    path = _path(node, end)
    if path is None:
        return
    groups = dict.fromkeys(n.group for n in (node, *path, end))
    if sum(len(g.nodes) for g in groups) > MAX_CALLS or sum(len(g.anchors) for g in groups) > 1:
        return
    inner = [node, *path]
    if not all(n.pattern <= OpPattern.INJECTIVE for n in path):
        return
    has_anchor = any(n.group.anchors for n in inner)
    if not all(_may_join(n, user, has_anchor) for n in inner for user in n.users):
        return
    joined = Group([n for g in groups for n in g.nodes])
    for member in joined.nodes:
        member.group = joined


def _path(node: Node, end: Node) -> list[Node] | None:
    """All nodes between a node and its post-dominator; `None` for too many."""
    found: dict[Node, None] = {}
    work = [node]
    while work:
        for user in work.pop().users:
            if user is not end and user not in found:
                found[user] = None
                work.append(user)
                if len(found) > MAX_CALLS:
                    return None
    return list(found)


def _may_join(node: Node, user: Node, has_anchor: bool) -> bool:
    """Whether the user can be fused with the node."""
    edge = node.edge_to(user)
    if has_anchor:  # what follows a reduction runs on its elements, one by one
        return edge is OpPattern.ELEMWISE and user.pattern <= OpPattern.INJECTIVE
    if user.pattern <= OpPattern.INJECTIVE:
        return edge <= OpPattern.INJECTIVE
    return edge <= OpPattern.COMM_REDUCE


def is_kernel_call(op: Operation) -> bool:
    """Whether the operation calls a PrimFunc for one tensor."""
    return isinstance(op, relax.CallTIROp) and isinstance(op.result.type, relax.TensorType)
