"""A pass from outside the package: by its name, in the pipeline, and checked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from xrelax import relax
from xrelax.backend.build_key import EXTENSIONS
from xrelax.dialects.relax import OPERATORS
from xrelax.ir import IRModule
from xrelax.pipeline import PASSES, STAGES, load_pass, register_pass
from xrelax.reference.check import CheckError
from xrelax.script import from_source

SubtractOp = OPERATORS["relax.subtract"]
SCRIPT = """
@R.function
def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
    return R.subtract(x, y)
"""


@dataclass(frozen=True)
class SwapSubtractPass(ModulePass):
    """Swap the operands of subtractions, which is wrong."""

    name = "swap-subtract"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for found in op.walk():
            if isinstance(found, SubtractOp):
                found.operands = [*reversed(found.operands)]


@pytest.fixture(autouse=True)
def pipeline() -> Iterator[list[tuple[str, ...]]]:
    before, extensions = list(STAGES), set(EXTENSIONS)
    yield [stage.passes for stage in before]
    STAGES[:] = before
    EXTENSIONS.clear()
    EXTENSIONS.update(extensions)
    PASSES.pop("swap-subtract", None)


def test_it_has_its_name():
    assert register_pass()(SwapSubtractPass) is SwapSubtractPass
    assert load_pass("swap-subtract") is SwapSubtractPass
    function = from_source(SCRIPT)
    assert (
        "R.subtract(y, x)" in relax.transform.SwapSubtract()(IRModule({"main": function})).script()
    )


def test_the_pipeline_runs_it(pipeline: list[tuple[str, ...]]):
    x, y = np.arange(4, dtype="float32"), np.ones(4, "float32")
    module = from_source(SCRIPT)
    np.testing.assert_array_equal(relax.build(module)(x, y).numpy(), x - y)
    for before in ("fuse-ops", "fold-constant"):
        register_pass(before=before)(SwapSubtractPass)
    assert "pass swap-subtract" in EXTENSIONS  # so that builds are not cached
    assert [s.passes[s.passes.index("swap-subtract") + 1] for s in STAGES[:1]] == ["fold-constant"]
    assert [s.passes for s in STAGES[1:]] == pipeline[1:]
    np.testing.assert_array_equal(relax.build(module)(x, y).numpy(), y - x)
    with pytest.raises(CheckError, match="pass 'swap-subtract' changes result 0 of 'main'"):
        relax.build(module, check=True)


def test_names_are_checked(pipeline: list[tuple[str, ...]]):
    def named(name: str) -> type[ModulePass]:
        return type("Other", (ModulePass,), {"name": name, "__module__": __name__})

    with pytest.raises(ValueError, match="expected a new name of a pass, got 'fuse-ops' twice"):
        register_pass()(named("fuse-ops"))
    with pytest.raises(ValueError, match="expected a new name of a pass, got 'dce' twice"):
        register_pass()(named("dce"))
    with pytest.raises(ValueError, match=r"got 'fuse-op', did you mean 'fuse-ops'"):
        register_pass(before="fuse-op")(named("other"))

    class Inner(ModulePass):
        name = "inner"

    with pytest.raises(ValueError, match="expected pass 'inner' at the top level of a module"):
        register_pass()(Inner)
    assert [stage.passes for stage in STAGES] == pipeline and "other" not in PASSES
