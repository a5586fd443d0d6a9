"""Random graphs compute the same on tensors, on memory, and in a planned arena."""

# ruff: noqa: E501 - lines of IR are as long as the printer makes them

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.passes import ModulePass

from xrelax.dialects import get_context
from xrelax.lowering.graph.normalize import NormalizePass
from xrelax.lowering.graph.specialize_prim_funcs import SpecializePrimFuncsPass
from xrelax.lowering.runtime.plan_memory import PlanMemoryPass
from xrelax.lowering.runtime.relax_to_rt import RelaxToRTPass
from xrelax.reference.evaluate import evaluate
from xrelax.reference.values import EvaluationError

PASSES: tuple[ModulePass, ...] = (
    NormalizePass(),
    SpecializePrimFuncsPass(),
    RelaxToRTPass(),
    PlanMemoryPass(),
)
KERNELS = """
tir.prim_func @add(%A: !tir.buffer<[n], f32>, %B: !tir.buffer<[n], f32>, %C: !tir.buffer<[n], f32>) {
  tir.for %i in (0, n) {
    %a = tir.load %A[%i] : !tir.buffer<[n], f32>
    %b = tir.load %B[%i] : !tir.buffer<[n], f32>
    %c = arith.addf %a, %b : f32
    tir.store %c, %C[%i] : !tir.buffer<[n], f32>
  }
}
tir.prim_func @twice(%A: !tir.buffer<[n], f32>, %B: !tir.buffer<[n * 2], f32>) {
  tir.for %i in (0, n) {
    %a = tir.load %A[%i] : !tir.buffer<[n], f32>
    tir.store %a, %B[%i] : !tir.buffer<[n * 2], f32>
    tir.store %a, %B[%i + n] : !tir.buffer<[n * 2], f32>
  }
}
relax.func private @half(%x: !relax.tensor<[k], f32>, %y: !relax.tensor<[k], f32>) -> !relax.tensor<[k], f32> {
  %z = relax.call_dps_packed "add"(%x, %y) : (!relax.tensor<[k], f32>, !relax.tensor<[k], f32>) -> !relax.tensor<[k], f32>
  %w = relax.call_dps_packed "env.half"(%z) : (!relax.tensor<[k], f32>) -> !relax.tensor<[k], f32>
  relax.return %w : !relax.tensor<[k], f32>
}
"""


def half(x: Any, out: Any) -> None:
    out[...] = x / 2 + 1


@dataclass
class Graph:
    """The text of a random graph function; `values` lists what is defined, by its dim."""

    draw: st.DrawFn
    sizes: dict[str, str]
    lines: list[str] = field(default_factory=list)
    count: int = 0

    def emit(self, names: dict[str, str], indent: str) -> str:
        """Add one call of values in `names`; returns the name of its result."""
        kind = self.draw(st.sampled_from(["add", "half", "env.half", "twice"]))
        x = self.draw(st.sampled_from(sorted(names)))
        y = self.draw(st.sampled_from(sorted(n for n in names if names[n] == names[x])))
        size = {"n": "n * 2", "4": "8"}.get(names[x])
        if kind == "twice" and size is None:
            kind = "add"
        result, source = f"%v{self.count}", tensor(names[x])
        self.count += 1
        self.lines.append(
            indent
            + {
                "add": f'{result} = relax.call_dps_packed "add"({x}, {y}) : ({source}, {source}) -> {source}',
                "half": f"{result} = relax.call @half({x}, {y}) : ({source}, {source}) -> {source}",
                "env.half": f'{result} = relax.call_dps_packed "env.half"({x}) : ({source}) -> {source}',
                "twice": f"{result} = relax.call_tir @twice({x}) : ({source}) -> {tensor(size or '')}",
            }[kind]
        )
        names[result] = size if kind == "twice" and size is not None else names[x]
        return result

    def dataflow(self) -> None:
        """Add a dataflow block that outputs its last value."""
        inner, start = dict(self.sizes), len(self.lines)
        for _ in range(self.draw(st.integers(1, 5))):
            last = self.emit(inner, "    ")
        result, type_ = f"%g{self.count}", tensor(inner[last])
        self.lines.insert(start, f"  {result} = relax.dataflow -> {type_} {{")
        self.lines += [f"    relax.output {last} : {type_}", "  }"]
        self.sizes[result] = inner[last]

    def text(self) -> str:
        for _ in range(self.draw(st.integers(1, 4))):
            if self.draw(st.booleans()):
                self.dataflow()
            else:
                self.emit(self.sizes, "  ")
        returned = self.draw(st.sampled_from(sorted(self.sizes)))
        type_ = tensor(self.sizes[returned])
        return "\n".join(
            [
                KERNELS,
                f"relax.func @main(%x: {tensor('n')}, %y: {tensor('n')}, %s: {tensor('4')}) -> {type_} {{",
                "  %c = relax.constant <float32, [4], [1.0, 2.0, 3.0, 4.0]> : !relax.tensor<[4], f32>",
                *self.lines,
                f"  relax.return {returned} : {type_}",
                "}",
            ]
        )


def tensor(size: str) -> str:
    return f"!relax.tensor<[{size}], f32>"


@st.composite
def graphs(draw: st.DrawFn) -> str:
    return Graph(draw, {"%x": "n", "%y": "n", "%s": "4", "%c": "4"}).text()


def run(module: ModuleOp, size: int) -> list[Any]:
    rng = np.random.default_rng(0)
    args = [rng.integers(-8, 8, k).astype("float32") for k in (size, size, 4)]
    registry: dict[str, Callable[..., Any]] = {"env.half": half}
    return evaluate(module, "main", args, registry=registry)


@settings(max_examples=40, deadline=None)
@given(graphs(), st.sampled_from([1, 5]))
def test_every_pass_keeps_the_result(text: str, size: int):
    module = Parser(get_context(), text).parse_module()
    module.verify()
    (expected,) = run(module, size)
    for each in PASSES:
        each.apply(get_context(), module)
        module.verify()
        (found,) = run(module, size)
        np.testing.assert_array_equal(found, expected)


def test_kernels_can_be_called_by_users():
    module = Parser(get_context(), KERNELS).parse_module()
    for each in PASSES:
        each.apply(get_context(), module)
    x, out = np.arange(3, dtype="float32"), np.zeros(6, "float32")
    evaluate(module, "twice", [x, out])
    np.testing.assert_array_equal(out, [0, 1, 2, 0, 1, 2])


def test_shapes_that_only_run_time_can_decide_are_checked_at_entry():
    text = (
        KERNELS
        + f"""
    relax.func @main(%x: {tensor("p")}, %y: {tensor("q")}) -> {tensor("p")} {{
      %z = relax.call_tir @add(%x, %y) : ({tensor("p")}, {tensor("q")}) -> {tensor("p")}
      relax.return %z : {tensor("p")}
    }}"""
    )
    module = Parser(get_context(), text).parse_module()
    for each in PASSES:
        each.apply(get_context(), module)
    ones = np.ones(3, "float32")
    np.testing.assert_array_equal(evaluate(module, "main", [ones, ones])[0], [2, 2, 2])
    with pytest.raises(EvaluationError, match=r"argument 'y' to have shape \(3,\), got \(4,\)"):
        evaluate(module, "main", [ones, np.ones(4, "float32")])
