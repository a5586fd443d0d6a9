"""Generated loops: compiled code gives NumPy's numbers, for any number of iterations."""

import random
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from drawn_loops import COUNT, Body, Environment, Value, draw_body

from xrelax import relax
from xrelax.ir.equality import assert_structural_equal
from xrelax.runtime.tensor import array
from xrelax.script import from_source

SIZES = (
    {"t": 0, "n": 3, "m": 2},
    {"t": 1, "n": 1, "m": 4},
    {"t": 2, "n": 0, "m": 3},
    {"t": 5, "n": 17, "m": 5},
)
SIGNATURE = 'k: R.Tensor(("t", "n", "m"), "float32"), c: R.Tensor((), "bool"), {}'
DIMS = "t, n, m = T.int64(), T.int64(), T.int64()"


def names(values: list[Value]) -> str:
    return f"({''.join(f'{v.name}, ' for v in values)})"


def call(body: Body, name: str, trips: str, carried: str = "") -> str:
    groups = [carried or names(body.carried), names(body.scanned), names(body.given)]
    return f"R.loop(cls.{name}, {', '.join(groups)}, trips={trips})"


@dataclass
class Program:
    """A module with a function `main`, and what that computes."""

    seed: int

    def __post_init__(self) -> None:
        self.rng = rng = random.Random(self.seed)
        self.kind = rng.choice(["returned", "used", "twice", "branch", "nested", "dataflow"])
        has_rows = rng.random() < 0.6 and self.kind != "nested"
        outputs = 0 if self.kind in ("nested", "branch") else rng.randint(0, 2)
        self.body = draw_body(rng, "step", has_rows, outputs)
        self.trips, self.factor, self.offset = "t", 1, 0
        if not has_rows:
            self.factor, self.offset = rng.choice([(1, 0), (2, 1), (0, 3)])
            self.trips = f"t * {self.factor} + {self.offset}"

    def order(self) -> list[Value]:
        """The parameters of the function after the first two."""
        return [*self.body.scanned, *self.body.carried, *self.body.given]

    def outer(self) -> str:
        """A body that calls a function with a loop."""
        params = ", ".join(['i: R.Prim(value="j")', *(v.parameter() for v in self.body.params)])
        return f"""
    @R.function(private=True)
    def call({params}):
        j, n, m = T.int64(), T.int64(), T.int64()
        return {call(self.body, "step", "2")}

    @R.function(private=True)
    def outer({params}):
        j, n, m = T.int64(), T.int64(), T.int64()
        return cls.call(i, {", ".join(v.name for v in self.body.params)})
"""

    def main(self) -> list[str]:
        """The statements of the function."""
        body, count = self.body, len(self.body.results)
        loop = call(body, "outer" if self.kind == "nested" else "step", self.trips)
        fields = ", ".join(f"r[{i}]" for i in range(count))
        match self.kind:
            case "returned" | "nested":
                return [f"return {loop}"]
            case "used":
                doubles = ", ".join(
                    f"r[{i}]" if v.dtype == "bool" else f"R.negative(r[{i}])"
                    for i, v in enumerate(body.results)
                )
                return [f"r = {loop}", f"return (({doubles}, ), r)"]
            case "twice":
                carried = "".join(f"r[{i}], " for i in range(len(body.carried)))
                second = call(body, "step", self.trips, f"({carried})")
                return [f"r = {loop}", f"s = {second}", f"return ({fields}, s)"]
            case "branch":
                second = call(body, "step", f"{self.trips} + 1") if not body.scanned else loop
                return ["if c:", f"    r = {loop}", "else:", f"    r = {second}", "return r"]
            case _:
                lines = [f"    r = {loop}", f"    s = ({fields}, )", "    R.output(r, s)"]
                return ["with R.dataflow():", *lines, "return (s, r)"]

    def script(self) -> str:
        body = self.body
        rows = [v.parameter("t") for v in body.scanned]
        others = [v.parameter() for v in self.order()[len(rows) :]]
        text = f"\n@I.ir_module\nclass Module:{COUNT}{body.script()}"
        text += self.outer() if self.kind == "nested" else ""
        text += f"\n    @R.function\n    def main({SIGNATURE.format(', '.join(rows + others))}):\n"
        return text + "".join(f"        {line}\n" for line in (DIMS, *self.main()))

    def draw(self, sizes: dict[str, int]) -> Environment:
        """Arguments by name."""
        rng, body = np.random.default_rng(self.seed), self.body
        env = {v.name: v.draw(rng, v.shape(sizes, sizes["t"])) for v in body.scanned}
        return env | {v.name: v.draw(rng, v.shape(sizes)) for v in (*body.carried, *body.given)}

    def reference(self, env: Environment, sizes: dict[str, int], condition: bool) -> list[Any]:
        """The tensors of the result in order."""
        body, trips = self.body, self.factor * sizes["t"] + self.offset
        rows, state = ([env[v.name] for v in vs] for vs in (body.scanned, body.carried))
        if self.kind == "nested":
            for _ in range(trips):
                state = body.loop(2, state, [], env, sizes)
            return state
        if self.kind == "branch" and not condition and not rows:
            trips += 1
        first = body.loop(trips, state, rows, env, sizes)
        match self.kind:
            case "used":
                negative = zip(body.results, first, strict=True)
                return [*(x if v.dtype == "bool" else -x for v, x in negative), *first]
            case "twice":
                return [*first, *body.loop(trips, first[: len(state)], rows, env, sizes)]
            case "dataflow":
                return [*first, *first]
            case _:
                return first


def tensors(found: Any) -> list[Any]:
    """The tensors of nested tuples."""
    return [t for f in found for t in tensors(f)] if isinstance(found, tuple) else [found]


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(48))
def test_generated_loops(seed):
    program = Program(seed)
    module = from_source(program.script())
    assert_structural_equal(from_source(module.script(show_meta=True)).op, module.op)
    main = relax.build(module, check=seed % 3 == 0)["main"]
    for sizes in SIZES:
        env, shape = program.draw(sizes), np.zeros([*sizes.values()], np.float32)
        args = [array(env[v.name], dtype=v.dtype) for v in program.order()]
        for condition in (True, False) if program.kind == "branch" else (True,):
            found = tensors(main(shape, np.array(condition), *args))
            wanted = program.reference(env, sizes, condition)
            for got, expected in zip(found, wanted, strict=True):
                np.testing.assert_array_equal(got.numpy(), expected)
        for value, arg in zip(program.order(), args, strict=True):
            np.testing.assert_array_equal(arg.numpy(), env[value.name])
