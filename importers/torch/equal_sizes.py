"""Equalities that a model asserts of sizes which depend on data.

PyTorch adds two tensors that two masks select, and asserts that the masks select equally many.
"""

from __future__ import annotations

from typing import Any

import sympy  # pyright: ignore[reportMissingTypeStubs]
from torch import fx

from .registry import overload_name
from .shapes import depends_on_data

_ASSERT = "aten._assert_scalar.default"


def equal_sizes(graph: fx.Graph) -> dict[str, Any]:
    """What the newest symbol of each asserted equality equals, in terms of older symbols."""
    found: dict[str, Any] = {}
    for node in graph.nodes:
        if overload_name(node.target) == _ASSERT and isinstance(node.args[0], fx.Node):
            relation = getattr(getattr(node.args[0].meta.get("val"), "node", None), "expr", None)
            if isinstance(relation, sympy.Eq):
                found |= _solved(relation)
    return found


def _solved(relation: Any) -> dict[str, Any]:
    """The newest symbol that depends on data, and its value; nothing where no integer is sure."""
    difference: Any = (relation.lhs - relation.rhs).expand()
    symbols = [s for s in difference.free_symbols if depends_on_data(str(s))]
    if not symbols:
        return {}
    newest = max(symbols, key=lambda s: int(str(s)[1:]))
    factor = difference.coeff(newest)
    rest = (difference - factor * newest).expand()
    if factor not in (1, -1) or rest.has(newest):
        return {}
    return {str(newest): -rest * factor}
