"""Passes on graphs with constants: what they leave, and that results stay what they were."""

import sys
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Region

from xrelax import relax as R
from xrelax.dialects import get_context, relax
from xrelax.dialects.diagnostics import verify
from xrelax.inspection import lower_to, module_of
from xrelax.pipeline import load_pass
from xrelax.reference.check import check_pipeline
from xrelax.reference.evaluate import evaluate
from xrelax.script import from_source

sys.path.append(str(Path(__file__).parents[2] / "operators"))

PASSES = (
    "normalize",
    "decompose-ops-for-inference",
    "fuse-transpose-matmul",
    "pack-weights",
    "fold-constant",
)

BLOCK = """
@I.ir_module
class Module:
    @R.function
    def main(
        x: R.Tensor((N, 4, H, 8), "float32"),
        w0: R.Tensor((6, 4, 3, 3), "float32"),
        b0: R.Tensor((1, 6, 1, 1), "float32"),
        g: R.Tensor((6,), "float32"),
        b: R.Tensor((6,), "float32"),
        m: R.Tensor((6,), "float32"),
        v: R.Tensor((6,), "float32"),
        w1: R.Tensor((6, 1, 3, 3), "float32"),
        w2: R.Tensor((10, 6), "float32"),
    ):
        with R.dataflow():
            c0 = R.nn.conv2d(x, w0, padding=1, strides=[1, 2])
            c1 = R.add(c0, b0)
            n0 = R.nn.batch_norm(c1, g, b, m, v, axis=1)
            r0 = R.nn.relu(n0[0])
            c2 = R.nn.conv2d(r0, w1, padding=[1, 1, 1, 1], groups=6)
            n1 = R.nn.batch_norm(c2, g, b, m, v, axis=1, epsilon=0.01)
            s0 = R.add(n1[0], r0)
            n2 = R.nn.batch_norm(s0, g, b, m, v, axis=1)
            p0 = R.nn.adaptive_avg_pool2d(n2[0], output_size=1)
            p1 = R.squeeze(p0, axis=[2, 3])
            y = R.matmul(p1, R.permute_dims(w2))
            R.output(y)
        return y
"""


def residual_block(batch="3", rows="8"):
    return from_source(BLOCK.replace("N,", f"{batch},").replace("H,", f"{rows},"))


def parameters(rng):
    """Values for the parameters of the block, in their order."""
    shapes = {"w0": (6, 4, 3, 3), "b0": (1, 6, 1, 1), **dict.fromkeys("gbmv", (6,))}
    shapes |= {"w1": (6, 1, 3, 3), "w2": (10, 6)}
    params = {n: rng.normal(size=s).astype("float32") for n, s in shapes.items()}
    return {**params, "v": np.abs(params["v"]) + 0.5}


def block_in_torch(x, p):
    torch = pytest.importorskip("torch")
    functional = torch.nn.functional
    x, p = torch.from_numpy(x), {n: torch.from_numpy(a) for n, a in p.items()}

    def norm(data, epsilon=1e-5):
        return functional.batch_norm(data, p["m"], p["v"], p["g"], p["b"], eps=epsilon)

    first = functional.conv2d(x, p["w0"], padding=1, stride=(1, 2)) + p["b0"]
    first = torch.relu(norm(first))
    second = norm(functional.conv2d(first, p["w1"], padding=1, groups=6), 0.01)
    return (norm(second + first).mean((2, 3)) @ p["w2"].T).numpy()


def names_in(module):
    return [op.name for op in module.walk() if isinstance(op, relax.OperatorOp)]


@pytest.mark.sampled
@pytest.mark.parametrize(("batch", "rows"), [("3", "8"), ("'n'", "'h'")])
@pytest.mark.parametrize("bound", [True, False])
def test_a_residual_block(batch, rows, bound):
    rng = np.random.default_rng(0)
    params, x = parameters(rng), rng.normal(size=(3, 4, 8, 8)).astype("float32")
    module = residual_block(batch, rows)
    executable = R.build(module, params=params if bound else None)
    result = executable["main"](x, *(() if bound else params.values())).numpy()
    expected = block_in_torch(x, params)
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-4)


