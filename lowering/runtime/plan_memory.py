"""`plan-memory`: place intermediates in one arena per function, at offsets known beforehand.

::

    rt.func @main(%x: …, %y: …) results 1 {
      rt.check %x "x" : …
      rt.dataflow {
        %a = rt.alloc : !tir.buffer<[1, n], f32>
        rt.call_dps @relu(%x) outs(%a) : …
        %b = rt.alloc : !tir.buffer<[1, n], f32>
        rt.call_dps @relu(%a) outs(%b) : …
        rt.call_dps @relu(%b) outs(%y) : …

⇒

::

    rt.func @main(%x: …, %y: …) results 1 {
      rt.check %x "x" : …
      %0 = rt.arena ((n * 4 + 63) floordiv 64) * 128
      rt.dataflow {
        %a = rt.view %0[0] : … to !tir.buffer<[1, n], f32>
        rt.call_dps @relu(%x) outs(%a) : …
        %b = rt.view %0[((n * 4 + 63) floordiv 64) * 64] : … to !tir.buffer<[1, n], f32>
        …

All operands of a call are live for the whole call, so no output overlaps an input, and the operands
of a registered function do not change until it returns. Private functions get scratch memory from
their callers as one more output; only recursive ones have an arena for each call. TVM's
``StaticPlanBlockMemory``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import IntAttr, ModuleOp, i8
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import rt, tir
from ...dialects.bounds import Ranges
from ...dialects.diagnostics import Diagnostic
from ...dialects.int_expr import ONE, Atom, IntExpr, Sym
from ...dialects.nesting import ancestors
from ...dialects.sym import exprs_of
from ..call_signature import buffer_formals, unify
from ..functions import call_graph, callees_first, functions_by_name, verify_recursive
from .memory_plan import MemoryPlan, Request, largest, plan_memory


def straight_line(func: rt.FuncOp) -> Iterator[Operation]:
    """The operations of the function in order, with regions flattened.

    The first branch of an ``if`` comes before the second. Memory that only one branch uses is free
    in the other; memory with uses in both, or after the ``if``, is live in between.
    """
    yield from _in_order(func.body.block)


def _in_order(block: Block) -> Iterator[Operation]:
    for op in block.ops:
        if not isinstance(op, rt.DataflowOp):
            yield op
        for region in op.regions:
            yield from _in_order(region.block)


def plan_module(module: ModuleOp) -> None:
    """Plan the memory of every function of the module, callees first."""
    functions = {n: f for n, f in functions_by_name(module).items() if isinstance(f, rt.FuncOp)}
    calls = call_graph(functions)
    verify_recursive(functions, calls)
    scratch: dict[str, IntExpr] = {}
    for name in callees_first(calls):
        func = functions[name]
        for op in list(straight_line(func)):
            if isinstance(op, rt.CallDPSOp) and op.callee_name in functions:
                _pass_scratch(op, functions[op.callee_name], scratch.get(op.callee_name), name)
        size = plan_function(func)
        if size is not None and _gets_scratch(func):
            scratch[name] = size


def _gets_scratch(func: rt.FuncOp) -> bool:
    """Whether callers pass the function its scratch memory: it is private and not recursive."""
    return func.private is not None and func.recursive is None


def _pass_scratch(op: rt.CallDPSOp, callee: rt.FuncOp, size: IntExpr | None, caller: str) -> None:
    """Pass a private function its scratch memory: one more output, live during the call only."""
    if callee.private is None:
        raise Diagnostic(
            f"expected '{caller}' to call kernels and private functions, got '{op.callee_name}'",
            op,
        )
    if size is None:
        return
    given = [*op.inputs, *op.outputs]
    formals = buffer_formals(callee.names, [a.type for a in callee.params])
    actuals = [cast(tir.BufferType, v.type) for v in given[: len(formals)]]
    known = dict(zip(callee.symbol_names, exprs_of(op.vars), strict=True))
    unified = unify(f"call of '{op.callee_name}'", formals, actuals, known)
    mapping: dict[Atom, IntExpr] = {Sym(name): value for name, value in unified.symbols.items()}
    memory = rt.AllocOp(tir.BufferType.of([size.substitute(mapping)], i8))
    memory.result.name_hint = "scratch"
    call = rt.CallDPSOp(op.callee_name, op.inputs, [*op.outputs, memory.result], exprs_of(op.vars))
    call.location = op.location
    Rewriter.replace_op(op, [memory, call], [])


def plan_function(func: rt.FuncOp) -> IntExpr | None:
    """Replace allocations by views of an arena; returns its size in bytes, `None` without one.

    Raises Diagnostic if the function already has an arena and other allocations.
    """
    ops = list(straight_line(func))
    allocs = [op for op in ops if isinstance(op, rt.AllocOp)]
    if allocs and any(isinstance(op, rt.ArenaOp) for op in ops):
        raise Diagnostic(
            f"expected '{func.sym_name.data}' to be planned once, "
            f"got both 'rt.arena' and 'rt.alloc'",
            func,
        )
    steps = {op: step for step, op in enumerate(ops)}
    for op in [a for a in allocs if a.result.first_use is None]:
        Rewriter.erase_op(op)
        allocs.remove(op)
    if not allocs:
        return None
    sizes = func.read_sizes()
    plan = plan_memory([_request(op, steps, sizes) for op in allocs])
    arena = _add_arena(func, plan)
    for op, offset in zip(allocs, plan.offsets, strict=True):
        view = rt.ViewOp(arena, offset, op.result.type)
        Rewriter.replace_op(op, view)
        _place_tensors(view)
    return plan.size


def _place_tensors(storage: rt.ViewOp) -> None:
    """Replace views of storage in an arena by views of the arena."""
    for use in list(storage.result.uses):
        if isinstance(inner := use.operation, rt.ViewOp):
            offset = storage.offset.data + inner.offset.data
            Rewriter.replace_op(inner, rt.ViewOp(storage.source, offset, inner.result.type))
    if storage.result.first_use is None:
        Rewriter.erase_op(storage)


def _request(op: rt.AllocOp, steps: dict[Operation, int], sizes: Ranges) -> Request:
    """The memory of a buffer, for the limits of sizes that are read while the function runs."""
    users = list(_users(op.result, steps, op.parent_op()))
    size = largest(op.result.type.size_in_bytes(), sizes, f"the bytes of {op.result.type}")
    # An empty buffer needs an address too, or its view would be the same value as another one.
    return Request(ONE if size.constant == 0 else size, min(users), max(users))


def _users(
    memory: SSAValue, steps: dict[Operation, int], around: Operation | None
) -> Iterator[int]:
    """The steps that use memory, also through views; `around` is what it is allocated in.

    What a loop uses, but does not allocate, is live from its first step to its last one.
    """
    for use in memory.uses:
        user = use.operation
        yield steps[user]
        outer = takewhile(lambda op: op is not around, ancestors(user))
        for loop in (user, *outer):
            if isinstance(loop, rt.ForOp):
                yield steps[loop]
                yield from (steps[op] for op in _in_order(loop.body.block))
        if isinstance(user, rt.ReinterpretOp | rt.SliceOp | rt.ViewOp):
            yield from _users(user.result, steps, around)


def _add_arena(func: rt.FuncOp, plan: MemoryPlan) -> SSAValue:
    block = func.body.block
    if _gets_scratch(func):
        memory = block.insert_arg(tir.BufferType.of([plan.size], i8), len(block.args))
        memory.name_hint = "scratch"
        func.num_results = IntAttr(func.num_results.data + 1)
        return memory
    arena = rt.ArenaOp(plan.size)
    checks = [op for op in block.ops if isinstance(op, rt.CheckOp)]
    point = InsertPoint.after(checks[-1]) if checks else InsertPoint.at_start(block)
    Rewriter.insert_op(arena, point)
    return arena.result


@dataclass(frozen=True)
class PlanMemoryPass(ModulePass):
    """Place intermediates in an arena, and reuse dead memory."""

    name = "plan-memory"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        plan_module(op)
