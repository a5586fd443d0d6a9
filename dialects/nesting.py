"""Traversal of deeply nested regions, and a deep stack for recursive code of xDSL.

xDSL parses, prints, clones and walks regions recursively, and exceeds Python's default recursion
limit at about 100 levels.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextvars import copy_context
from typing import TypeVar

from xdsl.ir import Operation

STACK_BYTES = 1 << 29
RECURSION_LIMIT = 200_000
SAFE_DEPTH = 50
"""Levels that xDSL handles within Python's default limit, with frames to spare for the caller."""

Result = TypeVar("Result")
Kind = TypeVar("Kind", bound=Operation)


def operations_in(root: Operation) -> Iterator[Operation]:
    """The operation and all nested ones in pre-order, at any nesting depth."""
    work = [root]
    while work:
        op = work.pop()
        yield op
        for region in reversed(op.regions) if op.regions else ():
            for block in reversed(region.blocks):
                inner = block.last_op
                while inner is not None:
                    work.append(inner)
                    inner = inner.prev_op


def ancestors(op: Operation) -> Iterator[Operation]:
    """The operations around `op`, innermost first."""
    parent = op.parent_op()
    while parent is not None:
        yield parent
        parent = parent.parent_op()


def enclosing(op: Operation, kind: type[Kind]) -> Kind | None:
    """The innermost operation of a class around `op`."""
    return next((p for p in ancestors(op) if isinstance(p, kind)), None)


def depth_of(root: Operation) -> int:
    """The depth of nested regions in the operation."""
    deepest, level = 0, [root]
    while level:
        level = [
            o for op in level for r in op.regions for b in r.blocks for o in b.ops if o.regions
        ]
        deepest += 1
    return deepest


def on_deep_stack(function: Callable[[], Result]) -> Result:
    """Call a function on a thread with a deep stack; raises what the function raises."""
    outcome: list[Result] = []
    errors: list[BaseException] = []
    context = copy_context()

    def work() -> None:
        try:
            outcome.append(context.run(function))
        except BaseException as error:
            errors.append(error)

    limit, size = sys.getrecursionlimit(), threading.stack_size(STACK_BYTES)
    sys.setrecursionlimit(max(limit, RECURSION_LIMIT))
    try:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(size)
        sys.setrecursionlimit(limit)
    if errors:
        raise errors[0]
    return outcome[0]
