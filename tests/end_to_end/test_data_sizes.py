"""Sizes that depend on data: counted while a function runs, and reported with its results."""

import pickle
from textwrap import indent

import numpy as np
import pytest

import xrelax
from xrelax import relax
from xrelax.inspection import lower_to
from xrelax.reference.evaluate import evaluate
from xrelax.script import from_source

POSITIONS = """
@R.function
def main(x: R.Tensor(("n", 3), "float32"), w: R.Tensor((3,), "float32")):
    n, k = T.int64(), T.int64()
    with R.dataflow():
        found = R.nonzero(R.greater(R.matmul(x, w), R.const(0, "float32")))
        rows = R.match_cast(found, R.Tensor((1, k), "int64"))
        chosen = R.take(x, R.squeeze(rows, axis=0), axis=0)
        total = R.sum(chosen, axis=0)
        scaled = R.add(chosen, total)
        R.output(scaled, total)
    return scaled, total, R.shape([k, n])
"""


def positions(x, w):
    chosen = x[x @ w > 0]
    return chosen + chosen.sum(0), chosen.sum(0), (len(chosen), len(x))


def compile_source(source):
    module = from_source("@I.ir_module\nclass Module:" + indent(source, "    "))
    return module, relax.build(module)


def inputs(rows):
    drawn = np.random.default_rng(rows)
    return drawn.integers(-3, 4, (rows, 3)).astype("float32"), np.float32([1, -1, 2])


@pytest.mark.parametrize("rows", [0, 1, 2, 7, 3000])
def test_rows_that_a_condition_chooses(rows):
    module, executable = compile_source(POSITIONS)
    x, w = inputs(rows)
    wanted = positions(x, w)
    scaled, total, shape = executable["main"](x, w)
    np.testing.assert_array_equal(scaled.numpy(), wanted[0])
    np.testing.assert_array_equal(total.numpy(), wanted[1])
    assert shape == wanted[2]
    for stage in ("relax", "tir", "rt"):
        found = evaluate(lower_to(module.op, stage), "main", [x, w])
        for own, array in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(own, array)


def test_executables_in_files(tmp_path):
    executable = compile_source(POSITIONS)[1]
    executable.save(tmp_path / "rows.xr")
    x, w = inputs(50)
    for other in (
        xrelax.runtime.load(tmp_path / "rows.xr"),
        pickle.loads(pickle.dumps(executable)),
    ):
        found = other["main"](x, w)
        np.testing.assert_array_equal(found[0].numpy(), positions(x, w)[0])
        assert found[2] == positions(x, w)[2]


def test_results_have_memory_of_their_own():
    main = compile_source(POSITIONS)[1]["main"]
    first, second = main(*inputs(40)), main(*inputs(41))
    np.testing.assert_array_equal(first[0].numpy(), positions(*inputs(40))[0])
    np.testing.assert_array_equal(second[0].numpy(), positions(*inputs(41))[0])


DIFFERENT = """
@R.function
def main(x: R.Tensor(("n", 2), "float32")):
    k = T.int64()
    found = R.unique(x, R.prim_value(True), return_counts=True, axis=0)
    rows = R.match_cast(found[0], R.Tensor((k, 2), "float32"))
    counts = R.astype(R.match_cast(found[1], R.Tensor((k,), "int64")), "float32")
    first = R.unique(x, R.prim_value(False), return_index=True, return_inverse=True)
    return R.sum(R.multiply(rows, R.expand_dims(counts, 1)), axis=0), R.shape([k]), first
"""


@pytest.mark.parametrize("rows", [0, 1, 9, 500])
def test_different_rows_and_elements(rows):
    module, executable = compile_source(DIFFERENT)
    x = inputs(rows)[0][:, :2]
    different, counts = np.unique(x, axis=0, return_counts=True)
    _, index, inverse = np.unique(x, return_index=True, return_inverse=True)
    order = np.argsort(index)
    wanted = (x.reshape(-1)[index[order]], index[order], np.argsort(order)[inverse.reshape(-1)])
    total, shape, first = executable["main"](x)
    np.testing.assert_array_equal(total.numpy(), (different * counts[:, None]).sum(0))
    assert shape == (len(different),)
    for own, array in zip(first, wanted, strict=True):
        np.testing.assert_array_equal(own.numpy(), array)
    for stage in ("relax", "tir", "rt"):
        found = evaluate(lower_to(module.op, stage), "main", [x])
        np.testing.assert_array_equal(found[0], total.numpy())
        for own, array in zip(found[-3:], wanted, strict=True):
            np.testing.assert_array_equal(own, array)


@pytest.mark.parametrize("axis", [None, 0])
def test_which_special_numbers_are_equal(axis):
    x = np.float32([np.nan, 0, -np.inf, -0.0, np.nan, np.inf])
    main = compile_source(f"""
@R.function
def main(x: R.Tensor((6,), "float32")):
    return R.unique(x, return_index=True, return_counts=True, axis={axis})
""")[1]["main"]
    for own, wanted in zip(main(x), np.unique(x, True, False, True, axis=axis), strict=True):
        np.testing.assert_array_equal(own.numpy(), wanted)


