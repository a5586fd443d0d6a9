"""The programs of the FileCheck tests compute the same after the pass that they show."""

from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from xrelax.dialects import get_context
from xrelax.pipeline import load_pass
from xrelax.reference import evaluate
from xrelax.reference.check import check_pipeline

SUITE = Path(__file__).parents[2] / "filecheck" / "lowering" / "loops"
PASSES = (
    "convert-tir-to-loops",
    "vectorize-loops",
    "unroll-loops",
    "promote-buffers",
    "lower-multi-reduction",
)
SPECIAL = ("gather", "guarded", "fused", "kept", "passed", "scaled", "scratch")
"""Functions that read memory that nobody wrote, need arguments of their own, or call C."""


def programs(name: str) -> dict[str, str]:
    """The programs of a FileCheck test by the name of their function."""
    file = name.removeprefix("convert-").replace("-", "_") + ".mlir"
    chunks = (SUITE / file).read_text().split("// -----\n")
    return {chunk.split("func @")[-1].split("(")[0]: chunk for chunk in chunks}


def parse(text: str) -> ModuleOp:
    module = Parser(get_context(), text).parse_module()
    module.verify()
    return module


def run(module: ModuleOp, function: str, *args: np.ndarray | int) -> list[np.ndarray]:
    copies = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    return evaluate(module, function, copies)


def assert_unchanged(pass_name: str, function: str, *args: np.ndarray | int):
    module = parse(programs(pass_name)[function])
    expected = run(module, function, *args)
    load_pass(pass_name)().apply(get_context(), module)
    module.verify()
    for got, wanted in zip(run(module, function, *args), expected, strict=True):
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize(
    "pass_name, function", [(p, f) for p in PASSES for f in programs(p) if f not in SPECIAL]
)
def test_example(pass_name: str, function: str):
    text = programs(pass_name)[function]
    check_pipeline(parse(text), [(pass_name, load_pass(pass_name)())])


def test_view_of_a_view():
    assert_unchanged("convert-tir-to-loops", "fused", np.zeros((8, 9), np.float32))


def test_indices_from_data():
    indices = np.array([0, 7, 3, 2, 99, 1], np.int64)
    x, y = np.arange(16, dtype=np.float32), np.zeros(6, np.float32)
    assert_unchanged("convert-tir-to-loops", "gather", indices, x, y)


def test_scratch_of_each_iteration():
    x, y = np.arange(5, dtype=np.float32), np.zeros(5, np.float32)
    assert_unchanged("convert-tir-to-loops", "scratch", x, y)
    assert_unchanged("promote-buffers", "scratch", x, y)


@pytest.mark.parametrize("size", [3, 5, 8])
def test_elements_outside_of_the_buffer_are_not_touched(size: int):
    x, y = np.arange(8, dtype=np.float32), np.ones(size, np.float32)
    assert_unchanged("promote-buffers", "guarded", x, y)


@pytest.mark.parametrize("rows, columns", [(0, 3), (3, 0), (0, 0)])
def test_empty_sums_are_zero(rows: int, columns: int):
    module = parse(programs("convert-tir-to-loops")["row_sums"])
    x, y = np.ones((rows, columns), np.float32), np.full(rows, 7, np.float32)
    for name in PASSES:
        load_pass(name)().apply(get_context(), module)
        _, sums = run(module, "row_sums", x, y)
        np.testing.assert_array_equal(sums, np.zeros(rows, np.float32))


def test_index_parameters_are_the_first_symbols():
    module = parse(programs("convert-tir-to-loops")["scaled"])
    load_pass("convert-tir-to-loops")().apply(get_context(), module)
    (func,) = module.body.block.ops
    assert func.symbol_names == ("step", "n", "m")
