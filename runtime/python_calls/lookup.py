"""What a call from Python looks up: its arguments, memory given for results, and its plan.

    internal i1 xrelax.overlap(ptr tensors, ptr addresses, ptr bytes, i64 count)

Whether a written tensor shares memory with another one.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..call_words import HASH_FACTOR, PLAN_BITS, CallWord, PlanWord, PythonWord, TensorWord
from .arguments import view
from .code import I1, I64, PTR, Block, PythonCode, Value
from .results import TENSOR_WORDS

_OVERLAP = "@xrelax.overlap"


def overlap_function() -> str:
    """The function `xrelax.overlap`."""
    f = PythonCode(_OVERLAP)
    tensors, addresses, sizes = (f.add_argument(PTR) for _ in range(3))
    count = f.add_argument(I64)
    found = f.new_block()

    def each(i: Value) -> tuple[Value, ...]:
        written = f.word(f.moved(tensors, i, TENSOR_WORDS), TensorWord.WRITTEN, I64)
        f.when(f.opposite(f.is_zero(written)), lambda: against_others(i))
        return ()

    def against_others(i: Value) -> None:
        begin = f.item(addresses, i, I64)
        end = f.add(begin, f.item(sizes, i, I64))

        def other(j: Value) -> tuple[Value, ...]:
            first = f.item(addresses, j, I64)
            before_end = f.less(first, end)
            after_begin = f.less(begin, f.add(first, f.item(sizes, j, I64)))
            same = f.equal(i, j)
            apart = f.opposite(f.bits(before_end, after_begin))
            f.unless(f.either(same, apart), found)
            return ()

        f.repeat(count, other)

    f.repeat(count, each)
    f.give(f.integer(0, I1))
    f.continue_in(found)
    return f.text(f.integer(1, I1))


@dataclass
class Lookup:
    """The test of a call's arguments, which branches to `slow` if native code does not support "
    "them."""

    f: PythonCode
    call: Value
    slow: Block

    def number(self, word: CallWord) -> Value:
        """A number that is known of the function."""
        return self.f.word(self.call, word, I64)

    def views(
        self, values: Value, count: Value, descriptors: Value, dims: Value, argv: Value
    ) -> Value:
        """Check arguments, and write their dims and addresses; where the next dims go."""
        f = self.f

        def one(i: Value, cursor: Value) -> tuple[Value, ...]:
            descriptor = f.moved(descriptors, i, TENSOR_WORDS)
            fits = view(f, descriptor, f.item(values, i), cursor, f.moved(argv, i))
            f.unless(fits, self.slow)
            return (f.moved(cursor, f.word(descriptor, TensorWord.RANK, I64)),)

        return f.repeat(count, one, (dims,))[0]

    def given_out(
        self,
        args: Value,
        count: Value,
        kwnames: Value,
        descriptors: Value,
        dims: Value,
        argv: Value,
    ) -> Value:
        """The object that is given as `out`, checked; null without one."""
        f = self.f

        def look() -> tuple[Value, ...]:
            only = f.equal(f.call(PythonWord.TUPLE_SIZE, kwnames, returns=I64), f.integer(1))
            f.unless(only, self.slow)
            name = f.call(PythonWord.TUPLE_ITEM, kwnames, f.integer(0))
            f.unless(f.equal(name, f.word(self.call, CallWord.OUT)), self.slow)
            out = f.item(args, count)
            returns_one = f.is_zero(self.number(CallWord.RETURNS_TUPLE))
            f.choose(returns_one, lambda: one(out), lambda: several(out))
            return (out,)

        def one(out: Value) -> tuple[Value, ...]:
            f.unless(view(f, descriptors, out, dims, argv), self.slow)
            return ()

        def several(out: Value) -> tuple[Value, ...]:
            items, results = self.items(out)
            self.views(items, results, descriptors, dims, argv)
            return ()

        return f.choose(f.is_zero(kwnames), lambda: (f.null(),), look)[0]

    def items(self, out: Value) -> tuple[Value, Value]:
        """What is in a tuple that must have an object for each result, and how many these are."""
        f = self.f
        f.unless(f.equal(f.type_of(out), f.known(PythonWord.TUPLE_TYPE)), self.slow)
        results = self.number(CallWord.RESULTS)
        size = f.call(PythonWord.TUPLE_SIZE, out, returns=I64)
        f.unless(f.equal(size, results), self.slow)
        items = f.words(results)

        def item(i: Value) -> tuple[Value, ...]:
            f.store(f.call(PythonWord.TUPLE_ITEM, out, i), f.moved(items, i))
            return ()

        f.repeat(results, item)
        return items, results

    def plan(self, dims: Value, out: Value) -> Value:
        """The plan of a call with these dims, those of `out` included."""
        f = self.f
        known = self.number(CallWord.ARGUMENT_DIMS)

        def mix(i: Value, found: Value) -> tuple[Value, ...]:
            mixed = f.binary("xor", found, f.item(dims, i, I64))
            return (f.binary("mul", mixed, f.integer(HASH_FACTOR)),)

        (found,) = f.repeat(known, mix, (f.integer(0),))
        slot = f.binary("lshr", found, f.integer(64 - PLAN_BITS))
        plan = f.item(f.word(self.call, CallWord.PLANS), slot)
        f.unless(f.opposite(f.is_zero(plan)), self.slow)
        expected = f.word(plan, PlanWord.DIMS)

        def compare(i: Value) -> tuple[Value, ...]:
            f.unless(f.equal(f.item(dims, i, I64), f.item(expected, i, I64)), self.slow)
            return ()

        count = f.select(f.is_zero(out), known, self.number(CallWord.ALL_DIMS))
        f.repeat(count, compare)
        return plan

    def refuse_overlap(
        self, descriptors: Value, argv: Value, plan: Value, arity: Value, tensors: Value, out: Value
    ) -> None:
        """Leave where a written tensor shares memory with another one."""
        f = self.f
        count = f.select(f.is_zero(out), arity, tensors)
        reads = f.is_zero(self.number(CallWord.WRITES))

        def check() -> None:
            args = (descriptors, argv, f.word(plan, PlanWord.BYTES), count)
            f.unless(f.opposite(f.call_function(_OVERLAP, *args, returns=I1)), self.slow)

        f.when(f.opposite(f.bits(reads, f.is_zero(out))), check)
