"""Random TensorIR kernels compute the same before and after each pass on their way to loops."""

from dataclasses import dataclass

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from xrelax.dialects import get_context
from xrelax.pipeline import load_pass
from xrelax.reference import evaluate

PASSES = (
    "convert-tir-to-loops",
    "unroll-loops",
    "vectorize-loops",
    "promote-buffers",
    "lower-multi-reduction",
    "cse-loops",
    "dce",
)
SETTINGS = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)


def parse(text: str) -> ModuleOp:
    module = Parser(get_context(), text).parse_module()
    module.verify()
    return module


@dataclass
class Axis:
    """One axis of a block: its dim's text, its value, and the loops that it is split into."""

    name: str
    dim: str
    size: int
    factor: int | None
    kinds: tuple[str, str]

    @property
    def loops(self) -> list[tuple[str, str, str]]:
        """Name, extent and kind of each loop, outer first."""
        outer, inner = self.kinds
        if self.factor is None:
            return [(f"%{self.name}0", self.dim, outer)]
        count = f"({self.dim} + {self.factor - 1}) floordiv {self.factor}"
        return [(f"%{self.name}0", count, outer), (f"%{self.name}1", str(self.factor), inner)]

    @property
    def binding(self) -> str:
        if self.factor is None:
            return f"%{self.name}0"
        return f"%{self.name}0 * {self.factor} + %{self.name}1"

    @property
    def predicate(self) -> list[str]:
        exact = self.factor is None or (self.dim.isdigit() and self.size % self.factor == 0)
        return [] if exact else [f"{self.binding} < {self.dim}"]


@st.composite
def axes(draw: st.DrawFn, name: str, kinds: tuple[str, ...]) -> Axis:
    size = draw(st.integers(1, 21))
    dim = draw(st.sampled_from([str(size), f"n{name}"]))
    factor = draw(st.sampled_from([None, 1, 2, 4, 7, 16]))
    others = tuple(k for k in kinds if k != "unrolled")
    is_short = factor is None and dim.isdigit() and size < 8
    outer = draw(st.sampled_from(kinds if is_short else others))
    inner = draw(st.sampled_from(kinds if factor != 16 else others))
    return Axis(name, dim, size, factor, (outer, inner))


def nest(ordered: list[tuple[str, str, str]], block: str) -> str:
    opened = "".join(
        f"tir.for {n} in (0, {e}) {k if k != 'serial' else ''} {{\n" for n, e, k in ordered
    )
    return opened + block + "}\n" * len(ordered)


def header(name: str, bound: list[tuple[str, str, Axis]]) -> str:
    listed = ", ".join(f"%v{a.name}: {kind} (0, {a.dim}) = {a.binding}" for _, kind, a in bound)
    where = [p for _, _, a in bound for p in a.predicate]
    return f'tir.block "{name}" ({listed})' + (f" where ({', '.join(where)})" if where else "")


SPATIAL = ("serial", "serial", "parallel", "vectorized", "unrolled")
REDUCE = ("serial", "serial", "vectorized", "unrolled")


@st.composite
def reductions(draw: st.DrawFn):
    """A sum or maximum over k of ``X[i, k] * W[k, j]`` in any loop order, then ``Z = Y + B``."""
    i, j = draw(axes("i", SPATIAL)), draw(axes("j", SPATIAL))
    k = draw(axes("k", REDUCE))
    ordered = draw(st.permutations([*i.loops, *j.loops, *k.loops]))
    ordered = [
        (n, e, "serial" if kind == "parallel" and p else kind)
        for p, (n, e, kind) in enumerate(ordered)
    ]
    combine, start = draw(st.sampled_from([("addf", "0.0"), ("maximumf", "-100.0")]))
    transposed = draw(st.booleans())
    scratch = draw(st.booleans()) and i.dim.isdigit() and j.dim.isdigit()
    w = f"[{j.dim}, {k.dim}]" if transposed else f"[{k.dim}, {j.dim}]"
    w_at = "[%vj, %vk]" if transposed else "[%vk, %vj]"
    y = f"!tir.buffer<[{i.dim}, {j.dim}], f32>"
    reduce = f"""{header("Y", [("", "spatial", i), ("", "spatial", j), ("", "reduce", k)])}
      reads (%X[%vi, %vk], %W{w_at}) writes (%Y[%vi, %vj]) {{
        tir.init {{
          %c = arith.constant {start} : f32
          tir.store %c, %Y[%vi, %vj] : {y}
        }}
        %y = tir.load %Y[%vi, %vj] : {y}
        %x = tir.load %X[%vi, %vk] : !tir.buffer<[{i.dim}, {k.dim}], f32>
        %w = tir.load %W{w_at} : !tir.buffer<{w}, f32>
        %p = arith.mulf %x, %w : f32
        %q = arith.{combine} %y, %p : f32
        tir.store %q, %Y[%vi, %vj] : {y}
      }}
"""
    i2, j2 = (Axis(a.name + "e", a.dim, a.size, *draw(splits(a))) for a in (i, j))
    epilogue = f"""{header("Z", [("", "spatial", i2), ("", "spatial", j2)])}
      reads (%Y[%vie, %vje], %B[%vje]) writes (%Z[%vie, %vje]) {{
        %y = tir.load %Y[%vie, %vje] : {y}
        %b = tir.load %B[%vje] : !tir.buffer<[{j.dim}], f32>
        %s = arith.addf %y, %b : f32
        tir.store %s, %Z[%vie, %vje] : {y}
      }}
"""
    params = [
        f"%X: !tir.buffer<[{i.dim}, {k.dim}], f32>",
        f"%W: !tir.buffer<{w}, f32>",
        f"%B: !tir.buffer<[{j.dim}], f32>",
        f"%Z: {y}",
    ]
    body = f"%Y = tir.alloc_buffer : {y}\n" if scratch else ""
    params += [] if scratch else [f"%Y: {y}"]
    body += nest(ordered, reduce) + nest([*i2.loops, *j2.loops], epilogue)
    shapes = [(i.size, k.size), (j.size, k.size) if transposed else (k.size, j.size)]
    shapes += [(j.size,), (i.size, j.size)] + ([] if scratch else [(i.size, j.size)])
    return f"tir.prim_func @f({', '.join(params)}) {{\n{body}}}", shapes


@st.composite
def splits(draw: st.DrawFn, axis: Axis):
    other = draw(axes(axis.name, ("serial", "vectorized", "parallel")))
    return other.factor, other.kinds if other.kinds[0] != "unrolled" else ("serial", other.kinds[1])


def random_arguments(shapes: list[tuple[int, ...]]) -> list[np.ndarray]:
    """Small whole numbers, whose sums are exact in any order."""
    generator = np.random.default_rng(len(shapes) + sum(map(sum, shapes)))
    return [generator.integers(-4, 5, s).astype(np.float32) for s in shapes]


def run(module: ModuleOp, args: list[np.ndarray]) -> list[np.ndarray]:
    return evaluate(module, "f", [a.copy() for a in args])


@SETTINGS
@given(reductions())
def test_reductions(program: tuple[str, list[tuple[int, ...]]]):
    text, shapes = program
    module, context = parse(text), get_context()
    args = random_arguments(shapes)
    expected = run(module, args)
    for name in PASSES:
        load_pass(name)().apply(context, module)
        module.verify()
        for got, wanted in zip(run(module, args), expected, strict=True):
            np.testing.assert_array_equal(got, wanted, err_msg=name)
