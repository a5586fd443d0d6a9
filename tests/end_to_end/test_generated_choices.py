"""Generated graphs with nested choices: memory that branches share, against NumPy."""

from itertools import product

import numpy as np
import pytest

import xrelax as tvm
from xrelax.script import from_source

HEAD = """from xrelax.script import ir as I, relax as R, tir as T
@I.ir_module
class M:
    @R.function
    def main(c0: R.Tensor((), "bool"), c1: R.Tensor((), "bool"), x: R.Tensor(("n",), "float32"),
             y: R.Tensor(("n",), "float32")):
        n = T.int64()
"""
ADD, COPY = "tests.generated.add", "tests.generated.copy"


class Program:
    """The text of a function, and what it computes, grown statement by statement."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.count = 0
        self.lines = []
        self.steps = self.block(2, ["x", "y"], 2)[0]

    def line(self, depth, text):
        self.lines.append("    " * depth + text)

    def fresh(self):
        self.count += 1
        return f"v{self.count}"

    def block(self, depth, known, nesting):
        """Statements that bind new names; returns what to run and the names known at the end."""
        steps, names = [], list(known)
        for _ in range(int(self.rng.integers(2, 5))):
            if nesting and self.rng.random() < 0.4:
                steps.append(self.choice(depth, names, nesting - 1))
            else:
                steps.append(self.call(depth, names))
            names.append(steps[-1][0])
        return steps, names

    def call(self, depth, names):
        target, (a, b) = self.fresh(), self.rng.choice(names, 2)
        kind = int(self.rng.integers(3))
        if kind == 0:
            self.line(depth, f"{target} = R.add({a}, {b})")
        elif kind == 1:
            self.packed(depth, target, ADD, f"({a}, {b})")
        else:
            b = None
            self.packed(depth, target, COPY, f"({a},)")
        return target, lambda env: env[a] if b is None else env[a] + env[b]

    def packed(self, depth, target, function, args):
        type_ = 'out_sinfo=R.Tensor((n,), "float32")'
        self.line(depth, f'{target} = R.call_dps_packed("{function}", {args}, {type_})')

    def choice(self, depth, names, nesting):
        target, condition = self.fresh(), f"c{int(self.rng.integers(2))}"
        branches = []
        for word in (f"if {condition}:", "else:"):
            self.line(depth, word)
            steps, inner = self.block(depth + 1, names, nesting)
            value = str(self.rng.choice(inner))
            self.line(depth + 1, f"{target} = {value}")
            branches.append((steps, value))

        def run(env):
            steps, value = branches[0 if env[condition] else 1]
            own = dict(env)
            for name, step in steps:
                own[name] = step(own)
            return own[value]

        return target, run


@pytest.fixture
def functions():
    tvm.register_func(ADD, lambda a, b, c: c.copyfrom(a.numpy() + b.numpy()), override=True)
    tvm.register_func(COPY, lambda a, c: c.copyfrom(a), override=True)


@pytest.mark.parametrize("seed", range(10))
def test_generated_choices(seed, functions):
    program = Program(seed)
    results = [name for name, _ in program.steps][-3:]
    program.line(2, f"return ({', '.join(results)},)")
    module = from_source(HEAD + "\n".join(program.lines) + "\n")
    main = tvm.build(module)["main"]
    x, y = np.arange(5, dtype="float32"), np.full(5, 3, "float32")
    for c0, c1 in product((False, True), repeat=2):
        env = {"c0": c0, "c1": c1, "x": x, "y": y}
        for name, step in program.steps:
            env[name] = step(env)
        found = main(np.array(c0), np.array(c1), x, y)
        for name, tensor in zip(results, found, strict=True):
            np.testing.assert_array_equal(tensor.numpy(), env[name])
