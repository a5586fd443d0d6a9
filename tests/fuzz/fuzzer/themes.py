"""Kernels of a known form, for primitives that apply to such ones alone."""

from __future__ import annotations

import random
from functools import cache

from .draw_kernel import KernelDraw
from .syntax import Axis, Block, Buffer, Expr, Kernel, index, number, var

PRODUCT_DTYPES = ("float32", "float32", "float64", "int32", "int64", "float16", "int8")


def product(rng: random.Random, name: str, whole: bool = False) -> Kernel:
    """A matmul; with `whole` its dims are multiples of 4, 8 and 2."""
    draw = KernelDraw(rng, plain=True)
    draw.content = "small"
    dtype = "float32" if whole else draw.pick(PRODUCT_DTYPES)
    if whole:
        n, m, k = (number(f * draw.pick((1, 2, 3))) for f in (4, 8, 2))
    else:
        n, m, k = (draw.extent() for _ in range(3))
    axes = [draw.axis("spatial", n), draw.axis("spatial", m), draw.axis("reduce", k)]
    i, j, x = (var(a.name) for a in axes)
    lhs, rhs = draw.input(dtype, (n, k)), draw.input(dtype, (k, m))
    value = Expr(
        "mul",
        dtype,
        (Expr("load", dtype, (i, x), lhs.name), Expr("load", dtype, (x, j), rhs.name)),
    )
    zero = number(0.0 if dtype.startswith("f") else 0, dtype)
    if draw.chance(30) and not whole:
        return draw.finished(_through_scratch(draw, name, dtype, (n, m), axes, (zero, value)))
    output = Buffer("O", dtype, (n, m))
    target = Expr("load", dtype, (i, j), "O")
    block = Block("b", tuple(axes), (target,), "reduce", (zero, value), "add")
    return draw.finished(Kernel(name, (), (), (), (output,), (block,)))


def _through_scratch(
    draw: KernelDraw,
    name: str,
    dtype: str,
    dims: tuple[Expr, ...],
    axes: list[Axis],
    exprs: tuple[Expr, ...],
) -> Kernel:
    """The sums in scratch memory, and a block that makes the output of them."""
    scratch = Buffer("S", dtype, dims)
    target = Expr("load", dtype, tuple(var(a.name) for a in axes[:2]), "S")
    first = Block("b", tuple(axes), (target,), "reduce", exprs, "add")
    return Kernel(
        name,
        (),
        (),
        (scratch,),
        (Buffer("O", dtype, dims),),
        (first, follow(draw, "c", scratch, "O")),
    )


def follow(draw: KernelDraw, name: str, scratch: Buffer, stored: str) -> Block:
    """A block that makes each element of a buffer of one of another."""
    axes = [draw.axis("spatial", d) for d in scratch.dims]
    draw.axes = {a.name: a for a in axes}
    place = tuple(var(a.name) for a in axes)
    load = Expr("load", scratch.dtype, place, scratch.name)
    op = draw.pick(("add", "max", "min", "sub"))
    value = Expr(op, scratch.dtype, (load, draw.leaf(scratch.dtype)))
    target = Expr("load", scratch.dtype, place, stored)
    return Block(name, tuple(axes), (target,), "plain", (value,))


def chain(rng: random.Random, name: str) -> Kernel:
    """Two or three elementwise blocks, one after the other."""
    draw = KernelDraw(rng, plain=True)
    dtype = draw.pick(("float32", "float32", "int32", "float64", "uint8", "int64", "bfloat16"))
    dims = tuple(draw.extent() for _ in range(draw.pick((1, 2, 2, 3))))
    scratch = [Buffer(f"S{i}", dtype, dims) for i in range(draw.pick((1, 1, 2)))]
    axes = [draw.axis("spatial", d) for d in dims]
    draw.axes = {a.name: a for a in axes}
    target = Expr("load", dtype, tuple(var(a.name) for a in axes), scratch[0].name)
    blocks = [
        Block("b0", tuple(axes), (target,), "plain", (draw.expr(dtype, draw.pick((0, 1, 2))),))
    ]
    for i, buffer in enumerate(scratch):
        stored = scratch[i + 1].name if i + 1 < len(scratch) else "O"
        blocks.append(follow(draw, f"b{i + 1}", buffer, stored))
    kernel = Kernel(name, (), (), tuple(scratch), (Buffer("O", dtype, dims),), tuple(blocks))
    return draw.finished(kernel)


def padding(rng: random.Random, name: str) -> Kernel:
    """An input with a constant around it."""
    draw = KernelDraw(rng, plain=True)
    dtype = draw.pick(("float32", "int32", "float64", "int8"))
    dims = [draw.extent() for _ in range(draw.pick((1, 2)))]
    before, after = draw.pick((0, 1, 3)), draw.pick((1, 2, 5))
    wide = [index("add", dims[0], before + after), *dims[1:]]
    axes = [draw.axis("spatial", d) for d in wide]
    source = draw.input(dtype, dims)
    first, *others = (var(a.name) for a in axes)
    inside = Expr(
        "both",
        "bool",
        (
            Expr("le", "bool", (number(before), first)),
            Expr("lt", "bool", (first, index("add", dims[0], before))),
        ),
    )
    load = Expr("load", dtype, (index("sub", first, before), *others), source.name)
    value = Expr("if_then_else", dtype, (inside, load, draw.constant(dtype)))
    target = Expr("load", dtype, (first, *others), "O")
    block = Block("b", tuple(axes), (target,), "plain", (value,))
    return draw.finished(Kernel(name, (), (), (), (Buffer("O", dtype, tuple(wide)),), (block,)))


