"""Drawn expressions of TensorIR: their text, and what they are worth in NumPy.

Inputs are small integers in every dtype, so that floats are exact in any order of summation.
"""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from drawn_dims import Dim, DimChoices

INTEGERS = tuple(f"{s}int{w}" for s in ("", "u") for w in (8, 16, 32, 64))
SMALL_FLOATS = ("float16", "bfloat16")
FLOATS = (*SMALL_FLOATS, "float32", "float64")


def storage(dtype):
    """NumPy's dtype to compute in; bfloat16 has none, and its values are not looked at."""
    return np.dtype("float32" if dtype == "bfloat16" else dtype)


def wrapped(function):
    """A function on arrays whose result has the dtype of its first argument."""

    def call(x, *rest):
        with np.errstate(all="ignore"):
            return np.asarray(function(x, *rest)).astype(np.asarray(x).dtype)

    return call


def conversion(dtype):
    def convert(x):
        with np.errstate(over="ignore"):
            return np.asarray(x).astype(storage(dtype))

    return convert


def truncated_division(x, y):
    quotient = x // y
    return quotient + ((quotient < 0) & (quotient * y != x))


ARITHMETIC = {
    "({} + {})": np.add,
    "({} - {})": np.subtract,
    "({} * {})": np.multiply,
    "T.min({}, {})": np.minimum,
    "T.max({}, {})": np.maximum,
}
BITS = {"({} & {})": np.bitwise_and, "({} | {})": np.bitwise_or, "({} ^ {})": np.bitwise_xor}
# Division by 0 gives 0, which NumPy says too.
DIVISIONS = {"({} // {})": np.floor_divide, "T.truncdiv({}, {})": truncated_division}
INTEGER_UNARY = {"(-{})": np.negative, "(~{})": np.invert}
FLOAT_UNARY = {
    "(-{})": np.negative,
    "T.abs({})": np.abs,
    "T.floor({} / 2)": lambda x: np.floor(x / 2),
    "T.round({} / 4)": lambda x: np.rint(x / 4),
}
COMPARISONS = {
    "<": np.less,
    "<=": np.less_equal,
    "==": np.equal,
    "!=": np.not_equal,
    ">": np.greater,
}
CHOICES = ("T.Select({}, {}, {})", "T.if_then_else({}, {}, {})", "({1} if {0} else {2})")


@dataclass(frozen=True)
class Expr:
    """An expression and what it is worth at the points of the iteration domain."""

    text: str
    value: Callable[[dict], np.ndarray]


@dataclass
class Buffer:
    """A buffer, and its content once it is written; inputs have it from the start."""

    name: str
    dtype: str
    dims: list[Dim]
    data: np.ndarray | None = None

    def at(self, indices: list[Expr]) -> Expr:
        text = ", ".join(i.text for i in indices)
        return Expr(
            f"{self.name}[{text or '()'}]",
            lambda env: self.data[tuple(i.value(env) for i in indices)],
        )

    @property
    def shape_text(self):
        return "(" + "".join(f"{d.text}, " for d in self.dims) + ")"


