"""Default schedules of kernels whose loops start at 3."""

import numpy as np
import pytest
from kernel_text import kernel

KERNELS = {
    "down columns": ("SR", "Y[v0] + X[v1, v0]", lambda x, w: x.sum(0)),
    "along rows": ("SR", "Y[v0] + X[v0, v1]", lambda x, w: x.sum(1)),
    "matmul": ("SSR", "Y[v0, v1] + X[v0, v2] * W[v2, v1]", lambda x, w: x @ w),
    "both turned": ("SSR", "Y[v0, v1] + X[v2, v0] * W[v1, v2]", lambda x, w: x.T @ w.T),
    "transpose": ("SS", "X[v1, v0]", lambda x, w: x.T),
    "by element": ("SS", "X[v0, v1] + W[v0, v1]", lambda x, w: x + w),
}
"""Axes, the value for the element of the spatial ones, and the result for square matrices."""


def body(axes: str, value: str, size: str) -> str:
    """A block in loops from 3, each with `size` iterations, of which an axis is each."""
    element = f"Y[{', '.join(f'v{n}' for n in range(axes.count('S')))}]"
    lines = [f"{'    ' * n}for i{n} in T.serial(3, {size} + 3):" for n in range(len(axes))]
    block = "    " * (len(axes) + 1)
    lines.append(block[4:] + 'with T.block("Y"):')
    for n, axis in enumerate(axes):
        kind = {"S": "spatial", "R": "reduce"}[axis]
        lines.append(block + f"v{n} = T.axis.{kind}({size}, i{n} - 3)")
    if "R" in axes:
        lines += [block + "with T.init():", block + f"    {element} = T.float32(0)"]
    return "\n".join([*lines, block + f"{element} = {value}"])


@pytest.mark.parametrize("is_symbolic", [False, True])
@pytest.mark.parametrize("name", KERNELS)
def test_loops_start_at_three(name, is_symbolic):
    axes, value, expected = KERNELS[name]
    for count in (1, 33, 150):
        size = "n" if is_symbolic else str(count)
        square, result = f"({size}, {size})", f"({f'{size}, ' * axes.count('S')})"
        function = kernel(
            body(axes, value, size),
            "n" if is_symbolic else (),
            X=(square, "float32"),
            W=(square, "float32"),
            Y=(result, "float32"),
        )
        rng = np.random.default_rng(count)
        x, w = rng.integers(-4, 5, (2, count, count)).astype(np.float32)
        y = np.empty((count,) * axes.count("S"), np.float32)
        function(x, w, y)
        np.testing.assert_array_equal(y, expected(x, w))
