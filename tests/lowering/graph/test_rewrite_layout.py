"""Constants in other layouts: by NumPy, and by the kernels that lay out large ones on load."""

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from xrelax.dialects import tir as ir
from xrelax.dialects.dtypes import element_type
from xrelax.ir.module import IRModule
from xrelax.lowering.graph.rewrite_layout import layout_kernel, moved_array
from xrelax.lowering.schedule.index_map import IndexMap
from xrelax.lowering.schedule.layout import MovedParameter
from xrelax.pipeline import STAGES
from xrelax.reference import evaluate
from xrelax.tir import IndexMap as UserMap

CASES = [
    ("lambda i: (i // 4, i % 4)", (10,), "int8"),
    ("lambda i, j: (j // 8, i, j % 8)", (3, 6), "float32"),
    ("lambda i, j: (i // 4, j, i % 4)", (8, 5), "float64"),
    ("lambda i, j: (j // 4, i // 2, i % 2, j % 4)", (5, 9), "int32"),
    ("lambda i, j: (2 * j, i)", (3, 4), "float32"),
    ("lambda i, j, k: (k, i * 3 + j)", (2, 3, 4), "int64"),
]


@pytest.mark.parametrize("text,shape,dtype", CASES)
def test_elements_and_gaps(text, shape, dtype):
    rng = np.random.default_rng(1)
    array = rng.integers(1, 100, shape).astype(dtype)
    wanted = UserMap.from_text(text).map_ndarray(array)
    old, new = (ir.BufferType.of(s, element_type(dtype)) for s in (shape, wanted.shape))
    parameter = MovedParameter("f", 0, IndexMap.of_text(text), old, new)
    np.testing.assert_array_equal(moved_array(array, parameter), wanted)
    kernel = layout_kernel(parameter, "layout_transform")
    made = np.full(wanted.shape, 77, dtype)
    evaluate(IRModule(ModuleOp([kernel])).op, "layout_transform", [array, made])
    np.testing.assert_array_equal(made, wanted)


def test_no_pass_stands_twice():
    """A pass that must run again is a sign of a decision that is made too early."""
    names = [name for stage in STAGES for name in stage.passes]
    assert sorted(names) == sorted(set(names))
