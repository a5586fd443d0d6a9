"""Parameters of script functions, from Python's argument lists."""

from __future__ import annotations

import ast

from ..errors import Source


def parameters_of(source: Source, node: ast.FunctionDef) -> list[tuple[ast.arg, ast.expr]]:
    """The parameters with their annotations; strings are read as annotations.

    Raises ScriptError for parameters without annotation, with defaults, or of another kind.
    """
    args = node.args
    others = [*args.posonlyargs, *args.kwonlyargs, args.vararg, args.kwarg]
    unusual = [a for a in others if a is not None] + [*args.defaults]
    if unusual:
        raise source.error(
            unusual[0], "expected parameters 'name: annotation', without default or '*'"
        )
    for position, arg in enumerate(args.args):
        if any(arg.arg == other.arg for other in args.args[:position]):
            raise source.error(arg, f"expected distinct parameter names, got '{arg.arg}' twice")
    return [(arg, _annotation(source, arg)) for arg in args.args]


def _annotation(source: Source, parameter: ast.arg) -> ast.expr:
    annotation = parameter.annotation
    if annotation is None:
        raise source.error(
            parameter,
            f"expected an annotation for parameter '{parameter.arg}', such as T.handle or R.Tensor",
        )
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return source.expression(annotation, annotation.value)
    return annotation
