"""The evaluation's bounds hold for another program that the compiler may make of a kernel.

That one has its reductions in another order, its functions rounded otherwise, and other signs of
zeros. It is evaluated without being compiled, so that many kernels can be tried.
"""

import random

import numpy as np
import pytest
from fuzzer import evaluate, numbers
from fuzzer.bounds import EPSILON
from fuzzer.draw_kernel import draw_kernel
from fuzzer.kernels import difference, inputs_of
from fuzzer.numbers import Value, rounded
from fuzzer.syntax import FLOATS

KERNELS = 30


class Varied:
    """The evaluation's functions with what a program may do otherwise."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.reduce, self.inexact = evaluate._reduce, numbers._inexact

    def in_another_order(self, block, env, memory, count, place):
        order = self.rng.permutation(count)
        env = {name: value.at(order) for name, value in env.items()}
        self.reduce(block, env, memory, count, tuple(p[order] for p in place))
        found = memory[block.stored[0]]
        if found.dtype in FLOATS and block.combine in ("add", "mul"):
            signs = self.rng.choice((-1.0, 1.0), found.data.shape)
            data = np.where(found.data == 0, np.copysign(0.0, signs), found.data)
            memory[block.stored[0]] = Value(found.dtype, data.astype(found.data.dtype))

    def rounded_otherwise(self, op, dtype, arg):
        found = self.inexact(op, dtype, arg)
        ulps = self.rng.integers(-2, 3, found.data.shape)
        with np.errstate(all="ignore"):
            data = found.data.astype(float) * (1 + 2 * EPSILON[dtype] * ulps)
            return Value(dtype, rounded(data, dtype))


@pytest.mark.parametrize("part", range(2))
def test_another_order_and_rounding_is_within_the_bounds(part, monkeypatch):
    varied, changed = Varied(part), 0
    for seed in range(part * KERNELS, (part + 1) * KERNELS):
        kernel, _ = draw_kernel(random.Random(f"bounds {seed}"), f"k{seed}")
        for sizes in kernel.sizes:
            inputs = inputs_of(kernel, sizes)
            wanted = evaluate.run(kernel, sizes, inputs)
            with monkeypatch.context() as patch:
                patch.setattr(evaluate, "_reduce", varied.in_another_order)
                patch.setattr(numbers, "_inexact", varied.rounded_otherwise)
                found = evaluate.run(kernel, sizes, inputs)
            for name in (b.name for b in kernel.outputs):
                changed += int((found[name].data != wanted[name].data).sum())
                problem = difference(found[name].data, wanted[name])
                assert not problem, f"{name} of seed {seed} for {sizes}: {problem}"
    assert changed > 10
