"""The functions of a module: by name, unused names, privacy, and the order of their calls."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation
from xdsl.traits import SymbolOpInterface

from ..dialects import relax, rt, tir
from ..dialects.diagnostics import Diagnostic

PRIVATE = "private"
"""The attribute of a `tir.prim_func` that only its module calls, such as a legalized operator."""


def functions_by_name(module: ModuleOp) -> dict[str, Operation]:
    """Every function of the module, in order; symbol lookup by xDSL's traits is a linear scan."""
    found: dict[str, Operation] = {}
    for op in module.body.block.ops:
        if (trait := op.get_trait(SymbolOpInterface)) is not None:
            name = trait.get_sym_attr_name(op)
            if isinstance(name, StringAttr):
                found[name.data] = op
    return found


def graph_functions(module: ModuleOp) -> list[relax.FuncOp]:
    """The module's `relax.func`s."""
    return [op for op in module.body.block.ops if isinstance(op, relax.FuncOp)]


def unique_name(wanted: str, taken: Container[str]) -> str:
    """`wanted`, or the first of ``wanted_1``, ``wanted_2``, … that is not taken."""
    name, number = wanted, 0
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    return name


def is_private(op: Operation) -> bool:
    """Whether only the module itself calls the function."""
    if isinstance(op, relax.FuncOp | rt.FuncOp):
        return op.private is not None
    return isinstance(op, tir.PrimFuncOp) and op.attr(PRIVATE) is not None


def names_text(names: Iterable[str]) -> str:
    """Names for a message: ``a, b``, or ``none``."""
    return ", ".join(names) or "none"


def callees_first(calls: Mapping[str, Iterable[str]]) -> list[str]:
    """The keys of `calls` with every function after those that it calls.

    Raises Diagnostic where functions call each other in a circle.
    """
    order: dict[str, None] = {}
    open_: dict[str, None] = {}

    def visit(name: str) -> None:
        if name in order:
            return
        if name in open_:
            circle = [*list(open_)[list(open_).index(name) :], name]
            text = " calling ".join(f"'{n}'" for n in circle)
            raise Diagnostic(f"expected functions without recursion, got {text}")
        open_[name] = None
        for callee in calls[name]:
            if callee in calls:
                visit(callee)
        del open_[name]
        order[name] = None

    for name in calls:
        visit(name)
    return list(order)


def count_text(number: int, noun: str) -> str:
    """A count for a message: ``1 input``, ``2 inputs``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
