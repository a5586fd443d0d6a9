"""Schedules that the page sends: primitives run, other Python does not."""

from __future__ import annotations

import pytest

from xrelax import tir
from xrelax.explore.schedule_program import ProgramError, run_schedule
from xrelax.inspection import module_of
from xrelax.schedules import default_schedules
from xrelax.script import from_source

KERNEL = """
@T.prim_func
def add(X: T.Buffer((8, 32), "float32"), Y: T.Buffer((8, 32), "float32")):
    for i, j in T.grid(8, 32):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = X[vi, vj] + T.float32(1)
"""


def schedule() -> tir.Schedule:
    return tir.Schedule(from_source(KERNEL))


def test_primitives_run_as_python_does():
    sch, other = schedule(), schedule()
    run_schedule(
        """
def schedule(sch: tir.Schedule) -> None:
    "Split, then vectorize."
    block = sch.get_block("Y")
    i, j = sch.get_loops(block)
    outer, inner = sch.split(j, factors=[None, 8])
    sch.vectorize(inner)
    sch.annotate(i, "level", -1)
    sch.transform_layout(block, ("write", 0), lambda i, j: (j, i))
""",
        sch,
    )
    block = other.get_block("Y")
    i, j = other.get_loops(block)
    _, inner = other.split(j, factors=[None, 8])
    other.vectorize(inner)
    other.annotate(i, "level", -1)
    other.transform_layout(block, ("write", 0), lambda i, j: (j, i))
    assert sch.mod.script() == other.mod.script()


def test_default_schedules_run():
    (kernel,) = default_schedules(module_of(from_source(KERNEL)))
    sch = tir.Schedule(from_source(kernel.kernel))
    run_schedule(kernel.function, sch)
    assert "vectorized" in sch.mod.script()


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("import os", 1, "expected a call of a primitive of 'sch'"),
        ("\n__import__('os').system('true')", 2, "expected a primitive of 'sch', got "),
        ("sch.__init__(1)", 1, "expected a primitive of 'sch', got 'sch.__init__'"),
        ("sch.mod.show()", 1, "expected a primitive of 'sch', got 'sch.mod.show'"),
        ("sch.get_block(open('x'))", 1, "expected a literal or a variable, got 'open('x')'"),
        ("sch.get_block(f'{1}')", 1, "expected a literal or a variable"),
        ("x = 1", 1, "expected a call of a primitive"),
        ("b = sch.get_block('Y')\na, b, c = sch.get_loops(b)", 2, "expected 2 names, got 3"),
        ("sch.vectorize(loop)", 1, "'loop' is not defined"),
        ("sch.get_block('Z')", 1, "expected one block 'Z'"),
        ("sch.split()", 1, "missing a required argument"),
        ("def schedule(sch, x): pass", 1, "expected a function of 'sch' alone"),
        ("for i in range(3): pass", 1, "expected a call of a primitive"),
        ("sch.get_block('Y'", 1, "was never closed"),
    ],
)
def test_other_texts_are_refused(text: str, line: int, message: str):
    sch = schedule()
    before = sch.mod.script()
    with pytest.raises(ProgramError) as caught:
        run_schedule(text, sch)
    assert message in str(caught.value)
    assert caught.value.line == line
    assert sch.mod.script() == before
