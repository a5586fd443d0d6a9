"""Generated graphs of operators, kernels, callbacks and calls: compiled code gives NumPy's numbers.

Values stay whole and small enough for their dtype, so that floats are exact in any order.
"""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest
from drawn_dims import Dim, DimChoices
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import xrelax as tvm
from xrelax import relax
from xrelax.script import from_source

EXACT = {"float32": 2.0**24, "float64": 2.0**53}
DTYPES = (*EXACT, "int8", "int32", "int64", "uint8")
BINARY = {
    "add": (np.add, np.add),
    "subtract": (np.subtract, np.add),
    "multiply": (np.multiply, np.multiply),
    "maximum": (np.maximum, np.maximum),
}
"""Operators in NumPy, and what bounds the magnitude of their results."""


def shift(x, out):
    np.copyto(np.asarray(out), np.asarray(x) + np.asarray(x))


def combine(x, y, out):
    np.copyto(np.asarray(out), np.asarray(x) * 2 + np.asarray(y))


@pytest.fixture(autouse=True, scope="module")
def registered():
    tvm.register_func("graphs.shift", shift, override=True)
    tvm.register_func("graphs.combine", combine, override=True)


HELPERS = """
    @T.prim_func
    def flip(x: T.handle, y: T.handle):
        a, b = T.int64(), T.int64()
        X = T.match_buffer(x, (a, b), "{0}")
        Y = T.match_buffer(y, (b, a), "{0}")
        for i, j in T.grid(b, a):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = X[vj, vi] + T.{0}(1)

    @R.function(private=True)
    def twice(x: R.Tensor(("a", "b"), "{0}")):
        return R.add(x, x)

    @R.function
    def both(x: R.Tensor(("a", "b"), "{0}"), y: R.Tensor(("b", "a"), "{0}")):
        with R.dataflow():
            z = R.permute_dims(Module.twice(x))
            w = R.maximum(y, z)
            R.output(w)
        return (w, x)
"""


ONE = Dim("1", 1)


@dataclass(eq=False)
class Value:
    """A value of the graph: its name and shape, its content, and a bound of every element."""

    name: str
    dims: list[Dim]
    array: np.ndarray
    bound: np.ndarray


def broadcast(a: list[Dim], b: list[Dim]) -> list[Dim] | None:
    """The common shape, `None` where there is none."""
    rank = max(len(a), len(b))
    pairs = zip([ONE] * (rank - len(a)) + a, [ONE] * (rank - len(b)) + b, strict=True)
    dims = [x if y in (x, ONE) else y if x == ONE else None for x, y in pairs]
    return None if None in dims else dims


