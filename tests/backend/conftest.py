"""Modules from text, and native functions from modules."""

import ctypes
from collections.abc import Callable

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.llvm import LLVM
from xdsl.parser import Parser

from xrelax.backend.jit import Library, compile_module
from xrelax.backend.llvm_text import emit_module
from xrelax.backend.target import Target
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
