"""The kernels that the fuzzer draws, as data: nothing of the compiler is used for them.

All classes are frozen, compare by value and can be pickled, so that programs are shrunk by making
changed copies, and sent between processes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

INTEGERS = tuple(f"{s}int{w}" for s in ("", "u") for w in (8, 16, 32, 64))
SHORT_FLOATS = ("float16", "bfloat16")
FLOATS = (*SHORT_FLOATS, "float32", "float64")
INDEX = "index"
"""The dtype of axes, loops, symbols and what indices are made of."""


@dataclass(frozen=True)
class Expr:
    """A scalar: an operation of `texts.FORMS` on `args`, or a leaf.

    Leaves are ``const`` with a number, ``var`` with the name of an axis, loop or symbol. A ``load``
    has a buffer's name as `value` and its indices as `args`.
    """

    op: str
    dtype: str
    args: tuple[Expr, ...] = ()
    value: Any = None

    def walk(self) -> Iterator[Expr]:
        """This expression and all in it."""
        yield self
        for arg in self.args:
            yield from arg.walk()


def number(value: Any, dtype: str = INDEX) -> Expr:
    """A constant."""
    return Expr("const", dtype, (), value)


def var(name: str) -> Expr:
    """An axis, loop or symbol."""
    return Expr("var", INDEX, (), name)


def index(op: str, *args: Expr | int) -> Expr:
    """An operation on indices."""
    return Expr(op, INDEX, tuple(number(a) if isinstance(a, int) else a for a in args))


@dataclass(frozen=True)
class Buffer:
    """A tensor; `high` bounds what an input that is an index holds, `content` says how it is drawn.

    `layout` is that of the argument: "packed", "strided" or "read-only".
    """

    name: str
    dtype: str
    dims: tuple[Expr, ...]
    content: str = "small"
    high: int = 0
    layout: str = "packed"


@dataclass(frozen=True)
class Axis:
    """An axis of a block, and how its loops visit it.

    `form` is "plain", "split" in tiles of `width`, of which the last may be partial, "fused" with
    the next axis, which is "rest", "strided" over `width` interleaved parts, "offset" from `width`,
    or "reversed".
    """

    name: str
    role: str
    extent: Expr
    form: str = "plain"
    width: int = 1
    kinds: tuple[str, ...] = ("range", "range")


@dataclass(frozen=True)
class Block:
    """A block that stores each element of its targets once, or reduces over some of its axes.

    The meaning of `exprs` depends on `form`: "plain" ``(value,)``; "let" ``(value, other)``, the
    larger is stored; "branch" ``(condition, value, other)``; "while" ``(value, other)``, `value`
    where it counts to more than 0; "reduce" ``(init, value)``; "argument" ``(value,)``, its extreme
    and where that is. `combine` is the operation of a reduction, `order` sorts the loops.
    """

    name: str
    axes: tuple[Axis, ...]
    targets: tuple[Expr, ...]
    form: str
    exprs: tuple[Expr, ...]
    combine: str = ""
    count: int = 0
    order: tuple[int, ...] = ()

    @property
    def stored(self) -> tuple[str, ...]:
        """The names of the buffers that the block stores to."""
        return tuple(t.value for t in self.targets)


@dataclass(frozen=True)
class Kernel:
    """A PrimFunc: `sizes` gives numbers to `symbols`, one list for each time it is called."""

    name: str
    symbols: tuple[str, ...]
    inputs: tuple[Buffer, ...]
    scratch: tuple[Buffer, ...]
    outputs: tuple[Buffer, ...]
    blocks: tuple[Block, ...]
    sizes: tuple[tuple[int, ...], ...] = ((),)
    seed: int = 0

    @property
    def buffers(self) -> dict[str, Buffer]:
        """All buffers by name."""
        return {b.name: b for b in (*self.inputs, *self.scratch, *self.outputs)}

    @property
    def params(self) -> tuple[Buffer, ...]:
        """The parameters in order."""
        return (*self.inputs, *self.outputs)

    def without_unused(self) -> Kernel:
        """The kernel without inputs, scratch memory and symbols that nothing names."""
        exprs = [e for b in self.blocks for e in (*b.targets, *b.exprs)]
        used = {e.value for x in exprs for e in x.walk() if e.op == "load"}
        kept = replace(
            self,
            inputs=tuple(b for b in self.inputs if b.name in used or b.content == "symbol"),
            scratch=tuple(b for b in self.scratch if b.name in used),
        )
        extents = [a.extent for b in self.blocks for a in b.axes]
        dims = [
            d
            for b in (*kept.inputs, *kept.scratch, *kept.outputs)
            for d in b.dims
            if b.content != "symbol"
        ]
        named = {e.value for x in (*exprs, *extents, *dims) for e in x.walk() if e.op == "var"}
        places = [i for i, s in enumerate(self.symbols) if s in named]
        symbols = tuple(self.symbols[i] for i in places)
        sizes = dict.fromkeys(tuple(one[i] for i in places) for one in self.sizes)
        direct = {
            b.dims[0].value
            for b in (*kept.inputs, *kept.outputs)
            if len(b.dims) == 1 and b.content != "symbol" and b.dims[0].op == "var"
        }
        inputs = tuple(
            b
            for b in kept.inputs
            if b.content != "symbol"
            or (b.dims[0].value in symbols and b.dims[0].value not in direct)
        )
        return replace(kept, symbols=symbols, sizes=tuple(sizes), inputs=inputs)
