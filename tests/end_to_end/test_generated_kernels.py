"""Generated TensorIR scripts: machine code, the reference evaluator and NumPy agree exactly.

Inputs are small integers in every dtype, so that floats are exact in any order of summation.
"""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import xrelax as tvm
from xrelax import relax
from xrelax.reference import run
from xrelax.reference.compare import as_float64
from xrelax.script import from_source

INTEGERS = tuple(f"{s}int{w}" for s in ("", "u") for w in (8, 16, 32, 64))
SMALL_FLOATS = ("float16", "bfloat16")
FLOATS = (*SMALL_FLOATS, "float32", "float64")
SIZES = (0, 1, 2, 3, 7, 8, 13, 17, 33)
SPATIAL_LOOPS = ("range", "T.serial", "T.parallel", "T.vectorized", "T.unroll")
REDUCE_LOOPS = ("range", "T.serial", "T.unroll", "T.vectorized")


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
class Dim:
    """A size as the script writes it, and its number."""

    text: str
    size: int

    def plus(self, shift: int) -> "Dim":
        if self.text.isdigit():
            return Dim(str(self.size + shift), self.size + shift)
        return Dim(f"{self.text} + {shift}", self.size + shift)

    def times(self, other: "Dim") -> "Dim":
        size = self.size * other.size
        both = self.text.isdigit() and other.text.isdigit()
        return Dim(str(size) if both else f"({self.text}) * ({other.text})", size)


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
class Program:
    """A PrimFunc that is being written: its text, and its meaning in NumPy."""

    rng: random.Random
    inputs: list[Buffer] = field(default_factory=list)
    symbols: dict[str, int] = field(default_factory=dict)
    scratch: list[Buffer] = field(default_factory=list)
    axes: dict[str, Dim] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    features: Counter = field(default_factory=Counter)
    count: int = 0
    extremes: bool = False

    def pick(self, options):
        return options[self.rng.randrange(len(options))]

    def chance(self, percent: int) -> bool:
        return self.rng.randrange(100) < percent

    def name(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def dim(self) -> Dim:
        if self.symbols and self.chance(30):
            name = self.pick(sorted(self.symbols))
            return Dim(name, self.symbols[name])
        size = self.pick(SIZES)
        if len(self.symbols) < 3 and self.chance(50):
            name = "nmk"[len(self.symbols)]
            self.symbols[name] = size
            return Dim(name, size)
        return Dim(str(max(size, 1)), max(size, 1))

    # Values

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

    # Loops

    def nest(self, kinds: dict[str, str]) -> int:
        """Write loops that visit all axes, and the head of a block; returns its indent."""
        loops: list[tuple[str, str, str]] = []
        bindings: list[str] = []
        guards: list[str] = []
        axes = list(kinds)
        while axes:
            axis = axes.pop(0)
            fused = (
                axes.pop(0) if axes and kinds[axes[0]] == kinds[axis] and self.chance(20) else ""
            )
            dim = self.axes[axis].times(self.axes[fused]) if fused else self.axes[axis]
            variable = self.loops_over(dim, kinds[axis], loops, guards)
            inner = self.axes[fused].text if fused else ""
            bindings.append(
                self.binding(axis, kinds, f"({variable}) // {inner}" if fused else variable)
            )
            if fused:
                bindings.append(self.binding(fused, kinds, f"({variable}) % {inner}"))
        if self.chance(40):
            self.rng.shuffle(loops)
        for depth, (variable, extent, kind) in enumerate(loops, 1):
            chosen = self.loop_kind(extent, kind, depth == len(loops))
            self.write(depth, f"for {variable} in {chosen}({extent}):")
        depth = len(loops) + 1
        self.write(depth, 'with T.block("b"):')
        for line in (*bindings, *([f"T.where({' and '.join(guards)})"] if guards else [])):
            self.write(depth + 1, line)
        return depth + 1

    def loops_over(self, dim: Dim, kind: str, loops: list, guards: list[str]) -> str:
        """One loop or, split, two; the expression over them that takes every value below `dim`."""
        if not self.chance(40):
            loops.append((self.name("i"), dim.text, kind))
            return loops[-1][0]
        width, outer, inner = self.pick((1, 3, 8)), self.name("i"), self.name("i")
        loops.append((outer, f"({dim.text} + {width - 1}) // {width}", kind))
        loops.append((inner, str(width), kind))
        guards.append(f"{outer} * {width} + {inner} < {dim.text}")
        return f"{outer} * {width} + {inner}"

    def binding(self, axis: str, kinds: dict[str, str], value: str) -> str:
        role = "spatial" if kinds[axis] == "S" else "reduce"
        return f"{axis} = T.axis.{role}({self.axes[axis].text}, {value})"

    def loop_kind(self, extent: str, kind: str, innermost: bool) -> str:
        chosen = self.pick(SPATIAL_LOOPS if kind == "S" else REDUCE_LOOPS)
        if innermost and self.chance(40):
            chosen = "T.vectorized"
        if chosen == "T.unroll" and not (extent.isdigit() and int(extent) <= 8):
            chosen = "range"
        self.features[chosen] += 1
        return chosen

    def write(self, depth: int, line: str) -> None:
        self.lines.append("    " * depth + line)

    # Blocks

    def block(self, buffer: Buffer, spatial: dict[str, Dim]) -> None:
        """Write a block that fills a buffer, and work out what it fills it with."""
        self.axes = dict(spatial)
        target = buffer.at([self.axis(a) for a in spatial]).text
        if self.chance(40):
            self.axes["vr"] = self.dim()
            self.reduction(buffer, target)
            return
        value = self.expr(buffer.dtype, self.pick((0, 1, 1, 2, 3)))
        form = self.pick(("plain", "plain", "let", "branch", "loop"))
        other = self.expr(buffer.dtype, 1)
        test = self.condition(1)
        depth = self.nest(dict.fromkeys(spatial, "S"))
        self.features[form] += 1
        value = getattr(self, f"_{form}")(depth, target, value, other, test)
        buffer.data = np.broadcast_to(value.value(self.points()), self.sizes()).astype(
            storage(buffer.dtype)
        )

    def points(self) -> dict[str, np.ndarray]:
        return dict(zip(self.axes, np.indices(self.sizes()), strict=True))

    def sizes(self) -> tuple[int, ...]:
        return tuple(d.size for d in self.axes.values())

    def _plain(self, depth, target, value, other, test):
        self.write(depth, f"{target} = {value.text}")
        return value

    def _let(self, depth, target, value, other, test):
        self.write(depth, f"x = {value.text}")
        self.write(depth, f"{target} = T.max(x, {other.text})")
        return self.apply("", np.maximum, value, other)

    def _branch(self, depth, target, value, other, test):
        self.write(depth, f"if {test.text}:")
        self.write(depth + 1, f"{target} = {value.text}")
        self.write(depth, "else:")
        self.write(depth + 1, f"{target} = {other.text}")
        return self.apply("", np.where, test, value, other)

    def _loop(self, depth, target, value, other, test):
        """A `while` loop that counts in a scratch buffer of the block."""
        count = self.rng.randrange(4)
        for line in (
            'c = T.alloc_buffer((1,), "int32")',
            "c[0] = 0",
            f"{target} = {other.text}",
            f"while c[0] < {count}:",
            f"    {target} = {value.text}",
            "    c[0] = c[0] + 1",
        ):
            self.write(depth, line)
        return value if count else other

    def reduction(self, buffer: Buffer, target: str) -> None:
        dtype = buffer.dtype
        first = self.number(dtype)
        self.features["reduction of nothing"] += self.axes["vr"].size == 0
        operations = {"T.max({}, {})": np.maximum, "T.min({}, {})": np.minimum}
        if dtype not in (*SMALL_FLOATS, "bool"):  # whose sums are rounded
            operations |= {"{} + {}": np.add}
        if dtype in INTEGERS:
            operations |= {"{} * {}": np.multiply}
        form = self.pick(list(operations))
        self.features[form] += 1
        value = self.expr(dtype, self.rng.randrange(1, 3))
        depth = self.nest({a: "R" if a == "vr" else "S" for a in self.axes})
        self.write(depth, "with T.init():")
        self.write(depth + 1, f"{target} = {first.text}")
        self.write(depth, f"{target} = {form.format(target, value.text)}")
        terms = np.broadcast_to(value.value(self.points()), self.sizes())
        total = np.broadcast_to(first.value({}), self.sizes()[:-1])
        for i in range(self.sizes()[-1]):
            total = wrapped(operations[form])(total, terms[..., i])
        buffer.data = total.astype(storage(dtype))


def generate(rng: random.Random) -> tuple[Program, Buffer, str]:
    """A program, its output, and its text."""
    program = Program(rng)
    dtype = program.pick((*INTEGERS, *FLOATS, "bool", "float32", "int32"))
    program.extremes = dtype in INTEGERS  # where results wrap, and are exact whatever comes in
    axes = {f"v{c}": program.dim() for c in "abc"[: rng.randrange(4)]}
    for _ in range(rng.randrange(3)):
        order = [a for a in axes if program.chance(85)]
        rng.shuffle(order)
        scratch = Buffer(program.name("S"), dtype, [axes[a] for a in order])
        program.block(scratch, {a: axes[a] for a in order})
        program.scratch.append(scratch)
    output = Buffer("O", dtype, list(axes.values()))
    program.block(output, axes)
    for name, size in program.symbols.items():  # a symbol must be a dim of a parameter
        program.input("int8", [Dim(name, size)])
    params = [*program.inputs, output]
    lines = ["@T.prim_func", f"def f({', '.join(f'p{p.name}: T.handle' for p in params)}):"]
    lines += [f"    {name} = T.int64()" for name in program.symbols]
    for p in params:
        lines.append(f'    {p.name} = T.match_buffer(p{p.name}, {p.shape_text}, "{p.dtype}")')
    for s in program.scratch:
        lines.append(f'    {s.name} = T.alloc_buffer({s.shape_text}, "{s.dtype}")')
    return program, output, "\n".join([*lines, *program.lines])


@settings(max_examples=120, deadline=None, derandomize=True, database=None)
@given(st.randoms(use_true_random=True))
def test_generated_kernels(rng):
    program, output, text = generate(rng)
    function = relax.build(from_source(text))["f"]
    arguments = [tvm.nd.array(b.data, dtype=b.dtype) for b in program.inputs]
    kept = [a.view().copy() for a in arguments]
    result = tvm.nd.array(np.ones([d.size for d in output.dims]), dtype=output.dtype)
    function(*arguments, result)
    for before, after in zip(kept, arguments, strict=True):
        np.testing.assert_array_equal(after.view(), before, err_msg=text)
    if program.features["reduction of nothing"]:
        return  # which writes the initial value or nothing, as it likes
    if output.dtype != "bfloat16":
        np.testing.assert_array_equal(result.numpy(), output.data, err_msg=text)
    module = tvm.IRModule.from_expr(from_source(text)).op
    expected = run(module, "f", [*kept, np.zeros_like(result.view())]).arguments[-1]
    values = (as_float64(a, output.dtype) for a in (result.view(), expected))
    np.testing.assert_array_equal(*values, err_msg=text)


def test_generated_kernels_have_every_feature():
    """The property above would be worth little if the generator left something out."""
    features = Counter()
    for seed in range(200):
        features += generate(random.Random(seed))[0].features
    expected = {*SPATIAL_LOOPS, "gather", "clamp", "reverse", "modulo", "shift", "division"}
    expected |= {"let", "branch", "loop", "cast", "choice", "{} + {}", "{} * {}", "T.max({}, {})"}
    assert all(features[name] >= 10 for name in expected), features
