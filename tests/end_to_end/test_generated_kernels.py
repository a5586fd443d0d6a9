"""Generated TensorIR scripts: machine code, the reference evaluator and NumPy agree exactly."""

import random
from collections import Counter

import numpy as np
from drawn_kernels import SPATIAL_LOOPS, generate
from hypothesis import given, settings
from hypothesis import strategies as st

import xrelax as tvm
from xrelax import relax
from xrelax.reference import run
from xrelax.reference.compare import as_float64
from xrelax.script import from_source


@settings(max_examples=15, deadline=None, derandomize=True, database=None)
@given(st.randoms(use_true_random=True))
def test_generated_kernels(rng):
    program, output, text = generate(rng)
    function = relax.build(from_source(text))["f"]
    arguments = [tvm.nd.array(b.data, dtype=b.dtype) for b in program.inputs]
    kept = [a.view().copy() for a in arguments]
    result = tvm.nd.array(np.ones([d.size for d in output.dims]), dtype=output.dtype)
    function(*arguments, result)
    for before, after in zip(kept, arguments, strict=True):
        np.testing.assert_array_equal(after.view(), before, err_msg=text)
    if program.features["reduction of nothing"]:
        return  # which writes the initial value or nothing, as it likes
    if output.dtype != "bfloat16":
        np.testing.assert_array_equal(result.numpy(), output.data, err_msg=text)
    module = tvm.IRModule.from_expr(from_source(text)).op
    expected = run(module, "f", [*kept, np.zeros_like(result.view())]).arguments[-1]
    values = (as_float64(a, output.dtype) for a in (result.view(), expected))
    np.testing.assert_array_equal(*values, err_msg=text)


def test_generated_kernels_have_every_feature():
    """The property above would be worth little if the generator left something out."""
    features = Counter()
    for seed in range(200):
        features += generate(random.Random(seed))[0].features
    expected = {*SPATIAL_LOOPS, "gather", "clamp", "reverse", "modulo", "shift", "division"}
    expected |= {"let", "branch", "loop", "cast", "choice", "{} + {}", "{} * {}", "T.max({}, {})"}
    assert all(features[name] >= 10 for name in expected), features
