"""A schedule rule from outside the package: its place among the rules, and its effect."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from xrelax import relax
from xrelax.backend.build_cache import build_cache
from xrelax.backend.build_key import EXTENSIONS
from xrelax.backend.target import Target
from xrelax.dialects import tir
from xrelax.inspection import stage_text
from xrelax.lowering.schedule.blocks import blocks_in, nest_loops
from xrelax.lowering.schedule.default import RULES, register_rule
from xrelax.lowering.schedule.primitives.schedule import Schedule
from xrelax.script import from_source

KERNEL = """
@T.prim_func
def main(X: T.Buffer((50, 3), "float32"), Y: T.Buffer((50, 3), "float32")):
    for i, j in T.grid(50, 3):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = X[vi, vj] + T.float32(1)
"""


def unroll(sch: Schedule, func: tir.PrimFuncOp, target: Target) -> None:
    for block in blocks_in(func):
        for loop in nest_loops(block)[-1:]:
            sch.unroll(sch.rv(loop))


@pytest.fixture
def rules() -> Iterator[list[str]]:
    before, extensions = dict(RULES), set(EXTENSIONS)
    EXTENSIONS.clear()
    yield [*before]
    RULES.clear()
    RULES.update(before)
    EXTENSIONS.clear()
    EXTENSIONS.update(extensions)


def test_it_runs_at_its_place(rules: list[str]):
    register_rule("unroll", before="fuse-rows")(unroll)
    at = rules.index("fuse-rows")
    assert [*RULES] == [*rules[:at], "unroll", *rules[at:]]
    register_rule("unroll")(unroll)
    assert [*RULES] == [*rules, "unroll"]


def test_it_schedules_kernels(rules: list[str]):
    kernel = from_source(KERNEL)
    assert "sch.unroll" not in stage_text(kernel, "schedule")
    register_rule("unroll", before=rules[0])(unroll)
    assert "sch.unroll" in stage_text(kernel, "schedule")
    relax.build(kernel, check=True)


def test_builds_are_not_cached(rules: list[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XRELAX_CACHE", "1")
    assert build_cache(Target("llvm"), ()) is not None
    register_rule("unroll")(unroll)
    assert build_cache(Target("llvm"), ()) is None


def test_names_are_checked(rules: list[str]):
    with pytest.raises(ValueError, match="expected a new name of a rule, got 'vectorize' twice"):
        register_rule("vectorize")(unroll)
    with pytest.raises(ValueError, match=r"expected a rule \(.*\), got 'vectorise', did you mean"):
        register_rule("unroll", before="vectorise")(unroll)
    assert [*RULES] == rules
