"""Modules from text, native functions from modules, and a cache of their own for builds."""

import ctypes
from collections.abc import Callable
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.llvm import LLVM
from xdsl.parser import Parser

from xrelax.backend import build_key
from xrelax.backend.jit import Library, compile_module
from xrelax.backend.llvm_module import emit_module
from xrelax.backend.target import Target
from xrelax.compilation import Compilation
from xrelax.dialects.llvm_ext import LLVMExt


@pytest.fixture(scope="session")
def parse() -> Callable[[str], ModuleOp]:
    """A verified module from text in the `llvm` and `llvm_ext` dialects."""

    def parse(text: str) -> ModuleOp:
        context = Context()
        for dialect in (Builtin, LLVM, LLVMExt):
            context.load_dialect(dialect)
        module = Parser(context, text).parse_module()
        module.verify()
        return module

    return parse


@pytest.fixture(scope="session")
def emit(parse: Callable[[str], ModuleOp]) -> Callable[[str], str]:
    """LLVM IR of a module's text, checked by LLVM's own parser and verifier."""

    def emit(text: str) -> str:
        ir = emit_module(parse(text))
        compile_module(ir, Target("llvm"), opt_level=0)
        return ir

    return emit


@pytest.fixture(scope="session")
def build(parse: Callable[[str], ModuleOp]) -> Callable[..., Library]:
    """Compiled code of a module's text."""

    def build(text: str, target: Target | None = None, opt_level: int = 3) -> Library:
        target = target or Target("llvm")
        return compile_module(emit_module(parse(text), target), target, opt_level)

    return build


@pytest.fixture(scope="session")
def function() -> Callable[..., Callable[..., object]]:
    """A function of a library as a Python callable; keeps the library alive."""

    def function(library: Library, name: str, result: type, *args: type):
        native = ctypes.CFUNCTYPE(result, *args)(library.address(name))
        native.library = library  # type: ignore[attr-defined]
        return native

    return function


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own, for a compiler whose source nobody edits meanwhile."""
    monkeypatch.setenv("XRELAX_CACHE", "1")
    monkeypatch.setenv("XRELAX_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(build_key, "sources_are_loaded", lambda: True)
    return tmp_path / "cache"


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The modules that were compiled and not found."""
    return recorded(monkeypatch, "compile")


@pytest.fixture
def kernels(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The kernels that were compiled and not found."""
    return recorded(monkeypatch, "_compile_kernel")


def recorded(monkeypatch: pytest.MonkeyPatch, method: str) -> list[object]:
    seen: list[object] = []
    original = getattr(Compilation, method)

    def record(self, subject, *rest):
        seen.append(subject)
        return original(self, subject, *rest)

    monkeypatch.setattr(Compilation, method, record)
    return seen
