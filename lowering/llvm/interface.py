"""The interface of a module for callers and the runtime: signatures, constants, calls, checks.

It is computed from the `rt` and `loops` form of the module. Conversion to LLVM numbers constants,
packed calls and checks by the same tables.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import cast

from xdsl.dialects.builtin import FunctionType, ModuleOp, TupleType
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects import loops, rt, tir
from ...dialects.diagnostics import Diagnostic
from ...dialects.int_expr import Atom, Compound, IntExpr, Sym
from ...dialects.relax.constant import TensorData
from ...dialects.relax.types import ObjectType, PrimType, ShapeType, TensorType, type_symbols
from ...dialects.rt.call import depth_message
from ...dialects.tir.types import BufferType
from ...runtime.signature import (
    NOTHING,
    Dim,
    FunctionSpec,
    LoadSpec,
    Node,
    PackedSite,
    ParamSpec,
    Signature,
    TensorSpec,
)
from ..functions import call_graph, reached_from
from .types import native_symbol

_SPELLING = {"floordiv": "floordiv", "mod": "floormod", "min": "min", "max": "max"}


@dataclass
class Tables:
    """The numbers by which native code refers to constants, packed calls and messages of checks."""

    constants: dict[TensorData, int] = field(default_factory=lambda: {})
    """Positions of constants; those of equal contents have the same one."""
    sites: dict[rt.CallPackedOp, int] = field(default_factory=lambda: {})
    checks: dict[str, int] = field(default_factory=lambda: {})

    def add(self, op: Operation) -> None:
        """Number the references of an operation."""
        match op:
            case rt.ConstantOp():
                self.constants.setdefault(op.value.data, len(self.constants))
            case rt.CallPackedOp():
                self.sites[op] = len(self.sites)
            case rt.FuncOp() if op.recursive is not None:
                self.checks.setdefault(depth_message(op.sym_name.data), len(self.checks))
            case tir.AssertOp() | rt.AssertOp():
                self.checks.setdefault(op.message.data, len(self.checks))
            case _:
                pass


def collect_tables(module: ModuleOp) -> Tables:
    """The tables of a module in its `rt` and `loops` form."""
    tables = Tables()
    for op in module.walk():
        tables.add(op)
    return tables


@dataclass(frozen=True)
class ModuleInterface:
    """The public functions of a module, and its constants in the order of the constants table.

    `kernels` is how many functions on buffers they call.
    """

    functions: tuple[FunctionSpec, ...]
    constants: tuple[TensorData, ...]
    kernels: int
    load: LoadSpec | None


def module_interface(module: ModuleOp) -> ModuleInterface:
    """The interface of a module in its planned `rt` and `loops` form, before conversion to LLVM."""
    tables = collect_tables(module)
    functions = [op for op in module.body.block.ops if isinstance(op, rt.FuncOp)]
    packing, nesting = _functions_with(functions, _packs), _functions_with(functions, _nests)
    sites, checks = tuple(map(_packed_site, tables.sites)), tuple(tables.checks)
    specs = [
        _function_spec(
            f, sites if f.sym_name.data in packing else (), checks, f.sym_name.data in nesting
        )
        for f in functions
        if f.is_entry
    ]
    kernels = sum(isinstance(op, loops.FuncOp) for op in module.body.block.ops)
    load = _load_spec(functions, tables)
    return ModuleInterface(tuple(specs), tuple(tables.constants), kernels, load)


def _load_spec(functions: Sequence[rt.FuncOp], tables: Tables) -> LoadSpec | None:
    """The function that runs when the module is loaded, and the constants that no other reads."""
    found = [f for f in functions if f.on_load is not None]
    if len(found) > 1:
        names = ", ".join(f.sym_name.data for f in found)
        raise Diagnostic(f"expected at most one function that runs on load, got {names}")
    if not found:
        return None
    used = {
        f: {tables.constants[op.value.data] for op in f.walk() if isinstance(op, rt.ConstantOp)}
        for f in functions
    }
    own = used.pop(found[0])
    return LoadSpec(
        _function_spec(found[0], (), (), False), tuple(sorted(own.difference(*used.values())))
    )


def _functions_with(functions: Sequence[rt.FuncOp], holds: Callable[[Operation], bool]) -> set[str]:
    """The functions with such an operation, in themselves or in what they call."""
    by_name = {f.sym_name.data: f for f in functions}
    calls = call_graph(by_name)
    own = {name for name, f in by_name.items() if any(map(holds, f.walk()))}
    return {name for name in by_name if name in own or reached_from(calls, name) & own}


def _packs(op: Operation) -> bool:
    return isinstance(op, rt.CallPackedOp)


def _nests(op: Operation) -> bool:
    """Whether the operation allocates memory from the runtime during the call."""
    func = op.parent_op()
    return isinstance(op, rt.ArenaOp) and isinstance(func, rt.FuncOp) and func.private is not None


def _packed_site(op: rt.CallPackedOp) -> PackedSite:
    returned = len(op.outputs) if op.returns is not None else 0
    text = None if op.text is None else op.text.data
    kept = tuple(map(tuple, op.kept_results))
    tensors = _tensors((*op.inputs, *op.outputs))
    signature = None if op.signature is None else _site_signature(op, op.signature, returned)
    return PackedSite(op.callee.data, tensors, returned, text, kept, signature)


def _site_signature(op: rt.CallPackedOp, types: FunctionType, returned: int) -> Signature:
    """The structure of a call's arguments and result; its numbers are those of words after dims."""
    tensors = itertools.count()
    words = itertools.count(sum(t.rank for t in _types((*op.inputs, *op.outputs))))
    arguments = [_numbered(_node(t, tensors), words) for t in types.inputs.data]
    if not returned:
        arguments += [next(tensors) for _ in op.outputs]
        return Signature((), tuple(arguments), NOTHING)
    return Signature((), tuple(arguments), _node(types.outputs.data[0], tensors))


