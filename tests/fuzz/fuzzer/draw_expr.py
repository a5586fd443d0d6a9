"""Draws scalar expressions over the axes of a block, and the inputs that they read."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from .syntax import (
    FLOATS,
    INTEGERS,
    SHORT_FLOATS,
    Axis,
    Buffer,
    Expr,
    index,
    number,
    var,
)

T = TypeVar("T")
ALL_DTYPES = (*INTEGERS, *FLOATS, "bool")
ARITHMETIC = ("add", "sub", "mul", "min", "max")
BITS = ("and", "or", "xor", "shl", "shr", "floordiv", "floormod", "truncdiv", "truncmod")
INTEGER_UNARY = ("neg", "not")
FLOAT_UNARY = ("neg", "abs", "floor", "ceil", "round", "trunc")
FUNCTIONS = (
    *(
        "exp",
        "tanh",
        "sqrt",
        "sin",
        "log",
        "cos",
        "atan",
        "exp2",
        "log2",
        "log1p",
        "expm1",
        "rsqrt",
    ),
    *("sinh", "asinh"),
)
COMPARISONS = ("lt", "le", "eq", "ne", "gt", "ge")
WEIGHTED = ("same",) * 5 + ("shift", "reverse", "clamp", "modulo", "divide", "gather", "twice")


@dataclass
class ExprDraw:
    """Choices for one kernel; inputs are added as expressions load them."""

    rng: random.Random
    content: str = "small"
    inputs: list[Buffer] = field(default_factory=list)
    written: list[Buffer] = field(default_factory=list)
    axes: dict[str, Axis] = field(default_factory=dict)
    features: Counter[str] = field(default_factory=Counter)
    count: int = 0

    def pick(self, options: Sequence[T]) -> T:
        """One of several."""
        return options[self.rng.randrange(len(options))]

    def chance(self, percent: int) -> bool:
        """True in so many cases out of 100."""
        return self.rng.randrange(100) < percent

    def name(self, prefix: str) -> str:
        """A name that is not taken."""
        self.count += 1
        return f"{prefix}{self.count}"

    def input(self, dtype: str, dims: Sequence[Expr], content: str = "", high: int = 0) -> Buffer:
        """A new parameter."""
        layout = self.pick(("packed",) * 8 + ("strided", "read-only"))
        found = content or self.content
        buffer = Buffer(self.name("A"), dtype, tuple(dims), found, high, layout)
        self.inputs.append(buffer)
        return buffer

    def expr(self, dtype: str, depth: int) -> Expr:
        """An expression of a dtype."""
        if depth <= 0:
            return self.leaf(dtype)
        if dtype == "bool":
            return self.condition(depth)
        kind = self.pick(("binary",) * 4 + ("choice", "cast", "unary", "guarded"))
        self.features[kind] += 1
        match kind:
            case "choice":
                op = self.pick(("select", "if_then_else", "ternary"))
                args = (self.condition(depth - 1), self.expr(dtype, depth - 1), self.leaf(dtype))
                return Expr(op, dtype, args)
            case "cast":
                return self.cast(dtype, depth)
            case "unary":
                return self.unary(dtype, depth)
            case "guarded" if self.axes:
                return self.guarded(dtype)
            case _:
                table = ARITHMETIC + (BITS if dtype in INTEGERS else ("div",))
                return Expr(
                    self.pick(table), dtype, (self.expr(dtype, depth - 1), self.leaf(dtype))
                )

    def unary(self, dtype: str, depth: int) -> Expr:
        """An operation on one number."""
        if dtype in INTEGERS:
            table = INTEGER_UNARY
        else:
            table = FLOAT_UNARY + (FUNCTIONS if self.content == "real" else ())
        return Expr(self.pick(table), dtype, (self.expr(dtype, depth - 1),))

    def leaf(self, dtype: str) -> Expr:
        """A load, a number, or an axis as one."""
        choice = self.rng.randrange(100)
        if choice < 75 or dtype == "bool":
            return self.load(dtype)
        if choice < 85 and self.axes and dtype not in (*SHORT_FLOATS, "int8", "uint8"):
            return Expr("cast", dtype, (var(self.pick(list(self.axes))),))
        return self.constant(dtype)

    def constant(self, dtype: str) -> Expr:
        """A number other than 0."""
        if dtype == "bool":
            return number(self.chance(50), dtype)
        return number(
            float(self.pick((0.5, 1, 2, 3))) if dtype in FLOATS else self.pick((1, 2, 3, 7)), dtype
        )

    def condition(self, depth: int) -> Expr:
        """A bool."""
        kind = self.pick(("compare", "compare", "compare", "index", "both", "either", "negation"))
        if kind == "compare" or depth <= 0 or not self.axes:
            dtype = self.pick(("int32", "float32", "uint8", "int64", "float64", "float16"))
            return Expr(
                self.pick(COMPARISONS), "bool", (self.expr(dtype, depth - 1), self.leaf(dtype))
            )
        if kind == "index":
            axis = var(self.pick(list(self.axes)))
            left = axis if self.chance(50) else index("floormod", axis, self.pick((2, 3)))
            return Expr(self.pick(COMPARISONS), "bool", (left, number(self.pick((0, 1, 4)))))
        if kind == "negation":
            return Expr(kind, "bool", (self.condition(depth - 1),))
        return Expr(kind, "bool", (self.condition(depth - 1), self.condition(depth - 1)))

    def cast(self, dtype: str, depth: int) -> Expr:
        """A conversion from another dtype; to the short floats where one rounding is enough."""
        sources = ("int8", "uint16", "bool", "float32")
        wide = ("int32", "int64", "float64", "uint32", "float16", "bfloat16")
        source = self.pick(sources if dtype in SHORT_FLOATS else sources + wide)
        return Expr("cast", dtype, (self.expr(source, depth - 1),))

    def guarded(self, dtype: str) -> Expr:
        """A load that its condition keeps in bounds."""
        axis = self.axes[self.pick(list(self.axes))]
        buffer = self.input(dtype, [axis.extent])
        if self.chance(50):
            test = Expr("ge", "bool", (var(axis.name), number(1)))
            place = index("sub", var(axis.name), 1)
        else:
            test = Expr("lt", "bool", (index("add", var(axis.name), 1), axis.extent))
            place = index("add", var(axis.name), 1)
        load = Expr("load", dtype, (place,), buffer.name)
        return Expr("if_then_else", dtype, (test, load, self.constant(dtype)))

    def load(self, dtype: str) -> Expr:
        """An element of what was written before, or of a new input."""
        for buffer in self.rng.sample(self.written, len(self.written)):
            place = self.whole(buffer)
            if buffer.dtype == dtype and place is not None and self.chance(75):
                return Expr("load", dtype, place, buffer.name)
        axes = [a for a in self.axes if self.chance(80)]
        self.rng.shuffle(axes)
        places = self.window(axes) if len(axes) > 1 and self.chance(15) else []
        places += [self.place(self.axes[a]) for a in axes[len(places) and 2 :]]
        buffer = self.input(dtype, [dim for dim, _ in places])
        return Expr("load", dtype, tuple(e for _, e in places), buffer.name)

    def window(self, axes: list[str]) -> list[tuple[Expr, Expr]]:
        """A dim that the first two axes index together."""
        first, second = (self.axes[a] for a in axes[:2])
        one, other = var(first.name), var(second.name)
        self.features["window"] += 1
        if self.chance(50):
            return [(index("add", first.extent, second.extent), index("add", one, other))]
        row = index("mul", one, second.extent)
        return [(index("mul", first.extent, second.extent), index("add", row, other))]

    def whole(self, buffer: Buffer) -> tuple[Expr, ...] | None:
        """An axis for each dim of a buffer, of the same extent."""
        found: list[Expr] = []
        for dim in buffer.dims:
            fits = [a.name for a in self.axes.values() if a.extent == dim]
            if not fits:
                return None
            here = var(self.pick(fits))
            if self.chance(10):
                here = index("sub", index("sub", dim, 1), here)
            elif self.chance(10):
                here = index("max", index("sub", here, 1), 0)
            found.append(here)
        return tuple(found)

    def place(self, axis: Axis) -> tuple[Expr, Expr]:
        """A dim of a new input, and an index into it by an axis."""
        kind = self.pick(WEIGHTED)
        self.features[kind] += 1
        here, extent = var(axis.name), axis.extent
        match kind:
            case "shift":
                return index("add", extent, 2), index("add", here, 2)
            case "reverse":
                return extent, index("sub", index("sub", extent, 1), here)
            case "clamp":
                return extent, index("max", index("sub", here, 1), 0)
            case "modulo":
                return number(4), index("floormod", here, 4)
            case "divide":
                return extent, index("floordiv", here, self.pick((2, 3)))
            case "twice":
                return index("mul", extent, 2), index(
                    "add", index("mul", here, 2), self.pick((0, 1))
                )
            case "gather":
                dtype, size = self.pick(("int32", "int64", "uint8")), self.pick((1, 3, 9))
                places = self.input(dtype, [extent], "place", size)
                return number(size), Expr("load", dtype, (here,), places.name)
            case _:
                return extent, here
