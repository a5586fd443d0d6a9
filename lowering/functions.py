"""The functions of a module: names, privacy, the order of calls, and blame for diagnostics."""

from __future__ import annotations

from collections.abc import Container, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager

from xdsl.dialects.builtin import IndexType, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Operation
from xdsl.traits import SymbolOpInterface

from ..dialects import relax, rt, tir
from ..dialects.diagnostics import Diagnostic

PRIVATE = "private"
"""The attribute of a `tir.prim_func` that only its module calls, such as a legalized operator."""


OWN_MEMORY = "own_memory"
"""The attribute of a graph function whose memory is allocated for each call."""


def has_own_memory(func: Operation | None) -> bool:
    """Whether the memory of a graph function is allocated for each call."""
    attrs = func.attrs if isinstance(func, relax.FuncOp) else None
    return attrs is not None and OWN_MEMORY in attrs.data


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


def graph_function(module: ModuleOp, name: str) -> relax.FuncOp:
    """The graph function of a name; raises Diagnostic for an unknown one."""
    found = functions_by_name(module).get(name)
    if isinstance(found, relax.FuncOp):
        return found
    known = names_text(f.sym_name.data for f in graph_functions(module))
    raise Diagnostic(f"expected a graph function of the module ({known}), got '{name}'")


def unique_name(wanted: str, taken: Container[str], separator: str = "_", first: int = 1) -> str:
    """`wanted`, or the first of ``wanted_1``, ``wanted_2``, … that is not taken."""
    name, number = wanted, first
    while name in taken:
        name = f"{wanted}{separator}{number}"
        number += 1
    return name


def is_private(op: Operation) -> bool:
    """Whether only the module itself calls the function."""
    if isinstance(op, relax.FuncOp | rt.FuncOp):
        return op.private is not None
    return isinstance(op, tir.PrimFuncOp) and op.attr(PRIVATE) is not None


def private_calls(module: ModuleOp, func: relax.FuncOp) -> list[relax.CallOp] | None:
    """The calls of a private function; `None` if it is public or has other uses."""
    if not is_private(func):
        return None
    calls: list[relax.CallOp] = []
    for op in module.walk():
        if isinstance(op, relax.CallOp) and op.callee_name == func.sym_name.data:
            calls.append(op)
        elif op.properties.get("callee") == SymbolRefAttr(func.sym_name):
            return None
    return calls


def names_text(names: Iterable[str]) -> str:
    """Names for a message: ``a, b``, or ``none``."""
    return ", ".join(names) or "none"


def call_graph(functions: Mapping[str, Operation]) -> dict[str, list[str]]:
    """Which of these functions each of them calls, with repetitions."""
    return {name: list(_called_by(func, functions)) for name, func in functions.items()}


def _called_by(func: Operation, functions: Mapping[str, Operation]) -> Iterator[str]:
    if isinstance(func, tir.PrimFuncOp):
        calls = [op for op in func.walk() if isinstance(op, tir.CallOp)]
        yield from (op.callee_name for op in calls if op.callee_name in functions)
    if not isinstance(func, relax.FuncOp | rt.FuncOp):
        return
    for op in func.walk():
        match op.properties.get("callee"):
            case SymbolRefAttr(root_reference=StringAttr(data=name)) if name in functions:
                yield name
            case StringAttr(data=name) if isinstance(functions.get(name), tir.PrimFuncOp):
                yield name
            case _:  # no call, or one of a registered function
                pass


def callees_first(calls: Mapping[str, Iterable[str]]) -> list[str]:
    """The keys of `calls` with every function after those that it calls.

    Of functions in a cycle of calls, the one that is reached first comes last.
    """
    order: dict[str, None] = {}
    seen: set[str] = set()

    def visit(name: str) -> None:
        if name in seen:
            return
        seen.add(name)
        for callee in calls[name]:
            if callee in calls:
                visit(callee)
        order[name] = None

    for name in calls:
        visit(name)
    return list(order)


def recursive_functions(calls: Mapping[str, Iterable[str]]) -> set[str]:
    """The keys of `calls` that call themselves, directly or through others."""
    return {name for name in calls if name in reached_from(calls, name)}


def recursive_groups(calls: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """The functions that call themselves, together with those they do it through."""
    reached = {name: reached_from(calls, name) for name in calls}
    groups = [[n for n in reached[m] if m in reached.get(n, ())] for m in calls]
    return [list(group) for group in dict.fromkeys(tuple(sorted(g)) for g in groups if g)]


def verify_recursive(
    functions: Mapping[str, Operation], calls: Mapping[str, Iterable[str]]
) -> None:
    """Raise Diagnostic for a function on memory that calls itself and does not say so."""
    for name in sorted(recursive_functions(calls)):
        func = functions[name]
        if isinstance(func, rt.FuncOp) and func.recursive is None:
            raise Diagnostic(f"expected '{name}', which calls itself, to be 'recursive'", func)


def reached_from(calls: Mapping[str, Iterable[str]], start: str) -> set[str]:
    """The functions that a function calls, directly or through others."""
    found: set[str] = set()
    work = [start]
    while work:
        for callee in calls.get(work.pop(), ()):
            if callee not in found:
                found.add(callee)
                work.append(callee)
    return found


def count_text(number: int, noun: str) -> str:
    """A count for a message: ``1 input``, ``2 inputs``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


@contextmanager
def blame(op: Operation) -> Generator[None]:
    """Diagnostics of no operation that are raised inside name `op` and its place in the source."""
    try:
        yield
    except Diagnostic as error:
        if error.op_name is not None:
            raise
        raise Diagnostic(error.message, op) from None


def symbol_order(func: tir.PrimFuncOp) -> list[str]:
    """The kernel's symbols: `index` parameters in order, then those that buffers determine."""
    params = zip(func.names, func.params, strict=True)
    given = [name for name, param in params if isinstance(param.type, IndexType)]
    return list(dict.fromkeys([*given, *func.declared_symbols()]))
