"""What notebooks show of objects: HTML beside the text, made by a function that the class names."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

ClassT = TypeVar("ClassT")

_LINES = 40
"""How much of the text is shown where the HTML fails."""


def displayed(renderer: str) -> Callable[[ClassT], ClassT]:
    """Give a class the HTML of a function of this folder, such as "programs:module_html".

    The function is imported at the first use. It must not compile what is not compiled yet. Where
    it fails, the text is shown with the error.
    """

    def html(self: Any) -> str:
        module, _, name = renderer.partition(":")
        try:
            return getattr(import_module(f".{module}", __package__), name)(self)
        except Exception as error:
            from .elements import document, paragraph, short_code

            why = paragraph(f"cannot be shown as HTML: {type(error).__name__}: {error}")
            text = short_code(repr(self), "text", _LINES, "print() has them")
            return document(type(self).__name__, "", why, text)

    def bundle(self: Any, include: object = None, exclude: object = None) -> dict[str, str]:
        plain = {"text/plain": repr(self)}
        return plain if is_ipython_terminal() else plain | {"text/html": html(self)}

    def decorate(cls: Any) -> Any:
        cls._repr_html_ = html
        cls._repr_mimebundle_ = bundle
        return cls

    return decorate


def shell() -> Any:
    """IPython's shell, `None` outside of IPython, which is not imported for this."""
    ipython = sys.modules.get("IPython")
    return None if ipython is None else ipython.get_ipython()


def is_notebook() -> bool:
    """Whether a notebook, or another front end of a Jupyter kernel, shows what is displayed."""
    return getattr(shell(), "kernel", None) is not None


def is_ipython_terminal() -> bool:
    """Whether IPython runs in a terminal, which shows text alone."""
    return shell() is not None and not is_notebook()
