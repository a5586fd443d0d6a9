"""Code where it is read: highlighted in a notebook and in a terminal, plain text elsewhere."""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib import import_module
from typing import Any

from .elements import code, document
from .highlight import KINDS, TOKENS, lexer_of, token_type
from .rich import is_notebook

THEMES = ("light", "dark")
ANSI = "ansi"
_ANSI = {
    "keyword": "ansimagenta",
    "string": "ansigreen",
    "comment": "ansibrightblack",
    "number": "ansicyan",
    "name": "ansiyellow",
    "function": "ansiblue",
    "type": "ansicyan",
}
"""The colours of a terminal for kinds of tokens."""


def show_code(
    text: str, style: Any = None, black_format: bool | None = None, language: str = "python"
) -> None:
    """Show code in a notebook's output, in colours in a terminal, or print it.

    `style` is "light", "dark", "ansi" for the 16 colours of a terminal, or a style of Pygments, by
    name or as a class. By default a notebook's theme decides, and terminals get "ansi". Where
    output is not a terminal, and where `NO_COLOR` is set, text is printed plainly. With
    `black_format` black formats Python. Raises ValueError for an unknown style, and ImportError
    where black, or Pygments for its style, is not installed.
    """
    if black_format and language == "python":
        text = _formatted(text)
    chosen = style if style in (None, ANSI, *THEMES) else _pygments_style(style)
    if is_notebook() and style != ANSI:
        bundle = {"text/plain": text, "text/html": _html(text, language, chosen)}
        import_module("IPython.display").display(bundle, raw=True)
    elif is_notebook() or (sys.stdout.isatty() and "NO_COLOR" not in os.environ):
        print(_coloured(text, language, chosen or ANSI))
    else:
        print(text)


def _formatted(text: str) -> str:
    try:
        black = import_module("black")
    except ImportError:
        raise ImportError(
            "expected black to be installed for black_format=True, got none: pip install black"
        ) from None
    return black.format_str(text, mode=black.Mode()).rstrip("\n")


def _html(text: str, language: str, style: Any) -> str:
    if style is None or style in THEMES:
        return document("", "", code(text, language), theme=style or "")
    formatters = import_module("pygments.formatters.html")
    formatter = formatters.HtmlFormatter(style=style, noclasses=True)
    return _formatted_by(formatter, text, language)


def _coloured(text: str, language: str, style: Any) -> str:
    """Text with the escape sequences of a terminal; unchanged without Pygments."""
    if lexer_of(language) is None:
        return text
    formatters = import_module("pygments.formatters.terminal256")
    if style == ANSI:
        formatter = formatters.Terminal256Formatter(style=_theme(style))
    else:
        resolved = _theme(style) if isinstance(style, str) else style
        formatter = formatters.TerminalTrueColorFormatter(style=resolved)
    return _formatted_by(formatter, text, language)


def _formatted_by(formatter: Any, text: str, language: str) -> str:
    lexer = lexer_of(language) or import_module("pygments.lexers.special").TextLexer()
    return import_module("pygments").highlight(text, lexer, formatter).rstrip("\n")


@cache
def _theme(name: str) -> Any:
    """Our colours as a style of Pygments."""
    colours = {k: _ANSI[k] if name == ANSI else KINDS[k][THEMES.index(name)] for k in KINDS}
    # A later entry decides: the first kind that fits a token is its kind.
    kinds = reversed([*TOKENS.items()])
    styles = {token_type(t): colours[kind] for kind, tokens in kinds for t in tokens}
    return type(name, (import_module("pygments.style").Style,), {"styles": styles})


def _pygments_style(style: Any) -> Any:
    try:
        styles = import_module("pygments.styles")
    except ImportError:
        raise ImportError(
            f"expected Pygments to be installed for style {style!r}, got none: pip install pygments"
        ) from None
    if not isinstance(style, str):
        if isinstance(style, type) and issubclass(style, import_module("pygments.style").Style):
            return style
        raise TypeError(f"expected a style by name or as a class of Pygments, got {style!r}")
    names = [*THEMES, ANSI, *sorted(styles.get_all_styles())]
    if style not in names:
        raise ValueError(f"expected a style ({', '.join(names)}), got '{style}'")
    return styles.get_style_by_name(style)
