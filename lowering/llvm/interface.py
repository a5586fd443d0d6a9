"""The interface of a module for callers and the runtime: signatures, constants, calls, checks.

It is computed from the `rt` and `loops` form of the module. Conversion to LLVM numbers constants,
packed calls and checks by the same tables.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ...dialects import loops, rt, tir
from ...dialects.diagnostics import Diagnostic
from ...dialects.int_expr import IntExpr
from ...dialects.relax.constant import TensorData
from ...dialects.rt.call import depth_message
from ...runtime.signature import (
    NOTHING,
    FunctionSpec,
    LoadSpec,
    Node,
    PackedSite,
    ParamSpec,
    Signature,
)
from ..functions import call_graph, functions_by_name, reached_from
from .packed_sites import packed_site
from .specs import buffer_types, plain_dim, plain_dims, structure_of, tensor_specs
from .types import native_symbol


@dataclass
class Tables:
    """The numbers by which native code refers to constants, packed calls and messages of checks."""

    constants: dict[TensorData, int] = field(default_factory=lambda: {})
    """Positions of constants; those of equal contents have the same one."""
    sites: dict[rt.CallPackedOp | tir.CallIntrinOp, int] = field(default_factory=lambda: {})
    checks: dict[str, int] = field(default_factory=lambda: {})

    def add(self, op: Operation) -> None:
        """Number the references of an operation."""
        match op:
            case rt.ConstantOp():
                self.constants.setdefault(op.value.data, len(self.constants))
            case rt.CallPackedOp():
                self.sites[op] = len(self.sites)
            case tir.CallIntrinOp() if op.packed_callee is not None:
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
    everything = functions_by_name(module)
    packing, nesting = _functions_with(everything, _packs), _functions_with(everything, _nests)
    sites, checks = tuple(map(packed_site, tables.sites)), tuple(tables.checks)
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


def _functions_with(
    by_name: Mapping[str, Operation], holds: Callable[[Operation], bool]
) -> set[str]:
    """The functions with such an operation, in themselves or in what they call."""
    calls = call_graph(by_name)
    own = {name for name, f in by_name.items() if any(map(holds, f.walk()))}
    return {name for name in by_name if name in own or reached_from(calls, name) & own}


def _packs(op: Operation) -> bool:
    if isinstance(op, tir.CallIntrinOp):
        return op.packed_callee is not None
    return isinstance(op, rt.CallPackedOp)


def _nests(op: Operation) -> bool:
    """Whether the operation allocates memory from the runtime during the call."""
    func = op.parent_op()
    return isinstance(op, rt.ArenaOp) and isinstance(func, rt.FuncOp) and func.private is not None


def _function_spec(
    func: rt.FuncOp, sites: tuple[PackedSite, ...], checks: tuple[str, ...], nests: bool
) -> FunctionSpec:
    written = {i.data for i in func.written.data}
    params = [
        ParamSpec(name, type_.dtype, plain_dims(type_.dims), number in written)
        for number, (name, type_) in enumerate(
            zip(func.names, buffer_types(func.params), strict=True)
        )
    ]
    return FunctionSpec(
        name=func.sym_name.data,
        entry=native_symbol(func.sym_name.data),
        params=tuple(params),
        symbols=tuple(func.declared_symbols()),
        results=tensor_specs(func.results_),
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
    result = structure_of(outputs[0], results, sizes, itertools.count()) if outputs else NOTHING
    return Signature(tuple(names), tuple(structure_of(t, params) for t in types), result)


def _results(func: rt.FuncOp) -> Iterator[Node]:
    """The numbers of the results in memory; a parameter for those that alias one."""
    numbers = itertools.count()
    for _, alias in func.stored_results:
        yield next(numbers) if alias == -1 else ("argument", alias)


def _arena_size(func: rt.FuncOp) -> IntExpr:
    arenas = [op for op in func.body.block.ops if isinstance(op, rt.ArenaOp)]
    if len(arenas) > 1:
        raise Diagnostic(
            f"expected at most one 'rt.arena' in '{func.sym_name.data}', got {len(arenas)}"
        )
    return arenas[0].size.data if arenas else IntExpr.of(0)
