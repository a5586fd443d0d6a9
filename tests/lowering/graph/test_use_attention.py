"""Attention that is written as matmuls and a softmax becomes one operator with equal results."""

import numpy as np
import pytest

import xrelax as tvm
from xrelax import relax
from xrelax.inspection import stage_text
from xrelax.script import from_source

SHAPES = 'q: R.Tensor((2, 3, "n", 8), "float32"), k: R.Tensor((2, 3, "m", 8), "float32"), '
SHAPES += 'v: R.Tensor((2, 3, "m", 5), "float32")'
SQUARE = SHAPES.replace('"n"', "6").replace('"m"', "6")
FLAT = SHAPES.replace("2, 3, ", "6, ")
LOWEST = "R.const(-3.4028235e38, 'float32')"
TRIANGLE = np.tri(6, dtype=bool)
BIAS = 'b: R.Tensor((2, 1, 1, 6), "float32")'
PADDING = 'p: R.Tensor((2, 1, 1, 6), "int64")'


def spelled(shapes, scores, weights="R.nn.softmax(s)", more="", lines=()):
    """A function that computes `scores` of the product `s`, then weights of them."""
    rank = 3 if shapes == FLAT else 4
    swapped = [*range(rank - 2), rank - 1, rank - 2]
    body = "\n        ".join(
        [
            "n, m = T.int64(), T.int64()" if '"n"' in shapes else "pass",
            f"t = R.permute_dims(k, {swapped})",
            "s = R.matmul(q, t)",
            *lines,
            f"s = {scores}",
            f"w = {weights}",
            "y = R.matmul(w, v)",
        ]
    )
    return from_source(f"""
@I.ir_module
class Module:
    @R.function
    def main({shapes}{", " * bool(more)}{more}):
        {body}
        return y
""")


SAFE = "R.where(R.isnan(u), R.const(0, 'float32'), u)"
FORMS = {
    "scaled": spelled(SHAPES, "R.multiply(s, R.const(0.25, 'float32'))"),
    "divided": spelled(SHAPES, "R.divide(s, R.const(2, 'float32'))", "R.nn.softmax(s, axis=3)"),
    "three dims": spelled(FLAT, "R.multiply(R.const(0.25, 'float32'), s)"),
    "factors of operands": spelled(
        SHAPES,
        "R.matmul(R.multiply(q, R.const(0.5, 'float32')), R.multiply(t, R.const(0.5, 'float32')))",
    ),
    "finite mask": spelled(
        SQUARE, f"R.where(R.equal(p, R.const(0, 'int64')), {LOWEST}, s)", more=PADDING
    ),
    "mask of integers": spelled(
        SQUARE,
        "R.add(s, R.multiply(R.astype(p, 'float32'), R.const(-10000, 'float32')))",
        more=PADDING,
    ),
    "hidden queries give zeros": spelled(
        SQUARE, "s", SAFE, BIAS, ["s = R.add(s, b)", "u = R.nn.softmax(s)"]
    ),
}
CAUSAL = {
    "triu": spelled(
        SQUARE,
        "R.where(R.triu(R.ones((6, 6), 'bool'), 1), R.const('-inf', 'float32'), s)",
    ),
    "tril": spelled(SQUARE, f"R.where(R.tril(R.ones((6, 6), 'bool')), s, {LOWEST})"),
    "any length": spelled(
        SHAPES.replace('"m"', '"n"'),
        "R.where(R.tril(R.ones((n, n), 'bool')), s, R.const('-inf', 'float32'))",
    ),
}
OTHERS = {
    "another axis": spelled(
        SHAPES, "R.multiply(s, R.const(0.25, 'float32'))", "R.nn.softmax(s, 2)"
    ),
    "queries may be hidden": spelled(SQUARE, "R.add(s, b)", more=BIAS),
    "small penalty": spelled(
        SQUARE, "R.where(R.equal(p, R.const(0, 'int64')), R.const(-5, 'float32'), s)", more=PADDING
    ),
    "factor after the mask": spelled(
        SQUARE, "R.multiply(R.add(s, b), R.const(2, 'float32'))", more=BIAS
    ),
}


