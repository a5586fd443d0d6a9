"""Short forms for code on Python's objects and tables of words, of which the entry is made."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import llvm
from xdsl.dialects.builtin import i1, i8, i32, i64
from xdsl.ir import Attribute, Block, SSAValue

from ...dialects import llvm_ext
from ...runtime.call_words import Place, PythonWord
from .builder import FunctionBuilder
from .module_state import ModuleState
from .types import EQ, PTR, SLT, gep_properties


class PythonCode(FunctionBuilder):
    """A function that works on Python's objects; its first argument may be the `PythonWord`s."""

    def __init__(self, module: ModuleState, symbol: str):
        super().__init__(module, symbol, symbol)
        self.python: SSAValue | None = None

    def at(self, base: SSAValue, offset: int) -> SSAValue:
        """The address a number of bytes further."""
        return self.moved(base, self.integer(offset), i8) if offset else base

    def moved(self, base: SSAValue, count: SSAValue, type_: Attribute = i64) -> SSAValue:
        """The address a number of elements further."""
        return self.emit(llvm.GEPOp, (base, count), PTR, gep_properties(type_, True))

    def load(self, base: SSAValue, offset: int = 0, type_: Attribute = PTR) -> SSAValue:
        """What is in memory, a number of bytes further."""
        return self.emit(llvm.LoadOp, (self.at(base, offset),), type_)

    def word(self, table: SSAValue, position: int, type_: Attribute = PTR) -> SSAValue:
        """One word of a table."""
        return self.load(table, 8 * position, type_)

    def item(self, array: SSAValue, index: SSAValue, type_: Attribute = PTR) -> SSAValue:
        """One word of an array."""
        return self.load(self.moved(array, index), 0, type_)

    def store(self, value: SSAValue, base: SSAValue, offset: int = 0) -> None:
        """Put a value into memory, a number of bytes further."""
        self.run(llvm.StoreOp, (value, self.at(base, offset)))

    def words(self, count: SSAValue) -> SSAValue:
        """Stack memory for as many words, taken where the code is now."""
        return self.emit(llvm.AllocaOp, (count,), PTR, {"elem_type": i64})

    def null(self) -> SSAValue:
        """The null pointer."""
        op = llvm.ZeroOp.create(result_types=[PTR])
        self.block.add_op(op)
        return op.results[0]

    def add(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """The sum of two words."""
        return self.emit(llvm.AddOp, (lhs, rhs), i64)

    def bits(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """The bits that two values share."""
        return self.emit(llvm.AndOp, (lhs, rhs), lhs.type)

    def equal(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """Whether two words, or two addresses, are equal."""
        return self.emit(llvm.ICmpOp, (self.number(lhs), self.number(rhs)), i1, EQ)

    def is_zero(self, value: SSAValue) -> SSAValue:
        """Whether a word, or an address, is zero."""
        number = self.number(value)
        return self.equal(number, self.integer(0, number.type))

    def opposite(self, condition: SSAValue) -> SSAValue:
        """Whether a condition does not hold."""
        return self.emit(llvm.XOrOp, (condition, self.integer(1, i1)), i1)

    def less(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """Whether one word is less than another, both with a sign."""
        return self.emit(llvm.ICmpOp, (lhs, rhs), i1, SLT)

    def select(self, condition: SSAValue, then: SSAValue, otherwise: SSAValue) -> SSAValue:
        """One of two values."""
        return self.emit(llvm_ext.SelectOp, (condition, then, otherwise), then.type)

    def number(self, value: SSAValue) -> SSAValue:
        """An address as a word; numbers stay."""
        return self.emit(llvm.PtrToIntOp, (value,), i64) if value.type == PTR else value

    def type_of(self, value: SSAValue) -> SSAValue:
        """The type of a Python object."""
        return self.load(value, Place.TYPE)

    def known(self, word: PythonWord) -> SSAValue:
        """The address of one of Python's objects or functions."""
        assert self.python is not None, "a function gets Python's words first"
        return self.word(self.python, word)

    def call(self, word: PythonWord, *args: SSAValue, returns: Attribute = PTR) -> SSAValue:
        """The result of one of Python's functions."""
        return self.emit(llvm_ext.CallPtrOp, (self.known(word), *args), returns)

    def do(self, word: PythonWord, *args: SSAValue) -> None:
        """Call one of Python's functions that return nothing."""
        self.run(llvm_ext.CallPtrOp, (self.known(word), *args))

    def unless(self, condition: SSAValue, other: Block, args: Sequence[SSAValue] = ()) -> None:
        """Go on here if the condition holds, else in another block."""
        following = Block()
        self.branch_if(condition, following, other, (), args)
        self.continue_in(following)

    def choose(
        self,
        condition: SSAValue,
        then: Callable[[], Sequence[SSAValue]],
        otherwise: Callable[[], Sequence[SSAValue]],
    ) -> list[SSAValue]:
        """What one of two pieces of code gives."""
        first, second = Block(), Block()
        self.branch_if(condition, first, second)
        self.continue_in(first)
        given = then()
        after = Block(arg_types=[v.type for v in given])
        self.branch(after, given)
        self.continue_in(second)
        self.branch(after, otherwise())
        self.continue_in(after)
        return list(after.args)

    def when(self, condition: SSAValue, then: Callable[[], None]) -> None:
        """Run some code if the condition holds."""
        self.choose(condition, lambda: then() or (), lambda: ())

    def repeat(
        self,
        count: SSAValue,
        body: Callable[..., Sequence[SSAValue]],
        carried: Sequence[SSAValue] = (),
        first: SSAValue | None = None,
    ) -> Sequence[SSAValue]:
        """Run a body from `first`, or 0, to below a count; it gets and gives the carried values."""
        head = Block(arg_types=[i64, *(v.type for v in carried)])
        inside, after = Block(), Block()
        self.branch(head, [self.integer(0) if first is None else first, *carried])
        self.continue_in(head)
        position, *values = head.args
        self.branch_if(self.less(position, count), inside, after)
        self.continue_in(inside)
        given = body(position, *values)
        self.branch(head, [self.add(position, self.integer(1)), *given])
        self.continue_in(after)
        return values

    def copy(self, source: SSAValue, target: SSAValue, count: SSAValue) -> None:
        """Copy so many words."""

        def one(i: SSAValue) -> tuple[SSAValue, ...]:
            self.store(self.item(source, i, i64), self.moved(target, i))
            return ()

        self.repeat(count, one)

    def give(self, value: SSAValue) -> None:
        """Return a value from the function, where the code is now."""
        self.run(llvm.ReturnOp, [value])

    def wide(self, value: SSAValue) -> SSAValue:
        """32 bits as a word."""
        return self.emit(llvm.ZExtOp, (value,), i64)

    def half(self, value: SSAValue) -> SSAValue:
        """The lower 32 bits of a word."""
        return self.emit(llvm.TruncOp, (value,), i32)


def start(module: ModuleState, symbol: str) -> PythonCode:
    """A function of which the first argument is the address of the `PythonWord`s."""
    f = PythonCode(module, symbol)
    f.python = f.add_argument(PTR)
    return f
