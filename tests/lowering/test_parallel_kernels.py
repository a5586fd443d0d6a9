"""Parallel loops that users write: no thread reads what another one writes."""

import numpy as np
import pytest

from xrelax import relax
from xrelax.dialects.diagnostics import Diagnostic
from xrelax.script import ScriptError, from_source

SIZE = 4096


READS_OTHERS = r"parallel loop '[ij]' to read only their own elements"


def text(loops: str, axes: list[str], element: str) -> str:
    """A block `Y` that adds ones to an element, in two loops of 64 iterations."""
    return f"""
@T.prim_func
def main(Y: T.Buffer((64,), "float32"), Z: T.Buffer((8, 8), "float32")):
{loops}
            with T.block("Y"):
                v0 = T.axis.{axes[0]}(64, i)
                v1 = T.axis.{axes[1]}(64, j)
                {element} = {element} + T.float32(1)
"""


OUTER = "    for i in T.parallel(64):\n        for j in range(64):"
INNER = "    for i in range(64):\n        for j in T.parallel(64):"
SHARED = [
    (OUTER, "reduce spatial", "Y[v1]"),
    (OUTER, "reduce spatial", "Z[v1 // 8, v1 % 8]"),
    (OUTER, "opaque opaque", "Y[0]"),
    (OUTER, "opaque opaque", "Y[v0 // 2]"),
    (INNER, "spatial reduce", "Y[v0]"),
]
OWN = [
    (OUTER, "spatial reduce", "Y[v0]"),
    (OUTER, "spatial reduce", "Y[63 - v0]"),
    (OUTER, "spatial reduce", "Z[v0 // 8, v0 % 8]"),
    (INNER, "reduce spatial", "Y[v1]"),
]


@pytest.mark.parametrize("loops, axes, element", SHARED)
def test_iterations_that_share_an_element(loops, axes, element):
    with pytest.raises(ScriptError, match=READS_OTHERS):
        from_source(text(loops, axes.split(), element))


@pytest.mark.parametrize("loops, axes, element", OWN)
def test_iterations_with_elements_of_their_own(loops, axes, element):
    y, z = np.zeros(64, np.float32), np.zeros((8, 8), np.float32)
    relax.build(from_source(text(loops, axes.split(), element)))["main"](y, z)
    used, other = (z, y) if element.startswith("Z") else (y, z)
    assert (used == 64).all() and not other.any()


def test_scratch_memory_of_an_iteration():
    source = f"""
@T.prim_func
def main(X: T.Buffer(({SIZE}, 8), "float32"), Y: T.Buffer(({SIZE},), "float32")):
    S = T.alloc_buffer((1,), "float32")
    for i in T.parallel({SIZE}):
        for k in range(8):
            with T.block("S"):
                vk = T.axis.reduce(8, k)
                with T.init():
                    S[0] = T.float32(0)
                S[0] = S[0] + X[i, vk]
        with T.block("Y"):
            vi = T.axis.spatial({SIZE}, i)
            Y[vi] = S[0]
"""
    x = np.arange(8 * SIZE, dtype=np.float32).reshape(SIZE, 8)
    y = np.zeros(SIZE, np.float32)
    relax.build(from_source(source))["main"](x, y)
    np.testing.assert_array_equal(y, x.sum(1))


def shifted(store: str, load: str) -> str:
    """A parallel loop of 63 iterations, each of which stores one element and loads one."""
    return f"""
@T.prim_func
def main(Y: T.Buffer((256,), "float32"), X: T.Buffer((63,), "float32")):
    for i in T.parallel(63):
        with T.block("Y"):
            vi = T.axis.spatial(63, i)
            Y[{store}] = Y[{load}] + X[vi]
"""


@pytest.mark.parametrize("store, load", [("vi + 1", "vi"), ("vi", "62 - vi"), ("2 * vi", "vi * 4")])
def test_iterations_that_read_what_others_write(store, load):
    with pytest.raises(ScriptError, match=READS_OTHERS):
        from_source(shifted(store, load))


@pytest.mark.parametrize("store, load", [("vi", "vi"), ("vi", "vi + 63"), ("2 * vi", "2 * vi + 1")])
def test_iterations_that_read_what_none_or_they_write(store, load):
    x, y = np.arange(63, dtype=np.float32), np.ones(256, np.float32)
    relax.build(from_source(shifted(store, load)))["main"](y, x)
    places = np.array([eval(store, {"vi": vi}) for vi in range(63)])
    np.testing.assert_array_equal(y[places], x + 1)


GATHER = f"""
@T.prim_func
def main(
    X: T.Buffer(({SIZE},), "float32"),
    I: T.Buffer((64,), "int32"),
    Y: T.Buffer(({SIZE},), "float32"),
):
    S = T.alloc_buffer((64,), "float32")
    for i in T.parallel({SIZE}):
        for j in range(64):
            with T.block("S"):
                vi, vj = T.axis.remap("SS", [i, j])
                S[vj] = X[vi] + T.Cast("float32", vj)
        with T.block("Y"):
            vi = T.axis.spatial({SIZE}, i)
            Y[vi] = S[I[vi % 64]]
"""


def test_scratch_memory_that_data_indexes():
    """Each iteration has its own: with one for all, threads read what others have just written."""
    x = np.arange(SIZE, dtype=np.float32)
    places = np.random.default_rng(0).integers(0, 64, 64).astype(np.int32)
    run = relax.build(from_source(GATHER))["main"]
    for _ in range(8):
        y = np.zeros(SIZE, np.float32)
        run(x, places, y)
        np.testing.assert_array_equal(y, x + np.tile(places, SIZE // 64))


def test_scratch_memory_that_goes_from_one_iteration_to_the_next():
    running = f"""
@T.prim_func
def main(X: T.Buffer(({SIZE},), "float32"), Y: T.Buffer(({SIZE},), "float32")):
    S = T.alloc_buffer((1,), "float32")
    for i in T.parallel({SIZE}):
        with T.block("S"):
            vi = T.axis.reduce({SIZE}, i)
            with T.init():
                S[0] = T.float32(0)
            S[0] = S[0] + X[vi]
        with T.block("Y"):
            vi = T.axis.spatial({SIZE}, i)
            Y[vi] = S[0]
"""
    with pytest.raises(Diagnostic, match=r":10:13: error: .* got \[0\] of 'S', which nothing has"):
        relax.build(from_source(running))
