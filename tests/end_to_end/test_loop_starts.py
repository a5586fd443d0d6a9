"""Default schedules of kernels whose loops start at 3."""

import numpy as np
import pytest

from xrelax import relax
from xrelax.script import from_source

KERNELS = {
    "down columns": ("SR", "Y[v0] + X[v1, v0]", lambda x, w: x.sum(0)),
    "along rows": ("SR", "Y[v0] + X[v0, v1]", lambda x, w: x.sum(1)),
    "matmul": ("SSR", "Y[v0, v1] + X[v0, v2] * W[v2, v1]", lambda x, w: x @ w),
    "both turned": ("SSR", "Y[v0, v1] + X[v2, v0] * W[v1, v2]", lambda x, w: x.T @ w.T),
    "transpose": ("SS", "X[v1, v0]", lambda x, w: x.T),
    "by element": ("SS", "X[v0, v1] + W[v0, v1]", lambda x, w: x + w),
}
"""Axes, the value for the element of the spatial ones, and the result for square matrices."""


def kernel(axes: str, value: str) -> str:
    """Text of a kernel over matrices with `N` rows and columns."""
    rank = axes.count("S")
    element = f"Y[{', '.join(f'v{n}' for n in range(rank))}]"
    lines = ["@T.prim_func", "def main(x: T.handle, w: T.handle, y: T.handle):"]
    lines.append("    N = T.int64()")
    for name, dims in ("X", 2), ("W", 2), ("Y", rank):
        lines.append(f"    {name} = T.match_buffer({name.lower()}, ({'N, ' * dims}))")
    for n in range(len(axes)):
        lines.append("    " * (n + 1) + f"for i{n} in T.serial(3, N + 3):")
    block = "    " * (len(axes) + 1)
    lines.append(block + 'with T.block("Y"):')
    for n, axis in enumerate(axes):
        kind = {"S": "spatial", "R": "reduce"}[axis]
        lines.append(block + f"    v{n} = T.axis.{kind}(N, i{n} - 3)")
    if "R" in axes:
        lines += [block + "    with T.init():", block + f"        {element} = T.float32(0)"]
    return "\n".join([*lines, block + f"    {element} = {value}"])


@pytest.mark.sampled
@pytest.mark.parametrize("is_symbolic", [False, True])
@pytest.mark.parametrize("name", KERNELS)
def test_loops_start_at_three(name, is_symbolic):
    axes, value, expected = KERNELS[name]
    for size in (1, 33, 150):
        text = kernel(axes, value)
        if not is_symbolic:
            text = text.replace("    N = T.int64()\n", "").replace("N", str(size))
        function = from_source(text)
        rng = np.random.default_rng(size)
        x, w = rng.integers(-4, 5, (2, size, size)).astype(np.float32)
        y = np.empty((size,) * axes.count("S"), np.float32)
        relax.build(function)["main"](x, w, y)
        np.testing.assert_array_equal(y, expected(x, w))
