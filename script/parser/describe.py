"""What stands in a script, in words for messages."""

from __future__ import annotations

import ast
from typing import Any

from ...te.expr import Index, PrimExpr, Value, Var
from ..namespace import ScriptName
from .buffers import Buffer, BufferSlice

_SYNTAX = {"Lambda": "a lambda", "Starred": "'*'", "NamedExpr": "':='", "Await": "await"}


def describe_syntax(node: ast.AST) -> str:
    """A syntax that scripts do not have."""
    name = type(node).__name__
    if name.endswith("Comp") or name == "GeneratorExp":
        return "a comprehension"
    return _SYNTAX.get(name, f"'{name.lower()}' syntax")


def describe_statement(node: ast.stmt) -> str:
    """A statement by its keyword: ``'import'``."""
    return f"'{ast.unparse(node).split()[0].rstrip(':')}'"


def describe_value(value: Any) -> str:
    """What a script expression evaluated to."""
    match value:
        case ScriptName():
            return f"'{value.path}'"
        case Buffer():
            return f"buffer '{value.name}'"
        case BufferSlice():
            return f"a region of buffer '{value.buffer.name}'"
        case Index() | Var() | Value():
            return "an integer expression"
        case PrimExpr():
            return "an expression"
        case str():
            return f"the string '{value}'"
        case None:
            return "None"
        case type():
            return f"the class '{value.__name__}'"
        case _:
            return f"a value of type {type(value).__name__}"
