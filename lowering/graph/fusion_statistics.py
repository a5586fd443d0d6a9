"""The effect of fusion: the number of kernels of a graph function, and the bytes they move."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ...dialects import relax
from ...dialects.dtypes import byte_width
from ...dialects.int_expr import Atom, IntExpr, Sym
from ...dialects.relax.types import tensors_in
from ..call_signature import Formal, unify
from ..functions import functions_by_name
from ..loop_types import loop_index
from .annotate_tir_op_pattern import AnnotateTIROpPatternPass
from .fuse_ops import FuseOpsPass
from .fuse_tir import FuseTIRPass
from .legalize_ops import LegalizeOpsPass
from .normalize import NormalizePass


@dataclass(frozen=True)
class FusionStatistics:
    """The kernels that one call of a graph function runs, and the bytes of their tensors.

    Library calls count as kernels. A tensor counts once for each kernel that reads or writes it.
    """

    kernels: int
    bytes: int


def statistics_of(
    module: ModuleOp, function: str = "main", symbols: Mapping[str, int] | None = None
) -> FusionStatistics:
    """The kernels of a graph function and its callees; `symbols` has the value of each symbol.

    Both branches of an ``if`` count, and every iteration of a loop. Raises ValueError for an
    unknown function, for a size that `symbols` does not determine, and for a while loop.
    """
    functions = functions_by_name(module)
    func = functions.get(function)
    if not isinstance(func, relax.FuncOp):
        raise ValueError(f"expected a graph function of the module, got '{function}'")
    sizes = list(_kernel_sizes(func, functions, dict(symbols or {})))
    return FusionStatistics(len(sizes), sum(sizes))


def fusion_statistics(
    module: ModuleOp,
    function: str = "main",
    symbols: Mapping[str, int] | None = None,
    legalize: Sequence[ModulePass] = (NormalizePass(), LegalizeOpsPass()),
) -> tuple[FusionStatistics, FusionStatistics]:
    """The statistics of a module before and after operator fusion; the module is not changed.

    The passes in `legalize` lower its operators to calls of kernels.
    """
    copy, context = module.clone(), Context(allow_unregistered=True)
    for step in legalize:
        step.apply(context, copy)
    before = statistics_of(copy, function, symbols)
    for step in (AnnotateTIROpPatternPass(), FuseOpsPass(), FuseTIRPass()):
        step.apply(context, copy)
    return before, statistics_of(copy, function, symbols)


def table(rows: Mapping[str, tuple[FusionStatistics, FusionStatistics]]) -> str:
    """Statistics before and after fusion, by name of a model, as a Markdown table."""
    lines = [
        "| model | kernels before | after | MB moved before | after | ratio |",
        "|---|---|---|---|---|---|",
    ]
    for name, (before, after) in rows.items():
        ratio = before.bytes / after.bytes if after.bytes else 1.0
        lines.append(
            f"| {name} | {before.kernels} | {after.kernels} | {before.bytes / 1e6:.2f} "
            f"| {after.bytes / 1e6:.2f} | {ratio:.2f} |"
        )
    return "\n".join(lines)


def _kernel_sizes(
    func: relax.FuncOp, functions: Mapping[str, Operation], symbols: Mapping[str, int]
) -> Iterator[int]:
    for op in func.walk():
        if isinstance(
            op,
            relax.CallTIROp | relax.CallTIRInplaceOp | relax.CallKernelOp | relax.CallDPSPackedOp,
        ):
            types = [a.type for a in op.args] + [op.result.type]
            tensors = [t for type_ in types for t in tensors_in(type_)]
            yield sum(_bytes(t, symbols) for t in tensors)
        elif isinstance(op, relax.CallOp | relax.LoopOp):
            callee = functions.get(op.callee_name)
            if isinstance(callee, relax.FuncOp) and callee is not func:
                inner = _callee_symbols(op, callee, symbols)
                sizes = list(_kernel_sizes(callee, functions, inner))
                for _ in range(_trips(op, symbols)):
                    yield from sizes


def _trips(op: relax.CallOp | relax.LoopOp, symbols: Mapping[str, int]) -> int:
    """How often the function runs; raises ValueError for a loop whose condition decides."""
    if isinstance(op, relax.CallOp):
        return 1
    if op.trip_count is None or op.is_while is not None:
        raise ValueError(f"expected loops with a number of trips, got one of '{op.callee_name}'")
    return max(_product([op.trip_count], symbols), 0)


def _callee_symbols(
    op: relax.CallOp | relax.LoopOp, callee: relax.FuncOp, symbols: Mapping[str, int]
) -> dict[str, int]:
    formals = [t for p in callee.params for t in tensors_in(p.type)]
    is_loop = isinstance(op, relax.LoopOp)
    types = op.body_types(loop_index(op))[0] if is_loop else [a.type for a in op.args]
    actuals = [t for type_ in types for t in tensors_in(type_)]
    where = f"call of '{op.callee_name}'"
    found = unify(where, [Formal("argument", t) for t in formals], actuals).symbols
    return {s: n for s, e in found.items() if (n := _number(e, symbols)) is not None}


def _bytes(type_: relax.TensorType, symbols: Mapping[str, int]) -> int:
    if type_.dims is None or type_.dtype is None:
        raise ValueError(f"expected kernels of tensors with known shapes, got {type_}")
    return byte_width(type_.element_type) * _product(type_.dims, symbols)


def _product(dims: Sequence[IntExpr], symbols: Mapping[str, int]) -> int:
    total = 1
    for dim in dims:
        number = _number(dim, symbols)
        if number is None:
            missing = ", ".join(sorted(dim.symbols() - symbols.keys()))
            raise ValueError(f"expected numbers for all symbols, got none for {missing}")
        total *= number
    return total


def _number(expr: IntExpr, symbols: Mapping[str, int]) -> int | None:
    mapping: dict[Atom, IntExpr] = {Sym(s): IntExpr.of(n) for s, n in symbols.items()}
    return expr.substitute(mapping).constant
