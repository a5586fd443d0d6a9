"""How far sums of many terms are from sums in float64, for any number of threads the same.

The bounds are those of docs/math.md.
"""

import numpy as np
import pytest

import xrelax as tvm
from xrelax import relax
from xrelax.script import from_source

EPS = 2.0**-23
EQUAL, DRAWN = 24 * EPS, 6 * EPS
"""The largest relative error of a sum of equal terms, and of one of drawn terms."""


@pytest.fixture(autouse=True)
def threads():
    yield
    tvm.runtime.set_num_threads(1)


def compiled(shape, expression, dtype="float32", symbolic=False):
    dims = [f'"n{i}"' if symbolic else str(n) for i, n in enumerate(shape)]
    return relax.build(
        from_source(f'''
@R.function
def main(x: R.Tensor(({", ".join(dims)},), "{dtype}")):
    return {expression}
''')
    )


def results(function, *arrays):
    """The result, which has the same bits with one thread and with two."""
    found = []
    for count in (1, 2):
        tvm.runtime.set_num_threads(count)
        found.append(function(*arrays).numpy())
    np.testing.assert_array_equal(found[0], found[1], strict=True)
    return found[0].astype(np.float64)


def distance(found, exact):
    """The largest difference, in parts of the largest result."""
    return np.abs(found - exact).max() / np.abs(exact).max()


SUMS = [
    ((20_000_000,), "R.sum(x)", None),
    ((1_000_003,), "R.mean(x)", None),
    ((3, 1_000_003), "R.sum(x, axis=1)", 1),
    ((1_000_003, 3), "R.sum(x, axis=1)", 1),
    ((300, 7, 500), "R.sum(x)", None),
    ((500, 700), "R.sum(x, axis=1)", 1),
]


@pytest.mark.parametrize("symbolic", [False, True], ids=["static", "symbolic"])
@pytest.mark.parametrize("case", SUMS, ids=str)
@pytest.mark.parametrize("drawn", [False, True], ids=["equal", "drawn"])
def test_sums(case, symbolic, drawn):
    """Equal terms are the worst: all roundings go one way."""
    shape, expression, axis = case
    x = np.full(shape, 0.1, np.float32)
    if drawn:
        x = np.random.default_rng(0).random(shape, np.float32)
    exact = x.sum(axis=axis, dtype=np.float64) if "sum" in expression else x.mean(dtype=np.float64)
    found = results(compiled(shape, expression, symbolic=symbolic), x)
    assert distance(found, exact) < (DRAWN if drawn else EQUAL)


@pytest.mark.parametrize("symbolic", [False, True], ids=["static", "symbolic"])
@pytest.mark.parametrize("shape", [(64, 100_000), (1, 1_000_000), (5, 40_001)], ids=str)
def test_products(shape, symbolic):
    x = np.random.default_rng(0).random(shape, np.float32)
    expression = "R.matmul(x, R.permute_dims(x, axes=[1, 0]))"
    exact = x.astype(np.float64) @ x.T.astype(np.float64)
    found = results(compiled(shape, expression, symbolic=symbolic), x)
    assert distance(found, exact) < DRAWN


@pytest.mark.parametrize("dim", ["3000000", "n"])
def test_kernels_of_users(dim):
    function = from_source(f"""
@T.prim_func
def main(x: T.handle, y: T.handle):
    n = T.int64()
    X = T.match_buffer(x, ({dim},), "float32")
    Y = T.match_buffer(y, (1,), "float32")
    for i in range({dim}):
        with T.block("Y"):
            vi = T.axis.reduce({dim}, i)
            with T.init():
                Y[0] = T.float32(0)
            Y[0] = Y[0] + X[vi]
""")
    x, y = np.full(3_000_000, 0.1, np.float32), np.zeros(1, np.float32)
    relax.build(function)(x, y)
    exact = x.sum(dtype=np.float64)
    assert abs(y[0] - exact) < EQUAL * exact


COLUMNS = [
    ((1_000_003, 5), 0),
    ((100_003, 33), 0),
    ((10_007, 1003), 0),
    ((2, 100_003, 9), 1),
    ((1009, 1013, 7), (0, 1)),
    ((5, 3001, 200, 3), (1, 2)),
    ((40_009, 2, 3, 8), (0, 1, 2)),
    ((100_003, 1), 0),
]


