"""Random loops over arrays of all dtypes compute the same as vectors, natively and in NumPy."""

from dataclasses import dataclass, field

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from xrelax.backend.build import compile_executable
from xrelax.backend.target import Target
from xrelax.dialects import get_context
from xrelax.lowering.llvm.interface import module_interface
from xrelax.pipeline import make_pass
from xrelax.reference import evaluate
from xrelax.runtime import from_numpy
from xrelax.runtime.layout import Layout
from xrelax.runtime.tensor import Tensor

SETTINGS = settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
PASSES = ("vectorize-loops", "promote-buffers", "lower-multi-reduction", "cse-loops", "dce")
INTEGERS = ("i8", "i16", "i32", "i64")
FLOATS = ("f16", "bf16", "f32", "f64")
TARGETS = ("llvm", "llvm -mcpu=haswell", "llvm -mtriple=aarch64-linux-gnu")
SIZES = (0, 1, 2, 7, 13, 16, 31, 64, 65, 131, 260)


def parse(text: str) -> ModuleOp:
    module = Parser(get_context(), text).parse_module()
    module.verify()
    return module


@dataclass
class Body:
    """The operations of a loop's body as text, and the values that they define by type."""

    lines: list[str] = field(default_factory=list)
    values: dict[str, list[str]] = field(default_factory=dict)
    count: int = 0

    def add(self, text: str, type_: str) -> str:
        self.count += 1
        name = f"%v{self.count}"
        self.lines.append(f"{name} = {text}")
        self.values.setdefault(type_, []).append(name)
        return name


def is_float(dtype: str) -> bool:
    return "f" in dtype


def combined(draw: st.DrawFn, body: Body, dtype: str) -> str:
    """An operation on two values of a dtype."""
    names = (
        ("addf", "subf", "maximumf", "minimumf")
        if is_float(dtype)
        else ("addi", "subi", "maxsi", "minui", "andi", "xori", "divsi", "remui")
    )
    lhs, rhs = (draw(st.sampled_from(body.values[dtype])) for _ in range(2))
    return body.add(f"arith.{draw(st.sampled_from(names))} {lhs}, {rhs} : {dtype}", dtype)


def compared(draw: st.DrawFn, body: Body, dtype: str) -> str:
    lhs, rhs = (draw(st.sampled_from(body.values[dtype])) for _ in range(2))
    if is_float(dtype):
        return body.add(
            f"arith.cmpf {draw(st.sampled_from(['olt', 'uge', 'oeq']))}, {lhs}, {rhs} : {dtype}",
            "i1",
        )
    return body.add(
        f"arith.cmpi {draw(st.sampled_from(['slt', 'uge', 'eq']))}, {lhs}, {rhs} : {dtype}", "i1"
    )


def indices(draw: st.DrawFn, body: Body) -> str:
    """A condition on the loop variable."""
    limit = body.add(f"arith.constant {draw(st.integers(-3, 40))} : index", "index")
    predicate = draw(st.sampled_from(["slt", "sle", "sgt", "sge", "eq", "ne"]))
    sides = draw(st.permutations(["%j", limit]))
    return body.add(f"arith.cmpi {predicate}, {sides[0]}, {sides[1]} : index", "i1")


def converted(body: Body, source: str, target: str) -> str:
    value = body.values[source][-1]
    if is_float(source) and is_float(target):
        widths = {"f16": 1, "bf16": 1, "f32": 2, "f64": 3}
        if widths[source] == widths[target]:
            return value
        name = "extf" if widths[source] < widths[target] else "truncf"
    elif is_float(source) or is_float(target):
        name = "fptosi" if is_float(source) else "sitofp"
    else:
        before, after = int(source[1:]), int(target[1:])
        name = "extsi" if before < after else "trunci"
        if before == after:
            return value
    return body.add(f"arith.{name} {value} : {source} to {target}", target)


