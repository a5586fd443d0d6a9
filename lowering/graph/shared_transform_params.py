"""`lift-transform-params` with one function for what several functions compute of parameters.

::

    relax.func @embed(%x, %w) attributes {num_input = 1 : i64}      %w_t = permute_dims %w, …
    relax.func @decode(%x, %w) attributes {num_input = 1 : i64}     %w_t = permute_dims %w, …

⇒

    relax.func @transform_params(%params: tuple<…>) -> tuple<…> attributes {num_input = 0 : i64}
    relax.func @embed(%x, %w_t) attributes {num_input = 1 : i64}
    relax.func @decode(%x, %w_t) attributes {num_input = 1 : i64}

It computes what all of them compute, in the order of the function whose name is first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, Operation, SSAValue

from ...dialects import relax
from ...dialects.diagnostics import Diagnostic
from ..functions import functions_by_name, graph_functions, names_text
from .compile_time import CompileTime, num_input
from .lifted_params import (
    missing_symbols,
    needed_values,
    read_lifted,
    transform_function,
)
from .values import canonical

SHARED = "transform_params"
"""The function that functions of the same parameters share."""


def share_transform_params(module: ModuleOp, names: Sequence[str] | None = None) -> None:
    """Lift what functions compute of the same parameters to one function, in place.

    The functions are those of `names`, or all public ones with inputs. Raises Diagnostic with one
    line for another function, for parameters that differ, and for @transform_params in the module.
    """
    functions = functions_by_name(module)
    found = {f.sym_name.data: num_input(f) or 0 for f in graph_functions(module) if not f.private}
    chosen = sorted(name for name, count in found.items() if count) if names is None else names
    for name in chosen:
        if not found.get(name):
            known = names_text(n for n, count in found.items() if count)
            raise Diagnostic(f"expected a function with inputs ({known}), got '{name}'")
    funcs = [func for n in chosen if isinstance(func := functions[n], relax.FuncOp)]
    if not funcs:
        return
    for func in funcs[1:]:
        _verify_same_parameters(funcs[0], func)
    table: dict[object, int] = {}
    lifted = [_Lifted.of(func, table) for func in funcs]
    if SHARED not in functions:
        _share(module, lifted)
    elif any(f.computes_something() for f in lifted):
        raise Diagnostic(f"expected no function '{SHARED}' yet, got one")


def _verify_same_parameters(first: relax.FuncOp, other: relax.FuncOp) -> None:
    types = [[p.type for p in f.params[num_input(f) or 0 :]] for f in (first, other)]
    if types[0] != types[1]:
        shown = [", ".join(map(str, t)) for t in types]
        raise Diagnostic(
            f"expected '{other.sym_name.data}' to have the parameters of "
            f"'{first.sym_name.data}' ({shown[0]}), got {shown[1]}",
            other,
        )


@dataclass
class _Lifted:
    """A function with inputs, and what it computes of parameters."""

    func: relax.FuncOp
    count: int
    known: CompileTime
    keys: dict[SSAValue, int]
    """The number of what a value is computed from, which is the same in all functions."""

    by_key: dict[int, SSAValue]
    """The first value of each number."""

    @staticmethod
    def of(func: relax.FuncOp, table: dict[object, int]) -> _Lifted:
        """The values of a function, numbered in the table of all functions."""
        known, count = CompileTime.of(func), num_input(func) or 0
        keys: dict[SSAValue, int] = {}
        by_key: dict[int, SSAValue] = {}
        for value in known.values:
            if isinstance(value, BlockArgument):
                made: object = value.index - count
            else:
                op = value.owner
                assert isinstance(op, Operation)
                operands = tuple(keys[canonical(o)] for o in op.operands)
                properties = tuple(sorted(op.properties.items()))
                made = (op.name, value.type, properties, operands)
            keys[value] = table.setdefault(made, len(table))
            by_key.setdefault(keys[value], value)
        return _Lifted(func, count, known, keys, by_key)

    def computes_something(self) -> bool:
        """Whether a value that is no parameter depends on parameters."""
        values = self.known.values.items()
        return any(depends and not isinstance(v, BlockArgument) for v, depends in values)


def _share(module: ModuleOp, functions: list[_Lifted]) -> None:
    shared = set(functions[0].by_key).intersection(*(f.by_key for f in functions))
    for lifted in functions:
        known = lifted.known
        known.values = {
            value: depends
            for value, depends in known.values.items()
            if lifted.keys[value] in shared
        }
    first = functions[0]
    needed = {f.keys[v] for f in functions for v in needed_values(f.func, f.known, f.count)}
    values = [v for v in first.known.values if first.keys[v] in needed]
    keys = [first.keys[v] for v in sorted(values, key=lambda v: not isinstance(v, BlockArgument))]
    outputs = [first.by_key[key] for key in keys]
    params = first.func.params[first.count :]
    transform = transform_function(SHARED, params, outputs, first.known)
    for lifted in functions:
        read_lifted(lifted.func, lifted.count, [lifted.by_key[key] for key in keys])
        if missing := missing_symbols(lifted.func):
            raise Diagnostic(
                f"expected inputs to determine the symbols of '{lifted.func.sym_name.data}', "
                f"got {names_text(missing)} of lifted parameters",
                lifted.func,
            )
    module.body.block.insert_op_before(transform, first.func)
