"""The cases of tests/operators/: how calls are drawn, and what each operator is in PyTorch."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "operators"
if str(FOLDER) not in sys.path:
    sys.path.insert(0, str(FOLDER))

import drawing  # noqa: E402
import harness  # noqa: E402

torch: Any = harness.torch
Draw = drawing.Draw
SEEDED = ("scatter_elements", "scatter_nd", "index_put")
COMPUTED = ("arange", "full", "hamming_window")
"""Operators of `FILES` whose results are rounded."""
FILES = ("cases_indexing", "cases_manipulation", "cases_creation", "cases_sorting")
NAMED = (
    "abs", "argmax", "argmin", "ceil", "equal", "floor", "greater", "greater_equal", "isfinite",
    "isinf", "isnan", "less", "less_equal", "logical_and", "logical_not", "logical_or",
    "logical_xor", "max", "maximum", "memory.view", "min", "minimum", "negative", "nn.max_pool1d",
    "nn.max_pool2d", "nn.pad", "nn.relu", "nn.relu6", "not_equal", "round", "sign", "trunc",
    "nn.adaptive_max_pool1d", "nn.adaptive_max_pool2d", "any", "all",
)  # fmt: skip
CHOOSING = (
    "clip", "max", "maximum", "median", "min", "minimum", "nn.adaptive_max_pool1d",
    "nn.adaptive_max_pool2d", "nn.max_pool1d", "nn.max_pool2d", "nn.relu", "nn.relu6", "sort",
    "topk", "unique",
)  # fmt: skip
EITHER_ZERO = frozenset(f"relax.{n}" for n in CHOOSING)
"""Operators of `EXACT` that choose of numbers: of 0 and -0, either may be the larger one."""
LEFT_OUT = ("relax.linalg.", "relax.random.", "relax.meshgrid")  # a tuple even of one tensor
"""Prefixes of operators that graphs do not have.

Matrices that other operators compute may be singular, and random numbers differ from PyTorch's.
"""


@cache
def case_of(label: str) -> Any:
    """A case by its label."""
    return harness.labelled_cases()[label]


def tolerances(label: str, dtype: str) -> tuple[float, float]:
    """How far results of a case may be from PyTorch's: relative, where it says so, and absolute."""
    case = case_of(label)
    return case.rtol.get(dtype, 0.0), case.atol.get(dtype, harness.ATOL[dtype])


def labels() -> list[str]:
    """The labels of the cases of graphs, which PyTorch has a function for."""
    cases = harness.labelled_cases().items()
    return [n for n, c in cases if c.torch is not None and not c.operator.startswith(LEFT_OUT)]


def native(case: Any, dtype: str, arrays: list[Any], attributes: Any) -> list[tuple[Any, str]]:
    """The results in the dtypes of the operands, each with its dtype."""
    example = harness.Example(case, dtype, "", arrays, attributes, False)
    return harness._run_torch(example)


def _exact() -> frozenset[str]:
    """Operators that only move, choose or compare numbers, or round them to whole ones."""
    moving = {
        case.operator
        for name in FILES
        for case in __import__(name).CASES
        if case.operator.removeprefix("relax.") not in (*SEEDED, *COMPUTED)
    }
    return frozenset(moving | {f"relax.{n}" for n in NAMED})


EXACT = _exact() if torch is not None else frozenset()