@dataclass
class Graph(DimChoices):
    """A graph function that is being written, and what its values are in NumPy."""

    SIZES = (0, 1, 2, 3, 5, 8, 17)
    SHARED = 40

    rng: random.Random
    dtype: str
    params: list[Value] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    symbols: dict[str, int] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    largest: float = 0.0
    features: Counter = field(default_factory=Counter)

    def param(self, dims: list[Dim]) -> Value:
        values = np.random.RandomState(self.rng.randrange(1 << 30))
        low = 0 if self.dtype == "uint8" else -3
        array = values.randint(low, 4, [d.size for d in dims]).astype(self.dtype)
        bound = np.full(array.shape, 4.0)
        param = Value(f"p{len(self.params)}", dims, array, bound)
        self.params.append(param)
        self.values.append(param)
        return param

    def like(self, dims: list[Dim], one_rank: bool = False) -> Value:
        """A value that broadcasts with a shape."""
        fitting = [v for v in self.values if broadcast(v.dims, dims) is not None]
        if one_rank:
            fitting = [v for v in fitting if len(v.dims) == len(dims)]
        if fitting and self.chance(60):
            return self.pick(fitting)
        fewer = self.chance(40) and not one_rank
        kept = dims[self.rng.randrange(len(dims) + 1) :] if fewer else dims
        return self.param([ONE if self.chance(25) else d for d in kept])

    def tensor(self, dims: list[Dim], declares: bool = False) -> str:
        sizes = [f'"{d.text}"' if declares and d.text.isalpha() else d.text for d in dims]
        return f'R.Tensor(({"".join(f"{s}, " for s in sizes)}), "{self.dtype}")'

    def add(
        self, text: str, dims: list[Dim], function: Callable, bound: Callable, *operands: Value
    ) -> Value:
        """Bind an expression to a new name."""
        with np.errstate(all="ignore"):
            array = np.asarray(function(*(o.array for o in operands))).astype(self.dtype)
            size = np.asarray(bound(*(o.bound for o in operands)))
        self.largest = max(self.largest, float(size.max(initial=0)))
        value = Value(f"v{len(self.lines)}", dims, array, size)
        self.write(f"{value.name} = {text}")
        self.values.append(value)
        return value

    def write(self, line: str) -> None:
        self.lines.append(self.indent + line)

    indent = " " * 8

    def step(self) -> Value:
        if self.values and self.chance(85):
            x = self.pick(self.values)
        else:
            x = self.param([self.dim() for _ in range(self.pick((0, 1, 2, 2, 3)))])
        kinds = ["binary"] * 4 + ["permute", "relu", "fma", "packed", "constant", "pair"]
        if x.dims:
            kinds += ["matmul", "matmul", "linear"]
        if len(x.dims) == 2:
            kinds += ["kernel", "call"]
        kind = self.pick(kinds)
        self.features[kind] += 1
        return getattr(self, f"_{kind}")(x)

    def _binary(self, x):
        pair = [x, self.like(x.dims)]
        self.rng.shuffle(pair)
        name = self.pick(list(BINARY))
        dims = broadcast(pair[0].dims, pair[1].dims)
        return self.add(f"R.{name}({pair[0].name}, {pair[1].name})", dims, *BINARY[name], *pair)

    def _permute(self, x):
        axes = list(range(len(x.dims)))[::-1]
        text = ""
        if axes and self.chance(60):
            self.rng.shuffle(axes)
            text = f", axes={[a - len(axes) if self.chance(30) else a for a in axes]}"

        def permuted(array):
            return np.transpose(array, axes)

        dims = [x.dims[a] for a in axes]
        return self.add(f"R.permute_dims({x.name}{text})", dims, permuted, permuted, x)

    def _relu(self, x):
        return self.add(f"R.nn.relu({x.name})", x.dims, lambda a: np.maximum(a, 0), abs, x)

    def _fma(self, x):
        y = self.like(x.dims, one_rank=True)
        z = self.like(broadcast(x.dims, y.dims), one_rank=True)
        dims = broadcast(broadcast(x.dims, y.dims), z.dims)
        text = f"R.ewise_fma({x.name}, {y.name}, {z.name})"
        return self.add(text, dims, *[lambda a, b, c: a * b + c] * 2, x, y, z)

    def _packed(self, x):
        out = self.tensor(x.dims)
        if self.chance(50):
            text = f'R.call_dps_packed("graphs.shift", ({x.name},), {out})'
            return self.add(text, x.dims, *[lambda a: a + a] * 2, x)
        y = self.pick([v for v in self.values if v.dims == x.dims])
        text = f'R.call_dps_packed("graphs.combine", ({x.name}, {y.name}), {out})'
        return self.add(text, x.dims, *[lambda a, b: a * 2 + b] * 2, x, y)

    def _constant(self, x):
        number = self.rng.randrange(4)
        text = f'R.add({x.name}, R.const({number}, "{self.dtype}"))'
        return self.add(text, x.dims, *[lambda a: a + np.asarray(number, a.dtype)] * 2, x)

    def _pair(self, x):
        y = self.pick(self.values)
        name, position = f"t{len(self.lines)}", self.rng.randrange(2)
        self.write(f"{name} = ({x.name}, {y.name})")
        chosen = (x, y)[position]
        return self.add(f"{name}[{position}]", chosen.dims, *[lambda a: a] * 2, chosen)

    def _matmul(self, x):
        inner, width = x.dims[-1], self.dim()
        lead = {3: [self.pick((x.dims[0], ONE))]}.get(len(x.dims), [])
        y = self.param(self.pick(([inner], [inner, width], [*lead, inner, width])))
        dims = x.dims[:-1] if len(y.dims) == 1 else [*x.dims[:-1], width]
        return self.add(f"R.matmul({x.name}, {y.name})", dims, np.matmul, np.matmul, x, y)

    def _linear(self, x):
        width = self.dim()
        operands = [x, self.param([width, x.dims[-1]])]
        if self.chance(60):
            operands.append(self.param([width]))

        def linear(data, weight, bias=0):
            return data @ weight.T + np.asarray(bias).astype(data.dtype)

        text = f"R.linear({', '.join(o.name for o in operands)})"
        return self.add(text, [*x.dims[:-1], width], linear, linear, *operands)

    def _kernel(self, x):
        dims = x.dims[::-1]
        text = f"R.call_tir({self.pick(('flip', 'Module.flip'))}, ({x.name},), {self.tensor(dims)})"
        return self.add(text, dims, *[lambda a: a.T + np.asarray(1, a.dtype)] * 2, x)

    def _call(self, x):
        dims = x.dims[::-1]
        y = next((v for v in self.values if v.dims == dims), None) or self.param(dims)
        text = f"Module.both({x.name}, {y.name})[0]"
        return self.add(text, dims, *[lambda a, b: np.maximum(b, (a + a).T)] * 2, x, y)

    def section(self, is_dataflow: bool) -> list[Value]:
        """Some operators, in a dataflow block or not; only its outputs can be used afterwards."""
        before = list(self.values)
        if is_dataflow:
            self.write("with R.dataflow():")
            self.indent = " " * 12
        made = [self.step() for _ in range(self.rng.randrange(1, 6))]
        self.indent = " " * 8
        if is_dataflow:
            made = [v for v in made if self.chance(50)] or made[-1:]
            self.lines.append(f"            R.output({', '.join(v.name for v in made)})")
        self.values = [v for v in self.values if v in before or v in made or v in self.params]
        return made

    def text(self, results: list[Value]) -> str:
        for name, size in self.symbols.items():  # a symbol must be a dim of a parameter
            self.param([Dim(name, size)])
        params = ", ".join(f"{p.name}: {self.tensor(p.dims, True)}" for p in self.params)
        head = ["    @R.function", f"    def main({params}):"]
        head += [f"        {name} = T.int64()" for name in self.symbols]
        names = ", ".join(v.name for v in results)
        tail = f"        return {names if len(results) == 1 else f'({names})'}"
        body = "\n".join([*head, *self.lines, tail])
        return f"@I.ir_module\nclass Module:{HELPERS.format(self.dtype)}\n{body}\n"


