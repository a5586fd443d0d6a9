"""Resize and Upsample against ONNX Runtime: opsets, modes, axes, symbolic dims, wrong models."""

import numpy as np
import pytest
from onnx import helper
from onnx_models import check, model

from xrelax.importers.onnx.compiled_model import compile_onnx
from xrelax.importers.onnx.frontend import from_onnx
from xrelax.importers.unsupported import UnsupportedError

RNG = np.random.default_rng(0)
NOTHING = np.zeros(0, np.float32)


def floats(*values):
    return np.array(values, np.float32)


def ints(*values):
    return np.array(values, np.int64)


def drawn(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def one_node(x, operands=(), operator="Resize", opset=19, symbolic=True, **given):
    """A model of one node; an operand `None` is left out."""
    names = ["" if o is None else f"a{i}" for i, o in enumerate(operands)]
    node = helper.make_node(operator, ["x", *names], ["y"], **given)
    dims = [f"d{i}" if symbolic and i != 1 else d for i, d in enumerate(x.shape)]
    constants = {n: o for n, o in zip(names, operands, strict=True) if o is not None}
    return model(node, {"x": (x.dtype.name, dims)}, ["y"], opset, constants)


def run(x, operands=(), **given):
    return check(one_node(x, operands, **given), {"x": x}, tolerance=2e-5)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_upsample(mode):
    x = drawn(1, 2, 3, 4)
    run(x, operator="Upsample", opset=7, scales=[1.0, 1.0, 2.0, 3.0], mode=mode)
    run(x, [floats(1, 1, 2.5, 1)], operator="Upsample", opset=9, mode=mode)


def test_the_first_upsample():
    x = drawn(1, 2, 3, 4)
    made = one_node(x, operator="Upsample", opset=1, height_scale=2.0, width_scale=3.0)
    (found,) = compile_onnx(made).run(None, {"x": x})
    np.testing.assert_array_equal(found, x.repeat(2, axis=2).repeat(3, axis=3))


@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_resize_before_modes_of_coordinates(mode):
    """A smaller result of opset 10 rounds up."""
    for scales in (floats(1, 1, 0.6, 0.75), floats(1, 1, 2, 0.5)):
        run(drawn(1, 2, 5, 8), [scales], opset=10, mode=mode)


@pytest.mark.sampled
@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize(
    "transformation",
    ["half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "half_pixel_symmetric"],
)
def test_transformations(transformation, mode, symbolic):
    given = {"mode": mode, "coordinate_transformation_mode": transformation, "symbolic": symbolic}
    x = drawn(2, 2, 5, 6)
    run(x, [None, None, ints(2, 2, 9, 4)], **given)
    run(x, [None, floats(1, 1, 2, 0.5)], **given)


@pytest.mark.parametrize("rounding", ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])
def test_roundings(rounding):
    for transformation in ("half_pixel", "asymmetric"):
        run(
            drawn(1, 1, 6, 8), [None, floats(1, 1, 1.5, 0.5)], mode="nearest",
            nearest_mode=rounding, coordinate_transformation_mode=transformation,
        )  # fmt: skip


def test_exact_quotients_of_coordinates():
    """Element 41 of 41 times as many is the second one: coordinates are quotients in float32."""
    x = drawn(1, 1, 3)
    given = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    run(x, [None, None, ints(1, 1, 123)], symbolic=False, **given)
    run(x, [None, floats(1, 1, 41)], **given)


@pytest.mark.sampled
@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_antialiasing(mode):
    for excludes, a in ((0, -0.75), (1, -0.5)):
        given = {"mode": mode, "exclude_outside": excludes, "cubic_coeff_a": a}
        run(drawn(1, 2, 9, 11), [None, None, ints(1, 2, 4, 5)], antialias=1, opset=18, **given)


def test_antialiasing_of_unknown_sizes():
    x = drawn(1, 2, 11, 9)
    compiled = run(x, [None, None, ints(1, 2, 4, 5)], mode="linear", antialias=1)
    for shape in ((1, 2, 4, 5), (1, 2, 17, 6), (1, 2, 3, 23)):
        x = drawn(*shape)
        made = one_node(
            x, [None, None, ints(1, 2, 4, 5)], symbolic=False, mode="linear", antialias=1
        )
        (wanted,) = compile_onnx(made).run(None, {"x": x})
        np.testing.assert_allclose(compiled.run(None, {"x": x})[0], wanted, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("policy", ["not_larger", "not_smaller"])
def test_aspect_ratio(policy):
    given = {"keep_aspect_ratio_policy": policy, "axes": [3, 2], "symbolic": False}
    run(drawn(1, 2, 4, 6), [None, None, ints(9, 8)], mode="linear", **given)


def test_crops():
    x, roi = drawn(1, 1, 6, 8), floats(0, 0, -0.25, 0.25, 1, 1, 0.75, 1.25)
    given = {"coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 9.0}
    for mode in ("linear", "cubic", "nearest"):
        run(x, [roi, None, ints(1, 1, 3, 5)], mode=mode, **given)
    run(x, [roi[[2, 3, 6, 7]], None, ints(3, 5)], mode="linear", axes=[2, 3], **given)


@pytest.mark.parametrize("scales", [(2, 1, 1), (1, 2, 1), (1, 2, 3), (2, 1, 3)])
def test_axes_apart(scales):
    """Axes that are not resized may be anywhere."""
    x = drawn(2, 3, 4)
    made = one_node(x, [None, floats(*scales)], mode="nearest")
    (found,) = compile_onnx(made).run(None, {"x": x})
    for axis, scale in enumerate(scales):
        x = x.repeat(scale, axis=axis)
    np.testing.assert_array_equal(found, x)


def test_more_than_three_axes():
    x = drawn(2, 3, 4, 5)
    made = one_node(x, [None, floats(2, 2, 2, 2)], mode="linear")
    check(made, {"x": x}, by="reference")


def test_sizes_of_another_tensor():
    """The sizes are those of another input, as where a model joins two resolutions."""
    nodes = [
        helper.make_node("Shape", ["other"], ["sizes"]),
        helper.make_node("Resize", ["x", "", "", "sizes"], ["y"], mode="linear"),
    ]
    inputs = {
        "x": ("float32", ["n", 2, "h", "w"]),
        "other": ("float32", ["n", 2, "height", "width"]),
    }
    check(model(nodes, inputs, ["y"], 13), {"x": drawn(1, 2, 4, 5), "other": drawn(1, 2, 9, 7)})


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_integers(dtype):
    x = RNG.integers(0, 100, (1, 2, 5, 6)).astype(dtype)
    run(x, [None, floats(1, 1, 2, 0.5)], mode="nearest")


@pytest.mark.parametrize(
    ("operands", "given", "message"),
    [
        ([None, floats(2, 2)], {}, "expected 4 scales, got 2"),
        ([None, None, ints(2, 2)], {"axes": [1]}, "expected 1 sizes, got 2"),
        ([], {}, "expected either scales or sizes, got none"),
        ([None, floats(1, 1, 2, 2), ints(1, 1, 2, 2)], {},
         "expected either scales or sizes, got both"),
        ([None, floats(1, 1, 2, 2)], {"mode": "spline"},
         "expected a mode among nearest, linear, bilinear, cubic, got 'spline'"),
        ([None, floats(1, 1, 2, 2)], {"coordinate_transformation_mode": "tf_crop_and_resize"},
         "expected roi for 'tf_crop_and_resize', got none"),
        ([None, None, ints(2, 2)], {"axes": [2, 3], "keep_aspect_ratio_policy": "not_larger"},
         "a constant ratio of sizes that are unknown"),
        ([None, None, ints(2, 2)], {"axes": [2, 3], "keep_aspect_ratio_policy": "keep"},
         "expected a policy among stretch, not_larger, not_smaller, got 'keep'"),
    ],
)  # fmt: skip
def test_wrong_models(operands, given, message):
    with pytest.raises(UnsupportedError) as caught:
        from_onnx(one_node(drawn(1, 2, 4, 4), operands, **given))
    (problem,) = caught.value.problems
    assert problem.reason == message


def test_empty_images_have_no_ratio():
    given = {"axes": [2, 3], "keep_aspect_ratio_policy": "not_smaller", "symbolic": False}
    with pytest.raises(UnsupportedError, match="expected sizes other than 0 for not_smaller"):
        from_onnx(one_node(drawn(1, 2, 4, 0), [None, None, ints(2, 2)], **given))
