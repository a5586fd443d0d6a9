"""Draws kernels: blocks that fill scratch memory and outputs, one after the other."""

from __future__ import annotations

import random
from dataclasses import replace

from .draw_expr import ALL_DTYPES, ExprDraw
from .evaluate import points_of
from .syntax import (
    FLOATS,
    SHORT_FLOATS,
    Axis,
    Block,
    Buffer,
    Expr,
    Kernel,
    index,
    number,
    var,
)

EXTENTS = (1, 2, 3, 4, 5, 8, 8, 13, 16, 17, 33)
FORMS = ("plain",) * 5 + ("split", "split", "strided", "fused", "offset", "reversed")
LARGE_EXTENTS = (64, 100, 128, 257, 640, 1000)
SIZES = (0, 1, 2, 3, 5, 7, 8, 16, 17, 31)
SPATIAL_LOOPS = ("range", "T.serial", "T.parallel", "T.vectorized", "T.unroll")
REDUCE_LOOPS = ("range", "T.serial", "T.unroll")
DTYPES = (*ALL_DTYPES, "float32", "float32", "int32", "int64")
MAX_POINTS = 20000
MAX_LARGE_POINTS = 200000
LIMITS = {
    "float16": (-60000.0, 60000.0),
    "bfloat16": (-1e30, 1e30),
    "float32": (-1e30, 1e30),
    "float64": (-1e30, 1e30),
}


