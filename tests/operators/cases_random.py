"""Cases of random numbers: compiled code gives the numbers of NumPy's integers."""

from __future__ import annotations

from typing import Any

import numpy as np
from drawing import FLOATS, Draw
from harness import Case, all_symbolic


def key(d: Draw) -> Any:
    return np.array([d.integer(-(2**63), 2**63 - 1), d.integer(0, 2**63 - 1)])


def words(d: Draw):
    return [key(d)], {"shape": d.shape(), "stream": d.integer(0, 2**32 - 1)}


def floats(*names: str):
    def draw(d: Draw):
        a, b = d.pick(((0.0, 1.0), (-1.0, 3.0), (0.5, 0.75)))
        return [key(d)], {"shape": d.shape(), names[0]: a, names[1]: b, "dtype": d.dtype}

    return draw


def integers(d: Draw):
    limits = np.iinfo(d.dtype)
    least, most = int(limits.min), int(limits.max)
    low, high = d.pick(((0, 5), (least, most), (most // 2, most), (0, 100)))
    return [key(d)], {"shape": d.shape(), "low": low, "high": high, "dtype": d.dtype}


def symbolic(shapes, attributes):
    """Only the shape among the attributes has symbols."""
    shape = attributes["shape"]
    _, changed = all_symbolic([shape], {"shape": shape})
    return shapes, {**attributes, **changed}


WHOLE = ("int8", "int32", "int64", "uint8", "uint32")

CASES = (
    Case("relax.random.bits", words, None, ("int64",), symbolic=symbolic),
    Case("relax.random.uniform", floats("low", "high"), None, FLOATS, symbolic=symbolic),
    # Far from 0, cosines of angles in float32 differ by their rounding.
    Case(
        "relax.random.normal",
        floats("mean", "std"),
        None,
        FLOATS,
        atol={"float32": 5e-6},
        symbolic=symbolic,
    ),
    Case("relax.random.randint", integers, None, WHOLE, symbolic=symbolic),
)