@st.composite
def elementwise(draw: st.DrawFn):
    """A loop that stores what it makes of two arrays of different dtypes, and masks."""
    first, second = (
        draw(st.sampled_from(INTEGERS + FLOATS)),
        draw(st.sampled_from(INTEGERS + FLOATS)),
    )
    size = draw(st.sampled_from(SIZES))
    dim = draw(st.sampled_from(["n", str(size)]))
    body = Body()
    body.add(f"loops.load %A[%j] : !tir.buffer<[{dim}], {first}> -> {first}", first)
    body.add(f"loops.load %B[%j] : !tir.buffer<[{dim}], {second}> -> {second}", second)
    body.add(f"loops.load %M[%j] : !tir.buffer<[{dim}], i1> -> i1", "i1")
    converted(body, second, first)
    for _ in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(["combine", "compare", "index", "select", "choice"]))
        if kind == "combine":
            combined(draw, body, first)
        elif kind == "compare":
            compared(draw, body, first)
        elif kind == "index":
            indices(draw, body)
        else:
            condition = draw(st.sampled_from(body.values["i1"]))
            lhs, rhs = (draw(st.sampled_from(body.values[first])) for _ in range(2))
            if kind == "select":
                body.add(f"arith.select {condition}, {lhs}, {rhs} : {first}", first)
                continue
            place = draw(st.sampled_from(["%A[%j]", "%C[0]", "%C[%j]"]))
            length = dim if place.startswith("%A") else f"{max(size, 1)}"
            length = dim if place == "%C[%j]" else length
            buffer = f"!tir.buffer<[{dim}], {first}>"
            body.add(
                f"scf.if {condition} -> ({first}) {{\n"
                f"  %l{body.count} = loops.load {place} : {buffer} -> {first}\n"
                f"  scf.yield %l{body.count} : {first}\n}} else {{ scf.yield {rhs} : {first} }}",
                first,
            )
    result, flag = body.values[first][-1], body.values["i1"][-1]
    body.lines.append(f"loops.store {result}, %Y[%j] : !tir.buffer<[{dim}], {first}>, {first}")
    body.lines.append(f"loops.store {flag}, %F[%j] : !tir.buffer<[{dim}], i1>, i1")
    buffers = [("A", first), ("B", second), ("M", "i1"), ("C", first), ("Y", first), ("F", "i1")]
    return program(body.lines, dim, [(n, t, dim) for n, t in buffers], 2), [
        (n, t, size) for n, t in buffers
    ]


@st.composite
def reductions(draw: st.DrawFn):
    """A loop that accumulates in one element, perhaps after another loop around it."""
    dtype = draw(st.sampled_from((*INTEGERS, "f32", "f64")))
    size = draw(st.sampled_from(SIZES))
    dim = draw(st.sampled_from(["n", str(size)]))
    names = (
        ("addf", "maximumf", "minnumf")
        if is_float(dtype)
        else ("addi", "maxsi", "minui", "andi", "ori")
    )
    name, rows = draw(st.sampled_from(names)), draw(st.integers(0, 3))
    lines = [
        f"%v = loops.load %A[%j] : !tir.buffer<[{dim}], {dtype}> -> {dtype}",
        f"%m = loops.load %M[%j] : !tir.buffer<[{dim}], i1> -> i1",
        f"%z = arith.constant {'1.0' if is_float(dtype) else '1'} : {dtype}",
        f"%w = arith.select %m, %v, %z : {dtype}",
        f"%s = loops.load %R[0] : !tir.buffer<[1], {dtype}> -> {dtype}",
        f"%t = arith.{name} %s, %w : {dtype}",
        f"loops.store %t, %R[0] : !tir.buffer<[1], {dtype}>, {dtype}",
    ]
    buffers = [("A", dtype, dim), ("M", "i1", dim), ("R", dtype, "1")]
    text = program(lines, dim, buffers, 1, rows)
    return text, [("A", dtype, size), ("M", "i1", size), ("R", dtype, 1)]


@st.composite
def apart(draw: st.DrawFn):
    """A loop whose lanes are not neighbours where they are loaded, or where they are stored."""
    dtype = draw(st.sampled_from(("i8", "i64", "f32", "f64")))
    size, step = draw(st.sampled_from(SIZES)), draw(st.integers(-5, 5))
    dim = draw(st.sampled_from(["n", str(size)]))
    place = f"(%j - {dim} + 1) * {step}" if step < 0 else f"%j * {step}"
    columns = draw(st.integers(1, 3))
    large, wide = f"{dim} * 5", f"[{dim}, {columns}]"
    lines = [
        f"%x = loops.load %A[{place}] : !tir.buffer<[{large}], {dtype}> -> {dtype}",
        f"%y = arith.add{dtype[0]} %x, %x : {dtype}",
        f"loops.store %y, %Y[%j, 0] : !tir.buffer<{wide}, {dtype}>, {dtype}",
    ]
    buffers = [("A", dtype, large), ("Y", dtype, wide[1:-1])]
    shapes = [("A", dtype, size * 5), ("Y", dtype, (size, columns))]
    return program(lines, dim, buffers, 1), shapes


