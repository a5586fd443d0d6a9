"""Drawn loops of graphs: their script, and the same iterations in NumPy.

Numbers are small integers, which every dtype holds exactly; bfloat16 is float32 in NumPy.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

LIMIT = 8
NUMBERS = ("float32", "float64", "float16", "bfloat16", "int32", "int64")
OPERATORS = {
    "add": np.add,
    "subtract": np.subtract,
    "maximum": np.maximum,
    "minimum": np.minimum,
}
BOOLEANS = {
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
}
COUNT = """
    @T.prim_func(private=True)
    def count(x: T.handle, y: T.handle, i: T.int64):
        k = T.int64()
        X = T.match_buffer(x, (k,), "int64")
        Y = T.match_buffer(y, (k,), "int64")
        for j in range(k):
            with T.block("Y"):
                v = T.axis.spatial(k, j)
                Y[v] = X[v] + i
"""

Environment = dict[str, np.ndarray]


@dataclass(frozen=True)
class Value:
    """A tensor: its name, dims and dtype."""

    name: str
    dims: tuple[str, ...]
    dtype: str

    def type(self, *leading: str) -> str:
        """The annotation, with more dims in front."""
        return f'R.Tensor(({"".join(f"{d}, " for d in (*leading, *self.dims))}), "{self.dtype}")'

    def parameter(self, *leading: str) -> str:
        """The annotation in a signature, where symbols are strings."""
        dims = "".join(f'"{d}", ' for d in (*leading, *self.dims))
        return f'{self.name}: R.Tensor(({dims}), "{self.dtype}")'

    def shape(self, sizes: dict[str, int], *leading: int) -> tuple[int, ...]:
        """The shape, with more dims in front."""
        return (*leading, *(sizes[d] for d in self.dims))

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        """Random elements."""
        low, high = (0, 2) if self.dtype == "bool" else (-4, 5)
        storage = "float32" if self.dtype == "bfloat16" else self.dtype
        return rng.integers(low, high, shape).astype(storage)


@dataclass
class Body:
    """The function of a loop: what it takes, and statements that compute new values."""

    name: str
    rng: random.Random
    carried: list[Value]
    scanned: list[Value]
    given: list[Value]
    lines: list[str] = field(default_factory=list)
    steps: list[Callable[[Environment], None]] = field(default_factory=list)
    results: list[Value] = field(default_factory=list)

    @property
    def params(self) -> list[Value]:
        """The parameters after the number of the iteration."""
        return [*self.carried, *self.scanned, *self.given]

    def add(self, like: Value, text: str, compute: Callable[[Environment], np.ndarray]) -> Value:
        """One more statement, whose value has the type of another one."""
        value = Value(f"v{len(self.lines)}", like.dims, like.dtype)
        self.lines.append(f"{value.name} = {text}")
        self.steps.append(lambda env: env.update({value.name: compute(env)}))
        return value

    def clip(self, value: Value) -> Value:
        """Numbers stay small."""
        text = f"R.clip({value.name}, {-LIMIT}, {LIMIT})"
        return self.add(value, text, lambda env: np.clip(env[value.name], -LIMIT, LIMIT))

    def combine(self, value: Value) -> Value:
        """A value of this one and of another one that broadcasts to it."""
        same = [v for v in self.params if v.dtype == value.dtype and v.dims in (value.dims, ())]
        other = self.rng.choice([*same, value])
        operators = BOOLEANS if value.dtype == "bool" else OPERATORS
        name, function = self.rng.choice(list(operators.items()))
        text = f"R.{name}({value.name}, {other.name})"
        found = self.add(value, text, lambda env: function(env[value.name], env[other.name]))
        return found if value.dtype == "bool" else self.clip(found)

    def count(self, value: Value) -> Value:
        """A vector plus the number of the iteration."""
        text = f"R.call_tir(cls.count, ({value.name},), {value.type()}, tir_vars=R.shape([i]))"
        return self.clip(self.add(value, text, lambda env: env[value.name] + env["i"]))

    def next_of(self, value: Value) -> Value:
        """What is carried on: computed, unchanged, or another carried tensor."""
        choice = self.rng.random()
        if choice < 0.2:
            alike = [v for v in self.carried if (v.dims, v.dtype) == (value.dims, value.dtype)]
            return self.rng.choice(alike)
        if choice < 0.5 and value.dtype == "int64" and len(value.dims) == 1:
            return self.count(value)
        return self.combine(self.combine(value) if choice > 0.7 else value)

    def fill(self, outputs: int) -> None:
        """Draw the statements and the results."""
        self.results = [self.next_of(v) for v in self.carried]
        sources = [*self.results, *self.params]
        for _ in range(outputs):
            source = self.rng.choice(sources)
            self.results.append(source if self.rng.random() < 0.2 else self.combine(source))

    def script(self) -> str:
        """The function."""
        params = ", ".join(['i: R.Prim(value="i")', *(v.parameter() for v in self.params)])
        lines = "".join(f"            {line}\n" for line in self.lines)
        results = "".join(f"{v.name}, " for v in self.results)
        return f"""
    @R.function(private=True)
    def {self.name}({params}):
        i, n, m = T.int64(), T.int64(), T.int64()
        with R.dataflow():
{lines}            results = ({results})
            R.output(results)
        return results
"""

    def loop(
        self,
        trips: int,
        state: Sequence[np.ndarray],
        rows: Sequence[np.ndarray],
        env: Environment,
        sizes: dict[str, int],
    ) -> list[np.ndarray]:
        """The last carried tensors, then the outputs of all iterations."""
        count = len(self.carried)
        stacks = [np.zeros(v.shape(sizes, trips)) for v in self.results[count:]]
        for index in range(trips):
            inner = {**env, "i": np.int64(index)}
            inner |= dict(zip([v.name for v in self.carried], state, strict=True))
            inner |= {v.name: r[index] for v, r in zip(self.scanned, rows, strict=True)}
            for step in self.steps:
                step(inner)
            found = [inner[v.name] for v in self.results]
            state = found[:count]
            for stack, output in zip(stacks, found[count:], strict=True):
                stack[index] = output
        return [*state, *stacks]


def draw_body(rng: random.Random, name: str, has_rows: bool, outputs: int) -> Body:
    """A body on tensors of several dtypes and ranks."""
    shapes = [(), ("n",), ("n", "m"), ("m",)]
    types = [(rng.choice(shapes), rng.choice((*NUMBERS, "bool"))) for _ in range(2)]

    def values(prefix: str, least: int) -> list[Value]:
        count = rng.randint(least, 3)
        drawn = [rng.choice([*types, (rng.choice(shapes), "int64")]) for _ in range(count)]
        return [Value(f"{prefix}{i}", *type_) for i, type_ in enumerate(drawn)]

    body = Body(name, rng, values("h", 1), values("x", 1) if has_rows else [], values("g", 0))
    body.fill(outputs)
    return body