@dataclass
class Expressions(DimChoices):
    """Draws expressions over axes, and the inputs that they read."""

    SIZES = (0, 1, 2, 3, 7, 8, 13, 17, 33)
    SHARED = 30

    rng: random.Random
    inputs: list[Buffer] = field(default_factory=list)
    symbols: dict[str, int] = field(default_factory=dict)
    scratch: list[Buffer] = field(default_factory=list)
    axes: dict[str, Dim] = field(default_factory=dict)
    features: Counter = field(default_factory=Counter)
    count: int = 0
    extremes: bool = False

    def name(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def array(self, dtype: str, dims: list[Dim], high: int = 4) -> np.ndarray:
        shape = tuple(d.size for d in dims)
        values = np.random.RandomState(self.rng.randrange(1 << 30))
        if self.extremes and dtype in INTEGERS and high == 4 and self.chance(30):
            limits = np.iinfo(dtype)
            return values.choice(np.array([limits.min, 0, 1, limits.max], dtype), shape)
        low = 0 if dtype[0] in "ub" or high != 4 else -3
        return values.randint(low, 2 if dtype == "bool" else high, shape).astype(storage(dtype))

    def input(self, dtype: str, dims: list[Dim], high: int = 4) -> Buffer:
        buffer = Buffer(self.name("A"), dtype, dims, self.array(dtype, dims, high))
        self.inputs.append(buffer)
        return buffer

    def load(self, dtype: str) -> Expr:
        written = [b for b in self.scratch if b.dtype == dtype and self.place(b) is not None]
        if written and self.chance(60):
            buffer = self.pick(written)
            return buffer.at(self.place(buffer))
        axes = [a for a in self.axes if self.chance(75)]
        self.rng.shuffle(axes)
        places = [self.index(a) for a in axes]
        return self.input(dtype, [d for d, _ in places]).at([e for _, e in places])

    def place(self, buffer: Buffer) -> list[Expr] | None:
        """Indices that read a whole scratch buffer: for each of its dims an axis of that size."""
        found = [next((a for a, x in self.axes.items() if x == d), None) for d in buffer.dims]
        return None if None in found else [self.axis(a) for a in found]

    def axis(self, name: str) -> Expr:
        return Expr(name, lambda env: env[name])

    def index(self, name: str) -> tuple[Dim, Expr]:
        """A dim of a new input, and an index into it over one axis."""
        dim, n = self.axes[name], self.axes[name].size
        kind = self.pick(("same", "same", "shift", "reverse", "clamp", "modulo", "gather"))
        self.features[kind] += 1
        match kind:
            case "shift":
                return dim.plus(2), Expr(f"{name} + 2", lambda env: env[name] + 2)
            case "reverse":
                return dim, Expr(f"{dim.text} - 1 - {name}", lambda env: n - 1 - env[name])
            case "clamp":
                return dim, Expr(f"T.max({name} - 1, 0)", lambda env: np.maximum(env[name] - 1, 0))
            case "modulo":
                return Dim("4", 4), Expr(f"{name} % 4", lambda env: env[name] % 4)
            case "gather":
                dtype, size = self.pick(("int32", "int64", "uint8")), self.pick((1, 3, 9))
                return Dim(str(size), size), self.input(dtype, [dim], size).at([self.axis(name)])
            case _:
                return dim, self.axis(name)

    def number(self, dtype: str) -> Expr:
        value = self.rng.randrange(2) if dtype == "bool" else self.rng.randrange(1, 7)
        shown = bool(value) if dtype == "bool" else value
        return Expr(f"T.{dtype}({shown})", lambda env: np.asarray(value, storage(dtype)))

    def expr(self, dtype: str, depth: int) -> Expr:
        if depth == 0:
            return self.load(dtype) if self.chance(80) else self.number(dtype)
        if dtype == "bool":
            return self.condition(depth)
        kind = self.pick(("arithmetic",) * 3 + ("choice", "cast", "unary", "division"))
        self.features[kind] += 1
        match kind:
            case "choice":
                form, test = self.pick(CHOICES), self.condition(depth)
                return self.apply(form, np.where, test, *self.operands(dtype, depth))
            case "cast":
                return self.cast(dtype, depth)
            case "unary":
                table = FLOAT_UNARY if dtype in FLOATS else INTEGER_UNARY
                return self.from_table(table, dtype, depth, 1)
            case "division" if dtype in INTEGERS:
                return self.from_table(DIVISIONS, dtype, depth, 2)
            case _:
                table = ARITHMETIC | (BITS if dtype in INTEGERS else {})
                return self.from_table(table, dtype, depth, 2)

    def operands(self, dtype: str, depth: int, count: int = 2) -> list[Expr]:
        return [self.expr(dtype, depth - 1) for _ in range(count)]

    def from_table(self, table: dict, dtype: str, depth: int, arity: int) -> Expr:
        form = self.pick(list(table))
        return self.apply(form, wrapped(table[form]), *self.operands(dtype, depth, arity))

    def apply(self, form: str, function, *operands: Expr) -> Expr:
        text = form.format(*(o.text for o in operands))
        return Expr(text, lambda env: function(*(o.value(env) for o in operands)))

    def condition(self, depth: int) -> Expr:
        if self.chance(25):
            form, function = self.pick(
                (("({} and {})", np.logical_and), ("({} ^ {})", np.not_equal))
            )
            return self.apply(form, function, *self.operands("bool", depth))
        sign = self.pick(list(COMPARISONS))
        dtype = self.pick(("int32", "float32", "uint8", "int64"))
        operands = self.operands(dtype, depth)
        return self.apply(f"({{}} {sign} {{}})", COMPARISONS[sign], *operands)

    def cast(self, dtype: str, depth: int) -> Expr:
        source = self.pick(("int8", "uint16", "int32", "bool"))
        operand = self.expr(source, depth - 1)
        return self.apply(f'T.cast({{}}, "{dtype}")', conversion(dtype), operand)
