"""Generated loop nests: run at once, they give exactly what they give point by point."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xrelax.dialects.dtypes import element_type
from xrelax.reference import EvaluationError, evaluate

BUFFERS = {"A": (6, 7), "B": (6, 7), "C": (40,)}
EXTENTS = (1, 2, 3, 5)


@dataclass
class Nest:
    """A loop nest that is being written: its text, its loops and its values."""

    draw: st.DrawFn
    lines: list[str] = field(default_factory=lambda: [])
    loops: list[tuple[str, int]] = field(default_factory=lambda: [])
    count: int = 0

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def pick(self, options):
        return self.draw(st.sampled_from(options))

    def index(self, size: int) -> str:
        """An expression over the loops that stays below `size`, most of the time."""
        terms: list[str] = []
        largest = 0
        for var, extent in self.loops:
            coefficient = self.pick((0, 1, 1, 2))
            if coefficient and largest + coefficient * (extent - 1) < size:
                terms.append(f"{var} * {coefficient}")
                largest += coefficient * (extent - 1)
        shift = self.draw(st.integers(0, max(0, min(2, size - 1 - largest))))
        expr = " + ".join([*terms, str(shift)])
        match self.pick(("plain", "plain", "plain", "floordiv", "mod", "back")):
            case "floordiv":
                return f"({expr}) floordiv 2"
            case "mod":
                return f"({expr}) mod {self.pick((2, 3))}"
            case "back":
                return f"{largest + shift} - ({expr})"
            case _:
                return expr

    def place(self) -> tuple[str, str]:
        name = self.pick(tuple(BUFFERS))
        dims = BUFFERS[name]
        index = ", ".join(self.index(d) for d in dims)
        return f"%{name}[{index}]", f"!tir.buffer<[{', '.join(map(str, dims))}], i32>"

    def load(self) -> str:
        result, (place, type_) = self.name(), self.place()
        self.lines.append(f"{result} = tir.load {place} : {type_}")
        return result

    def value(self) -> str:
        lhs, rhs, result = self.load(), self.load(), self.name()
        op = self.pick(("addi", "subi", "muli", "maxsi"))
        self.lines.append(f"{result} = arith.{op} {lhs}, {rhs} : i32")
        return result

    def store(self) -> None:
        value, (place, type_) = self.value(), self.place()
        self.lines.append(f"tir.store {value}, {place} : {type_}")

    def statement(self, depth: int) -> None:
        kind = self.pick(("for", "for", "store", "if")) if depth else "store"
        if kind == "store":
            self.store()
        elif kind == "for":
            var, extent = f"%i{len(self.loops)}_{self.count}", self.pick(EXTENTS)
            self.count += 1
            self.lines.append(f"tir.for {var} in (0, {extent}) {{")
            self.loops.append((var, extent))
            self.body(depth - 1)
            self.loops.pop()
            self.lines.append("}")
        else:
            value, zero, test = self.value(), self.name(), self.name()
            self.lines.append(f"{zero} = arith.constant 0 : i32")
            self.lines.append(f"{test} = arith.cmpi sgt, {value}, {zero} : i32")
            self.lines.append(f"scf.if {test} {{")
            self.body(depth - 1)
            self.lines.append("}")

    def body(self, depth: int) -> None:
        for _ in range(self.draw(st.integers(1, 2))):
            self.statement(depth)


@st.composite
def programs(draw: st.DrawFn) -> str:
    """The text of a PrimFunc on the buffers."""
    nest = Nest(draw)
    nest.body(4)
    params = ", ".join(
        f"%{n}: !tir.buffer<[{', '.join(map(str, d))}], i32>" for n, d in BUFFERS.items()
    )
    return "\n".join([f"tir.prim_func @f({params}) {{", *nest.lines, "}"])


def outcome(module, vectorize):
    rng = np.random.default_rng(0)
    args = [rng.integers(-3, 4, d).astype("int32") for d in BUFFERS.values()]
    try:
        evaluate(module, "f", args, vectorize=vectorize)
    except EvaluationError:
        return None
    return args


@settings(max_examples=100, deadline=None, derandomize=True)
@given(programs())
def test_at_once_is_point_by_point(text):
    from xdsl.parser import Parser

    from xrelax.dialects import get_context

    module = Parser(get_context(), text).parse_module()
    module.verify()
    at_once, one_by_one = outcome(module, True), outcome(module, False)
    assert (at_once is None) == (one_by_one is None), text
    for a, b in zip(at_once or (), one_by_one or (), strict=True):
        np.testing.assert_array_equal(a, b, err_msg=text)


def test_generated_programs_have_loops_of_both_kinds():
    """The property above would be empty if no loop, or every loop, ran as an axis."""
    from xdsl.parser import Parser

    from xrelax.dialects import get_context, tir
    from xrelax.reference.legality import independent_loops

    axes, total = 0, 0

    @settings(max_examples=40, deadline=None, derandomize=True, database=None)
    @given(programs())
    def count(text):
        nonlocal axes, total
        func = Parser(get_context(), text).parse_module().body.block.first_op
        axes += len(independent_loops(func.body.block, {}, {}))
        total += sum(isinstance(op, tir.ForOp) for op in func.walk())

    count()
    assert total > 20 and 0.1 < axes / total < 0.9


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "bool", "uint8", "int64"])
def test_generated_arrays_have_the_storage_of_their_dtype(dtype):
    from xrelax.dialects.relax.constant import storage_dtype
    from xrelax.reference.inputs import random_array

    array = random_array(dtype, (3, 4), np.random.default_rng(0), (-4, 5))
    assert array.dtype == storage_dtype(dtype) and array.shape == (3, 4)
    assert element_type(dtype) is not None