NUMBERS = """
@R.function
def main(x: R.Tensor((2, "n"), "float32"), count: R.Tensor((2,), "int64")):
    n, k = T.int64(), T.int64()
    dims = R.tensor_to_shape(count, at_most=[2, n])
    R.match_cast(dims, R.Shape([2, k]))
    return R.add(R.zeros(R.shape([2, k]), "float32"), R.sum(x))
"""


def test_slices_without_elements():
    """They are equal, and none is read or written."""
    function = from_source("""
@R.function
def main(x: R.Tensor((0, 3), "uint8")):
    return R.unique(x, return_inverse=True, return_counts=True, axis=1)
""")
    values, inverse, counts = relax.build(function, check=True)["main"](np.zeros((0, 3), "uint8"))
    assert values.shape == (0, 1) and counts.numpy().tolist() == [3]
    assert inverse.numpy().tolist() == [0, 0, 0]


def test_sizes_from_an_argument():
    module, executable = compile_source(NUMBERS)
    x = np.ones((2, 5), "float32")
    for size in (0, 1, 5):
        counts = np.int64([2, size])
        np.testing.assert_array_equal(executable["main"](x, counts).numpy(), np.full((2, size), 10))
        (found,) = evaluate(lower_to(module.op, "rt"), "main", [x, counts])
        np.testing.assert_array_equal(found, np.full((2, size), 10))
    printed = from_source(module.script())
    np.testing.assert_array_equal(relax.build(printed)["main"](x, np.int64([2, 1])).shape, (2, 1))


@pytest.mark.parametrize(
    "counts,message",
    [
        ((2, 6), "expected a dim of at most 5, got 6"),
        ((2, -1), "expected a dim of at least 0, got -1"),
        ((1, 3), "expected a dim of 2, got 1"),
    ],
)
def test_sizes_out_of_range(counts, message):
    executable = compile_source(NUMBERS)[1]
    with pytest.raises(ValueError, match=message):
        executable["main"](np.ones((2, 5), "float32"), np.int64(counts))


IN_A_BRANCH = """
@R.function
def main(x: R.Tensor(("n",), "float32"), c: R.Tensor((), "bool")):
    n, k = T.int64(), T.int64()
    if c:
        found = R.match_cast(R.nonzero(x), R.Tensor((1, k), "int64"))
        y = R.sum(R.astype(found, "float32"))
    else:
        y = R.sum(x)
    return y
"""


def test_a_size_in_a_branch():
    executable = compile_source(IN_A_BRANCH)[1]
    x = np.float32([1, 0, 4, 0, 0, 2])
    assert executable["main"](x, np.bool_(True)).numpy() == 7
    assert executable["main"](x, np.bool_(False)).numpy() == 7
    assert executable["main"](np.zeros(3, "float32"), np.bool_(True)).numpy() == 0


CALLED = """
@I.ir_module
class Module:
    @R.function
    def inner(x: R.Tensor(("n",), "float32")):
        return R.nonzero(x)

    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        first = Module.inner(x)
        second = Module.inner(R.subtract(R.const(1, "float32"), x))
        return first, second
"""


def test_results_of_unknown_size_of_a_called_function():
    found = relax.build(from_source(CALLED), check=True)["main"](np.float32([1, 0, 4]))
    assert [f.numpy().tolist() for f in found] == [[[0, 2]], [[1, 2]]]


def test_outputs_in_given_memory():
    executable = compile_source(NUMBERS)[1]
    with pytest.raises(TypeError, match="main takes no 'out'"):
        executable["main"](np.ones((2, 5), "float32"), np.int64([2, 3]), out=np.ones((2, 3)))


TWICE = """
@R.function
def main(count: R.Tensor((1,), "int64")):
    k, l = T.int64(), T.int64()
    dims = R.tensor_to_shape(count, at_most=[8])
    R.match_cast(dims, R.Shape([k]))
    R.match_cast(dims, R.Shape([l]))
    return R.zeros(R.shape([k]), "float32"), R.ones(R.shape([l, 2]), "float32")
"""


def test_two_names_of_one_size():
    zeros, ones = compile_source(TWICE)[1]["main"](np.int64([3]))
    assert zeros.shape == (3,) and ones.shape == (3, 2)


SLICE = """
@R.function
def main(x: R.Tensor(("n", 4), "float32"), b: R.Tensor((2,), "int64"), e: R.Tensor((2,), "int64"),
         s: R.Tensor((2,), "int64")) -> R.Tensor("float32", ndim=2):
    y: R.Tensor("float32", ndim=2) = R.dynamic_strided_slice(x, b, e, s)
    return y
"""


@pytest.mark.parametrize(
    "bounds",
    [
        ((1, 0), (-1, 3), (2, 1)),
        ((9, -1), (1, -9), (-2, -1)),
        ((0, 2), (2**63 - 1, 2), (2**63 - 1, 1)),
    ],
)
def test_slices_with_bounds_in_tensors(bounds):
    executable = compile_source(SLICE)[1]
    x = np.arange(28, dtype="float32").reshape(7, 4)
    found = executable["main"](x, *map(np.int64, bounds)).numpy()
    np.testing.assert_array_equal(found, x[tuple(slice(*b) for b in zip(*bounds, strict=True))])