def _numbered(node: Node, words: Iterator[int]) -> Node:
    """A node with numbers of words in the place of dims."""
    if isinstance(node, int):
        return node
    match node[0]:
        case "tuple":
            return ("tuple", *(_numbered(cast(Node, n), words) for n in node[1:]))
        case "shape":
            return ("shape", *(next(words) for _ in node[1:]))
        case "prim":
            return ("prim", node[1], next(words))
        case _:
            return node


def _tensors(values: Iterable[SSAValue]) -> tuple[TensorSpec, ...]:
    types = [cast(BufferType, v.type) for v in values]
    return tuple(TensorSpec(t.dtype, plain_dims(t.dims)) for t in types)


def _function_spec(
    func: rt.FuncOp, sites: tuple[PackedSite, ...], checks: tuple[str, ...], nests: bool
) -> FunctionSpec:
    written = {i.data for i in func.written.data}
    params = [
        ParamSpec(name, type_.dtype, plain_dims(type_.dims), number in written)
        for number, (name, type_) in enumerate(zip(func.names, _types(func.params), strict=True))
    ]
    return FunctionSpec(
        name=func.sym_name.data,
        entry=native_symbol(func.sym_name.data),
        params=tuple(params),
        symbols=tuple(func.declared_symbols()),
        results=_tensors(func.results_),
        returns_tuple=func.returns_tuple is not None,
        arena_size=plain_dim(_arena_size(func)),
        packed_sites=sites,
        checks=checks,
        takes_memory=nests,
        signature=_signature(func),
        reported=func.reported_symbols,
    )


def _signature(func: rt.FuncOp) -> Signature | None:
    if func.signature is None:
        return None
    names, types = zip(*func.user_params, strict=True) if func.user_params else ((), ())
    params, outputs = itertools.count(), func.signature.outputs.data
    results = _results(func)
    sizes = frozenset(func.reported_symbols)
    result = _node(outputs[0], results, sizes, itertools.count()) if outputs else NOTHING
    return Signature(tuple(names), tuple(_node(t, params) for t in types), result)


def _results(func: rt.FuncOp) -> Iterator[Node]:
    """The numbers of the results in memory; a parameter for those that alias one."""
    numbers = itertools.count()
    for _, alias in func.stored_results:
        yield next(numbers) if alias == -1 else ("argument", alias)


def _node(
    type_: Attribute,
    tensors: Iterator[Node],
    reported: Collection[str] = frozenset(),
    kept: Iterator[int] = iter(()),
) -> Node:
    """The structure of a value of a graph type; tensors are numbered in order."""
    match type_:
        case TupleType(types=fields):
            return ("tuple", *(_node(f, tensors, reported, kept) for f in fields.data))
        case TensorType() if not type_.is_known:
            return ("kept", next(kept), type_.dtype, type_.rank)
        case TensorType() if type_symbols(type_) & set(reported):
            next(tensors)
            return ("sized", type_.dtype, *plain_dims(type_.dims or ()))
        case ObjectType():
            return ("object", next(tensors))
        case ShapeType():
            return ("shape", *plain_dims(type_.dims or ()))
        case PrimType() if type_.expr is not None:
            return ("prim", type_.dtype, plain_dim(type_.expr))
        case PrimType():
            return ("scalar", type_.dtype, next(tensors))
        case _:
            return next(tensors)


def _types(values: Iterable[SSAValue]) -> list[BufferType]:
    return [cast(BufferType, v.type) for v in values]


def _arena_size(func: rt.FuncOp) -> IntExpr:
    arenas = [op for op in func.body.block.ops if isinstance(op, rt.ArenaOp)]
    if len(arenas) > 1:
        raise Diagnostic(
            f"expected at most one 'rt.arena' in '{func.sym_name.data}', got {len(arenas)}"
        )
    return arenas[0].size.data if arenas else IntExpr.of(0)


def plain_dims(dims: Iterable[IntExpr]) -> tuple[Dim, ...]:
    """Expressions over symbols as plain data."""
    return tuple(map(plain_dim, dims))


def plain_dim(expr: IntExpr) -> Dim:
    """An expression over symbols as plain data."""
    terms = [_plain_product(m, c) for m, c in expr.terms]
    return _fold("add", terms) if terms else 0


def _plain_product(monomial: tuple[Atom, ...], coefficient: int) -> Dim:
    factors = [_plain_atom(a) for a in monomial]
    if coefficient != 1 or not factors:
        factors.append(coefficient)
    return _fold("mul", factors)


def _plain_atom(atom: Atom) -> Dim:
    if isinstance(atom, Sym):
        return atom.name
    if isinstance(atom, Compound):
        return (_SPELLING[atom.op], plain_dim(atom.lhs), plain_dim(atom.rhs))
    raise Diagnostic(f"expected a dim over symbols, got {IntExpr.of(atom)}")


def _fold(op: str, parts: Sequence[Dim]) -> Dim:
    total = parts[0]
    for part in parts[1:]:
        total = (op, total, part)
    return total
