"""Fused kernels have code in proportion to their graphs, however often values are used in them."""

import numpy as np
import pytest

from xrelax import relax
from xrelax.dialects import get_context, tir
from xrelax.dialects.diagnostics import verify
from xrelax.pipeline import load_pass
from xrelax.reference.evaluate import evaluate
from xrelax.relax import op as R

PASSES = ("normalize", "legalize-ops", "annotate-tir-op-pattern", "fuse-ops", "fuse-tir")


def graph(shape, compute):
    x = relax.Var("x", relax.TensorStructInfo(shape, "float32"))
    builder = relax.BlockBuilder()
    with builder.function("main", [x]):
        with builder.dataflow():
            out = builder.emit_output(compute(builder.emit, x))
        builder.emit_func_output(out)
    return builder.get().op


def written_rows(emit, x, rows):
    """Row after row of `x` replaced by its sine, in an order that is neither up nor down."""
    given = x
    for i in rows:
        parts = [emit(R.sin(R.strided_slice(given, axes=[0], begin=[i], end=[i + 1])))]
        if i > 0:
            parts.insert(0, R.strided_slice(x, axes=[0], begin=[0], end=[i]))
        if i + 1 < len(rows):
            parts.append(R.strided_slice(x, axes=[0], begin=[i + 1], end=[len(rows)]))
        x = emit(R.concat(parts, axis=0))
    return x


def paired_sums(emit, x, count):
    """Sums of neighbours, of which each next one needs twice as many elements of `x`."""
    for _ in range(count):
        evens, odds = (R.strided_slice(x, [0], [i], [1 << 20], [2]) for i in (0, 1))
        x = emit(R.add(evens, odds))
    return x


def fused(module):
    module = module.clone()
    for name in PASSES:
        load_pass(name)().apply(get_context(), module)
        verify(module)
    return module


def size(module):
    kernels = [f for f in module.ops if isinstance(f, tir.PrimFuncOp)]
    return sum(1 for func in kernels for _ in func.walk())


ORDERS = {
    "up": lambda n: list(range(n)),
    "down": lambda n: list(range(n))[::-1],
    "mixed": lambda n: [(i * 5 + 3) % n for i in range(n)],
}


@pytest.mark.sampled
@pytest.mark.parametrize("order", ORDERS)
def test_rows_that_are_written_one_after_another(order):
    """Where a row is known to be above or below the one that was written, nothing asks again."""
    sizes: list[int] = []
    for count in (4, 8, 16):
        rows = ORDERS[order](count)
        module = graph((count, 3), lambda emit, x, rows=rows: written_rows(emit, x, rows))
        after = fused(module)
        sizes.append(size(after))
        x = np.arange(count * 3, dtype=np.float32).reshape(count, 3)
        (got,) = evaluate(after, "main", [x])
        np.testing.assert_allclose(got, np.sin(x), atol=1e-6)
    assert sizes[2] - sizes[1] <= 3 * (sizes[1] - sizes[0]), sizes


def test_elements_that_are_needed_by_many_places():
    sizes: list[int] = []
    for count in (4, 8):
        module = graph((1 << count,), lambda emit, x, count=count: paired_sums(emit, x, count))
        after = fused(module)
        sizes.append(size(after))
        x = np.arange(1 << count, dtype=np.float32)
        (got,) = evaluate(after, "main", [x])
        np.testing.assert_array_equal(got, [x.sum()])
    assert sizes[1] < 4 * sizes[0]
