"""The function by which Python calls compiled functions, one for all of them.

    external ptr xrelax.python.vectorcall(ptr callable, ptr args, i64 nargsf, ptr kwnames)

It looks at the arguments, finds the plan of the call by their dims, makes the results unless the
caller gives memory for them as `out`, and runs native code without the GIL. The run time makes the
plans. It does the calls itself for which there is none, and those with arguments that it has to
convert, to copy or to refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp, i1, i32, i64
from xdsl.dialects.llvm import LLVMArrayType
from xdsl.ir import Block, SSAValue

from ...dialects import llvm_ext
from ...runtime.call_words import (
    ENTRY_SYMBOL,
    CallWord,
    Place,
    PlanWord,
    PythonWord,
    TensorWord,
)
from ...runtime.context import ARENA, CHECK, CONTEXT_WORDS
from .interface import Tables
from .module_state import ModuleState
from .native_calls import call_symbol
from .python_arguments import define_view
from .python_code import PythonCode, start
from .python_lookup import Lookup, define_overlap
from .python_results import (
    TENSOR_WORDS,
    define_result,
    define_take_arena,
    make_result,
    take_arena,
)
from .python_signals import define_poll
from .types import PTR, SLT

_SLOW = "xrelax.call_python"
_COUNT_MASK = (1 << 63) - 1
"""The highest bit of `nargsf` is CPython's `PY_VECTORCALL_ARGUMENTS_OFFSET`."""


def python_entry_module() -> ModuleOp:
    """The function and its parts, in the `llvm` dialect."""
    state = ModuleState({}, Tables())
    define_view(state)
    define_result(state)
    define_take_arena(state)
    define_overlap(state)
    _define_slow(state)
    _define_entry(state)
    define_poll(state)
    return ModuleOp(state.functions)


def _define_slow(module: ModuleState) -> None:
    """ptr xrelax.call_python(ptr python, ptr callable, ptr args, i64 count, ptr kwnames).

    The same call by the run time, as a method of the callable.
    """
    f = start(module, _SLOW)
    callable_, args = f.add_argument(PTR), f.add_argument(PTR)
    count, kwnames = f.add_argument(i64), f.add_argument(PTR)
    failed = Block()
    f.do(PythonWord.CLEAR)  # what the look at an argument may have raised
    function = f.word(f.load(callable_, Place.CALL), CallWord.SLOW)
    method = f.call(PythonWord.METHOD_NEW, function, callable_)
    f.unless(f.opposite(f.is_zero(method)), failed)
    result = f.call(PythonWord.VECTORCALL, method, args, count, kwnames)
    f.do(PythonWord.DECREF, method)
    f.give(result)
    f.continue_in(failed)
    f.finish(status=f.null())


def _define_entry(module: ModuleState) -> None:
    f = PythonCode(module, ENTRY_SYMBOL)
    f.is_private = False
    callable_, args = f.add_argument(PTR), f.add_argument(PTR)
    nargsf, kwnames = f.add_argument(i64), f.add_argument(PTR)
    call = f.load(callable_, Place.CALL)
    f.python = f.word(call, CallWord.PYTHON)
    count = f.bits(nargsf, f.integer(_COUNT_MASK))
    slow = Block()
    entry = _Entry(f, call, slow, callable_)
    entry.run(args, count, kwnames)
    f.continue_in(slow)
    result = call_symbol(f, _SLOW, (f.python, callable_, args, count, kwnames), PTR)
    f.finish(linkage="external", status=result)


