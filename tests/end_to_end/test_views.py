"""Reshapes without copies: compiled functions against NumPy, in every place a view can have."""

from typing import Any

import numpy as np
import pytest

from xrelax import relax
from xrelax.inspection import stage_text
from xrelax.script import from_source


def checked(source: str) -> Any:
    """The compiled function, every pass of which has been compared with the reference."""
    return relax.build(from_source(source), check=True)


def random(*shape: int) -> Any:
    return np.random.default_rng(0).standard_normal(shape).astype("float32")


HEADS = """
@R.function
def main(x: R.Tensor(("n", 12), "float32"), w: R.Tensor((4,), "float32")):
    n = T.int64()
    with R.dataflow():
        a = R.add(x, x)
        b = R.reshape(a, (n, 3, 4))
        c = R.multiply(b, w)
        d = R.permute_dims(c, axes=[1, 0, 2])
        e = R.flatten(d)
        f = R.expand_dims(x, 0)
        R.output(b, e, f)
    return (e, b, f, b)
"""


def test_views_of_results_parameters_and_intermediates():
    x, w = random(5, 12), random(4)
    e, b, f, again = (r.numpy() for r in checked(HEADS)(x, w))
    doubled = (x + x).reshape(5, 3, 4)
    np.testing.assert_array_equal(b, doubled)
    np.testing.assert_array_equal(again, doubled)
    np.testing.assert_array_equal(f, x[None])
    np.testing.assert_array_equal(e, (doubled * w).transpose(1, 0, 2).ravel())


def test_no_reshape_is_left_to_run():
    text = stage_text(from_source(HEADS), "rt")
    assert "rt.reinterpret" in text
    assert "@reshape" not in text and "@flatten" not in text and "@expand_dims" not in text


@pytest.mark.parametrize("results", ["a, b", "b, a", "b, a, c", "c, b, a", "b, b, a"])
def test_a_tensor_and_its_views_are_returned(results):
    function = checked(f"""
@R.function
def main(x: R.Tensor(("n", 6), "float32"), flag: R.Tensor((), "bool")):
    n = T.int64()
    if flag:
        a = R.add(x, x)
        b = R.reshape(a, (n, 3, 2))
        c = R.reshape(b, (6, n))
        r = ({results})
    else:
        a = R.negative(x)
        b = R.reshape(a, (n, 3, 2))
        c = R.reshape(a, (6, n))
        r = ({results})
    return r
""")
    x = random(4, 6)
    for flag, wanted in ((True, x + x), (False, -x)):
        shapes = {"a": (4, 6), "b": (4, 3, 2), "c": (6, 4)}
        for name, found in zip(results.split(", "), function(x, np.array(flag)), strict=True):
            np.testing.assert_array_equal(found.numpy(), wanted.reshape(shapes[name]))


def test_a_returned_view_of_a_parameter_is_a_copy():
    function = checked("""
@R.function
def main(x: R.Tensor((2, 3), "float32")):
    return R.reshape(x, (3, -1))
""")
    x = random(2, 3)
    result = function(x).numpy()
    before = result.copy()
    x[:] = 0
    np.testing.assert_array_equal(result, before)


@pytest.mark.parametrize("holds", [True, False])
def test_views_in_branches(holds):
    function = checked("""
@R.function
def main(x: R.Tensor(("n", 12), "float32"), c: R.Tensor((), "bool")):
    n = T.int64()
    if c:
        y = R.reshape(R.add(x, x), (n, 3, 4))
        z = R.flatten(y)
    else:
        z = R.flatten(x)
    w = R.reshape(z, (n, 12))
    v = R.add(w, x)
    u = R.expand_dims(v, 0)
    return (u, w)
""")
    x = random(3, 12)
    u, w = (r.numpy() for r in function(x, np.array(holds)))
    np.testing.assert_array_equal(w, 2 * x if holds else x)
    np.testing.assert_array_equal(u, (w + x)[None])


def test_a_view_keeps_its_memory_in_use():
    function = checked("""
@R.function
def main(x: R.Tensor((4, 6), "float32")):
    with R.dataflow():
        a = R.add(x, x)
        b = R.reshape(a, (6, 4))
        c = R.multiply(x, x)
        d = R.matmul(c, b)
        e = R.nn.relu(d)
        R.output(e)
    return e
""")
    x = random(4, 6)
    expected = np.maximum((x * x) @ (x + x).reshape(6, 4), 0)
    np.testing.assert_allclose(function(x).numpy(), expected, rtol=1e-5, atol=1e-6)


def test_what_an_impure_function_reshapes_is_not_written_with_it():
    from xrelax import register_func

    @register_func("test.views.clear", override=True)
    def clear(x: Any) -> None:
        x.view()[:] = 0

    function = relax.build(
        from_source("""
@R.function(pure=False)
def main(x: R.Tensor((2, 3), "float32")):
    a = R.add(x, x)
    b = R.flatten(a)
    _ = R.call_packed("test.views.clear", a, sinfo_args=[R.Object])
    return (a, b)
""")
    )
    x = random(2, 3)
    a, b = (r.numpy() for r in function(x))
    np.testing.assert_array_equal(a, np.zeros((2, 3)))
    np.testing.assert_array_equal(b, (x + x).ravel())


def test_empty_tensors():
    function = checked("""
@R.function
def main(x: R.Tensor(("n", 0), "float32")):
    n = T.int64()
    y = R.flatten(R.add(x, x))
    return (y, R.expand_dims(y, 1))
""")
    y, z = (r.numpy() for r in function(random(3, 0)))
    assert y.shape == (0,) and z.shape == (0, 1)
