"""`topological-sort`: order the operations of dataflow blocks by a search through the graph.

::

    %0 = relax.exp %x : …                              %0 = relax.exp %x : …
    %1 = relax.sin %x : …                              %2 = relax.abs %0 : …
    %2 = relax.abs %0 : …      ⇒ (depth-first)         %1 = relax.sin %x : …
    %3 = relax.cos %1 : …                              %3 = relax.cos %1 : …

`order` is "depth-first" or "breadth-first", `direction` is "from-inputs" or "from-outputs". Each
operation follows those that it uses; otherwise the order is that of the program. TVM's
``TopologicalSort``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from ...dialects import relax
from ...dialects.relax.symbols import determined_symbols
from ...dialects.relax.types import type_symbols

ORDERS = ("depth-first", "breadth-first")
DIRECTIONS = ("from-inputs", "from-outputs")


@dataclass
class _Graph:
    """The operations of a block but its terminator, and what each of them needs and feeds."""

    block: Block
    needs: dict[Operation, dict[Operation, None]] = field(default_factory=lambda: {})
    users: dict[Operation, list[Operation]] = field(default_factory=lambda: {})
    readers: dict[SSAValue, list[Operation]] = field(default_factory=lambda: {})
    """The users of values from outside of the block."""

    placed: dict[Operation, None] = field(default_factory=lambda: {})
    """The operations in their new order."""

    def __post_init__(self) -> None:
        casts: dict[str, Operation] = {}
        for op in self.operations:
            attributes = (*op.result_types, *op.properties.values())
            found = {s for a in attributes for s in type_symbols(a)}
            made = [o.owner for o in op.operands]
            needed = [
                o for o in (*made, *(casts[s] for s in found if s in casts)) if o in self.needs
            ]
            self.needs[op] = dict.fromkeys(o for o in needed if isinstance(o, Operation))
            self.users[op] = []
            for other in self.needs[op]:
                self.users[other].append(op)
            for operand in dict.fromkeys(op.operands):
                if operand.owner not in self.needs:
                    self.readers.setdefault(operand, []).append(op)
            if isinstance(op, relax.MatchCastOp):
                for symbol in determined_symbols(op.result_types):
                    casts.setdefault(symbol, op)

    @property
    def operations(self) -> list[Operation]:
        """The operations in the order of the block, without the terminator."""
        return list(self.block.ops)[:-1]

    def inputs(self) -> list[SSAValue]:
        """Values from outside: parameters of the function in their order, then others."""
        func = self.block.parent_op()
        while func is not None and not isinstance(func, relax.FuncOp | relax.LocalFuncOp):
            func = func.parent_op()
        params = [] if func is None else [p for p in func.body.block.args if p in self.readers]
        return [*params, *(v for v in self.readers if v not in params)]

    def is_ready(self, op: Operation, seen: set[SSAValue]) -> bool:
        """Whether all that an operation needs is placed, and its values from outside are seen."""
        outside = (o for o in op.operands if o.owner not in self.needs)
        return (
            op not in self.placed
            and all(o in self.placed for o in self.needs[op])
            and all(v in seen for v in outside)
        )

    def from_inputs(self, depth_first: bool) -> None:
        """Visit the users of each value, and then those of their results."""
        seen: set[SSAValue] = set()
        starts = [self.readers[v] for v in self.inputs()]
        starts.append([op for op in self.operations if not op.operands])
        values: list[SSAValue | None] = [*self.inputs(), None]
        waiting: deque[Iterable[Operation]] = deque()
        for value, users in zip(values, starts, strict=True):
            if value is not None:
                seen.add(value)
            waiting.append(users)
            while waiting:
                self._visit(waiting, seen, depth_first)
        for op in self.operations:  # what is left is in the order of the program
            self.placed[op] = None

    def _visit(
        self, waiting: deque[Iterable[Operation]], seen: set[SSAValue], depth_first: bool
    ) -> None:
        users = list(waiting.pop() if depth_first else waiting.popleft())
        for index, op in enumerate(users):
            if self.is_ready(op, seen):
                self.placed[op] = None
                if depth_first:
                    waiting.append(users[index + 1 :])
                    waiting.append(self.users[op])
                    return
                waiting.append(self.users[op])

    def from_outputs(self, depth_first: bool) -> None:
        """Place what each output needs before it."""
        last = self.block.last_op
        outputs = [] if last is None else [o.owner for o in last.operands if o.owner in self.needs]
        roots = [o for o in dict.fromkeys(outputs) if isinstance(o, Operation)]
        live: dict[Operation, None] = dict.fromkeys(roots)
        waiting = deque(roots)
        while waiting:
            for other in self.needs[waiting.popleft()]:
                if other not in live:
                    live[other] = None
                    waiting.append(other)
        for op in roots if depth_first else reversed(live):
            self._place(op, live)
        for op in self.operations:
            self._place(op, live)

    def _place(self, op: Operation, live: dict[Operation, None]) -> None:
        """Place an operation after what it needs, and then what is for no output and ready."""
        stack = [op]
        while stack:
            missing = [o for o in self.needs[stack[-1]] if o not in self.placed]
            if missing:
                stack.append(missing[0])
                continue
            found = stack.pop()
            if found not in self.placed:
                self.placed[found] = None
                dead = [u for u in self.users[found] if u not in live and u not in self.placed]
                ready = [u for u in dead if all(o in self.placed for o in self.needs[u])]
                stack += ready[::-1]


def topological_sort(block: Block, order: str, direction: str) -> None:
    """Sort the operations of a block in place, all but the terminator."""
    graph = _Graph(block)
    sort = graph.from_inputs if direction == "from-inputs" else graph.from_outputs
    sort(order == "depth-first")
    last = block.last_op
    assert last is not None
    for op in graph.placed:
        op.detach()
        block.insert_op_before(op, last)


@dataclass(frozen=True)
class TopologicalSortPass(ModulePass):
    """Order the operations of dataflow blocks by a search from inputs or from outputs."""

    name = "topological-sort"
    order: str = "depth-first"
    direction: str = "from-inputs"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for known, given in ((ORDERS, self.order), (DIRECTIONS, self.direction)):
            if given not in known:
                raise PassFailedException(f"expected {' or '.join(known)}, got '{given}'")
        for inner in list(op.walk()):
            if isinstance(inner, relax.DataflowOp):
                topological_sort(inner.body.block, self.order, self.direction)
