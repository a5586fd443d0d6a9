"""Kinds of nodes of a graph, and which of them others depend on."""

from __future__ import annotations

from collections.abc import Sequence

from torch import fx

READS = ("aten._local_scalar_dense.default", "aten.item.default")
"""Functions that read the number in a tensor, which may be a size then."""


def live_nodes(results: Sequence[fx.Node]) -> set[fx.Node]:
    """The nodes that the results depend on."""
    found: set[fx.Node] = set()
    work = list(results)
    while work:
        node = work.pop()
        if node not in found:
            found.add(node)
            work += node.all_input_nodes
    return found
