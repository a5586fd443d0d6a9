"""Outline the bodies of parallel loops as functions, which threads run on parts of the range.

    loops.for %i in (0, n) parallel { … %X … }
⇒
    i32 NAME.body0(i64 %slot, i64 %begin, i64 %end, ptr %X)   the iterations; %X as in the kernel
    i32 NAME.parallel0(ptr %ctx, ptr %env, i64 %slot, i64 %begin, i64 %end)
                                                  reads the captured values and calls the body
    in NAME: %env = {%X}; xrelax_parallel(%ctx, NAME.parallel0, %env, 0, n, cost, slots)

`xrelax_parallel` is in the runtime (`runtime.pool_code`): it divides the range into parts by the
cost of an iteration, and runs them on threads that are numbered below `slots`. A body gets the
words of a context, to which its failed checks report. A parallel loop inside of another one is
lowered to a serial loop of its body.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.dialects import llvm
from xdsl.dialects.builtin import SymbolRefAttr, i32, i64
from xdsl.dialects.llvm import LLVMStructType
from xdsl.ir import SSAValue

from ...dialects import rt
from ...dialects.dtypes import byte_width
from ...dialects.loops import AllocaOp, ForOp
from ...dialects.tir.types import BufferType
from ...runtime.memory import ALIGNMENT
from ...runtime.pool_code import ENTRY, MAX_THREADS
from .alignment import is_multiple
from .builder import FunctionBuilder
from .cursor import Source
from .layout import root_of
from .native_calls import call_symbol, field_address
from .streaming import end_streams
from .types import PTR, UNIT, Properties, integer_attr


@dataclass(frozen=True)
class Outlined:
    """A function of the iterations of a loop, and the captured values that it gets."""

    symbol: str
    env: LLVMStructType
    captured: tuple[SSAValue | None, ...]
    """`None` is the context, which the runtime passes."""
    can_fail: bool


def outline(
    f: FunctionBuilder, fill: Callable[[FunctionBuilder, SSAValue, SSAValue], None]
) -> Outlined:
    """Outline the code that `fill` emits for the iterations between two positions."""
    number = f.next_outlined()
    body = FunctionBuilder(f.module, f"{f.symbol}.body{number}", f.label, parent=f)
    body.slot, begin, end = (body.entry.insert_arg(i64, i) for i in range(3))
    fill(body, begin, end)
    end_streams(body)
    f.can_fail |= body.can_fail
    f.written |= body.written
    f.escaping |= body.escaping
    f.escaped |= {root_of(v) for v in body.captured if isinstance(v, SSAValue)}
    attrs: list[Properties] = [{}, {}, {}, *(_attributes(f, v, body) for v in body.captured)]
    body.finish(attrs)
    captured = tuple(None if old is None else f.value(old) for old in body.captured)
    env = LLVMStructType.from_type_list([v.type for v in captured if v is not None])
    outlined = Outlined(f"{f.symbol}.parallel{number}", env, captured, body.can_fail)
    _add_wrapper(f, outlined, body.symbol)
    return outlined


def slots_in(loop: ForOp) -> int:
    """The maximum number of threads of a loop: the number of its private workspaces."""
    return min(
        (o.count.value.data for o in loop.walk() if isinstance(o, rt.SlotOp)), default=MAX_THREADS
    )


def _attributes(f: FunctionBuilder, old: Source | None, body: FunctionBuilder) -> Properties:
    """The attributes of a captured buffer: its alignment, and `noalias`.

    A view is `noalias` if the viewed buffer is, and is not captured otherwise.
    """
    if not isinstance(old, SSAValue) or not isinstance(type_ := old.type, BufferType):
        return {}
    root = root_of(old)
    attrs: Properties = {"llvm.align": integer_attr(_alignment(f, old, type_), i64)}
    others = (v for v in body.captured if isinstance(v, SSAValue) and v is not old)
    is_alone = not any(root_of(v) is root for v in others)
    is_free = isinstance(root.owner, AllocaOp) or root in f.noalias
    if is_alone and is_free and root not in body.escaping:
        attrs["llvm.noalias"] = UNIT
        if root not in body.written:
            attrs["llvm.readonly"] = UNIT
    return attrs


def _alignment(f: FunctionBuilder, buffer: SSAValue, type_: BufferType) -> int:
    """Bytes of which the address is a multiple: stack memory and views of scratch are aligned."""
    while isinstance(owner := buffer.owner, rt.ViewOp | rt.ReinterpretOp):
        if isinstance(owner, rt.ViewOp) and not is_multiple(owner.offset.data):
            return byte_width(type_.element_type)
        buffer = owner.source
    is_aligned = buffer in f.aligned or isinstance(buffer.owner, AllocaOp)
    return ALIGNMENT if is_aligned else byte_width(type_.element_type)


_ENV_ALIGNMENT = 8
_IN_ENV: Properties = {"alignment": integer_attr(_ENV_ALIGNMENT, i64)}
"""Vectors among the captured values are no more aligned than other fields."""


def _add_wrapper(f: FunctionBuilder, outlined: Outlined, body: str) -> None:
    w = FunctionBuilder(f.module, outlined.symbol, f.label)
    ctx, env, slot, begin, end = (w.add_argument(t) for t in (PTR, PTR, i64, i64, i64))
    fields = iter(range(len(outlined.captured)))
    values = [
        ctx
        if v is None
        else w.emit(
            llvm.LoadOp, (field_address(w, env, outlined.env, next(fields)),), v.type, _IN_ENV
        )
        for v in outlined.captured
    ]
    w.finish(status=call_symbol(w, body, [slot, begin, end, *values], i32))


def call_parallel(
    f: FunctionBuilder,
    loop: Outlined,
    begin: SSAValue,
    end: SSAValue,
    cost: SSAValue,
    slots: int,
) -> None:
    """Run all iterations of an outlined loop; one takes `cost` thousandths of a cycle."""
    env = f.alloca(loop.env, _ENV_ALIGNMENT)
    values = [v for v in loop.captured if v is not None]
    for position, value in enumerate(values):
        f.run(llvm.StoreOp, (value, field_address(f, env, loop.env, position)), _IN_ENV)
    body = f.emit(llvm.AddressOfOp, (), PTR, {"global_name": SymbolRefAttr(loop.symbol)})
    args = [f.context, body, env, begin, end, cost, f.integer(slots)]
    f.module.external(ENTRY, [a.type for a in args], i32, pure=False)
    status = call_symbol(f, ENTRY, args, i32)
    if loop.can_fail:
        f.return_unless_zero(status)
