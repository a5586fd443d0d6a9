"""What a call from Python looks up: its arguments, memory given for results, and its plan.

    internal i1 xrelax.overlap(ptr tensors, ptr addresses, ptr bytes, i64 count)

Whether a written tensor shares memory with another one.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import llvm
from xdsl.dialects.builtin import i1, i64
from xdsl.ir import Block, SSAValue

from ...runtime.call_words import HASH_FACTOR, PLAN_BITS, CallWord, PlanWord, PythonWord, TensorWord
from .module_state import ModuleState
from .native_calls import call_symbol
from .python_arguments import view
from .python_code import PythonCode
from .python_results import TENSOR_WORDS
from .types import PTR

_OVERLAP = "xrelax.overlap"


def define_overlap(module: ModuleState) -> None:
    """Add the function."""
    f = PythonCode(module, _OVERLAP)
    tensors, addresses, sizes = (f.add_argument(PTR) for _ in range(3))
    count = f.add_argument(i64)
    found = Block()

    def each(i: SSAValue) -> tuple[SSAValue, ...]:
        written = f.word(f.moved(tensors, i, TENSOR_WORDS), TensorWord.WRITTEN, i64)
        f.when(f.opposite(f.is_zero(written)), lambda: against_others(i))
        return ()

    def against_others(i: SSAValue) -> None:
        begin = f.item(addresses, i, i64)
        end = f.add(begin, f.item(sizes, i, i64))

        def other(j: SSAValue) -> tuple[SSAValue, ...]:
            first = f.item(addresses, j, i64)
            before_end = f.less(first, end)
            after_begin = f.less(begin, f.add(first, f.item(sizes, j, i64)))
            same = f.equal(i, j)
            apart = f.opposite(f.bits(before_end, after_begin))
            f.unless(f.emit(llvm.OrOp, (same, apart), i1), found)
            return ()

        f.repeat(count, other)

    f.repeat(count, each)
    f.give(f.integer(0, i1))
    f.continue_in(found)
    f.finish(status=f.integer(1, i1))


@dataclass
class Lookup:
    """The look at what a call gets, which leaves for `slow` where native code is not for it."""

    f: PythonCode
    call: SSAValue
    slow: Block

    def number(self, word: CallWord) -> SSAValue:
        """A number that is known of the function."""
        return self.f.word(self.call, word, i64)

    def views(
        self,
        values: SSAValue,
        count: SSAValue,
        descriptors: SSAValue,
        dims: SSAValue,
        argv: SSAValue,
    ) -> SSAValue:
        """Check arguments, and write their dims and addresses; where the next dims go."""
        f = self.f

        def one(i: SSAValue, cursor: SSAValue) -> tuple[SSAValue, ...]:
            descriptor = f.moved(descriptors, i, TENSOR_WORDS)
            fits = view(f, descriptor, f.item(values, i), cursor, f.moved(argv, i))
            f.unless(fits, self.slow)
            return (f.moved(cursor, f.word(descriptor, TensorWord.RANK, i64)),)

        return f.repeat(count, one, (dims,))[0]

    def given_out(
        self,
        args: SSAValue,
        count: SSAValue,
        kwnames: SSAValue,
        descriptors: SSAValue,
        dims: SSAValue,
        argv: SSAValue,
    ) -> SSAValue:
        """The object that is given as `out`, checked; null without one."""
        f = self.f

        def look() -> tuple[SSAValue, ...]:
            only = f.equal(f.call(PythonWord.TUPLE_SIZE, kwnames, returns=i64), f.integer(1))
            f.unless(only, self.slow)
            name = f.call(PythonWord.TUPLE_ITEM, kwnames, f.integer(0))
            f.unless(f.equal(name, f.word(self.call, CallWord.OUT)), self.slow)
            out = f.item(args, count)
            returns_one = f.is_zero(self.number(CallWord.RETURNS_TUPLE))
            f.choose(returns_one, lambda: one(out), lambda: several(out))
            return (out,)

        def one(out: SSAValue) -> tuple[SSAValue, ...]:
            f.unless(view(f, descriptors, out, dims, argv), self.slow)
            return ()

        def several(out: SSAValue) -> tuple[SSAValue, ...]:
            items, results = self.items(out)
            self.views(items, results, descriptors, dims, argv)
            return ()

        return f.choose(f.is_zero(kwnames), lambda: (f.null(),), look)[0]

    def items(self, out: SSAValue) -> tuple[SSAValue, SSAValue]:
        """What is in a tuple that must have an object for each result, and how many these are."""
        f = self.f
        f.unless(f.equal(f.type_of(out), f.known(PythonWord.TUPLE_TYPE)), self.slow)
        results = self.number(CallWord.RESULTS)
        size = f.call(PythonWord.TUPLE_SIZE, out, returns=i64)
        f.unless(f.equal(size, results), self.slow)
        items = f.words(results)

        def item(i: SSAValue) -> tuple[SSAValue, ...]:
            f.store(f.call(PythonWord.TUPLE_ITEM, out, i), f.moved(items, i))
            return ()

        f.repeat(results, item)
        return items, results

    def plan(self, dims: SSAValue, out: SSAValue) -> SSAValue:
        """The plan of a call with these dims, those of `out` included."""
        f = self.f
        known = self.number(CallWord.ARGUMENT_DIMS)

        def mix(i: SSAValue, found: SSAValue) -> tuple[SSAValue, ...]:
            mixed = f.emit(llvm.XOrOp, (found, f.item(dims, i, i64)), i64)
            return (f.emit(llvm.MulOp, (mixed, f.integer(HASH_FACTOR)), i64),)

        (found,) = f.repeat(known, mix, (f.integer(0),))
        slot = f.emit(llvm.LShrOp, (found, f.integer(64 - PLAN_BITS)), i64)
        plan = f.item(f.word(self.call, CallWord.PLANS), slot)
        f.unless(f.opposite(f.is_zero(plan)), self.slow)
        expected = f.word(plan, PlanWord.DIMS)

        def compare(i: SSAValue) -> tuple[SSAValue, ...]:
            f.unless(f.equal(f.item(dims, i, i64), f.item(expected, i, i64)), self.slow)
            return ()

        count = f.select(f.is_zero(out), known, self.number(CallWord.ALL_DIMS))
        f.repeat(count, compare)
        return plan

    def refuse_overlap(
        self,
        descriptors: SSAValue,
        argv: SSAValue,
        plan: SSAValue,
        arity: SSAValue,
        tensors: SSAValue,
        out: SSAValue,
    ) -> None:
        """Leave where a written tensor shares memory with another one."""
        f = self.f
        count = f.select(f.is_zero(out), arity, tensors)
        reads = f.is_zero(self.number(CallWord.WRITES))

        def check() -> None:
            args = (descriptors, argv, f.word(plan, PlanWord.BYTES), count)
            f.unless(f.opposite(call_symbol(f, _OVERLAP, args, i1)), self.slow)

        f.when(f.opposite(f.bits(reads, f.is_zero(out))), check)
