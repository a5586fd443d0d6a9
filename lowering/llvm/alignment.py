"""Which buffers are known to have the alignment of allocations: scratch memory, loaded tensors.

Arguments of users, their result buffers, and constants may be aligned only to their elements.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import repeat

from xdsl.ir import Operation, SSAValue

from ...dialects import loops, rt
from ...dialects.int_expr import IntExpr
from ...runtime.memory import ALIGNMENT

Aligned = dict[str, list[bool]]
"""For each function, which of its arguments are aligned in every call."""


def aligned_arguments(functions: Mapping[str, Operation], callers_first: Iterable[str]) -> Aligned:
    """The alignment of arguments of kernels and private functions, from all calls in the module."""
    found: Aligned = {}
    for name in callers_first:
        func = functions[name]
        if isinstance(func, loops.FuncOp):
            found.setdefault(name, [False] * len(func.params))
        elif isinstance(func, rt.FuncOp):
            _visit(func, found)
    return found


def _visit(func: rt.FuncOp, found: Aligned) -> None:
    own = found.get(func.sym_name.data, []) if func.private is not None else []
    aligned: set[SSAValue] = {
        arg for arg, is_aligned in zip(func.args, own, strict=False) if is_aligned
    }
    if func.on_load is not None:
        aligned |= set(func.results_)
    for op in func.walk():
        if isinstance(op, rt.ArenaOp | rt.LoadedOp):
            aligned.add(op.result)
        elif isinstance(op, rt.ViewOp):
            if op.source in aligned and is_multiple(op.offset.data):
                aligned.add(op.result)
        elif isinstance(op, rt.ReinterpretOp):
            if op.source in aligned:
                aligned.add(op.result)
        elif isinstance(op, rt.SliceOp):
            if op.source in aligned and is_multiple(op.result.type.size_in_bytes()):
                aligned.add(op.result)
        elif isinstance(op, rt.ForOp):
            pairs = zip(op.carried, op.spare, op.read, op.written, strict=True)
            aligned |= {v for x, y, *args in pairs if x in aligned and y in aligned for v in args}
        elif isinstance(op, rt.CallDPSOp):
            _record(found, op.callee_name, [v in aligned for v in (*op.inputs, *op.outputs)])


def _record(found: Aligned, name: str, given: list[bool]) -> None:
    known = found.get(name, repeat(True))
    found[name] = [a and b for a, b in zip(given, known, strict=False)]


def is_multiple(offset: IntExpr) -> bool:
    """Whether a number of bytes is provably a multiple of the alignment."""
    return all(c % ALIGNMENT == 0 for _, c in offset.terms)


def arguments_of(aligned: Aligned, name: str, values: Iterable[SSAValue]) -> set[SSAValue]:
    """The aligned ones among the arguments of a function."""
    return {v for v, is_aligned in zip(values, aligned.get(name, ()), strict=False) if is_aligned}