def program(lines, dim, buffers, written, rows: int | None = None) -> str:
    parameters = ", ".join(f"%{n}: !tir.buffer<[{d}], {t}>" for n, t, d in buffers)
    read, outs = buffers[:-written], buffers[-written:]
    symbols = "symbols [n] " if dim == "n" else ""
    loop = f"loops.for %j in (0, {dim}) vectorized {{\n" + "\n".join(lines) + "\n}"
    if rows is not None:
        loop = f"loops.for %i in (0, {rows}) {{\n{loop}\n}}"
    places = ", ".join(str(len(read) + i) for i in range(written))
    types = [", ".join(f"!tir.buffer<[{d}], {t}>" for _, t, d in g) for g in (read, outs)]
    names = [", ".join(f"%{n}" for n, _, _ in g) for g in (read, outs)]
    return (
        f"loops.func @k({parameters}) {symbols}noalias {{\n{loop}\n}}\n"
        f"rt.func @main({parameters}) written [{places}] {{\n"
        f"rt.call_dps @k({names[0]}) outs({names[1]}) : ({types[0]}), ({types[1]})\n}}"
    )


def arguments(buffers) -> list[np.ndarray]:
    """Whole numbers; bf16 as their bits."""
    generator = np.random.default_rng(len(buffers))
    found: list[np.ndarray] = []
    for _, dtype, shape in buffers:
        values = generator.integers(-9, 10, shape)
        if dtype == "i1":
            found.append(values > 0)
        elif dtype == "bf16":
            found.append((values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16))
        else:
            found.append(values.astype({"i": "int", "f": "float"}[dtype[0]] + dtype[1:]))
    return found


def assert_same(text: str, buffers, target: str = "llvm") -> ModuleOp:
    serial, module = parse(text.replace(" vectorized {", " {")), parse(text)
    args = arguments(buffers)
    expected = evaluate(serial, "k", [a.copy() for a in args])
    for name in PASSES:
        make_pass(name, target).apply(get_context(), module)
        module.verify()
    for got, wanted in zip(evaluate(module, "k", [a.copy() for a in args]), expected, strict=True):
        np.testing.assert_array_equal(got, wanted)
    return module


def run_native(module: ModuleOp, args: list[np.ndarray], target: str) -> None:
    interface = module_interface(module)
    make_pass("convert-to-llvm", target).apply(get_context(), module)
    module.verify()
    native = compile_executable(interface.functions, interface.constants, module, Target(target))
    given = [
        Tensor(t.address, Layout(t.shape, "bfloat16"), t) if a.dtype == np.uint16 else a
        for a, t in ((a, from_numpy(a)) for a in args)
    ]
    native["main"](*given)


def assert_native(text: str, buffers, target: str) -> None:
    module = assert_same(text, buffers, target)
    serial = parse(text.replace(" vectorized {", " {"))
    args = arguments(buffers)
    expected = [a.copy() for a in args]
    for array, result in zip(expected, evaluate(serial, "k", [a.copy() for a in args])):
        array[...] = result
    run_native(module, args, target)
    for got, wanted in zip(args, expected, strict=True):
        np.testing.assert_array_equal(got, wanted)


@SETTINGS
@given(elementwise(), st.sampled_from(TARGETS[:2]))
def test_elementwise(case, target):
    assert_native(*case, target)


@SETTINGS
@given(reductions(), st.sampled_from(TARGETS[:2]))
def test_reductions(case, target):
    assert_native(*case, target)


@SETTINGS
@given(apart(), st.sampled_from(TARGETS[:2]))
def test_apart(case, target):
    assert_native(*case, target)


@SETTINGS
@given(st.one_of(elementwise(), reductions(), apart()))
def test_without_masks(case):
    assert_same(*case, TARGETS[2])