def test_what_is_left_of_a_residual_block():
    params = parameters(np.random.default_rng(0))
    bound = R.transform.BindParams("main", params)(residual_block("'n'"))
    found = names_in(lower_to(module_of(bound), "relax"))
    assert found == [
        "relax.nn.conv2d", "relax.add", "relax.nn.relu", "relax.nn.conv2d", "relax.add",
        "relax.add", "relax.multiply", "relax.add", "relax.nn.adaptive_avg_pool2d",
        "relax.reshape", "relax.matmul",
    ]  # fmt: skip
    assert (
        names_in(lower_to(module_of(residual_block()), "relax")).count("relax.nn.batch_norm") == 3
    )


def test_passes_agree_with_the_reference():
    params = parameters(np.random.default_rng(1))
    bound = R.transform.BindParams("main", params)(residual_block("'n'"))
    check_pipeline(module_of(bound), [(name, load_pass(name)()) for name in PASSES])


def test_squeeze_and_excitation():
    function = from_source("""
@R.function
def main(
    x: R.Tensor((1, 8, 9, 7), "float32"),
    a: R.Tensor((8, 8, 1, 1), "float32"),
    w: R.Tensor((5, 8, 1, 1), "float32"),
):
    y = R.multiply(x, R.sigmoid(x))
    s = R.sigmoid(R.nn.conv2d(R.mean(y, [2, 3], keepdims=True), a))
    return R.nn.conv2d(R.multiply(y, s), w)
""")
    left = module_of(function)
    for name in ("use-silu", "fold-scale-axis"):
        load_pass(name)().apply(get_context(), left)
    assert names_in(left) == [
        "relax.nn.silu", "relax.mean", "relax.nn.conv2d", "relax.sigmoid", "relax.multiply",
        "relax.nn.conv2d",
    ]  # fmt: skip
    rng = np.random.default_rng(3)
    arrays = [rng.normal(size=s).astype("f4") for s in ((1, 8, 9, 7), (8, 8, 1, 1), (5, 8, 1, 1))]
    x, a, w = (v.astype("f8") for v in arrays)
    y = x / (1 + np.exp(-x))
    s = 1 / (1 + np.exp(-a[:, :, 0, 0] @ y.mean((2, 3)).T))
    expected = np.einsum("oc,bchw->bohw", w[:, :, 0, 0], y * s.reshape(1, 8, 1, 1))
    result = R.build(function, check=True)(*arrays).numpy()
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)


def test_scores_by_a_transposed_product():
    function = from_source("""
@R.function
def main(q: R.Tensor((2, 'n', 8), "float32"), k: R.Tensor((2, 'm', 8), "float32")):
    return R.matmul(q, R.permute_dims(k, [0, 2, 1]))
""")
    assert names_in(lower_to(module_of(function), "relax")) == ["relax.matmul"]
    rng = np.random.default_rng(2)
    q, k = (rng.normal(size=(2, n, 8)).astype("float32") for n in (5, 7))
    result = R.build(function, check=True)(q, k).numpy()
    np.testing.assert_allclose(result, q @ k.transpose(0, 2, 1), rtol=1e-5, atol=1e-5)


def constant_function(example):
    from harness import dtype_of

    data = [relax.TensorData.of(a, dtype_of(a)) for a in example.arrays]
    constants = [relax.ConstantOp(d) for d in data]
    operator = relax.OPERATORS[example.case.operator]
    op = operator.of([c.result for c in constants], example.attributes)
    block = Block([*constants, op, relax.ReturnOp(op.result)])
    return ModuleOp([relax.FuncOp("main", [], op.result.type, Region(block))])


def examples():
    from drawing import Draw
    from harness import Example, labelled_cases

    for label, case in labelled_cases().items():
        for dtype in case.dtypes:
            arrays, attributes = case.draw(Draw(f"{label} {dtype}", dtype))
            yield Example(case, dtype, "main", arrays, attributes, False)


def test_every_operator_folds_to_what_it_evaluates_to():
    """With the draws of the operators' own tests; bit for bit, NaN included."""
    folded = 0
    for example in examples():
        module = constant_function(example)
        expected = evaluate(module, "main", [])
        load_pass("fold-constant")().apply(get_context(), module)
        verify(module)
        folded += not names_in(module)
        for result, wanted in zip(evaluate(module, "main", []), expected, strict=True):
            assert (result.dtype, result.shape) == (wanted.dtype, wanted.shape), str(example)
            assert np.array_equal(result, wanted, equal_nan=result.dtype.kind == "f"), str(example)
    assert folded > 300
