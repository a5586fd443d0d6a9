"""What graphs of ONNX read, and how large they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def live_nodes(nodes: Sequence[Any], outputs: Sequence[str]) -> set[int]:
    """The numbers of the nodes that the outputs depend on."""
    wanted, found = set(outputs), set[int]()
    for index, node in reversed(list(enumerate(nodes))):
        if wanted.intersection(node.output):
            found.add(index)
            wanted.update(node.input)
            for attribute in node.attribute:
                for graph in [attribute.g, *attribute.graphs]:
                    wanted.update(names_used(graph))
    return found


def names_used(graph: Any) -> set[str]:
    """All names that a graph uses, those of the graphs around it among them."""
    found = {o.name for o in graph.output}
    for node in graph.node:
        found.update(node.input)
        for attribute in node.attribute:
            for inner in [attribute.g, *attribute.graphs]:
                found |= names_used(inner)
    return found


def node_count(graph: Any) -> int:
    """The number of nodes of a graph, with those of the graphs inside."""
    inner = [g for n in graph.node for a in n.attribute for g in (a.g, *a.graphs)]
    return len(graph.node) + sum(map(node_count, inner))
