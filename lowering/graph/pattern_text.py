"""Patterns as text, for options of passes: ``relax.add(relax.matmul(_, _), const)``.

``_`` is any value, ``const`` a constant, ``param`` a parameter; ``p | q`` is one of two.
"""

from __future__ import annotations

import ast

from ...dialects import relax
from .dataflow_pattern import (
    Applied,
    Constant,
    Either,
    Parameter,
    Pattern,
    Wildcard,
    operator_named,
)

_LEAVES: dict[str, type[Pattern]] = {"_": Wildcard, "const": Constant, "param": Parameter}


def parse_pattern(text: str) -> Pattern:
    """The pattern of a text; raises ValueError with one line for anything else."""
    try:
        return _pattern(ast.parse(text.strip(), mode="eval").body)
    except SyntaxError:
        raise ValueError(f"expected a pattern such as relax.add(_, const), got '{text}'") from None


def _pattern(node: ast.expr) -> Pattern:
    match node:
        case ast.Name(id=name) if name in _LEAVES:
            return _LEAVES[name]()
        case ast.Call(func=func, args=args, keywords=[]):
            name = ast.unparse(func)
            if name not in relax.OPERATORS:
                raise ValueError(f"expected an operator of the graph, got '{name}'")
            return Applied(operator_named(name), [_pattern(a) for a in args])
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return Either(_pattern(left), _pattern(right))
        case _:
            shown = ast.unparse(node)
            raise ValueError(f"expected a pattern such as relax.add(_, const), got '{shown}'")
