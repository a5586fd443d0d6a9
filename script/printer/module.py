"""Whole modules and single functions as self-contained Python text."""

from __future__ import annotations

from collections.abc import Sequence
from keyword import iskeyword

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ...dialects.relax import FuncOp
from ...dialects.tir import PrimFuncOp
from .literals import dictionary_text
from .metadata import OMITTED, Metadata
from .relax import FunctionPrinter
from .tir import write_prim_func
from .writer import Writer

IMPORTS = {
    "I": "# from xrelax.script import ir as I",
    "T": "# from xrelax.script import tir as T",
    "R": "# from xrelax.script import relax as R",
}


def print_module(module: ModuleOp, *, show_meta: bool = False, name: str = "Module") -> str:
    """The module as a class `name` of TVMScript; with `show_meta` its constants' data as well.

    Raises ValueError where the module holds something that TVMScript cannot express, or where the
    data of a constant is asked for and was not given.
    """
    functions = sorted((_function(op) for op in module.ops), key=_order)
    body, metadata, uses = Writer(), Metadata(), {"I"}
    body.line("@I.ir_module")
    with body.indented(f"class {name}:"):
        if module.attributes:
            body.line(f"I.module_attrs({dictionary_text(module.attributes)})")
        for position, function in enumerate(functions):
            if position or module.attributes:
                body.line()
            uses |= _write_function(body, function, metadata, name)
        if not functions and not module.attributes:
            body.line("pass")
    return _assemble(body, metadata, uses, show_meta)


def print_function(op: PrimFuncOp | FuncOp, *, show_meta: bool = False) -> str:
    """One function as TVMScript; functions of its module are called by their bare names.

    Raises ValueError as `print_module` does.
    """
    body, metadata = Writer(), Metadata()
    uses = _write_function(body, _function(op), metadata, None)
    return _assemble(body, metadata, uses, show_meta)


def _function(op: Operation) -> PrimFuncOp | FuncOp:
    if not isinstance(op, PrimFuncOp | FuncOp):
        raise ValueError(f"expected functions of tir and relax to print, got '{op.name}'")
    if not op.sym_name.data.isidentifier() or iskeyword(op.sym_name.data):
        raise ValueError(f"expected a function name that Python accepts, got '{op.sym_name.data}'")
    return op


def _order(op: PrimFuncOp | FuncOp) -> tuple[bool, str]:
    return (isinstance(op, FuncOp), op.sym_name.data)


def _write_function(
    writer: Writer, op: PrimFuncOp | FuncOp, metadata: Metadata, module_name: str | None
) -> set[str]:
    """Write a function; returns the script modules that it mentions."""
    if isinstance(op, PrimFuncOp):
        write_prim_func(writer, op)
        return {"T"}
    printer = FunctionPrinter(writer, op, metadata, module_name)
    printer.write()
    return {"R", "T"} if printer.symbols else {"R"}


def _assemble(body: Writer, metadata: Metadata, uses: set[str], show_meta: bool) -> str:
    writer = Writer()
    for module, line in IMPORTS.items():
        if module in uses:
            writer.line(line)
    writer.line()
    if show_meta and not metadata.is_empty:
        metadata.write(writer)
        writer.line()
    trailer: Sequence[str] = () if show_meta or metadata.is_empty else ("", OMITTED)
    writer.lines += [*body.lines, *trailer]
    return writer.text()
