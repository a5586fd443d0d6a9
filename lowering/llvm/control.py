"""Structured control flow as blocks and branches: loops, conditions, assertions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects import arith, llvm, scf
from xdsl.dialects.builtin import DictionaryAttr, UnitAttr, i1, i8, i64
from xdsl.dialects.llvm import LLVMArrayType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...dialects import llvm_ext, loops, rt, tir
from ...dialects.bounds import is_less
from ...dialects.int_expr import Sym
from .builder import FunctionBuilder, Lowering
from .index import compute, index_value, place_sum
from .loop_cost import iteration_cost
from .native_calls import field_address
from .parallel import call_parallel, outline, slots_in
from .repeated_loops import fills_rows, forks, is_repeated
from .types import EQ, NE, NSW, SGE, SLT, integer_attr, lowered
from .words import fail_check

_KEEPS = (arith.IndexCastOp, arith.ExtSIOp, arith.ExtUIOp)
_PACKS = (arith.OrIOp, arith.AddiOp, arith.XOrIOp)


def packs_index(loop: loops.ForOp) -> bool:
    """Whether a loop combines its index with an integer that was shifted to the left."""
    work: list[SSAValue] = [loop.loop_var]
    while work:
        for use in work.pop().uses:
            op = use.operation
            if isinstance(op, _KEEPS):
                work.append(op.result)
            elif isinstance(op, _PACKS):
                if any(isinstance(v.owner, arith.ShLIOp) for v in op.operands):
                    return True
    return False


def read_sizes(f: FunctionBuilder, op: rt.ReadSizesOp) -> None:
    """Loads of sizes, which are symbols from here on."""
    base = f.value(op.source)
    for position, (name, _) in enumerate(op.symbols):
        address = field_address(f, base, LLVMArrayType(len(op.symbols), i64), position)
        f.define(Sym(name), f.emit(llvm.LoadOp, (address,), i64))


_HINTS: dict[str, dict[str, Attribute]] = {
    "vectorized": {llvm_ext.LOOP: DictionaryAttr({"vectorize.enable": integer_attr(1, i1)})},
}
_STAYS: dict[str, Attribute] = {
    llvm_ext.LOOP: DictionaryAttr({"unroll.disable": UnitAttr()}),
}


def lower_for(f: FunctionBuilder, op: loops.ForOp) -> None:
    """A loop: outlined if it is parallel and no parallel loop is around it."""
    terms, operands = op.lower.data.terms, op.operands_
    lower, _ = place_sum(f, terms, operands)
    upper = index_value(f, op.lower.data + op.extent.data, operands)
    kind = op.kind.data
    if kind == "parallel" and f.parent is None:
        _lower_parallel(f, op, lower, upper)
        return
    body = op.body.block

    def lower_body() -> Sequence[SSAValue]:
        f.lower_block(body)
        return f.values(op.yielded)

    hints = _HINTS.get(kind, {})
    found = carried_loop(
        f,
        op.loop_var,
        op.carry_vars,
        lower,
        upper,
        f.values(op.inits),
        lower_body,
        hints,
        source=op,
    )
    for result, value in zip(op.carried, found, strict=True):
        f.define(result, value)


def _lower_parallel(f: FunctionBuilder, op: loops.ForOp, lower: SSAValue, upper: SSAValue) -> None:
    def fill(body: FunctionBuilder, begin: SSAValue, end: SSAValue) -> None:
        counted_loop(body, op.loop_var, begin, end, lambda: body.lower_block(op.body.block))

    cost, values = iteration_cost(op, f.module.model)
    call_parallel(f, outline(f, fill), lower, upper, index_value(f, cost, values), slots_in(op))


def counted_loop(
    f: FunctionBuilder, var: SSAValue, lower: SSAValue, upper: SSAValue, body: Callable[[], object]
) -> None:
    """A loop over ``[lower, upper)``, in which `var` of the source is the position."""

    def lower_body() -> Sequence[SSAValue]:
        body()
        return ()

    carried_loop(f, var, (), lower, upper, (), lower_body)


def carried_loop(
    f: FunctionBuilder,
    var: SSAValue,
    carry_vars: Sequence[SSAValue],
    lower: SSAValue,
    upper: SSAValue,
    inits: Sequence[SSAValue],
    lower_body: Callable[[], Sequence[SSAValue]],
    hints: Mapping[str, Attribute] = {},
    step: SSAValue | None = None,
    source: loops.ForOp | None = None,
) -> Sequence[SSAValue]:
    """A loop over ``[lower, upper)`` with carried values; returns them after it.

    A loop of the source (`source`) that repeats what it computes, packs its index into integers, or
    fills rows of memory is not unrolled.
    """
    header = f.add_block([i64, *(v.type for v in inits)])
    body, following = Block(), Block()
    position, *carried = header.args
    level = f.push(body)
    level.loop = source if source is not None and is_less(0, source.extent.data) else None
    level.values[var] = position
    level.values.update(zip(carry_vars, carried, strict=True))
    yielded = lower_body()
    if source is not None and (
        packs_index(source) or fills_rows(source) or (forks(carried) and is_repeated(source))
    ):
        hints = _STAYS
    following_position = f.emit(
        llvm.AddOp, (position, f.integer(1) if step is None else step), i64, NSW
    )
    f.branch(header, (following_position, *yielded), hints)
    f.pop()
    f.branch(header, (lower, *inits))
    f.levels[-1].block = header
    goes_on = f.emit(llvm.ICmpOp, (position, upper), i1, SLT)
    f.branch_if(goes_on, body, following)
    f.continue_in(following)
    return carried


def lower_slot(f: FunctionBuilder, op: rt.SlotOp) -> None:
    """The number of the thread that runs the iteration; a serial loop has one."""
    f.define(op.result, f.integer(0) if f.slot is None else f.slot)


def lower_yield(f: FunctionBuilder, op: Operation) -> None:
    """Nothing: the parent operation reads the operands of a terminator."""


def lower_bounds(f: FunctionBuilder, op: loops.IfOp) -> None:
    """A body under conditions on indices."""
    condition: SSAValue | None = None
    for bound in op.bounds.data:
        lhs, left = place_sum(f, bound.lhs.data.terms, op.operands_)
        rhs, right = place_sum(f, bound.rhs.data.terms, op.operands_)
        level = max(left, right)
        holds = compute(f, level, llvm.ICmpOp, lhs, rhs, SLT, i1)
        condition = holds if condition is None else f.emit(llvm.AndOp, (condition, holds), i1)
    assert condition is not None
    _choice(f, condition, op.body.block, None, ())


def lower_if(f: FunctionBuilder, op: scf.IfOp) -> None:
    """An `scf.if` with results."""
    blocks = op.false_region.blocks
    _choice(
        f, f.value(op.cond), op.true_region.block, blocks[0] if len(blocks) else None, op.results
    )


def _choice(
    f: FunctionBuilder,
    condition: SSAValue,
    on_true: Block,
    on_false: Block | None,
    results: Sequence[SSAValue],
) -> None:
    following = Block(arg_types=[lowered(r.type) for r in results])
    then = _side(f, on_true, following)
    otherwise = following if on_false is None else _side(f, on_false, following)
    f.branch_if(condition, then, otherwise)
    f.continue_in(following)
    for result, value in zip(results, following.args, strict=True):
        f.define(result, value)


def _side(f: FunctionBuilder, source: Block, following: Block) -> Block:
    start = Block()
    f.push(start)
    f.lower_block(source)
    last = source.last_op
    f.branch(following, f.values(last.operands) if isinstance(last, scf.YieldOp) else ())
    f.pop()
    return start


def lower_while(f: FunctionBuilder, op: scf.WhileOp) -> None:
    """A loop that runs while its first region says so."""
    before, after = op.before_region.block, op.after_region.block
    condition = before.last_op
    if not isinstance(condition, scf.ConditionOp):
        raise f.fail(op, "expected the first region of 'scf.while' to end with 'scf.condition'")
    inits = f.values(op.arguments)
    test, body, following = Block(arg_types=[v.type for v in inits]), Block(), Block()
    level = f.push(test)
    level.values.update(zip(before.args, test.args, strict=True))
    f.lower_block(before)
    goes_on, passed = f.value(condition.condition), f.values(condition.args)
    level = f.push(body)
    level.values.update(zip(after.args, passed, strict=True))
    f.lower_block(after)
    last = after.last_op
    f.branch(test, () if last is None else f.values(last.operands))
    f.pop()
    f.branch_if(goes_on, body, following)
    f.pop()
    f.branch(test, inits)
    f.continue_in(following)
    for result, value in zip(op.res, passed, strict=True):
        f.define(result, value)


def lower_scf_for(f: FunctionBuilder, op: scf.ForOp) -> None:
    """A loop over ``[lb, ub)`` with a step that is positive."""
    body = op.body.block
    var, *carry_vars = body.args

    def lower_body() -> Sequence[SSAValue]:
        f.lower_block(body)
        last = body.last_op
        return () if last is None else f.values(last.operands)

    lower, upper, step = f.values([op.lb, op.ub, op.step])
    inits = f.values(op.iter_args)
    found = carried_loop(f, var, carry_vars, lower, upper, inits, lower_body, step=step)
    for result, value in zip(op.results, found, strict=True):
        f.define(result, value)


def lower_assert(f: FunctionBuilder, op: tir.AssertOp) -> None:
    """Return with the id of the check unless the condition holds."""
    fail_check(f, f.value(op.condition), op.message.data)


def lower_size_assert(f: FunctionBuilder, op: rt.AssertOp) -> None:
    """Return with the id of the check and both sizes unless they are as they must be."""
    lhs, rhs = (index_value(f, e.data, ()) for e in (op.lhs, op.rhs))
    predicate = EQ if op.predicate.data == "eq" else SGE
    holds = f.emit(llvm.ICmpOp, (lhs, rhs), i1, predicate)
    fail_check(f, holds, op.message.data, (lhs, rhs))


def lower_branches(f: FunctionBuilder, op: rt.IfOp) -> None:
    """A branch between two regions on memory, by a bool in memory or by a number."""
    if op.condition is not None:
        value = f.emit(llvm.LoadOp, (f.value(op.condition),), i8)
    else:
        assert op.expr is not None
        value = index_value(f, op.expr.data, ())
    holds = f.emit(llvm.ICmpOp, (value, f.integer(0, value.type)), i1, NE)
    _choice(f, holds, op.true_region.block, op.false_region.block, ())


CONTROL: dict[type[Operation], Lowering] = {
    loops.ForOp: lower_for,
    loops.IfOp: lower_bounds,
    loops.YieldOp: lower_yield,
    scf.ConditionOp: lower_yield,
    scf.ForOp: lower_scf_for,
    scf.IfOp: lower_if,
    scf.WhileOp: lower_while,
    rt.AssertOp: lower_size_assert,
    rt.IfOp: lower_branches,
    rt.ReadSizesOp: read_sizes,
    rt.SlotOp: lower_slot,
    scf.YieldOp: lower_yield,
    tir.AssertOp: lower_assert,
}
"""The lowerings of control flow."""
