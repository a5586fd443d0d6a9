"""Reductions of several results: default schedules keep what is chosen among equal values."""

import numpy as np
import pytest

from xrelax import build
from xrelax.dialects import tir
from xrelax.inspection import module_of
from xrelax.lowering.schedule.blocks import blocks_in
from xrelax.lowering.schedule.reducer import reducer_of
from xrelax.reference.evaluate import evaluate
from xrelax.relax.transform import LegalizeOps
from xrelax.script import from_source

TWO = """
@T.prim_func
def main(X: T.Buffer((3, {size}), "{dtype}"), I: T.Buffer((3,), "{index}"),
         V: T.Buffer((3,), "{dtype}")):
    for i, k in T.grid(3, {size}):
        with T.block("Y"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                I[vi] = T.{index}({first})
                V[vi] = T.{limit}_value("{dtype}")
            a = {a}
            b = {b}
            I[vi] = a
            V[vi] = b
"""

PLACE = "T.Select({0}, I[vi], T.cast(vk, 'int32')) | T.Select({0}, V[vi], X[vi, vk])"
"""The place and the value of an extreme, of which a comparison of values keeps the old one."""


def check(text: str, x: np.ndarray) -> None:
    """Compare compiled code with loops as they are written."""
    module = from_source(text)
    made = [np.zeros(3, a) for a in ("int32" if "int32(" in text else x.dtype, x.dtype)]
    expected = evaluate(module_of(module), "main", [x, *made], vectorize=False)[1:]
    build(module, target="llvm -mcpu=haswell")["main"](x, *made)
    for found, wanted in zip(made, expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("dtype", ["float32", "int8"])
@pytest.mark.parametrize(
    ("condition", "limit"),
    [
        ("V[vi] >= X[vi, vk]", "min"),
        ("V[vi] > X[vi, vk]", "min"),
        ("V[vi] <= X[vi, vk]", "max"),
        ("V[vi] > X[vi, vk] or (V[vi] == X[vi, vk] and I[vi] < vk)", "min"),
    ],
)
def test_places_of_extremes_that_are_equal(condition, limit, dtype):
    a, b = PLACE.format(condition).split(" | ")
    text = TWO.format(size=130, dtype=dtype, index="int32", first=-1, limit=limit, a=a, b=b)
    check(text, np.random.default_rng(0).integers(-3, 4, (3, 130)).astype(dtype))


def test_values_that_are_not_numbers():
    a, b = PLACE.format("V[vi] >= X[vi, vk]").split(" | ")
    text = TWO.format(size=130, dtype="float32", index="int32", first=-1, limit="min", a=a, b=b)
    x = np.random.default_rng(0).standard_normal((3, 130)).astype(np.float32)
    x[np.random.default_rng(1).random(x.shape) < 0.1] = np.nan
    check(text, x)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("T.min(I[vi], X[vi, vk])", "T.max(V[vi], X[vi, vk])"),
        ("T.Select(X[vi, vk] < I[vi], X[vi, vk], I[vi])", "T.max(V[vi], X[vi, vk])"),
        (
            "T.Select(X[vi, vk] < I[vi], X[vi, vk], I[vi])",
            "T.Select(X[vi, vk] > V[vi], X[vi, vk], V[vi])",
        ),
    ],
)
def test_several_results_of_the_same_values(a, b):
    text = TWO.format(size=130, dtype="float32", index="float32", first=999, limit="min", a=a, b=b)
    check(text, np.random.default_rng(0).integers(-300, 400, (3, 130)).astype(np.float32))


def test_choices_by_more_than_comparisons():
    a, b = "I[vi] + 1", "T.Select(X[vi, vk] > V[vi] + T.float32(5), X[vi, vk], V[vi])"
    text = TWO.format(size=130, dtype="float32", index="int32", first=0, limit="min", a=a, b=b)
    check(text, np.random.default_rng(0).integers(-99, 99, (3, 130)).astype(np.float32))


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8"])
def test_operators_choose_in_any_order(dtype):
    graph = from_source(f"""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 3, 1000), "{dtype}")):
        return R.nn.max_pool1d_with_indices(x, pool_size=[99])
""")
    functions = module_of(LegalizeOps()(graph)).body.block.ops
    (kernel,) = [op for op in functions if isinstance(op, tir.PrimFuncOp)]
    (block,) = [b for b in blocks_in(kernel) if b.init is not None]
    assert reducer_of(block).is_in_any_order()
