"""Drawn PrimFuncs: their text, and what they write by NumPy."""

import random
from dataclasses import dataclass, field

import numpy as np
from drawn_dims import Dim
from drawn_expressions import (
    FLOATS,
    INTEGERS,
    SMALL_FLOATS,
    Buffer,
    Expressions,
    storage,
    wrapped,
)

SPATIAL_LOOPS = ("range", "T.serial", "T.parallel", "T.vectorized", "T.unroll")
REDUCE_LOOPS = ("range", "T.serial", "T.unroll", "T.vectorized")


@dataclass
class Program(Expressions):
    """A PrimFunc that is being written: its text, and its meaning in NumPy."""

    lines: list[str] = field(default_factory=list)

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
