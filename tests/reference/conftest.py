"""What the tests of the reference evaluator share: parsing, and kernels of one operation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from xrelax.dialects import get_context
from xrelax.reference import evaluate

ELEMENTS = {
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
    "bool": "i1",
    **{f"int{w}": f"i{w}" for w in (8, 16, 32, 64)},
    **{f"uint{w}": f"ui{w}" for w in (8, 16, 32, 64)},
}


def parse_module(text: str) -> ModuleOp:
    """The verified module of a text."""
    module = Parser(get_context(), text).parse_module()
    module.verify()
    return module


@pytest.fixture
def parse() -> Callable[[str], ModuleOp]:
    return parse_module


@pytest.fixture
def elementwise() -> Callable[..., NDArray]:
    """Runs one line of IR from ``%a, %b, …`` to ``%r`` on each element of arrays, as tir and point by point."""

    def run(
        line: str, arrays: list[NDArray], result: str, dtypes: list[str] | None = None
    ) -> NDArray:
        inputs = dtypes or [str(a.dtype) for a in arrays]
        names = "abc"[: len(arrays)]
        types = [f"!tir.buffer<[n], {ELEMENTS[d]}>" for d in (*inputs, result)]
        params = ", ".join(f"%{n.upper()}: {t}" for n, t in zip((*names, "r"), types, strict=True))
        loads = "\n".join(
            f"%{n} = tir.load %{n.upper()}[%i] : {t}" for n, t in zip(names, types, strict=False)
        )
        module = parse_module(
            f"tir.prim_func @f({params}) {{ tir.for %i in (0, n) {{\n{loads}\n{line}\n"
            f"tir.store %r, %R[%i] : {types[-1]} }} }}"
        )
        storage = "uint16" if result == "bfloat16" else result
        at_once, one_by_one = (np.zeros(len(arrays[0]), storage) for _ in range(2))
        evaluate(module, "f", [*arrays, at_once])
        evaluate(module, "f", [*arrays, one_by_one], vectorize=False)
        np.testing.assert_array_equal(at_once, one_by_one)
        return at_once

    return run
