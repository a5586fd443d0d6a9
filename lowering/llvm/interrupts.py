"""Handle Ctrl-C in long calls: between kernels, graph functions poll Python for signals.

    internal i32 xrelax.helper.poll_when_due(ptr ctx):
      %now = call i64 @llvm.readcyclecounter()
      %due = load i64, ptr %ctx.due
      br %due <= %now: return call i32 %ctx.poll(ptr %ctx)

What a signal's handler raises, `poll` (`runtime.python_calls.entry`) leaves in the context. A
call with one kernel reads no counter; every iteration of a loop does.
"""

from __future__ import annotations

from xdsl.dialects import llvm
from xdsl.dialects.builtin import ArrayAttr, i1, i32, i64
from xdsl.ir import Block, SSAValue

from ...dialects import llvm_ext, rt
from ...runtime.call_words import DUE, POLL
from .builder import FunctionBuilder
from .module_state import ModuleState
from .native_calls import call_symbol
from .types import EQ, PTR, SLE, UNIT, Properties, string
from .words import load_word, word_address

_NEVER = (1 << 63) - 1
_POLL_WHEN_DUE = "xrelax.helper.poll_when_due"


def start_polling(f: FunctionBuilder, func: rt.FuncOp) -> None:
    """Note when a call of the function begins, if it calls kernels after others."""
    called = [op.callee_name for op in func.walk() if isinstance(op, rt.CallDPSOp)]
    has_loops = any(isinstance(op, rt.ForOp) for op in func.walk())
    if len(called) < 2 and not has_loops and f.module.private_functions.isdisjoint(called):
        return
    f.polls = True
    poll = f.emit(llvm.PtrToIntOp, (load_word(f, f.context, POLL, PTR),), i64)
    nobody = f.emit(llvm.ICmpOp, (poll, f.integer(0)), i1, EQ)
    due = f.emit(llvm_ext.SelectOp, (nobody, f.integer(_NEVER), _next(f)), i64)
    f.run(llvm.StoreOp, (due, word_address(f, f.context, DUE)))


def poll_in_iteration(f: FunctionBuilder, op: rt.ForOp) -> None:
    """Poll in every iteration of a loop, unless it calls a function that does."""
    called = {o.callee_name for o in op.body.block.ops if isinstance(o, rt.CallDPSOp)}
    if f.module.polling.isdisjoint(called):
        f.has_called = True
        poll_signals(f)


def poll_signals(f: FunctionBuilder) -> None:
    """Return if the handler of a signal raises; there is no poll before the first kernel."""
    is_first, f.has_called = not (f.has_called or f.is_private), True
    if is_first or not f.polls:
        return
    f.always_polls |= len(f.levels) == 1
    if _POLL_WHEN_DUE not in f.module.helpers:
        f.module.helpers.add(_POLL_WHEN_DUE)
        _define(f.module)
    f.return_unless_zero(call_symbol(f, _POLL_WHEN_DUE, [f.context], i32))


def _define(module: ModuleState) -> None:
    f = FunctionBuilder(module, _POLL_WHEN_DUE, _POLL_WHEN_DUE)
    context = f.add_context()
    address = word_address(f, context, DUE)
    is_due = f.emit(llvm.ICmpOp, (f.emit(llvm.LoadOp, (address,), i64), _now(f)), i1, SLE)
    asking, following = Block(), Block()
    f.branch_if(is_due, asking, following)
    f.continue_in(asking)
    f.run(llvm.StoreOp, (_next(f), address))
    f.return_unless_zero(
        f.emit(llvm_ext.CallPtrOp, (load_word(f, context, POLL, PTR), context), i32)
    )
    f.branch(following)
    f.continue_in(following)
    f.finish(properties={"no_inline": UNIT})


def _now(f: FunctionBuilder) -> SSAValue:
    name = string(f.module.isa.counter)
    properties: Properties = {"intrinsic": name, "overloads": ArrayAttr([])}
    return f.emit(llvm_ext.IntrinsicOp, (), i64, properties)


def _next(f: FunctionBuilder) -> SSAValue:
    """The time of the next poll."""
    return f.emit(llvm.AddOp, (_now(f), f.integer(f.module.isa.counter_interval)), i64)
