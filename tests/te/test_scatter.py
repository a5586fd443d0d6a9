"""`te.scatter`: updates one after the other, at places that depend on data."""

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from xrelax import build, te
from xrelax.reference.evaluate import evaluate


def histogram(n, bins):
    """How often each number is in a vector, from counts before; what is no bin is not counted."""
    values = te.placeholder((n,), "int64", name="values")
    counts = te.placeholder((bins,), "int32", name="counts")

    def count(i):
        place = values(i)
        return [place], lambda old: old + 1, (place >= 0) & (place < bins)

    return te.create_prim_func([values, counts, te.scatter(counts, (n,), count, name="out")])


@pytest.mark.parametrize("n", [6, te.var("n")])
def test_scatter(n):
    function = histogram(n, 4)
    function.op.verify()
    values, counts = np.array([1, 3, 1, -1, 4, 1]), np.array([10, 20, 30, 40], "int32")
    expected = [10, 23, 30, 41]
    out = np.zeros(4, "int32")
    module = ModuleOp([function.op.clone()])
    np.testing.assert_array_equal(evaluate(module, "main", [values, counts, out])[-1], expected)
    out[:] = 0
    build(function)["main"](values, counts, out)
    np.testing.assert_array_equal(out, expected)


def test_the_axes_of_updates_run_in_order():
    text = str(histogram(6, 4).op)
    assert 'tir.block "out_init" (%v_i0: spatial (0, 4)' in text
    assert 'tir.block "out" (%v_i: opaque (0, 6)' in text


def test_symbols_of_indices_alone_are_parameters():
    x = te.placeholder((te.var("n"),), name="x")
    shifted = te.compute((4,), lambda i: x(i + te.var("m")), name="shifted")
    assert te.create_prim_func([x, shifted]).op.names[-1] == "m"
