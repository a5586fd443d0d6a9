"""Replace parameters of a graph function by constants, and symbols by the numbers they determine.

::

    relax.func @main(%x: !relax.tensor<[1, m], f32>, %w0: !relax.tensor<[n, m], f32>) -> … {
      %0 = relax.call_dps_packed "env.dense"(%x, %w0) : … -> !relax.tensor<[1, n], f32>

⇒ with ``w0`` of shape (128, 784)

::

    relax.func @main(%x: !relax.tensor<[1, 784], f32>) -> … {
      %w0 = relax.constant <float32, [128, 784], "w0", "9f…"> : !relax.tensor<[128, 784], f32>
      %0 = relax.call_dps_packed "env.dense"(%x, %w0) : … -> !relax.tensor<[1, 128], f32>

TVM's ``BindParams`` and ``BindSymbolicVars``. PrimFuncs remain symbolic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation

from ...dialects import relax
from ...dialects.diagnostics import Diagnostic, verify
from ...dialects.int_expr import Atom, IntExpr, IntLike, Sym
from ...dialects.relax.prim_values import is_open, prim_of
from ..call_signature import Formal, Unification, unify, unify_types
from ..equations import Equation, always_differ, solve
from ..functions import call_graph, functions_by_name, graph_function, graph_functions, names_text
from ..substitute import substitute_symbols
from .refresh_types import refresh_types

BoundValue: TypeAlias = "relax.TensorData | relax.ShapeType | relax.PrimType"
"""The data of a tensor, or the type of a shape or number, which has its value."""


def bind_params(module: ModuleOp, function: str, values: Mapping[Any, BoundValue]) -> None:
    """Make parameters of a graph function constants; `values` is keyed by their names or positions.

    The module is changed in place. Symbols that the values determine become numbers throughout the
    function. Raises Diagnostic with one line for an unknown function or parameter, a value
    of another dtype, rank or shape than its parameter, and for values that contradict each other.
    """
    func = graph_function(module, function)
    _verify_not_called(module, function)
    bound = _bound_params(func, values)
    numbers = _symbol_values(func, bound)
    _replace_params(func, bound)
    substitute_symbols(func, numbers)
    refresh_types(func)


def bind_symbolic_vars(module: ModuleOp, function: str, values: Mapping[str, IntLike]) -> None:
    """Make symbols of a graph function numbers, or expressions of other symbols, in place.

    Raises Diagnostic with one line for an unknown function or symbol, for a negative number, and
    for new symbols that no parameter determines.
    """
    func = graph_function(module, function)
    symbols = func.declared_symbols()
    for name, value in values.items():
        if name not in symbols:
            raise Diagnostic(
                f"expected a symbol of '{function}' ({names_text(symbols)}), got '{name}'"
            )
        if (IntExpr.of(value).constant or 0) < 0:
            raise Diagnostic(f"expected symbol '{name}' to be at least 0, got {value}")
    substitute_symbols(func, values)
    refresh_types(func)
    verify(func)


def bind_everywhere(module: ModuleOp, values: Mapping[str, IntLike]) -> None:
    """Bind symbols in every graph function that has them, in place.

    Raises Diagnostic with one line for a symbol that no function has, and as `bind_symbolic_vars`.
    """
    functions = {f.sym_name.data: f.declared_symbols() for f in graph_functions(module)}
    known = list(dict.fromkeys(s for symbols in functions.values() for s in symbols))
    for name in values:
        if name not in known:
            raise Diagnostic(f"expected a symbol of the module ({names_text(known)}), got '{name}'")
    for function, symbols in functions.items():
        if own := {name: value for name, value in values.items() if name in symbols}:
            bind_symbolic_vars(module, function, own)


def _verify_not_called(module: ModuleOp, name: str) -> None:
    for caller, callees in call_graph(functions_by_name(module)).items():
        if name in callees:
            raise Diagnostic(
                f"expected a function that the module does not call, "
                f"got '{name}', which '{caller}' calls"
            )


def _bound_params(func: relax.FuncOp, values: Mapping[Any, BoundValue]) -> dict[int, BoundValue]:
    """The values by position, in order of the parameters."""
    function, names = func.sym_name.data, func.names
    found: dict[int, BoundValue] = {}
    for key, data in values.items():
        if isinstance(key, str):
            if key not in names:
                raise Diagnostic(
                    f"expected a parameter of '{function}' ({names_text(names)}), got '{key}'"
                )
            index = names.index(key)
        else:
            index = key
            if not 0 <= index < len(names):
                raise Diagnostic(
                    f"expected a parameter number of '{function}' below {len(names)} "
                    f"({names_text(names)}), got {index}"
                )
        if index in found:
            raise Diagnostic(
                f"expected one value for parameter '{names[index]}' of '{function}', got two"
            )
        found[index] = data
    return dict(sorted(found.items()))


def _symbol_values(func: relax.FuncOp, bound: Mapping[int, BoundValue]) -> dict[str, IntExpr]:
    """The numbers that the values, or their shapes, give to the function's symbols."""
    where = f"parameters of '{func.sym_name.data}'"
    formals: list[Formal] = []
    data: list[relax.TensorData] = []
    subjects, expected, got = list[str](), list[Attribute](), list[Attribute]()
    for index, value in bound.items():
        type_, subject = func.params[index].type, f"argument '{func.names[index]}'"
        if isinstance(value, relax.TensorData) and is_open(type_) and not value.shape:
            value = prim_of(value.tensor_type())
        if not isinstance(value, relax.TensorData):
            subjects.append(subject)
            expected.append(type_)
            got.append(value)
            continue
        if not isinstance(type_, relax.TensorType):
            given = value.tensor_type()
            raise Diagnostic(f"{where}: expected {subject} to have type {type_}, got {given}")
        formals.append(Formal(subject, type_))
        data.append(value)
    unified = unify(where, formals, [d.tensor_type() for d in data])
    symbols = unify_types(where, subjects, expected, got).symbols
    found = _solve_composed(where, unified, formals, data)
    for name in sorted(found.keys() & symbols.keys()):
        if found[name] != symbols[name]:
            given = f"{found[name]} as a dim, and {symbols[name]} as a value"
            raise Diagnostic(f"{where}: expected one value of symbol '{name}', got {given}")
    return found | symbols