def arguments(module):
    rng = np.random.default_rng(0)
    found = []
    for param in module["main"].params:
        shape = [int(d) if str(d).isdigit() else 6 for d in param.struct_info.shape]
        is_integer = param.struct_info.dtype == "int64"
        values = rng.integers(0, 2, shape) if is_integer else rng.standard_normal(shape)
        found.append(values.astype(param.struct_info.dtype))
    return found


def graph(module):
    return stage_text(module, "relax")


def agree(module, *given):
    with tvm.transform.PassContext(disabled_pass=["UseAttention"]):
        assert "nn.attention" not in graph(module)
        expected = relax.build(module)["main"](*given).numpy()
    got = relax.build(module, check=True)["main"](*given).numpy()
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", FORMS)
def test_forms(name):
    assert "relax.nn.attention" in graph(FORMS[name])
    assert "relax.nn.softmax" not in graph(FORMS[name])
    agree(FORMS[name], *arguments(FORMS[name]))


@pytest.mark.parametrize("name", CAUSAL)
def test_causal_masks(name):
    assert 'causal_mask = "TopLeft"' in graph(CAUSAL[name])
    assert " bias " not in graph(CAUSAL[name])
    agree(CAUSAL[name], *arguments(CAUSAL[name]))


@pytest.mark.parametrize("offset", [0, 2])
@pytest.mark.parametrize("hidden", [-np.inf, np.finfo(np.float32).min])
def test_constants_that_are_causal_masks(offset, hidden):
    """Of products that are spelled out, and of attention with a bias."""
    mask = np.where(np.tri(4, 4 + offset, offset, dtype=bool), 0, hidden).astype(np.float32)
    shapes = SHAPES.replace('"n"', "4").replace('"m"', str(4 + offset))
    more = f'b: R.Tensor((1, 1, 4, {4 + offset}), "float32")'
    kind = "BottomRight" if offset else "TopLeft"
    module = spelled(shapes, "R.add(s, b)", more=more)
    bound = relax.transform.BindParams("main", {"b": mask[None, None]})(module)
    assert f'causal_mask = "{kind}"' in graph(bound) and " bias " not in graph(bound)
    agree(bound, *arguments(bound))
    operator = from_source(f"""
@R.function
def main(q: R.Tensor((2, 4, 3, 8), "float32"), k: R.Tensor((2, {4 + offset}, 3, 8), "float32"),
         v: R.Tensor((2, {4 + offset}, 3, 5), "float32"), {more}):
    return R.nn.attention(q, k, v, b)
""")
    operator = relax.transform.BindParams("main", {"b": mask[None, None]})(
        tvm.IRModule({"main": operator})
    )
    assert f'causal_mask = "{kind}"' in graph(operator)


def test_a_mask_of_zeros_goes_away():
    module = spelled(SQUARE, "R.add(s, b)", more=BIAS)
    bound = relax.transform.BindParams("main", {"b": np.zeros((2, 1, 1, 6), np.float32)})(module)
    assert "relax.nn.attention %" in graph(bound) and " bias " not in graph(bound)


@pytest.mark.parametrize("name", OTHERS)
def test_other_products_stay(name):
    assert "relax.nn.attention" not in graph(OTHERS[name])


def test_weights_that_are_results_stay():
    module = from_source(f"""
@R.function
def main({SQUARE}):
    w = R.nn.softmax(R.matmul(q, R.permute_dims(k, [0, 1, 3, 2])))
    return (w, R.matmul(w, v))
""")
    assert "relax.nn.attention" not in graph(tvm.IRModule({"main": module}))


def test_a_query_without_keys_gives_zeros_where_nan_are_replaced():
    module = FORMS["hidden queries give zeros"]
    given = arguments(module)
    given[3][0] = -np.inf
    got = relax.build(module)["main"](*given).numpy()
    assert (got[0] == 0).all() and np.isfinite(got).all()
    agree(module, *given)
