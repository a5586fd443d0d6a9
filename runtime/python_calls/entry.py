"""The functions by which Python calls compiled functions, and they let it handle signals.

    external ptr xrelax.python.vectorcall(ptr callable, ptr args, i64 nargsf, ptr kwnames)

It checks the arguments, finds the plan of the call by their dims, allocates the results unless the
caller passes memory for them as `out`, and runs native code without the GIL. The run time makes the
plans. Calls without a plan, and calls whose arguments must be converted, copied or refused, are
done by the run time in Python.

    external i32 xrelax.python.poll(ptr ctx)

It lets Python run the handlers of signals in a long call. Native code runs without the GIL, and
Python's own handler of a signal only notes it. What the handler of the program raises,
KeyboardInterrupt for Ctrl-C, is left at the word of checks, owned, and the status says so. Python
runs handlers in the main thread alone: in others, nothing happens.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..call_words import (
    ARENA,
    CHECK,
    CONTEXT_WORDS,
    ENTRY_SYMBOL,
    POLL_SYMBOL,
    PYTHON,
    STATUS_SIGNAL,
    CallWord,
    Place,
    PlanWord,
    PythonWord,
    TensorWord,
)
from .arguments import view_function
from .code import I1, I32, I64, PTR, Block, PythonCode, Value, start
from .lookup import Lookup, overlap_function
from .results import TENSOR_WORDS, make_result, result_function, take_arena, take_arena_function

_SLOW = "@xrelax.call_python"
_COUNT_MASK = (1 << 63) - 1
"""The highest bit of `nargsf` is CPython's `PY_VECTORCALL_ARGUMENTS_OFFSET`."""


def python_calls_ir() -> str:
    """LLVM IR of the functions and their parts."""
    functions = (
        view_function(),
        result_function(),
        take_arena_function(),
        overlap_function(),
        _slow_function(),
        _entry_function(),
        _poll_function(),
    )
    return "\n".join(functions)


def _slow_function() -> str:
    """ptr xrelax.call_python(ptr python, ptr callable, ptr args, i64 count, ptr kwnames).

    The same call by the run time, as a method of the callable.
    """
    f = start(_SLOW)
    callable_, args = f.add_argument(PTR), f.add_argument(PTR)
    count, kwnames = f.add_argument(I64), f.add_argument(PTR)
    failed = f.new_block()
    f.do(PythonWord.CLEAR)  # errors of the test of an argument
    function = f.word(f.load(callable_, Place.CALL), CallWord.SLOW)
    method = f.call(PythonWord.METHOD_NEW, function, callable_)
    f.unless(f.opposite(f.is_zero(method)), failed)
    result = f.call(PythonWord.VECTORCALL, method, args, count, kwnames)
    f.do(PythonWord.DECREF, method)
    f.give(result)
    f.continue_in(failed)
    return f.text(f.null())


def _entry_function() -> str:
    f = PythonCode(f"@{ENTRY_SYMBOL}")
    callable_, args = f.add_argument(PTR), f.add_argument(PTR)
    nargsf, kwnames = f.add_argument(I64), f.add_argument(PTR)
    call = f.load(callable_, Place.CALL)
    f.python = f.word(call, CallWord.PYTHON)
    count = f.bits(nargsf, f.integer(_COUNT_MASK))
    slow = f.new_block()
    entry = _Entry(f, call, slow, callable_)
    entry.run(args, count, kwnames)
    f.continue_in(slow)
    result = f.call_function(_SLOW, f.python, callable_, args, count, kwnames, returns=PTR)
    return f.text(result, linkage="external")


