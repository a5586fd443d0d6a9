"""Samples of images and pools of regions against other implementations, with symbolic dims."""

import numpy as np
import pytest
from onnx import helper
from onnx_models import by_onnxruntime, check, compare, model

from xrelax.importers.onnx.compiled_model import compile_onnx
from xrelax.importers.onnx.frontend import from_onnx
from xrelax.importers.unsupported import UnsupportedError

RNG = np.random.default_rng(0)
IMAGE = ("float32", ["n", 2, "h", "w"])


def drawn(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def points(*shape):
    return RNG.uniform(-1.4, 1.4, shape).astype(np.float32)


@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
def test_grid_sample(mode, padding):
    for corners, opset in ((0, 16), (1, 20)):
        name = mode if opset == 16 else {"bilinear": "linear", "bicubic": "cubic"}.get(mode, mode)
        given = {"mode": name, "padding_mode": padding, "align_corners": corners}
        node = helper.make_node("GridSample", ["x", "grid"], ["y"], **given)
        made = model(node, {"x": IMAGE, "grid": ("float32", ["n", "a", "b", 2])}, ["y"], opset)
        check(made, {"x": drawn(2, 2, 5, 6), "grid": points(2, 4, 3, 2)}, tolerance=2e-5)


def test_grid_sample_of_volumes():
    node = helper.make_node("GridSample", ["x", "grid"], ["y"], align_corners=1)
    inputs = {"x": ("float32", [1, 2, "d", "h", "w"]), "grid": ("float32", [1, "a", "b", "c", 3])}
    made = model(node, inputs, ["y"], 20)
    check(made, {"x": drawn(1, 2, 3, 4, 5), "grid": points(1, 2, 3, 4, 3)}, tolerance=2e-5)


@pytest.mark.parametrize("corners", [0, 1])
@pytest.mark.parametrize("size", [(2, 3, 4, 5), (2, 3, 2, 3, 4)])
def test_affine_grid(size, corners):
    rank = len(size) - 2
    node = helper.make_node("AffineGrid", ["theta", "size"], ["y"], align_corners=corners)
    inputs = {"theta": ("float32", ["n", rank, rank + 1])}
    made = model(node, inputs, ["y"], 20, {"size": np.array(size)})
    check(made, {"theta": drawn(size[0], rank, rank + 1)}, by="reference")


@pytest.mark.parametrize("opset", [10, 16])
@pytest.mark.parametrize("ratio", [0, 2])
def test_roi_align(ratio, opset):
    node = helper.make_node(
        "RoiAlign", ["x", "rois", "images"], ["y"], output_height=3, output_width=2,
        sampling_ratio=ratio, spatial_scale=0.5,
    )  # fmt: skip
    inputs = {"x": IMAGE, "rois": ("float32", ["r", 4]), "images": ("int64", ["r"])}
    rois = np.array([[0, 0, 9, 7], [3, 2, 5, 12], [-3, 4, 20, 9]], np.float32)
    feeds = {"x": drawn(2, 2, 8, 9), "rois": rois, "images": np.array([0, 1, 1])}
    check(model(node, inputs, ["y"], opset), feeds, tolerance=2e-5)


def test_roi_align_of_no_regions():
    node = helper.make_node("RoiAlign", ["x", "rois", "images"], ["y"], output_height=3)
    inputs = {"x": IMAGE, "rois": ("float32", ["r", 4]), "images": ("int64", ["r"])}
    feeds = {"x": drawn(1, 2, 4, 4), "rois": drawn(0, 4), "images": np.zeros(0, np.int64)}
    (found,) = compile_onnx(model(node, inputs, ["y"], 16)).run(None, feeds)
    assert found.shape == (0, 2, 3, 1)


def test_max_roi_pool():
    node = helper.make_node(
        "MaxRoiPool", ["x", "rois"], ["y"], pooled_shape=[3, 2], spatial_scale=0.5
    )
    rois = np.array([[0, 0, 0, 9, 7], [1, 3, 2, 5, 12], [1, 30, 4, 40, 9], [0, 1, 1, 2, 2]])
    feeds = {"x": drawn(2, 2, 8, 9), "rois": rois.astype(np.float32)}
    check(model(node, {"x": IMAGE, "rois": ("float32", ["r", 5])}, ["y"], 16), feeds)


@pytest.mark.parametrize("groups", [(1, 1), (2, 1), (1, 2), (2, 4)])
def test_deformable_convolution(groups):
    """Without offsets it is a convolution; with others, ONNX's evaluator has the same result."""
    group, offset_group = groups
    given = {"pads": [1, 0, 1, 2], "strides": [2, 1], "dilations": [1, 2], "group": group}
    x, w, b = drawn(2, 4, 6, 8), drawn(6, 4 // group, 3, 2), drawn(6)
    node = helper.make_node(
        "DeformConv", ["x", "w", "o", "b", "m"], ["y"], offset_group=offset_group, **given
    )
    inputs = {
        "x": ("float32", ["n", 4, "h", "w"]),
        "o": ("float32", ["n", offset_group * 12, "a", "b"]),
        "m": ("float32", ["n", offset_group * 6, "a", "b"]),
    }
    made = model(node, inputs, ["y"], 19, {"w": w, "b": b})
    conv = helper.make_node("Conv", ["x", "w", "b"], ["y"], **given)
    (wanted,) = by_onnxruntime(
        model(conv, {"x": inputs["x"]}, ["y"], 19, {"w": w, "b": b}), {"x": x}
    )
    feeds = {"x": x, "o": np.zeros((2, offset_group * 12, *wanted.shape[2:]), np.float32)}
    feeds["m"] = np.ones((2, offset_group * 6, *wanted.shape[2:]), np.float32)
    compare(compile_onnx(made).run(None, feeds), [wanted], 2e-5)
    feeds |= {name: drawn(*feeds[name].shape) for name in "om"}
    check(made, feeds, by="reference", tolerance=5e-5)


@pytest.mark.parametrize(
    ("operator", "shapes", "given", "message"),
    [
        ("GridSample", [(1, 2, 4, 4), (1, 3, 3, 2)], {"mode": "spline"},
         "expected a mode among nearest, linear, bilinear, cubic, bicubic, got 'spline'"),
        ("GridSample", [(1, 2, 4, 4), (1, 3, 2)], {}, "expected a grid of rank 4, got rank 3"),
        ("GridSample", [(1, 2, 4, 4, 4, 4), (1, 3, 3, 3, 3, 4)], {},
         "expected 1 to 3 spatial dims, got data of rank 6"),
        ("MaxRoiPool", [(1, 2, 4, 4), (3, 4)], {"pooled_shape": [1, 1]},
         "expected rois of 'relax.vision.roi_pool' to be rows of 5 numbers, got (3, 4)"),
        ("RoiAlign", [(1, 2, 4, 4), (3, 4), (3,)], {"sampling_ratio": 2**63 - 1},
         f"expected a sampling_ratio of at most 4096, got {2**63 - 1}"),
        ("RoiAlign", [(1, 2, 4, 4), (3, 4), (3,)], {"coordinate_transformation_mode": "pixel"},
         "expected coordinates by half_pixel or output_half_pixel, got 'pixel'"),
    ],
)  # fmt: skip
def test_wrong_models(operator, shapes, given, message):
    names = ["x", "g", "i"][: len(shapes)]
    node = helper.make_node(operator, names, ["y"], **given)
    inputs = {n: ("float32", list(s)) for n, s in zip(names, shapes, strict=True)}
    with pytest.raises(UnsupportedError) as caught:
        from_onnx(model(node, inputs, ["y"], 20))
    (problem,) = caught.value.problems
    assert problem.reason == message
