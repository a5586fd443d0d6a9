"""The only import of llvmlite: lazy, initialized once, with one lock."""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

LLVM_LOCK = threading.RLock()
"""Held around every use of LLVM, which is not thread-safe."""


@cache
def binding() -> ModuleType:
    """`llvmlite.binding` with the native code generator; the first call takes 40 ms."""
    with LLVM_LOCK:
        llvm = import_module("llvmlite.binding")
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        return llvm


@contextmanager
def llvm_module(parse: Callable[..., Any], source: str | bytes) -> Generator[Any]:
    """A module in its own context, both freed at the end; the caller holds `LLVM_LOCK`.

    `parse` is `parse_assembly` or `parse_bitcode` of the binding. The module must be closed first:
    the garbage collector may free a context that is part of a cycle before its module, and crash.
    """
    context = binding().create_context()
    try:
        module = parse(source, context)
        try:
            yield module
        finally:
            module.close()
    finally:
        context.close()


@cache
def initialize_all_targets() -> None:
    """Make the code generators of other architectures available."""
    with LLVM_LOCK:
        llvm = binding()
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
