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


B = "!tir.buffer<[n, m], f32>"
ROW = "!tir.buffer<[n], f32>"
TENSOR, ROWS = "!relax.tensor<[n, m], f32>", "!relax.tensor<[n], f32>"

KERNELS = f"""
tir.prim_func @difference(%X: {B}, %Y: {B}, %D: {B}) {{
  tir.for %i in (0, n) {{
    tir.for %j0 in (0, (m + 3) floordiv 4) {{
      tir.for %j1 in (0, 4) {{
        tir.block "D" (%vi: spatial (0, n) = %i, %vj: spatial (0, m) = %j0 * 4 + %j1)
            where (%j0 * 4 + %j1 < m)
            reads (%X[%vi, %vj], %Y[%vi, %vj]) writes (%D[%vi, %vj]) {{
          %x = tir.load %X[%vi, %vj] : {B}
          %y = tir.load %Y[%vi, %vj] : {B}
          %d = arith.subf %x, %y : f32
          tir.store %d, %D[%vi, %vj] : {B}
        }}
      }}
    }}
  }}
}}
tir.prim_func @sum(%X: {B}, %S: {ROW}) {{
  tir.for %i in (0, n) {{
    tir.for %k in (0, m) {{
      tir.block "S" (%vi: spatial (0, n) = %i, %vk: reduce (0, m) = %k) reads (%X[%vi,
          %vk]) writes (%S[%vi]) {{
        tir.init {{
          %half = arith.constant 0.5 : f32
          tir.store %half, %S[%vi] : {ROW}
        }}
        %s = tir.load %S[%vi] : {ROW}
        %x = tir.load %X[%vi, %vk] : {B}
        %t = arith.addf %s, %x : f32
        tir.store %t, %S[%vi] : {ROW}
      }}
    }}
  }}
}}
tir.prim_func @total(%X: {B}, %S: {ROW}) {{
  tir.for %i in (0, n) {{
    %zero = arith.constant 0.0 : f32
    tir.store %zero, %S[%i] : {ROW}
    tir.for %k in (0, m) {{
      %s = tir.load %S[%i] : {ROW}
      %x = tir.load %X[%i, %k] : {B}
      %t = arith.addf %s, %x : f32
      tir.store %t, %S[%i] : {ROW}
    }}
  }}
}}
"""

GRAPH = (
    KERNELS
    + f"""
relax.func @main(%x: {TENSOR}, %y: {TENSOR}) -> {ROWS} {{
  %d = relax.call_tir @difference(%x, %y) : ({TENSOR}, {TENSOR}) -> {TENSOR}
  %s = relax.call_tir @sum(%d) : ({TENSOR}) -> {ROWS}
  relax.return %s : {ROWS}
}}
"""
)

TOTAL = GRAPH.replace("@sum(%d)", "@total(%d)")

PLANNED = (
    KERNELS
    + f"""
rt.func @main(%x: {B}, %y: {B}, %s: {ROW}) results 1 {{
  %a = rt.arena n * m * 8
  %d = rt.view %a[0] : !tir.buffer<[n * m * 8], i8> to {B}
  %e = rt.view %a[n * m * 4] : !tir.buffer<[n * m * 8], i8> to {B}
  rt.call_dps @difference(%x, %y) outs(%d) : ({B}, {B}), ({B})
  rt.call_packed "double"(%x) outs(%e) : ({B}), ({B})
  rt.call_packed "accumulate"(%d) outs(%e) : ({B}), ({B})
  rt.call_dps @sum(%e) outs(%s) : ({B}), ({ROW})
}}
"""
)

LOOPS = f"""
loops.func @main(%X: {B}, %Y: {B}) symbols [n, m] noalias {{
  loops.for %i in (0, n) {{
    loops.for %j in (0, (m + 3) floordiv 4) {{
      %k = loops.mask m - %j * 4 : vector<4xi1>
      %v = loops.load %X[%i, %j * 4] mask %k : {B} -> vector<4xf32>
      %w = arith.addf %v, %v : vector<4xf32>
      loops.store %w, %Y[%i, %j * 4] mask %k : {B}, vector<4xf32>
    }}
  }}
}}
"""


def parse_module(text: str, verify: bool = True) -> ModuleOp:
    """The module of a text."""
    module = Parser(get_context(), text).parse_module()
    if verify:
        module.verify()
    return module


@pytest.fixture
def parse() -> Callable[..., ModuleOp]:
    return parse_module


@pytest.fixture
def elementwise() -> Callable[..., NDArray]:
    """Runs one line of IR, from ``%a, %b, …`` to ``%r``, on arrays; at once and point by point."""

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


def double(x: NDArray, y: NDArray) -> None:
    """What the planned program calls by name."""
    y[...] = 2 * x


def accumulate(x: NDArray, y: NDArray) -> None:
    """What the planned program calls by name, for its effect."""
    y += x


@pytest.fixture
def registry() -> dict[str, Callable[..., None]]:
    """The functions that the programs call by name."""
    return {"double": double, "accumulate": accumulate}


@pytest.fixture
def programs() -> dict[str, str]:
    """A small program at each stage."""
    return {
        "kernels": KERNELS,
        "graph": GRAPH,
        "total": TOTAL,
        "planned": PLANNED,
        "loops": LOOPS,
    }
