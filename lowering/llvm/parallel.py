"""Bodies of parallel loops as functions of their own, which run any part of the iterations.

    loops.for %i in (0, n) parallel { … %X … }
⇒
    i32 NAME.body0(i64 %begin, i64 %end, ptr %X)          the iterations, `noalias` as in the kernel
    i32 NAME.parallel0(ptr %env, i64 %begin, i64 %end)    reads the captured values and calls it
    in NAME: %env = {%X}; NAME.parallel0(%env, 0, n)

A parallel loop inside of another one is an ordinary loop of its body.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.dialects import llvm
from xdsl.dialects.builtin import i32, i64
from xdsl.dialects.llvm import LLVMStructType
from xdsl.ir import SSAValue

from ...dialects.loops import AllocaOp
from .builder import FunctionBuilder
from .layout import root_of
from .levels import Source
from .native_calls import call_symbol, field_address
from .types import PTR, UNIT, Properties


@dataclass(frozen=True)
class Outlined:
    """A function of the iterations of a loop, and the captured values that it gets."""

    symbol: str
    env: LLVMStructType
    captured: tuple[SSAValue, ...]
    can_fail: bool


def outline(
    f: FunctionBuilder, fill: Callable[[FunctionBuilder, SSAValue, SSAValue], None]
) -> Outlined:
    """Make a function of what `fill` emits for the iterations between two positions."""
    number = f.next_outlined()
    body = FunctionBuilder(f.module, f"{f.symbol}.body{number}", f.label, parent=f)
    begin, end = body.entry.insert_arg(i64, 0), body.entry.insert_arg(i64, 1)
    fill(body, begin, end)
    f.can_fail |= body.can_fail
    f.written |= body.written
    f.escaping |= body.escaping
    captured = tuple(f.context if old is None else f.value(old) for old in body.captured)
    attrs: list[Properties] = [{}, {}, *(_attributes(f, old, body) for old in body.captured)]
    body.finish(attrs)
    env = LLVMStructType.from_type_list([v.type for v in captured])
    outlined = Outlined(f"{f.symbol}.parallel{number}", env, captured, body.can_fail)
    _add_wrapper(f, outlined, body.symbol)
    return outlined


def _attributes(f: FunctionBuilder, old: Source | None, body: FunctionBuilder) -> Properties:
    """A captured buffer is as free of aliases as in the kernel, unless a view of it comes too."""
    if not isinstance(old, SSAValue) or old in body.escaping:
        return {}
    if not (isinstance(old.owner, AllocaOp) or old in f.noalias):
        return {}
    others = (v for v in body.captured if isinstance(v, SSAValue) and v is not old)
    if any(root_of(v) is old for v in others):
        return {}
    attrs: Properties = {"llvm.noalias": UNIT}
    if old not in body.written:
        attrs["llvm.readonly"] = UNIT
    return attrs


def _add_wrapper(f: FunctionBuilder, outlined: Outlined, body: str) -> None:
    w = FunctionBuilder(f.module, outlined.symbol, f.label)
    env, begin, end = (w.add_argument(t) for t in (PTR, i64, i64))
    values = [
        w.emit(llvm.LoadOp, (field_address(w, env, outlined.env, i),), v.type)
        for i, v in enumerate(outlined.captured)
    ]
    w.finish(status=call_symbol(w, body, [begin, end, *values], i32))


def call_parallel(f: FunctionBuilder, loop: Outlined, begin: SSAValue, end: SSAValue) -> None:
    """Run all iterations of an outlined loop: here, one after the other."""
    env = f.alloca(loop.env, 8)
    for position, value in enumerate(loop.captured):
        f.run(llvm.StoreOp, (value, field_address(f, env, loop.env, position)))
    status = call_symbol(f, loop.symbol, [env, begin, end], i32)
    if loop.can_fail:
        f.return_unless_zero(status)
