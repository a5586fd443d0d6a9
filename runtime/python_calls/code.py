"""A function as text of LLVM IR, with short forms for Python's objects and for tables of words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ..call_words import Place, PythonWord

PTR, I1, I8, I32, I64 = "ptr", "i1", "i8", "i32", "i64"


@dataclass(frozen=True, slots=True)
class Value:
    """An argument, a constant, or the result of an instruction."""

    type: str
    name: str

    def __str__(self) -> str:
        return f"{self.type} {self.name}"


@dataclass(eq=False, slots=True)
class Block:
    """A basic block; each branch to it gives the values of its `args`, which are phis."""

    label: str
    args: tuple[Value, ...]
    lines: list[str] = field(default_factory=lambda: [])
    incoming: list[tuple[str, Sequence[Value]]] = field(default_factory=lambda: [])

    def text(self) -> str:
        """The block with its label and phis."""
        return "\n  ".join((f"{self.label}:", *map(self._phi, range(len(self.args))), *self.lines))

    def _phi(self, position: int) -> str:
        pairs = (f"[{given[position].name}, %{label}]" for label, given in self.incoming)
        arg = self.args[position]
        return f"{arg.name} = phi {arg.type} {', '.join(pairs)}"


class PythonCode:
    """A function that works on Python's objects, as it grows.

    Instructions go to the end of `block`. Stack memory of fixed size is taken once, at the start.
    """

    def __init__(self, symbol: str):
        self.symbol = symbol
        self.python: Value | None = None
        """The address of the `PythonWord`s."""
        self._arguments: list[Value] = []
        self._count = 0
        self._entry, self._first = self.new_block(), self.new_block()
        self._blocks = [self._entry, self._first]
        self.block = self._first

    def add_argument(self, type_: str) -> Value:
        """One more argument of the function."""
        self._arguments.append(self._new(type_))
        return self._arguments[-1]

    def new_block(self, *types: str) -> Block:
        """A block that is placed by `continue_in`, with arguments of these types."""
        return Block(self._new("label").name[1:], tuple(map(self._new, types)))

    def continue_in(self, block: Block) -> None:
        """Go on in another block; a new one becomes the last one of the function."""
        if block not in self._blocks:
            self._blocks.append(block)
        self.block = block

    def branch(self, target: Block, args: Sequence[Value] = ()) -> None:
        """End the block with a jump."""
        self._run(f"br label {self._edge(target, args)}")

    def branch_if(
        self, condition: Value, then: Block, otherwise: Block, else_args: Sequence[Value] = ()
    ) -> None:
        """End the block with a choice."""
        first, second = self._edge(then, ()), self._edge(otherwise, else_args)
        self._run(f"br {condition}, label {first}, label {second}")

    def give(self, value: Value) -> None:
        """Return a value from the function, where the code is now."""
        self._run(f"ret {value}")

    def text(self, result: Value, *, linkage: str = "internal") -> str:
        """The function, which returns `result` where the code is now."""
        self.give(result)
        self._entry.lines.append(f"br label %{self._first.label}")
        arguments = ", ".join(map(str, self._arguments))
        head = f"define {linkage} {result.type} {self.symbol}({arguments}) nounwind {{"
        return "\n".join((head, *(block.text() for block in self._blocks), "}\n"))

    def alloca(self, type_: str) -> Value:
        """Stack memory for one value of a type, taken once per call."""
        return self._emit(PTR, f"alloca {type_}, i64 1, align 8", self._entry)

    def words(self, count: Value) -> Value:
        """Stack memory for as many words, taken where the code is now."""
        return self._emit(PTR, f"alloca i64, {count}")

    def integer(self, value: int, type_: str = I64) -> Value:
        """An integer constant."""
        half = 1 << int(type_[1:]) - 1
        return Value(type_, str((value + half) % (2 * half) - half))

    def null(self) -> Value:
        """The null pointer."""
        return Value(PTR, "null")

    def at(self, base: Value, offset: int) -> Value:
        """The address a number of bytes further."""
        return self.moved(base, self.integer(offset), I8) if offset else base

    def moved(self, base: Value, count: Value, type_: str = I64) -> Value:
        """The address a number of elements further."""
        return self._emit(PTR, f"getelementptr inbounds {type_}, {base}, {count}")

    def load(self, base: Value, offset: int = 0, type_: str = PTR) -> Value:
        """What is in memory, a number of bytes further."""
        return self._emit(type_, f"load {type_}, {self.at(base, offset)}")

    def word(self, table: Value, position: int, type_: str = PTR) -> Value:
        """One word of a table."""
        return self.load(table, 8 * position, type_)

    def item(self, array: Value, index: Value, type_: str = PTR) -> Value:
        """One word of an array."""
        return self.load(self.moved(array, index), 0, type_)

    def store(self, value: Value, base: Value, offset: int = 0) -> None:
        """Put a value into memory, a number of bytes further."""
        self._run(f"store {value}, {self.at(base, offset)}")

    def binary(self, opcode: str, lhs: Value, rhs: Value) -> Value:
        """An instruction on two integers of a type."""
        return self._emit(lhs.type, f"{opcode} {lhs}, {rhs.name}")

    def add(self, lhs: Value, rhs: Value) -> Value:
        """The sum of two words."""
        return self.binary("add", lhs, rhs)

    def bits(self, lhs: Value, rhs: Value) -> Value:
        """The bits that two values share."""
        return self.binary("and", lhs, rhs)

    def either(self, lhs: Value, rhs: Value) -> Value:
        """Whether one of two conditions holds."""
        return self.binary("or", lhs, rhs)

    def opposite(self, condition: Value) -> Value:
        """Whether a condition does not hold."""
        return self.binary("xor", condition, self.integer(1, I1))

    def compare(self, predicate: str, lhs: Value, rhs: Value) -> Value:
        """Whether two integers compare so."""
        return self._emit(I1, f"icmp {predicate} {lhs}, {rhs.name}")

    def equal(self, lhs: Value, rhs: Value) -> Value:
        """Whether two words, or two addresses, are equal."""
        return self.compare("eq", self.number(lhs), self.number(rhs))

    def is_zero(self, value: Value) -> Value:
        """Whether a word, or an address, is zero."""
        number = self.number(value)
        return self.equal(number, self.integer(0, number.type))

    def less(self, lhs: Value, rhs: Value) -> Value:
        """Whether one word is less than another, both with a sign."""
        return self.compare("slt", lhs, rhs)

    def select(self, condition: Value, then: Value, otherwise: Value) -> Value:
        """One of two values."""
        return self._emit(then.type, f"select {condition}, {then}, {otherwise}")

    def number(self, value: Value) -> Value:
        """An address as a word; numbers stay."""
        return self._emit(I64, f"ptrtoint {value} to i64") if value.type == PTR else value

    def wide(self, value: Value) -> Value:
        """32 bits as a word."""
        return self._emit(I64, f"zext {value} to i64")

    def half(self, value: Value) -> Value:
        """The lower 32 bits of a word."""
        return self._emit(I32, f"trunc {value} to i32")

    def type_of(self, value: Value) -> Value:
        """The type of a Python object."""
        return self.load(value, Place.TYPE)

    def known(self, word: PythonWord) -> Value:
        """The address of one of Python's objects or functions."""
        assert self.python is not None, "a function gets Python's words first"
        return self.word(self.python, word)

    def call(self, word: PythonWord, *args: Value, returns: str = PTR) -> Value:
        """The result of one of Python's functions."""
        return self.call_function(self.known(word).name, *args, returns=returns)

    def do(self, word: PythonWord, *args: Value) -> None:
        """Call one of Python's functions that return nothing."""
        self._run(f"call void {self.known(word).name}({', '.join(map(str, args))})")

    def call_function(self, function: str, *args: Value, returns: str) -> Value:
        """The result of a function: ``@symbol``, or the name of a value that is its address."""
        return self._emit(returns, f"call {returns} {function}({', '.join(map(str, args))})")

    def unless(self, condition: Value, other: Block, args: Sequence[Value] = ()) -> None:
        """Go on here if the condition holds, else in another block."""
        following = self.new_block()
        self.branch_if(condition, following, other, args)
        self.continue_in(following)

    def choose(
        self,
        condition: Value,
        then: Callable[[], Sequence[Value]],
        otherwise: Callable[[], Sequence[Value]],
    ) -> Sequence[Value]:
        """What one of two pieces of code gives."""
        first, second = self.new_block(), self.new_block()
        self.branch_if(condition, first, second)
        self.continue_in(first)
        given = then()
        after = self.new_block(*(v.type for v in given))
        self.branch(after, given)
        self.continue_in(second)
        self.branch(after, otherwise())
        self.continue_in(after)
        return after.args

    def when(self, condition: Value, then: Callable[[], None]) -> None:
        """Run some code if the condition holds."""
        self.choose(condition, lambda: then() or (), lambda: ())

    def repeat(
        self, count: Value, body: Callable[..., Sequence[Value]], carried: Sequence[Value] = ()
    ) -> Sequence[Value]:
        """Run a body from 0 to below a count; it gets and gives the carried values."""
        head = self.new_block(I64, *(v.type for v in carried))
        inside, after = self.new_block(), self.new_block()
        self.branch(head, [self.integer(0), *carried])
        self.continue_in(head)
        position, *values = head.args
        self.branch_if(self.less(position, count), inside, after)
        self.continue_in(inside)
        given = body(position, *values)
        self.branch(head, [self.add(position, self.integer(1)), *given])
        self.continue_in(after)
        return values

    def copy(self, source: Value, target: Value, count: Value) -> None:
        """Copy so many words."""

        def one(i: Value) -> tuple[Value, ...]:
            self.store(self.item(source, i, I64), self.moved(target, i))
            return ()

        self.repeat(count, one)

    def _new(self, type_: str) -> Value:
        self._count += 1
        return Value(type_, f"%v{self._count}")

    def _emit(self, type_: str, instruction: str, block: Block | None = None) -> Value:
        value = self._new(type_)
        (block or self.block).lines.append(f"{value.name} = {instruction}")
        return value

    def _run(self, instruction: str) -> None:
        self.block.lines.append(instruction)

    def _edge(self, target: Block, args: Sequence[Value]) -> str:
        target.incoming.append((self.block.label, args))
        return f"%{target.label}"


def start(symbol: str) -> PythonCode:
    """A function of which the first argument is the address of the `PythonWord`s."""
    f = PythonCode(symbol)
    f.python = f.add_argument(PTR)
    return f