@pytest.mark.sampled
@pytest.mark.parametrize("symbolic", [False, True], ids=["static", "symbolic"])
@pytest.mark.parametrize("case", COLUMNS, ids=str)
@pytest.mark.parametrize("drawn", [False, True], ids=["equal", "drawn"])
def test_sums_of_columns(case, symbolic, drawn):
    """Their results are in memory."""
    shape, axis = case
    x = np.full(shape, 0.1, np.float32)
    if drawn:
        x = np.random.default_rng(0).random(shape, np.float32)
    axes = [axis] if isinstance(axis, int) else list(axis)
    function = compiled(shape, f"R.sum(x, axis={axes})", symbolic=symbolic)
    exact = x.sum(axis=axis, dtype=np.float64)
    assert distance(results(function, x), exact) < (16 if drawn else 64) * EPS


@pytest.mark.sampled
@pytest.mark.parametrize("count", [0, 1, 7, 8, 255, 256, 257, 600, 33_000])
def test_any_number_of_rows(count):
    """Whole numbers and a third of a block, and of blocks of blocks."""
    source = (
        "@R.function\ndef main(x: R.Tensor(('n', 'm'), 'float32')):\n    return R.sum(x, axis=0)\n"
    )
    function = relax.build(from_source(source), check=count == 257)
    for columns in (1, 5, 8, 19):
        x = np.arange(count * columns, dtype=np.float32).reshape(count, columns) % 97
        np.testing.assert_array_equal(function(x).numpy(), x.sum(0))


@pytest.mark.parametrize("start", [0.0, 1000.0])
@pytest.mark.parametrize("dims", [("100003", "19"), ("n", "m")], ids=str)
def test_columns_of_users(dims, start):
    """What a sum begins with counts once."""
    n, m = dims
    function = from_source(f"""
@T.prim_func
def main(x: T.handle, y: T.handle):
    n = T.int64()
    m = T.int64()
    X = T.match_buffer(x, ({n}, {m}), "float32")
    Y = T.match_buffer(y, ({m},), "float32")
    for k, j in T.grid({n}, {m}):
        with T.block("Y"):
            vk, vj = T.axis.remap("RS", [k, j])
            with T.init():
                Y[vj] = T.float32({start})
            Y[vj] = Y[vj] + X[vk, vj]
""")
    x, y = np.full((100_003, 19), 0.1, np.float32), np.zeros(19, np.float32)
    relax.build(function)(x, y)
    assert distance(y, start + x.sum(0, dtype=np.float64)) < 64 * EPS


@pytest.mark.parametrize("dim", ["100003", '"n"'])
def test_product_of_one_row(dim):
    source = f"""
@R.function
def main(x: R.Tensor((1, {dim}), "float32"), w: R.Tensor(({dim}, 40), "float32")):
    return R.matmul(x, w)
"""
    x = np.full((1, 100_003), 0.1, np.float32)
    w = np.random.default_rng(0).random((100_003, 40), np.float32)
    found = results(relax.build(from_source(source)), x, w)
    assert distance(found, x.astype(np.float64) @ w) < 16 * EPS


FAR = 64 * EPS
"""The largest error of variances and norms, of numbers that are far from 0 too."""


def far_from_zero(shape):
    return (1e4 + 1e-2 * np.random.default_rng(0).standard_normal(shape)).astype(np.float32)


@pytest.mark.sampled
@pytest.mark.parametrize("symbolic", [False, True], ids=["static", "symbolic"])
@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("operator", ["variance", "std"])
def test_spread(operator, axis, symbolic):
    x = far_from_zero((700, 1000))
    function = compiled(x.shape, f"R.{operator}(x, axis={axis})", symbolic=symbolic)
    exact = getattr(np, {"variance": "var"}.get(operator, operator))(x.astype(np.float64), axis)
    assert distance(results(function, x), exact) < FAR


def test_spread_of_an_outlier_first():
    """The number that others count from need not be near them."""
    x = far_from_zero((1_000_000,))
    x[0] = 0
    found = results(compiled(x.shape, "R.variance(x)"), x)
    assert distance(found, x.var(dtype=np.float64)) < FAR


@pytest.mark.parametrize("operator", ["variance", "std"])
def test_spread_of_equal_elements_and_of_nan(operator):
    x = np.repeat(np.float32([0.1, 12345.678, -3e-30, np.nan]), 1000).reshape(4, 1000)
    found = compiled(x.shape, f"R.{operator}(x, axis=1)")(x).numpy()
    np.testing.assert_array_equal(found, [0, 0, 0, np.nan])


@pytest.mark.parametrize("dim", ["0", "'n'"])
def test_spread_of_nothing(dim):
    source = f"@R.function\ndef main(x: R.Tensor(({dim},), 'float32')):\n    return R.variance(x)\n"
    assert np.isnan(relax.build(from_source(source))(np.zeros(0, np.float32)).numpy())


