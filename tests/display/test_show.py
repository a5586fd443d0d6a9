"""`show`: in a notebook HTML, in a terminal colours, elsewhere the text that it always was."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar

import pytest
from html_check import text_of
from pygments.style import Style
from pygments.token import Keyword

from xrelax.display.show import show_code
from xrelax.ir.module import IRModule
from xrelax.script import from_source
from xrelax.tir import Schedule

KERNEL = """
@T.prim_func
def double(X: T.Buffer((4,), "float32"), Y: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("Y"):
            vi = T.axis.spatial(4, i)
            Y[vi] = X[vi] + X[vi]
"""


class Red(Style):
    styles: ClassVar = {Keyword: "#ff0000"}


@pytest.fixture(scope="module")
def module() -> IRModule:
    return IRModule.from_expr(from_source(KERNEL))


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def in_terminal(module: IRModule, *args: Any, **options: Any) -> str:
    """What `show` writes to a terminal."""
    with redirect_stdout(Terminal()) as terminal:
        module.show(*args, **options)
    return terminal.getvalue()


@pytest.fixture
def displayed(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    """What is displayed in a notebook, of which nothing is there but its interface."""
    found: list[dict[str, str]] = []
    ipython, display = ModuleType("IPython"), ModuleType("IPython.display")
    vars(ipython).update(get_ipython=lambda: SimpleNamespace(kernel=object()))

    def add(bundle: dict[str, str], raw: bool) -> None:
        assert raw
        found.append(bundle)

    vars(display).update(display=add)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return found


def without_codes(text: str) -> str:
    return re.sub(r"\x1b\[[\d;]*m", "", text)


@pytest.mark.parametrize("style", [None, "light", "dark", "ansi", "monokai", Red])
def test_without_a_terminal_text_is_plain(module: IRModule, style: Any, capsys: Any):
    module.show(style)
    assert capsys.readouterr().out == module.script() + "\n"


@pytest.mark.parametrize(
    ("style", "keyword"),
    [
        (None, "\x1b[35mfor"),
        ("ansi", "\x1b[35mfor"),
        ("light", "\x1b[38;2;138;45;165mfor"),
        ("dark", "\x1b[38;2;210;168;255mfor"),
        ("monokai", "\x1b[38;2;102;217;239mfor"),
        (Red, "\x1b[38;2;255;0;0mfor"),
    ],
)
def test_colours_of_a_terminal(
    module: IRModule, style: Any, keyword: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("NO_COLOR", raising=False)
    shown = in_terminal(module, style)
    assert keyword in shown
    assert without_codes(shown) == module.script() + "\n"
    monkeypatch.setenv("NO_COLOR", "1")
    assert in_terminal(module, style) == module.script() + "\n"


@pytest.mark.parametrize("stage", ["loops", "schedule", "asm", "llvm-opt"])
def test_stages_have_colours(module: IRModule, stage: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[3" in in_terminal(module, stage=stage)


SHOWS: dict[str, Callable[[IRModule], None]] = {
    "module": lambda m: m.show(),
    "function": lambda m: m["double"].show(),
    "schedule": lambda m: Schedule(m).show(),
    "trace": lambda m: Schedule(m).trace.show(),
    "stage": lambda m: m.show(stage="tir"),
}


@pytest.mark.parametrize("what", SHOWS)
def test_a_notebook(module: IRModule, what: str, displayed: list[dict[str, str]], capsys: Any):
    SHOWS[what](module)
    assert capsys.readouterr().out == ""
    assert len(displayed) == (2 if what == "schedule" else 1)
    for bundle in displayed:
        assert text_of(bundle["text/html"]) == bundle["text/plain"]
        assert '<span class="x-' in bundle["text/html"]


def test_styles_in_a_notebook(module: IRModule, displayed: list[dict[str, str]], capsys: Any):
    for style in (None, "light", "dark", "monokai", Red):
        module.show(style)
    adaptive, light, dark, monokai, red = (bundle["text/html"] for bundle in displayed)
    assert '<div class="xrelax">' in adaptive
    assert '<div class="xrelax light">' in light and '<div class="xrelax dark">' in dark
    assert "#66D9EF" in monokai and "#F00" in red.upper()
    assert text_of(monokai).strip() == module.script()
    module.show("ansi")
    assert "\x1b[35mfor" in capsys.readouterr().out and len(displayed) == 5


def test_black(module: IRModule, capsys: Any):
    module.show(black_format=True)
    assert '@T.prim_func\n    def double(X: T.Buffer((4,), "float32"), Y: T' in (
        capsys.readouterr().out
    )
    show_code("x = {  'a':1 }", black_format=True)
    show_code("x = {  'a':1 }", black_format=False)
    show_code("x = {  'a':1 }", black_format=True, language="mlir")
    assert capsys.readouterr().out == 'x = {"a": 1}\n' + "x = {  'a':1 }\n" * 2


@pytest.mark.parametrize(
    ("package", "arguments"),
    [("black", {"black_format": True}), ("pygments", {"style": "monokai"})],
)
def test_missing_packages(
    module: IRModule,
    package: str,
    arguments: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setitem(sys.modules, f"{package}.styles", None)
    with pytest.raises(ImportError, match=rf"^expected \w+ .*: pip install {package}$"):
        module.show(**arguments)


def test_wrong_styles(module: IRModule):
    with pytest.raises(ValueError, match=r"^expected a style \(light, dark, ansi, .*got 'lihgt'$"):
        module.show("lihgt")
    with pytest.raises(TypeError, match=r"^expected a style by name or as a class of Pygments"):
        module.show(3)  # pyright: ignore[reportArgumentType]
