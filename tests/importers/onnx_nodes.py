"""ONNX's own node tests on compiled code: ``python tests/importers/onnx_nodes.py [PATTERN] [-v]``.

A case is `passed`, `wrong` (another number, shape or dtype), `unsupported` (the importer says so),
`absent` (a type that tensors here do not have, or an input that is no tensor), or `failed`.
``--write`` writes the list of unsupported cases.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from xrelax.importers.onnx.compiled_model import compile_onnx
from xrelax.importers.onnx.weights import DTYPES
from xrelax.importers.unsupported import UnsupportedError

UNSUPPORTED = Path(__file__).with_name("onnx_unsupported.txt")
"""The cases that are unsupported, by reason."""

ATOL = {"float16": 1e-2, "bfloat16": 5e-2}


@dataclass(frozen=True)
class Outcome:
    """What a case gave."""

    state: str
    detail: str = ""
    reason: str = ""
    """Why a case is unsupported, without the place."""


@cache
def cases() -> dict[str, Any]:
    """The cases of `onnx` by name, without those that spell out a function."""
    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = load_model_tests(kind="node")
    return {case.name: case for case in found if "_expanded" not in case.name}


def absent(model: Any) -> str:
    """The first type of an input or output that cannot be a parameter here."""
    for info in [*model.graph.input, *model.graph.output]:
        kind = info.type.WhichOneof("value")
        if kind != "tensor_type":
            return kind
        element = info.type.tensor_type.elem_type
        if element not in DTYPES:
            return onnx.TensorProto.DataType.Name(element)
    return ""


def run_case(name: str) -> Outcome:
    """Compile a case, and run its data."""
    case = cases()[name]
    if reason := absent(case.model):
        return Outcome("absent", reason)
    try:
        compiled = compile_onnx(case.model)
        for inputs, outputs in case.data_sets:
            found = compiled.run(None, compiled.named([array(i) for i in inputs]))
            for one, wanted in zip(found, outputs, strict=True):
                if problem := difference(one, array(wanted), case):
                    return Outcome("wrong", problem)
    except UnsupportedError as error:
        problem = error.problems[0]
        reason = f"{problem.target}: {problem.reason or 'no converter'}"
        return Outcome("unsupported", str(problem), reason)
    except Exception as error:  # a failure of the compiler, which the table shows
        text = " ".join(str(error).split())
        return Outcome("failed", f"{type(error).__name__}: {text[:200]}")
    return Outcome("passed")


def array(value: Any) -> Any:
    """A value of a case as an array."""
    if isinstance(value, onnx.TensorProto):
        return onnx.numpy_helper.to_array(value)
    return np.asarray(value)


def difference(found: Any, wanted: Any, case: Any) -> str:
    """What is wrong with a result; nothing where it is within the tolerance of the case."""
    name = wanted.dtype.name
    if found.shape != wanted.shape:
        return f"expected shape {wanted.shape}, got {found.shape}"
    if name != "bfloat16" and found.dtype != wanted.dtype:
        return f"expected dtype {name}, got {found.dtype}"
    if any(n.op_type == "Bernoulli" for n in case.model.graph.node):
        return ""  # the numbers are those of another generator
    if wanted.dtype.kind not in "fV":
        return (
            "" if np.array_equal(found, wanted) else f"expected {wanted!r:.80}, got {found!r:.80}"
        )
    first, second = found.astype(np.float64), wanted.astype(np.float64)
    atol = ATOL.get(name, max(case.atol, 1e-5))
    close = np.isclose(first, second, rtol=max(case.rtol, 1e-3), atol=atol, equal_nan=True)
    if close.all():
        return ""
    at = tuple(int(i) for i in np.argwhere(~close)[0])
    return f"{int((~close).sum())} of {close.size} differ, at {at} {first[at]} for {second[at]}"


def outcomes(pattern: str) -> Iterator[tuple[str, Outcome]]:
    """The cases whose names match."""
    for name in cases():
        if re.search(pattern, name):
            yield name, run_case(name)


def listed() -> dict[str, str]:
    """The reasons of the cases in the list of unsupported ones, by name."""
    reason, found = "", dict[str, str]()
    for line in UNSUPPORTED.read_text().splitlines():
        if line.startswith("  "):
            found[line.strip()] = reason
        else:
            reason = line
    return found


def write_list() -> None:
    """Write the list of unsupported cases by reason."""
    reasons: dict[str, list[str]] = {}
    for name, outcome in outcomes(""):
        if outcome.state == "unsupported":
            reasons.setdefault(outcome.reason, []).append(name)
    lines = [line for r in sorted(reasons) for line in (r, *(f"  {n}" for n in sorted(reasons[r])))]
    UNSUPPORTED.write_text("".join(f"{line}\n" for line in lines))


def main(arguments: list[str]) -> None:
    """Print the counts, and a line for each case that does not pass."""
    if "--write" in arguments:
        write_list()
        return
    patterns = [a for a in arguments if not a.startswith("-")]
    counts: Counter[str] = Counter()
    for name, outcome in outcomes("|".join(patterns)):
        counts[outcome.state] += 1
        if outcome.state not in ("passed", "absent") or "-v" in arguments:
            print(f"{outcome.state:12} {name}: {outcome.detail}", flush=True)
    print(dict(counts))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1:])