NORMS = {
    "layer_norm(x, w, b, axes=[-1])": ((-1,), 40),
    "group_norm(x, w, b, num_groups=4, channel_axis=1, axes=[2, 3])": ((2, 3, 4), 8),
    "instance_norm(x, w, b, channel_axis=1, axes=[2, 3])": ((2, 3), 8),
}


@pytest.mark.sampled
@pytest.mark.parametrize("symbolic", [False, True], ids=["static", "symbolic"])
@pytest.mark.parametrize("norm", NORMS)
def test_norms(norm, symbolic):
    axes, size = NORMS[norm]
    x = far_from_zero((3, 8, 30, 40))
    function = relax.build(
        from_source(f"""
@R.function
def main(x: R.Tensor(({'"n"' if symbolic else 3}, 8, {'"m"' if symbolic else 30}, 40), "float32"),
         w: R.Tensor(({size},), "float32"), b: R.Tensor(({size},), "float32")):
    return R.nn.{norm}
""")
    )
    found = results(function, x, np.ones(size, np.float32), np.zeros(size, np.float32))
    parts = x.astype(np.float64).reshape(3, 4, 2, 30, 40) if "group" in norm else x
    centred = parts - parts.mean(axes, np.float64, keepdims=True)
    exact = centred / np.sqrt(np.square(centred).mean(axes, keepdims=True) + 1e-5)
    assert distance(found, exact.reshape(x.shape)) < FAR


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("symbolic", [False, True], ids=["static", "symbolic"])
@pytest.mark.parametrize("case", [((5_000_000,), 0), ((30_000, 5), 0), ((3, 70_001), 1)], ids=str)
def test_running_sums(case, symbolic, exclusive):
    """Each element by itself is near, the first ones too."""
    shape, axis = case
    x = np.full(shape, 0.1, np.float32)
    found = results(
        compiled(shape, f"R.cumsum(x, axis={axis}, exclusive={exclusive})", symbolic=symbolic), x
    )
    exact = np.cumsum(x, axis, np.float64) - (x if exclusive else 0)
    assert np.all(np.abs(found - exact) <= 64 * EPS * exact)


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("count", [0, 1, 127, 128, 129, 300])
def test_running_sums_checked(count, exclusive):
    """Any number of elements, in all stages, and the places where a block starts."""
    x = np.arange(count, dtype=np.float32)
    source = (
        "@R.function\ndef main(x: R.Tensor(('n',), 'float32')):\n    return R.cumsum(x, axis=0)\n"
    )
    found = relax.build(from_source(source), check=count == 300)(x).numpy()
    np.testing.assert_array_equal(found, np.cumsum(x))


HALVES = {
    "R.sum(x, axis=1)": (4, 60_000),
    "R.mean(x, axis=0)": (60_000, 4),
    "R.cumsum(x, axis=1)": (2, 5_000),
    "R.variance(x, axis=1)": (4, 5_000),
    "R.matmul(x, R.permute_dims(x, axes=[1, 0]))": (8, 20_000),
    "R.nn.softmax(x, axis=1)": (4, 3_000),
    "R.nn.log_softmax(x, axis=1)": (4, 3_000),
    "R.std(x, axis=0)": (5_000, 4),
    "R.nn.rms_norm(x, R.sum(x, axis=0), axes=[1])": (1, 3_000),
    "R.nn.layer_norm(x, R.sum(x, axis=0), R.sum(x, axis=0), axes=[1])": (1, 3_000),
    "R.nn.avg_pool2d(x, pool_size=(16, 16))": (1, 4, 32, 32),
    "R.nn.conv2d(x, x, padding=(1, 1))": (1, 256, 7, 7),
}


HALF_UNITS = {"float16": 2.0**-11, "bfloat16": 2.0**-8}
"""The largest relative error of one rounding."""


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", HALF_UNITS)
@pytest.mark.parametrize("expression", HALVES)
def test_halves_are_accumulated_in_float32(expression, dtype):
    """Results are those of float32, rounded once."""
    shape = HALVES[expression]
    x = np.random.default_rng(0).random(shape).astype(np.float16).astype(np.float32)
    if dtype == "bfloat16":
        x = (x.view(np.uint32) & 0xFFFF0000).view(np.float32)
    source = f"""
@R.function
def main(y: R.Tensor({shape}, "float32")):
    x = R.astype(y, "{dtype}")
    return R.astype({expression}, "float32")
"""
    short = relax.build(from_source(source))(x).numpy()
    long = compiled(shape, expression)(x).numpy()
    np.testing.assert_allclose(short, long, rtol=1.1 * HALF_UNITS[dtype], atol=2.0**-24)
