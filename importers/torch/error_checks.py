"""Errors that PyTorch's decompositions check apart: the operators with such a check raise them."""

from __future__ import annotations

from typing import Any

from torch import fx

from .registry import overload_name

_WITH_EFFECTS = "higher_order.with_effects"
_CHECK = "aten._linalg_check_errors.default"


def move_checks(graph: fx.Graph) -> None:
    """Set `check_errors` of the operators whose result `info` the graph checks.

    PyTorch decomposes ``linalg.inv`` to ``linalg_inv_ex``, which raises no errors, and a check of
    its last result. No result of the graph depends on that check.
    """
    for node in graph.nodes:
        if node.op != "call_function" or overload_name(node.target) != _WITH_EFFECTS:
            continue
        _, called, *operands = node.args
        if overload_name(called) == _CHECK and isinstance(operands[0], fx.Node):
            item: Any = operands[0]
            source = item.args[0]
            source.kwargs = {**source.kwargs, "check_errors": True}
