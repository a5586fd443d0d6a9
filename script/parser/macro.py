"""Macros: functions of statements that a kernel's parser puts in the place of their calls."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from typing import Any


class Macro:
    """A function whose statements replace its calls in kernels; TVM's ``T.inline``.

    `python` are the names around its definition, which its own names mean if it is `hygienic`;
    otherwise they mean what they mean where it is called.
    """

    def __init__(
        self,
        signature: inspect.Signature,
        body: list[ast.stmt],
        python: Mapping[str, Any],
        hygienic: bool = True,
        given: tuple[Any, ...] = (),
    ):
        self.signature = signature
        self.body = body
        self.python = python
        self.hygienic = hygienic
        self.given = given
        """The first arguments, such as the object of a method."""

    def __get__(self, instance: Any, owner: type | None = None) -> Macro:
        if instance is None:
            return self
        return Macro(self.signature, self.body, self.python, self.hygienic, (instance,))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("expected the call of a macro inside of a script function")

    def arguments(self, args: list[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The arguments by parameter; raises TypeError where they do not fit."""
        bound = self.signature.bind(*self.given, *args, **kwargs)
        bound.apply_defaults()
        return bound.arguments


def signature_of(node: ast.FunctionDef) -> inspect.Signature:
    """The signature of a function that a script defines, whose defaults are literals."""
    names, kinds = node.args, inspect.Parameter
    positional = [*names.posonlyargs, *names.args]
    defaults = [inspect.Parameter.empty] * (len(positional) - len(names.defaults))
    defaults += [ast.literal_eval(d) for d in names.defaults]
    found = [
        kinds(a.arg, kinds.POSITIONAL_OR_KEYWORD, default=d)
        for a, d in zip(positional, defaults, strict=True)
    ]
    found += [kinds(a.arg, kinds.VAR_POSITIONAL) for a in [names.vararg] if a is not None]
    found += [kinds(a.arg, kinds.KEYWORD_ONLY) for a in names.kwonlyargs]
    found += [kinds(a.arg, kinds.VAR_KEYWORD) for a in [names.kwarg] if a is not None]
    return inspect.Signature(found)