class KernelDraw(ExprDraw):
    """A kernel that is being drawn; `plain` ones have loops that schedules can start from."""

    def __init__(self, rng: random.Random, plain: bool):
        super().__init__(rng)
        self.plain = plain
        self.is_large = self.chance(10)
        self.symbols: list[str] = []
        self.content = self.pick(("small",) * 5 + ("real", "real", "extreme", "special"))

    def kernel(self, name: str) -> Kernel:
        """A kernel of one to three blocks, the last of which writes the output."""
        dtype = self.pick(DTYPES)
        dims = [self.extent() for _ in range(self.pick((0, 1, 1, 2, 2, 2, 3)))]
        blocks: list[Block] = []
        scratch: list[Buffer] = []
        for _ in range(self.pick((0, 0, 0, 0, 1, 1, 2)) if dims else 0):
            kept = [d for d in dims if self.chance(80)]
            buffer = Buffer(self.name("S"), dtype, tuple(kept))
            blocks.append(self.block(buffer))
            scratch.append(buffer)
            self.written.append(buffer)
        output = Buffer("O", dtype, tuple(dims))
        outputs = [output]
        last = self.block(output)
        if last.form == "argument":
            outputs.append(Buffer("P", last.targets[1].dtype, tuple(dims)))
        blocks.append(last)
        if self.chance(15):
            self.written.append(output)
            other = Buffer("Q", self.pick(DTYPES), tuple(d for d in dims if self.chance(80)))
            outputs.append(other)
            blocks.append(self.block(other))
            self.features["second output"] += 1
        elif self.chance(10) and last.form == "plain":
            blocks.append(self.update(output))
        return self.finished(Kernel(name, (), (), tuple(scratch), tuple(outputs), tuple(blocks)))

    def finished(self, kernel: Kernel) -> Kernel:
        """The kernel with its inputs, symbols, and sizes for some calls."""
        carriers = [Buffer(f"B{s}", "int8", (var(s),), "symbol") for s in self.symbols]
        count = 3 if self.symbols else 1
        sizes = [tuple(self.pick(SIZES) for _ in self.symbols) for _ in range(count)]
        found = replace(
            kernel,
            inputs=(*self.inputs, *carriers),
            symbols=tuple(self.symbols),
            sizes=tuple(dict.fromkeys(sizes)),
            seed=self.rng.randrange(1 << 30),
        )
        return found.without_unused()

    def extent(self) -> Expr:
        """A number, a symbol, or twice a symbol."""
        if self.chance(70):
            return number(
                self.pick(LARGE_EXTENTS if self.is_large and self.chance(60) else EXTENTS)
            )
        if not self.symbols or (len(self.symbols) < 2 and self.chance(50)):
            self.symbols.append(self.name("n"))
        symbol = var(self.pick(self.symbols))
        return symbol if self.chance(85) else index("mul", symbol, 2)

    def block(self, buffer: Buffer) -> Block:
        """A block that fills a buffer."""
        axes = [self.axis("spatial", d) for d in buffer.dims]
        target = self.target(buffer, axes)
        if self.chance(45):
            axes += [self.axis("reduce", self.extent()) for _ in range(self.pick((1, 1, 1, 2)))]
            return self.reduction(buffer, target, axes)
        self.axes = {a.name: a for a in axes}
        depth = self.pick((0, 1, 1, 1, 2, 3))
        form = self.pick(("plain",) * 6 + ("let", "branch", "while"))
        exprs: tuple[Expr, ...] = (self.expr(buffer.dtype, depth),)
        if form == "branch":
            exprs = (self.condition(1), *exprs, self.expr(buffer.dtype, 1))
        elif form != "plain":
            exprs = (*exprs, self.expr(buffer.dtype, 1))
        if form == "let" and buffer.dtype == "bool":
            form, exprs = "plain", exprs[:1]
        self.features[form] += 1
        return self.visited(
            Block(self.name("b"), tuple(axes), (target,), form, exprs, "", self.rng.randrange(3))
        )

    def update(self, buffer: Buffer) -> Block:
        """A block that changes what an earlier one stored."""
        axes = [self.axis("spatial", d) for d in buffer.dims]
        self.axes = {a.name: a for a in axes}
        target = Expr("load", buffer.dtype, tuple(var(a.name) for a in axes), buffer.name)
        op = "xor" if buffer.dtype == "bool" else self.pick(("add", "max", "sub"))
        op = "ne" if op == "xor" else op
        value = Expr(op, buffer.dtype, (target, self.leaf(buffer.dtype)))
        self.features["update"] += 1
        return self.visited(Block(self.name("b"), tuple(axes), (target,), "plain", (value,)))

    def reduction(self, buffer: Buffer, target: Expr, axes: list[Axis]) -> Block:
        """A sum, product, extreme, or the place of one."""
        dtype = buffer.dtype
        self.axes = {a.name: a for a in axes}
        value = self.expr(dtype, self.pick((0, 1, 1, 2)))
        place = sum(a.role == "reduce" for a in axes) == 1 and buffer.name == "O"
        if place and dtype != "bool" and dtype not in SHORT_FLOATS and self.chance(15):
            return self.argument(buffer, target, axes, value)
        if dtype == "bool":
            combine = self.pick(("min", "max"))
        else:
            combine = self.pick(("add", "add", "add", "max", "min", "mul"))
        if combine == "mul" and dtype in FLOATS and self.content == "small":
            combine = "max"
        self.features[f"reduce by {combine}"] += 1
        first = self.constant(dtype) if self.chance(40) else number(_zero(dtype), dtype)
        block = Block(self.name("b"), tuple(axes), (target,), "reduce", (first, value), combine)
        return self.visited(block)

    def argument(self, buffer: Buffer, target: Expr, axes: list[Axis], value: Expr) -> Block:
        """The largest or smallest element and where it is."""
        combine = self.pick(("max", "min"))
        if buffer.dtype in FLOATS:
            first = LIMITS[buffer.dtype][combine == "min"]
        else:
            bits = int(buffer.dtype.removeprefix("u").removeprefix("int"))
            low = 0 if buffer.dtype[0] == "u" else -(1 << (bits - 1))
            first = low if combine == "max" else low + (1 << bits) - 1
        place = Expr("load", self.pick(("int32", "int64")), target.args, "P")
        exprs = (value, number(first, buffer.dtype))
        self.features[f"arg{combine}"] += 1
        return self.visited(
            Block(self.name("b"), tuple(axes), (target, place), "argument", exprs, combine)
        )

    def axis(self, role: str, extent: Expr) -> Axis:
        """An axis with a loop of its own."""
        name = self.name("v" if self.chance(10) else "v_")  # both spellings are in use
        return Axis(name, role, extent)

    def target(self, buffer: Buffer, axes: list[Axis]) -> Expr:
        """The element that an iteration writes, sometimes from the end."""
        places = [
            index("sub", index("sub", a.extent, 1), var(a.name)) if self.chance(5) else var(a.name)
            for a in axes
        ]
        return Expr("load", buffer.dtype, tuple(places), buffer.name)

    def visited(self, block: Block) -> Block:
        """The block with loops that are split, fused, in another order, and of several kinds."""
        if self.plain and self.chance(80):
            return block
        axes = list(block.axes)
        if self.chance(30):
            self.rng.shuffle(axes)
        for i, axis in enumerate(axes):
            if axes[i].form == "rest":
                continue
            form = self.pick(FORMS)
            if form == "reversed" and axis.role == "reduce":
                form = "plain"
            if form == "fused" and (i + 1 == len(axes) or axes[i + 1].role != axis.role):
                form = "plain"
            kinds = tuple(self.kind(axis, form) for _ in range(2))
            axes[i] = replace(axis, form=form, width=self.pick((1, 2, 3, 4, 8)), kinds=kinds)
            if form == "fused":
                axes[i + 1] = replace(axes[i + 1], form="rest")
            self.features[form] += 1
        order = list(range(2 * len(axes)))
        if self.chance(30) and block.form != "argument":
            self.rng.shuffle(order)
        return replace(block, axes=tuple(axes), order=tuple(order))

    def kind(self, axis: Axis, form: str) -> str:
        """What kind of loop; unrolled ones are short."""
        kind = self.pick(
            ("range",) * 3 + (SPATIAL_LOOPS if axis.role == "spatial" else REDUCE_LOOPS)
        )
        extent = axis.extent
        short = form == "plain" and extent.op == "const" and extent.value <= 8
        return "range" if kind == "T.unroll" and not short else kind


def _zero(dtype: str) -> int | float | bool:
    if dtype == "bool":
        return False
    return 0.0 if dtype in FLOATS else 0


def draw_kernel(
    rng: random.Random, name: str, plain: bool = False
) -> tuple[Kernel, dict[str, int]]:
    """A kernel, and how often it has which feature."""
    while True:
        draw = KernelDraw(rng, plain)
        kernel = draw.kernel(name)
        if points_of(kernel) <= (MAX_LARGE_POINTS if draw.is_large else MAX_POINTS):
            return kernel, dict(draw.features)