@dataclass
class _Entry(Lookup):
    """The quick way of a call, which leaves for `slow` where it is not for it."""

    callable: Value

    def run(self, args: Value, count: Value, kwnames: Value) -> None:
        """The whole call; every path from here returns, or leaves for `slow`."""
        f = self.f
        arity = self.number(CallWord.ARITY)
        f.unless(f.equal(count, arity), self.slow)
        results, symbols = self.number(CallWord.RESULTS), self.number(CallWord.SYMBOLS)
        tensors = f.add(arity, results)
        words = f.words(f.add(f.add(tensors, symbols), f.integer(CONTEXT_WORDS)))
        argv = f.moved(words, f.integer(CONTEXT_WORDS))
        dims = f.words(self.number(CallWord.ALL_DIMS))
        descriptors = f.word(self.call, CallWord.TENSORS)
        cursor = self.views(args, arity, descriptors, dims, argv)
        rest = (f.moved(descriptors, arity, TENSOR_WORDS), cursor, f.moved(argv, arity))
        out = self.given_out(args, count, kwnames, *rest)
        plan = self.plan(dims, out)
        self.refuse_overlap(descriptors, argv, plan, arity, tensors, out)
        keeper = f.word(plan, PlanWord.KEEPER)
        f.do(PythonWord.INCREF, keeper)
        undo = f.new_block(PTR, PTR)
        self.fill_context(words)
        arena = self.arena(plan, words, undo)
        result = self.results(plan, f.moved(argv, arity), out, arena, undo)
        f.copy(f.word(plan, PlanWord.SYMBOLS), f.moved(argv, tensors), symbols)
        status = self.run_native(words, argv)
        self.give_back(arena, keeper)
        self.finish(status, result, words)
        f.continue_in(undo)
        arena, result = undo.args
        self.give_back(arena, keeper)
        f.when(f.opposite(f.is_zero(result)), lambda: f.do(PythonWord.DECREF, result))
        f.branch(self.slow)

    def fill_context(self, words: Value) -> None:
        """The context of the function, of which this call changes some words."""
        f = self.f
        template = f.word(self.call, CallWord.CONTEXT)
        type_ = f"[{CONTEXT_WORDS} x i64]"
        f.store(f.load(template, 0, type_), words)

    def arena(self, plan: Value, words: Value, undo: Block) -> Value:
        """Scratch memory for the call, or null where it needs none."""
        f = self.f
        nbytes = f.word(plan, PlanWord.ARENA, I64)

        def take() -> tuple[Value, ...]:
            place = f.at(words, 8 * ARENA)
            arena = take_arena(f, f.word(self.call, CallWord.ARENAS), nbytes, place)
            f.unless(f.opposite(f.is_zero(arena)), undo, [arena, f.null()])
            return (arena,)

        return f.choose(f.is_zero(nbytes), lambda: (f.null(),), take)[0]

    def results(self, plan: Value, argv: Value, out: Value, arena: Value, undo: Block) -> Value:
        """What the call returns, which is owned here."""
        f = self.f
        count = self.number(CallWord.RESULTS)
        dims = f.moved(f.word(plan, PlanWord.DIMS), self.number(CallWord.ARGUMENT_DIMS))

        def checked(made: Value, given_up: Value) -> Value:
            f.unless(f.opposite(f.is_zero(made)), undo, [arena, given_up])
            return made

        def make() -> Sequence[Value]:
            returns_tuple = f.opposite(f.is_zero(self.number(CallWord.RETURNS_TUPLE)))
            return f.choose(returns_tuple, several, lambda: f.choose(f.is_zero(count), none, one))

        def none() -> tuple[Value, ...]:
            f.do(PythonWord.INCREF, f.known(PythonWord.NONE))
            return (f.known(PythonWord.NONE),)

        def one() -> tuple[Value, ...]:
            made = make_result(f, self.call, f.integer(0), plan, dims, argv)
            return (checked(made, f.null()),)

        def several() -> tuple[Value, ...]:
            found = checked(f.call(PythonWord.TUPLE_NEW, count), f.null())
            self.fill(found, count, plan, dims, argv, checked)
            return (found,)

        def given() -> tuple[Value, ...]:
            f.do(PythonWord.INCREF, out)
            return (out,)

        return f.choose(f.is_zero(out), make, given)[0]

    def fill(
        self,
        results: Value,
        count: Value,
        plan: Value,
        dims: Value,
        argv: Value,
        checked: Callable[[Value, Value], Value],
    ) -> None:
        """Put new results into a tuple, which is given up where one of them cannot be made."""
        f = self.f
        descriptors = f.word(self.call, CallWord.TENSORS)
        own = f.moved(descriptors, self.number(CallWord.ARITY), TENSOR_WORDS)

        def item(i: Value, cursor: Value) -> tuple[Value, ...]:
            made = make_result(f, self.call, i, plan, cursor, f.moved(argv, i))
            f.call(PythonWord.TUPLE_SET, results, i, checked(made, results), returns=I32)
            rank = f.word(f.moved(own, i, TENSOR_WORDS), TensorWord.RANK, I64)
            return (f.moved(cursor, rank),)

        f.repeat(count, item, (dims,))

    def run_native(self, words: Value, argv: Value) -> Value:
        """The status of the native function, which runs without the GIL."""
        f = self.f
        thread = f.call(PythonWord.SAVE_THREAD)
        entry = f.word(self.call, CallWord.ENTRY)
        status = f.call_function(entry.name, words, argv, returns=I32)
        f.do(PythonWord.RESTORE_THREAD, thread)
        return status

    def give_back(self, arena: Value, keeper: Value) -> None:
        """Return what the call has borrowed."""
        f = self.f

        def put_back() -> None:
            arenas = f.word(self.call, CallWord.ARENAS)
            status = f.call(PythonWord.LIST_APPEND, arenas, arena, returns=I32)
            failed = f.compare("slt", status, f.integer(0, I32))
            f.when(failed, lambda: f.do(PythonWord.CLEAR))  # without memory it is freed instead
            f.do(PythonWord.DECREF, arena)

        f.when(f.opposite(f.is_zero(arena)), put_back)
        f.do(PythonWord.DECREF, keeper)

    def finish(self, status: Value, result: Value, words: Value) -> None:
        """Return the result, or what the run time raises for the status."""
        f = self.f
        failed = f.new_block()
        f.unless(f.is_zero(status), failed)
        f.give(result)
        f.continue_in(failed)
        f.do(PythonWord.DECREF, result)
        failure = [f.wide(status), *(f.word(words, CHECK + i, I64) for i in range(3))]
        self.raise_failure([f.call(PythonWord.INT_FROM, number) for number in failure])

    def raise_failure(self, numbers: Sequence[Value]) -> None:
        """Let the run time raise for numbers as objects, null where there was no memory for one."""
        f = self.f
        args = f.alloca(f"[{1 + len(numbers)} x i64]")
        f.store(self.callable, args)
        complete = f.integer(1, I1)
        for position, number in enumerate(numbers, 1):
            f.store(number, args, 8 * position)
            complete = f.bits(complete, f.opposite(f.is_zero(number)))
        fail, count = f.word(self.call, CallWord.FAIL), f.integer(1 + len(numbers))

        def report() -> tuple[Value, ...]:
            return (f.call(PythonWord.VECTORCALL, fail, args, count, f.null()),)

        (raised,) = f.choose(complete, report, lambda: (f.null(),))
        for number in numbers:
            f.when(f.opposite(f.is_zero(number)), lambda n=number: f.do(PythonWord.DECREF, n))
        f.give(raised)


def _poll_function() -> str:
    f = PythonCode(f"@{POLL_SYMBOL}")
    context = f.add_argument(PTR)
    f.python = f.word(context, PYTHON)
    state = f.call(PythonWord.GIL_ENSURE, returns=I32)
    raised = f.call(PythonWord.CHECK_SIGNALS, returns=I32)

    def failed() -> tuple[Value, ...]:
        _take_exception(f, context)
        return (f.integer(STATUS_SIGNAL, I32),)

    (status,) = f.choose(f.is_zero(raised), lambda: (f.integer(0, I32),), failed)
    f.do(PythonWord.GIL_RELEASE, state)
    return f.text(status, linkage="external")


def _take_exception(f: PythonCode, context: Value) -> None:
    """Move the exception that is set to the context."""
    places = [f.alloca(PTR) for _ in range(3)]
    f.do(PythonWord.ERROR_FETCH, *places)
    f.do(PythonWord.ERROR_NORMALIZE, *places)
    kind, value, traceback = map(f.load, places)
    f.store(value, context, 8 * CHECK)
    f.do(PythonWord.DECREF, kind)
    f.do(PythonWord.DECREF, traceback)