def generate(rng: random.Random) -> tuple[Graph, list[Value], str]:
    """A graph, the values that it returns, and its text."""
    graph = Graph(rng, rng.choice(DTYPES))
    if graph.chance(20):
        graph.write(f'unused = R.alloc_tensor((1, 3), dtype="{graph.dtype}")')
    made = [v for _ in range(graph.pick((1, 1, 2))) for v in graph.section(graph.chance(75))]
    count = graph.pick((1, 1, 2, 3))
    results = [graph.pick(made if graph.chance(80) else graph.params or made) for _ in range(count)]
    return graph, results, graph.text(results)


@settings(max_examples=6, deadline=None, derandomize=True, database=None)
@given(st.randoms(use_true_random=True))
def test_generated_graphs(rng):
    graph, results, text = generate(rng)
    assume(graph.largest < EXACT.get(graph.dtype, np.inf))
    module = from_source(text)
    bound = {p.name: p.array for p in graph.params if graph.chance(30)} if graph.chance(40) else {}
    if bound:
        module = relax.transform.BindParams("main", bound)(module)
    main = relax.build(module, check=graph.chance(20))["main"]
    found = main(*(p.array for p in graph.params if p.name not in bound))
    found = found if isinstance(found, tuple) else (found,)
    assert len(found) == len(results)
    for tensor, value in zip(found, results, strict=True):
        np.testing.assert_array_equal(tensor.numpy(), value.array, err_msg=text)
    owned = [t.view() for t in found]
    assert not any(np.shares_memory(a, p.array) for a in owned for p in graph.params)
    assert not any(np.shares_memory(a, b) for i, a in enumerate(owned) for b in owned[:i])


def test_generated_graphs_have_every_feature():
    """The property above would be worth little if the generator left something out."""
    features = Counter()
    for seed in range(200):
        features += generate(random.Random(seed))[0].features
    expected = {n[1:] for n in vars(Graph) if n.startswith("_") and not n.startswith("__")}
    assert all(features[name] >= 10 for name in expected), features
