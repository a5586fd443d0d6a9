"""The rules for memory-bound kernels keep what these compute, for shapes of all kinds."""

import numpy as np
import pytest

from xrelax import relax
from xrelax.script import from_source

SHAPES = ((0, 5), (5, 1), (1, 16), (7, 13), (4, 64), (33, 100), (19, 131))


def build(result, **params):
    """A function of tensors, given by their shapes and dtype."""
    declared = ", ".join(f'{name}: R.Tensor({shape}, "{d}")' for name, (shape, d) in params.items())
    return relax.build(from_source(f"@R.function\ndef main({declared}):\n    return {result}\n"))


def whole_numbers(shape, dtype="float32", seed=0):
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(dtype)


def forms(shape):
    """The shape as numbers, and with its first or last dim a symbol."""
    first, *rest = shape
    last = shape[-1]
    return [
        str(tuple(shape)),
        f"({', '.join(map(repr, ['n', *rest]))},)",
        f"({', '.join(map(repr, [*shape[:-1], 'm']))},)" if last != first or rest else "('m',)",
    ]


def check(result, expected, shape, dtype="float32"):
    x = whole_numbers(shape, dtype)
    for form in forms(shape):
        got = build(result, x=(form, dtype))(x).numpy()
        np.testing.assert_array_equal(got, expected(x), err_msg=f"{result} of {form}")


@pytest.mark.parametrize("shape", SHAPES)
def test_elementwise(shape):
    check("R.nn.relu(R.add(R.multiply(x, x), x))", lambda x: np.maximum(x * x + x, 0), shape)


@pytest.mark.sampled
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("axis", [0, 1, None])
def test_sums(shape, axis):
    check(f"R.sum(x, axis={axis})", lambda x: x.sum(axis), shape)


@pytest.mark.sampled
@pytest.mark.parametrize("shape", SHAPES[1:])
@pytest.mark.parametrize("axis", [0, 1])
def test_largest(shape, axis):
    check(f"R.max(x, axis={axis})", lambda x: x.max(axis), shape)
    check(f"R.argmax(x, axis={axis})", lambda x: x.argmax(axis), shape)


@pytest.mark.sampled
@pytest.mark.parametrize("shape", [(0, 2, 33, 7), (2, 0, 33, 7), (2, 33, 0, 7), (0, 300, 1, 9)])
def test_sums_of_nothing(shape):
    """They are written, too, where one of several loops over the reduction has no iteration."""
    for axes in ([0, 2], [1, 2], [0, 1]):
        check(f"R.sum(x, axis={axes})", lambda x, axes=axes: x.sum(tuple(axes)), shape)


@pytest.mark.sampled
@pytest.mark.parametrize("shape", [(3, 4000), (2, 2, 1000), (5, 128, 40), (7, 1, 300)])
def test_largest_of_all(shape):
    """The choice among lanes is outside of all loops over the reduction, not just of the last."""
    check("R.argmax(x)", lambda x: x.argmax(), shape)
    check("R.argmin(x)", lambda x: x.argmin(), shape)


@pytest.mark.sampled
@pytest.mark.parametrize("shape", SHAPES)
def test_transposes(shape):
    check("R.permute_dims(x)", lambda x: x.T, shape)
    check("R.add(R.permute_dims(x), R.permute_dims(x))", lambda x: x.T + x.T, shape)


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int8"])
@pytest.mark.parametrize("columns", [3, 5, 9, 13, 31, 63])
def test_transposes_to_rows_shorter_than_a_register(columns, dtype):
    for rows in (16, 67, 300):
        check("R.permute_dims(x)", lambda x: x.T, (columns, rows), dtype)
        check(
            "R.add(R.permute_dims(x), R.permute_dims(x))", lambda x: x.T * 2, (columns, rows), dtype
        )


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", ["float64", "float16", "int8", "int64"])
def test_dtypes(dtype):
    check("R.permute_dims(x)", lambda x: x.T, (70, 35), dtype)
    check("R.add(x, x)", lambda x: x + x, (5, 70), dtype)
    check("R.max(x, axis=1)", lambda x: x.max(1), (5, 70), dtype)
    check("R.argmax(x, axis=1)", lambda x: x.argmax(1), (5, 256), dtype)


def test_every_other_element():
    x = whole_numbers((9, 101))
    for last in ("101", "'m'"):
        run = build(
            "R.sum(R.strided_slice(x, [1], [0], [101], [2]), axis=1)", x=(f"(9, {last})", "float32")
        )
        np.testing.assert_array_equal(run(x).numpy(), x[:, ::2].sum(1))


