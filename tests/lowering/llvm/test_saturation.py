"""Lanes of floats become the nearest integers of a type, on every x86 and alone."""

import numpy as np
import pytest

import xrelax
from xrelax.backend.target import Target
from xrelax.script import from_source

IS_X86 = Target("llvm").triple.startswith("x86_64")
TARGETS = ("llvm", "llvm -mcpu=x86-64-v3", "llvm -mcpu=x86-64") if IS_X86 else ("llvm",)
FLOATS = ("float16", "float32", "float64")
INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]

POWERS = [2.0**n for n in (7, 8, 15, 16, 31, 32, 63, 64)]
EDGES = [e + d for e in POWERS for d in (-1.0, -0.5, 0.0, 0.5, 1.0)]
VALUES = [0.0, -0.0, 0.9, -0.9, 1e-40, 1e19, 3e38, np.inf, np.nan, *EDGES]


def nearest(value: float, dtype: str) -> int:
    info = np.iinfo(dtype)
    if np.isnan(value):
        return 0
    if np.isinf(value):
        return int(info.max if value > 0 else info.min)
    return min(max(int(value), int(info.min)), int(info.max))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("source", FLOATS)
def test_all_integers(source: str, target: str):
    with np.errstate(over="ignore"):
        values = np.array([*VALUES, *(-v for v in VALUES)]).astype(source)
    results = "\n        ".join(f'{d} = R.astype(x, dtype="{d}")' for d in INTEGERS)
    module = from_source(f"""
@R.function
def main(x: R.Tensor(({len(values)},), "{source}")):
    with R.dataflow():
        {results}
        y = ({", ".join(INTEGERS)})
        R.output(y)
    return y
""")
    found = xrelax.build(module, target)["main"](values)
    for dtype, result in zip(INTEGERS, found, strict=True):
        expected = [nearest(float(v), dtype) for v in values]
        assert np.from_dlpack(result).tolist() == expected, dtype
