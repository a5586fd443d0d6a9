"""Checks of the structure of ONNX models that importers rely on: names, nesting, calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

MAX_DEPTH = 32
"""How deep graphs may be nested in attributes of nodes; files cannot have more."""

MAX_NODES = 1_000_000
"""The number of nodes that calls of functions may be expanded to."""


def verify_graph(graph: Any, what: str = "the graph") -> None:
    """Raise ValueError unless graphs are nested at most so deep, and each defines a name once."""
    if not graph.output:
        raise ValueError(f"expected outputs of {what}, got none")
    for inner in graphs_in(graph.node, [graph]):
        _verify_names(inner)


def graphs_in(nodes: Iterable[Any], found: Sequence[Any] = ()) -> Iterator[Any]:
    """Graphs, and all that are attributes of nodes; raises ValueError for ones nested too deep."""
    waiting = [(graph, 1) for graph in found] or [
        (graph, 2) for node in nodes for graph in _graphs_of(node)
    ]
    while waiting:
        graph, depth = waiting.pop()
        if depth > MAX_DEPTH:
            raise ValueError(f"expected graphs nested at most {MAX_DEPTH} deep, got more")
        yield graph
        waiting += [(inner, depth + 1) for node in graph.node for inner in _graphs_of(node)]


def _graphs_of(node: Any) -> Iterator[Any]:
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


def _verify_names(graph: Any) -> None:
    inputs = [i.name for i in graph.input]
    constants = [t.name for t in graph.initializer]
    constants += [t.values.name for t in graph.sparse_initializer]
    results = [name for node in graph.node for name in node.output if name]
    for what, names in (("inputs", inputs), ("initializers", constants), ("results", results)):
        _verify_distinct(what, names)
    defined = {*inputs, *constants}
    if twice := [name for name in results if name in defined]:
        raise ValueError(f"expected results of other names than inputs, got '{twice[0]}'")
    for node in graph.node:
        texts = [node.name, node.op_type, node.domain, *node.input]
        verify_texts([*texts, *(a.name for a in node.attribute)])
        _verify_distinct(f"attributes of {node.op_type}", [a.name for a in node.attribute])
    verify_texts(o.name for o in graph.output)


def _verify_distinct(what: str, names: Sequence[Any]) -> None:
    verify_texts(names)
    if len(set(names)) < len(names):
        twice, _ = Counter(names).most_common(1)[0]
        raise ValueError(f"expected {what} with names of their own, got '{twice}' twice")


def verify_texts(names: Iterable[Any]) -> None:
    """Raise ValueError unless names are texts of one line, which messages may show."""
    for name in names:
        if not isinstance(name, str):  # protobuf gives bytes for what is no text
            raise ValueError(f"expected names in UTF-8, got {name!r}")
        if len(name.splitlines()) > 1 or name.endswith("\n"):
            raise ValueError(f"expected names of one line, got {name!r}")


def verify_functions(model: Any) -> None:
    """Raise ValueError for functions that call themselves, or that make too many nodes."""
    bodies: dict[tuple[Any, ...], list[Any]] = {}
    for function in model.functions:
        key = (function.domain, function.name, getattr(function, "overload", ""))
        bodies[key] = _nodes_in(function.node)
    counts: dict[tuple[Any, ...], int] = {}
    for key in bodies:
        _count(key, bodies, counts)
    total = sum(counts.get(_callee(n), 1) for n in _nodes_in(model.graph.node))
    if total > MAX_NODES:
        raise ValueError(f"expected functions of at most {MAX_NODES} nodes, got {total}")


def _nodes_in(nodes: Sequence[Any]) -> list[Any]:
    """Nodes, and those of the graphs in their attributes."""
    return [*nodes, *(inner for graph in graphs_in(nodes) for inner in graph.node)]


def _callee(node: Any) -> tuple[Any, ...]:
    return (node.domain, node.op_type, getattr(node, "overload", ""))


def _count(
    wanted: tuple[Any, ...],
    bodies: Mapping[tuple[Any, ...], Sequence[Any]],
    counts: dict[tuple[Any, ...], int],
) -> None:
    """Note the number of nodes that a function and those that it calls are expanded to."""
    waiting, running = [wanted], set[tuple[Any, ...]]()
    while waiting:
        key = waiting[-1]
        callees = [_callee(n) for n in bodies[key]]
        missing = [c for c in callees if c in bodies and c not in counts]
        if key in counts or not missing:
            counts.setdefault(key, sum(counts.get(c, 1) for c in callees))
            waiting.pop()
            continue
        if running.intersection(missing) or key in missing:
            raise ValueError(f"expected functions that do not call themselves, got '{key[1]}'")
        running.add(key)
        waiting += dict.fromkeys(missing)