@pytest.mark.parametrize("shape", [(2, 6, 5, 7), (1, 4, 16, 16), (2, 3, 1, 33), (2, 7, 7, 64)])
def test_four_dims(shape):
    x = whole_numbers(shape)
    for result, expected in {
        "R.permute_dims(x, [0, 2, 3, 1])": x.transpose(0, 2, 3, 1),
        "R.permute_dims(x, [0, 2, 1, 3])": x.transpose(0, 2, 1, 3),
        "R.permute_dims(x, [0, 3, 1, 2])": x.transpose(0, 3, 1, 2),
        "R.sum(x, axis=[2, 3])": x.sum((2, 3)),
        "R.sum(x, axis=[0, 2, 3])": x.sum((0, 2, 3)),
        "R.sum(x, axis=[1])": x.sum(1),
        "R.concat([x, x], axis=3)": np.concatenate([x, x], 3),
        "R.concat([x, x], axis=1)": np.concatenate([x, x], 1),
    }.items():
        got = build(result, x=(str(shape), "float32"))(x).numpy()
        np.testing.assert_array_equal(got, expected, err_msg=result)


@pytest.mark.parametrize("columns", [1, 15, 16, 100])
def test_rows_of_a_table(columns):
    x, rows = whole_numbers((31, columns)), np.array([3, 0, 30, 3, 7], np.int64)
    run = build("R.take(x, i, axis=0)", x=(f"(31, {columns})", "float32"), i=("(5,)", "int64"))
    np.testing.assert_array_equal(run(x, rows).numpy(), x[rows])


def test_much_memory():
    """Sizes from which on rows are tiled, sums are split and columns are streamed."""
    for shape in ((264, 1024), (331, 1021)):
        x = whole_numbers(shape)
        for axis in (0, 1, None):
            got = build(f"R.sum(x, axis={axis})", x=(str(shape), "float32"))(x).numpy()
            np.testing.assert_array_equal(got, x.sum(axis))
    for count in (50000, 65536, 40009):
        x = whole_numbers(count)
        got = build("R.sum(x)", x=(f"({count},)", "float32"))(x).numpy()
        np.testing.assert_array_equal(got, x.sum())


@pytest.mark.sampled
@pytest.mark.parametrize("shape", [(7, 1), (3, 17), (8, 128), (5, 100), (2, 3, 50)])
def test_normalizations(shape):
    """Random numbers: as close to double precision as single precision is."""
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    wide = x.astype(np.float64)
    power = np.exp(wide - wide.max(-1, keepdims=True))
    softmax = power / power.sum(-1, keepdims=True)
    for form in forms(shape):
        got = build("R.nn.softmax(x)", x=(form, "float32"))(x).numpy()
        np.testing.assert_allclose(got, softmax, rtol=2e-6)
        got = build("R.nn.log_softmax(x)", x=(form, "float32"))(x).numpy()
        np.testing.assert_allclose(got, np.log(softmax), rtol=2e-6, atol=1e-6)
    size = shape[-1]
    gamma, beta = whole_numbers(size, seed=2), whole_numbers(size, seed=3)
    centred = wide - wide.mean(-1, keepdims=True)
    normal = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * gamma + beta
    run = build(
        "R.nn.layer_norm(x, g, b, axes=[-1])",
        x=(str(shape), "float32"),
        g=(f"({size},)", "float32"),
        b=(f"({size},)", "float32"),
    )
    np.testing.assert_allclose(run(x, gamma, beta).numpy(), normal, rtol=1e-5, atol=1e-5)


def test_not_a_number():
    """Reductions in lanes treat NaN as one by one."""
    x = whole_numbers((3, 100))
    x[1, 77] = np.nan
    got = build("R.max(x, axis=1)", x=("(3, 100)", "float32"))(x).numpy()
    np.testing.assert_array_equal(got, x.max(1))
    x = whole_numbers((3, 256))
    x[1, 200] = x[1, 7] = np.nan
    got = build("R.argmax(x, axis=1)", x=("(3, 256)", "float32"))(x).numpy()
    np.testing.assert_array_equal(got, x.argmax(1))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("columns", [1, 3, 16, 100, 131])
def test_largest_and_smallest_of_rows_with_one_nan(dtype, columns):
    """Wherever it is, among large numbers, infinities and zeros."""
    numbers = np.array([0.0, -0.0, np.inf, -np.inf, 3e4, -3e4, 1, -1], dtype)
    x = np.random.default_rng(0).choice(numbers, (columns + 1, columns))
    x[np.arange(columns), np.arange(columns)] = np.nan
    for name, expected in (("max", x.max(1)), ("min", x.min(1))):
        got = build(f"R.{name}(x, axis=1)", x=(str(x.shape), dtype))(x).numpy()
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("dims", [("m", "n"), ("m", 37), (37, "n"), (2, "m", "n")])
def test_transposes_of_any_size(dims):
    axes = [*range(len(dims) - 2), len(dims) - 1, len(dims) - 2]
    main = build(f"R.permute_dims(x, {axes})", x=(str(dims), "float32"))["main"]
    for rows, columns in ((0, 5), (1, 1), (15, 33), (16, 64), (67, 17), (100, 131)):
        sizes = {"m": rows, "n": columns}
        x = whole_numbers([d if isinstance(d, int) else sizes[d] for d in dims])
        np.testing.assert_array_equal(main(x).numpy(), x.transpose(axes))