@dataclass
class _Entry(Lookup):
    """The quick way of a call, which leaves for `slow` where it is not for it."""

    callable: SSAValue

    def run(self, args: SSAValue, count: SSAValue, kwnames: SSAValue) -> None:
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
        undo = Block(arg_types=[PTR, PTR])
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

    def fill_context(self, words: SSAValue) -> None:
        """The context of the function, of which this call changes some words."""
        f = self.f
        template = f.word(self.call, CallWord.CONTEXT)
        type_ = LLVMArrayType(CONTEXT_WORDS, i64)
        f.store(f.load(template, 0, type_), words)

    def arena(self, plan: SSAValue, words: SSAValue, undo: Block) -> SSAValue:
        """Scratch memory for the call, or null where it needs none."""
        f = self.f
        nbytes = f.word(plan, PlanWord.ARENA, i64)

        def take() -> tuple[SSAValue, ...]:
            place = f.at(words, 8 * ARENA)
            arena = take_arena(f, f.word(self.call, CallWord.ARENAS), nbytes, place)
            f.unless(f.opposite(f.is_zero(arena)), undo, [arena, f.null()])
            return (arena,)

        return f.choose(f.is_zero(nbytes), lambda: (f.null(),), take)[0]

    def results(
        self, plan: SSAValue, argv: SSAValue, out: SSAValue, arena: SSAValue, undo: Block
    ) -> SSAValue:
        """What the call returns, which is owned here."""
        f = self.f
        count = self.number(CallWord.RESULTS)
        dims = f.moved(f.word(plan, PlanWord.DIMS), self.number(CallWord.ARGUMENT_DIMS))

        def checked(made: SSAValue, given_up: SSAValue) -> SSAValue:
            f.unless(f.opposite(f.is_zero(made)), undo, [arena, given_up])
            return made

        def make() -> list[SSAValue]:
            returns_tuple = f.opposite(f.is_zero(self.number(CallWord.RETURNS_TUPLE)))
            return f.choose(returns_tuple, several, lambda: f.choose(f.is_zero(count), none, one))

        def none() -> tuple[SSAValue, ...]:
            f.do(PythonWord.INCREF, f.known(PythonWord.NONE))
            return (f.known(PythonWord.NONE),)

        def one() -> tuple[SSAValue, ...]:
            made = make_result(f, self.call, f.integer(0), plan, dims, argv)
            return (checked(made, f.null()),)

        def several() -> tuple[SSAValue, ...]:
            found = checked(f.call(PythonWord.TUPLE_NEW, count), f.null())
            self.fill(found, count, plan, dims, argv, checked)
            return (found,)

        def given() -> tuple[SSAValue, ...]:
            f.do(PythonWord.INCREF, out)
            return (out,)

        return f.choose(f.is_zero(out), make, given)[0]

    def fill(
        self,
        results: SSAValue,
        count: SSAValue,
        plan: SSAValue,
        dims: SSAValue,
        argv: SSAValue,
        checked: Callable[[SSAValue, SSAValue], SSAValue],
    ) -> None:
        """Put new results into a tuple, which is given up where one of them cannot be made."""
        f = self.f
        descriptors = f.word(self.call, CallWord.TENSORS)
        own = f.moved(descriptors, self.number(CallWord.ARITY), TENSOR_WORDS)

        def item(i: SSAValue, cursor: SSAValue) -> tuple[SSAValue, ...]:
            made = make_result(f, self.call, i, plan, cursor, f.moved(argv, i))
            f.call(PythonWord.TUPLE_SET, results, i, checked(made, results), returns=i32)
            rank = f.word(f.moved(own, i, TENSOR_WORDS), TensorWord.RANK, i64)
            return (f.moved(cursor, rank),)

        f.repeat(count, item, (dims,))

    def run_native(self, words: SSAValue, argv: SSAValue) -> SSAValue:
        """The status of the native function, which runs without the GIL."""
        f = self.f
        thread = f.call(PythonWord.SAVE_THREAD)
        entry = f.word(self.call, CallWord.ENTRY)
        status = f.emit(llvm_ext.CallPtrOp, (entry, words, argv), i32)
        f.do(PythonWord.RESTORE_THREAD, thread)
        return status

    def give_back(self, arena: SSAValue, keeper: SSAValue) -> None:
        """Return what the call has borrowed."""
        f = self.f

        def put_back() -> None:
            arenas = f.word(self.call, CallWord.ARENAS)
            status = f.call(PythonWord.LIST_APPEND, arenas, arena, returns=i32)
            failed = f.emit(llvm.ICmpOp, (status, f.integer(0, i32)), i1, SLT)
            f.when(failed, lambda: f.do(PythonWord.CLEAR))  # without memory it is freed instead
            f.do(PythonWord.DECREF, arena)

        f.when(f.opposite(f.is_zero(arena)), put_back)
        f.do(PythonWord.DECREF, keeper)

    def finish(self, status: SSAValue, result: SSAValue, words: SSAValue) -> None:
        """Return the result, or what the run time raises for the status."""
        f = self.f
        failed = Block()
        f.unless(f.is_zero(status), failed)
        f.give(result)
        f.continue_in(failed)
        f.do(PythonWord.DECREF, result)
        failure = [f.wide(status), *(f.word(words, CHECK + i, i64) for i in range(3))]
        self.raise_failure([f.call(PythonWord.INT_FROM, number) for number in failure])

    def raise_failure(self, numbers: Sequence[SSAValue]) -> None:
        """Let the run time raise for numbers as objects, null where there was no memory for one."""
        f = self.f
        args = f.alloca(LLVMArrayType(1 + len(numbers), i64), 8)
        f.store(self.callable, args)
        complete = f.integer(1, i1)
        for position, number in enumerate(numbers, 1):
            f.store(number, args, 8 * position)
            complete = f.bits(complete, f.opposite(f.is_zero(number)))
        fail, count = f.word(self.call, CallWord.FAIL), f.integer(1 + len(numbers))

        def report() -> tuple[SSAValue, ...]:
            return (f.call(PythonWord.VECTORCALL, fail, args, count, f.null()),)

        (raised,) = f.choose(complete, report, lambda: (f.null(),))
        for number in numbers:
            f.when(f.opposite(f.is_zero(number)), lambda n=number: f.do(PythonWord.DECREF, n))
        f.give(raised)
