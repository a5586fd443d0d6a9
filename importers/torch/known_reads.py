"""Sizes that are read from tensors which no input of the graph determines."""

from __future__ import annotations

from typing import Any

import sympy  # pyright: ignore[reportMissingTypeStubs]
import torch
from torch import fx

from .nodes import READS, live_nodes
from .registry import overload_name


def known_reads(graph: fx.Graph) -> dict[fx.Node, int]:
    """The nodes that read a number from constants, such as ``torch.arange(8).max()``."""
    found: dict[fx.Node, int] = {}
    for node in graph.nodes:
        if overload_name(node.target) in READS and _is_symbol(node.meta.get("val")):
            sources = live_nodes([node])
            if all(map(_is_known, sources)):
                found[node] = _value(node, sources)
    return found


def _is_symbol(value: Any) -> bool:
    return isinstance(getattr(getattr(value, "node", None), "expr", None), sympy.Symbol)


def _is_known(node: fx.Node) -> bool:
    """Whether a node calls an operator that gives the same for the same arguments."""
    tags = getattr(node.target, "tags", [torch.Tag.nondeterministic_seeded])
    return node.op == "call_function" and torch.Tag.nondeterministic_seeded not in tags


def _value(read: fx.Node, sources: set[fx.Node]) -> int:
    """What PyTorch reads; the nodes of `sources` have no other inputs."""
    values: dict[fx.Node, Any] = {}
    for node in read.graph.nodes:
        if node in sources:
            args, kwargs = fx.map_arg((node.args, node.kwargs), values.__getitem__)
            values[node] = node.target(*args, **kwargs)
    return int(values[read])
