"""A planned module that notes when each of its calls begins and ends.

::

    rt.call_dps @relu(%x) outs(%y) : …

⇒

    rt.call_dps @profile.note() outs() vars [0] : (), ()          the number of the call
    rt.call_dps @profile.note() outs() vars [n] : (), ()          for each symbol of its buffers
    rt.call_dps @profile.tick() outs() : (), ()
    rt.call_dps @relu(%x) outs(%y) : …
    rt.call_dps @profile.tick() outs() : (), ()

The two functions append to a log in memory, whose address is part of their code. It is another
build of the module: without a profile nothing is measured, and costs nothing.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import Block, Region
from xdsl.rewriter import InsertPoint, Rewriter

from ..dialects import loops, rt, tir
from ..dialects.int_expr import IntExpr, Sym, sym
from ..dialects.sym import exprs_of
from ..dialects.tir.types import BufferType
from ..lowering.functions import functions_by_name, unique_name
from ..reference.expressions import number, shape_of

LOG_WORDS = 1 << 20
NOTE, TICK, PAIR = (f"xrelax.profile.{name}" for name in ("note", "tick", "pair"))


@dataclass(frozen=True)
class Site:
    """A call of a kernel or of a registered function, and where its sizes come from."""

    callee: str
    symbols: tuple[str, ...]
    """The symbols of the caller whose values the log has for each call."""
    actual: tuple[BufferType, ...]
    variables: tuple[IntExpr, ...]
    kernel: tir.PrimFuncOp | None
    """The planned kernel; `None` for a registered function."""

    def symbols_of_kernel(self, values: Sequence[int]) -> dict[str, int]:
        """The values of the kernel's symbols, from those of the caller's."""
        known = dict(zip(self.symbols, values, strict=True))
        if self.kernel is None:
            return {}
        found: dict[str, int] = {}
        actual = iter(self.actual)
        variables = iter(self.variables)
        for name, param in zip(self.kernel.names, self.kernel.params, strict=True):
            if isinstance(param.type, IndexType):
                found[name] = number(next(variables), known)
            elif isinstance(param.type, BufferType):
                shape = shape_of(next(actual).dims, known)
                for dim, size in zip(param.type.dims, shape, strict=True):
                    if isinstance(atom := dim.as_atom, Sym):
                        found[atom.name] = size
        return found


class Log:
    """Numbers that instrumented code appends: the count, then as many words."""

    def __init__(self) -> None:
        self._words = np.zeros(LOG_WORDS + 1, np.int64)

    @property
    def address(self) -> int:
        """Where the count is."""
        return self._words.ctypes.data

    def clear(self) -> None:
        """Forget what was noted."""
        self._words[0] = 0

    def words(self) -> list[int]:
        """What was noted; raises ValueError for more than there is room for."""
        count = int(self._words[0])
        if count > LOG_WORDS:
            raise ValueError(
                f"expected at most {LOG_WORDS} words for the calls of one run, got {count}"
            )
        return self._words[1 : count + 1].tolist()


def instrument(module: ModuleOp, kernels: dict[str, tir.PrimFuncOp]) -> list[Site]:
    """Note every call of a planned module, in place; `kernels` are those that it had.

    Returns the sites of the calls by number.
    """
    taken = functions_by_name(module)
    note, tick = (unique_name(f"profile.{name}", taken) for name in ("note", "tick"))
    sites: list[Site] = []
    for op in list(module.walk()):
        site = _site(op, kernels)
        if site is None:
            continue
        values = [IntExpr.of(len(sites)), *map(sym, site.symbols)]
        before = [*(rt.CallDPSOp(note, [], [], [v]) for v in values), rt.CallDPSOp(tick, [], [])]
        Rewriter.insert_op(before, InsertPoint.before(op))
        Rewriter.insert_op(rt.CallDPSOp(tick, [], []), InsertPoint.after(op))
        sites.append(site)
    Rewriter.insert_op(
        [
            loops.FuncOp(note, ["value"], Region(Block()), external=NOTE),
            loops.FuncOp(tick, [], Region(Block()), external=TICK),
        ],
        InsertPoint.at_start(module.body.block),
    )
    return sites


def _site(op: object, kernels: dict[str, tir.PrimFuncOp]) -> Site | None:
    if isinstance(op, rt.CallDPSOp) and op.callee_name in kernels:
        callee, kernel, variables = op.callee_name, kernels[op.callee_name], exprs_of(op.vars)
    elif isinstance(op, rt.CallPackedOp) and op.text is None:
        callee, kernel, variables = op.callee.data, None, ()
    else:
        return None
    types = tuple(cast(BufferType, v.type) for v in (*op.inputs, *op.outputs))
    symbols = {s for t in types for s in t.symbols()} | {s for v in variables for s in v.symbols()}
    return Site(callee, tuple(sorted(symbols)), types, variables, kernel)


def log_code(address: int) -> str:
    """The functions that append to a log, as LLVM IR; raises ValueError without a POSIX clock."""
    clock = getattr(time, "CLOCK_MONOTONIC", None)
    if clock is None:
        raise ValueError("expected a system with clock_gettime to profile on, got none")
    return _note_code(address) + _tick_code(clock)


def _note_code(address: int) -> str:
    """The function that appends a number, unless the log is full."""
    return f"""
define i32 @{NOTE}(ptr %ctx, i64 %value) {{
entry:
  %log = inttoptr i64 {address} to ptr
  %count = load i64, ptr %log
  %next = add i64 %count, 1
  store i64 %next, ptr %log
  %fits = icmp ult i64 %count, {LOG_WORDS}
  br i1 %fits, label %keep, label %done
keep:
  %place = getelementptr i64, ptr %log, i64 %next
  store i64 %value, ptr %place
  br label %done
done:
  ret i32 0
}}

"""


def _tick_code(clock: int) -> str:
    """The functions that append the time in nanoseconds, once and twice."""
    return f"""
declare i32 @clock_gettime(i32, ptr)

define i32 @{TICK}(ptr %ctx) {{
  %time = alloca [2 x i64]
  %status = call i32 @clock_gettime(i32 {clock}, ptr %time)
  %seconds = load i64, ptr %time
  %rest = getelementptr i64, ptr %time, i64 1
  %nanoseconds = load i64, ptr %rest
  %scaled = mul i64 %seconds, 1000000000
  %now = add i64 %scaled, %nanoseconds
  %noted = call i32 @{NOTE}(ptr %ctx, i64 %now)
  ret i32 0
}}

define i32 @{PAIR}(ptr %ctx) {{
  %first = call i32 @{TICK}(ptr %ctx)
  %second = call i32 @{TICK}(ptr %ctx)
  ret i32 0
}}
"""