def _solve_composed(
    where: str, unified: Unification, formals: Sequence[Formal], data: Sequence[relax.TensorData]
) -> dict[str, IntExpr]:
    """Symbols that are not a dim of a value, but are determined by one: ``n * 4`` is 128."""
    symbols = dict(unified.symbols)
    equations = [
        Equation(formal.subject, dim, IntExpr.of(size))
        for formal, value in zip(formals, data, strict=True)
        if isinstance(formal.type, relax.TensorType)
        for dim, size in zip(formal.type.dims or (), value.shape, strict=False)
        if not isinstance(dim.as_atom, Sym)
    ]
    for equation in equations:
        mapping: dict[Atom, IntExpr] = {Sym(name): value for name, value in symbols.items()}
        expected, actual = equation.expected.substitute(mapping), equation.actual
        solution = solve(expected, actual, sorted(expected.symbols()))
        if solution is not None and solution[1].is_constant:
            symbols[solution[0]] = solution[1]
        elif expected != actual:
            verb = "cannot be" if always_differ(expected, actual) else "does not follow from"
            raise Diagnostic(
                f"{where}: dim {equation.expected} of {equation.subject} {verb} {actual}"
            )
    return symbols


def _replace_params(func: relax.FuncOp, bound: Mapping[int, BoundValue]) -> None:
    block, names = func.body.block, func.names
    constants: list[Operation] = []
    for index, value in bound.items():
        param = func.params[index]
        if param.first_use is None:
            continue
        constant = [_constant(value, names[index])]
        if isinstance(param.type, relax.PrimType) and isinstance(value, relax.TensorData):
            constant.append(relax.TensorToPrimOp(constant[0].results[0]))
        (result,) = constant[-1].results
        result.name_hint = param.name_hint or names[index]
        param.replace_all_uses_with(result)
        constants += constant
    first = block.first_op
    assert first is not None
    block.insert_ops_before(constants, first)
    func.erase_params(bound)


def _constant(value: BoundValue, name: str) -> Operation:
    match value:
        case relax.ShapeType():
            return relax.ShapeOp(value.dims or ())
        case relax.PrimType():
            assert value.expr is not None
            return relax.PrimValueOp(value.expr)
        case _:
            # Functions that are bound to the same data have one constant.
            return relax.ConstantOp(value if value.key else replace(value, key=name))