def windows(rng: random.Random, name: str) -> Kernel:
    """Sums, perhaps of products, over windows of an input with a constant around it."""
    draw = KernelDraw(rng, plain=True)
    dtype = draw.pick(("float32", "float32", "int32", "float64"))
    size, channels, taps = draw.extent(), draw.extent(), number(draw.pick((1, 2, 3, 5)))
    count = draw.extent()
    step, reach, before = draw.pick((1, 1, 2)), draw.pick((1, 1, 2)), draw.pick((0, 1, 2, 7))
    axes = [draw.axis("spatial", count), draw.axis("spatial", channels), draw.axis("reduce", taps)]
    i, c, k = (var(a.name) for a in axes)
    at = index("add", index("mul", i, step), index("mul", k, reach))
    inside = Expr(
        "both",
        "bool",
        (
            Expr("le", "bool", (number(before), at)),
            Expr("lt", "bool", (at, index("add", size, before))),
        ),
    )
    data = draw.input(dtype, (size, channels))
    load = Expr("load", dtype, (index("sub", at, before), c), data.name)
    zero = number(0.0 if dtype.startswith("f") else 0, dtype)
    value = Expr("if_then_else", dtype, (inside, load, zero))
    if draw.chance(70):
        weight = draw.input(dtype, (taps, channels))
        value = Expr("mul", dtype, (value, Expr("load", dtype, (k, c), weight.name)))
    target = Expr("load", dtype, (i, c), "O")
    block = Block("b", tuple(axes), (target,), "reduce", (zero, value), "add")
    return draw.finished(
        Kernel(name, (), (), (), (Buffer("O", dtype, (count, channels)),), (block,))
    )


def shared_windows(rng: random.Random, name: str) -> Kernel:
    """Elements of scratch memory, and sums over windows of them that overlap."""
    draw = KernelDraw(rng, plain=True)
    draw.content = "small"
    dtype = draw.pick(("float32", "int32", "float64"))
    count, taps, step = draw.pick((5, 8, 12)), draw.pick((2, 3, 5)), draw.pick((1, 1, 2))
    dims = [number((count - 1) * step + taps)] + [number(draw.pick((1, 3)))] * draw.pick((0, 1))
    data, scratch = draw.input(dtype, tuple(dims)), Buffer("S", dtype, tuple(dims))
    first = follow(draw, "b", data, "S")
    axes = [draw.axis("spatial", d) for d in (number(count), *dims[1:])]
    window = draw.axis("reduce", number(taps))
    place = [var(a.name) for a in axes]
    moved = index("add", index("mul", place[0], step), var(window.name))
    zero = number(0.0 if dtype.startswith("f") else 0, dtype)
    value = Expr("load", dtype, (moved, *place[1:]), "S")
    target = Expr("load", dtype, tuple(place), "O")
    second = Block("c", (*axes, window), (target,), "reduce", (zero, value), "add")
    output = Buffer("O", dtype, (number(count), *dims[1:]))
    return draw.finished(Kernel(name, (), (), (scratch,), (output,), (first, second)))


DESCRIPTION = """
@T.prim_func
def tile(a: T.handle, b: T.handle, c: T.handle):
    A = T.match_buffer(a, (4, 2), "float32", offset_factor=1)
    B = T.match_buffer(b, (2, 8), "float32", offset_factor=1)
    C = T.match_buffer(c, (4, 8), "float32", offset_factor=1)
    with T.block("root"):
        T.reads(C[0:4, 0:8], A[0:4, 0:2], B[0:2, 0:8])
        T.writes(C[0:4, 0:8])
        for i, j, k in T.grid(4, 8, 2):
            with T.block("tile"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""
IMPLEMENTATION = """
@T.prim_func
def tile(a: T.handle, b: T.handle, c: T.handle):
    sa, sb, sc = T.int32(), T.int32(), T.int32()
    A = T.match_buffer(a, (4, 2), "float32", strides=[sa, 1], offset_factor=1)
    B = T.match_buffer(b, (2, 8), "float32", strides=[sb, 1], offset_factor=1)
    C = T.match_buffer(c, (4, 8), "float32", strides=[sc, 1], offset_factor=1)
    with T.block("root"):
        T.reads(C[0:4, 0:8], A[0:4, 0:2], B[0:2, 0:8])
        T.writes(C[0:4, 0:8])
        for j in T.vectorized(8):
            for k, i in T.grid(2, 4):
                with T.block("tile"):
                    vj, vk, vi = T.axis.remap("SRS", [j, k, i])
                    C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""
TENSOR_INTRINSIC = "fuzz.tile"


@cache
def register_intrinsic() -> None:
    """Let `TENSOR_INTRINSIC` be the product of tiles."""
    from xrelax.script import from_source
    from xrelax.tir import TensorIntrin

    functions = map(from_source, (DESCRIPTION, IMPLEMENTATION))
    TensorIntrin.register(TENSOR_INTRINSIC, *functions, override=True)
