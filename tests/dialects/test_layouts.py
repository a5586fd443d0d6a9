"""Operators on data of any layout: they compute what they do on a plain one, rearranged."""

from __future__ import annotations

import numpy as np
import pytest

from xrelax import relax
from xrelax.dialects.relax.operators.layouts import Arrangement, axes_of
from xrelax.script import from_source

SIZES = {"N": 2, "C": 8, "H": 5, "W": 6, "O": 4, "I": 8}

CASES = [
    ("R.nn.conv2d", "(1, 2)", ("NCHW4c", "OIHW8i"), None),
    ("R.nn.conv2d", "1", ("NCHW", "IOHW2o"), "NHWC4c"),
    ("R.nn.conv2d", "1", ("CHWN", "OHWI"), "NCHW"),
    ("R.nn.conv2d_transpose", "1", ("NCHW2c", "OIHW"), None),
    ("R.nn.max_pool2d", "(2, 3)", ("NCHW4c",), "NHWC"),
    ("R.nn.avg_pool2d", "(2, 3)", ("HW2wNC",), None),
    ("R.nn.adaptive_avg_pool2d", "(2, 3)", ("NCHW2c",), None),
    ("R.image.resize2d", "(4, 9)", ("NCHW2c",), None),
    ("R.grad.max_pool2d_backward", "(1, 1)", ("NCHW2c", "NCHW2c"), None),
]


def plain(kind: str) -> str:
    return "IOHW" if "transpose" in kind else "OIHW"


def array(letters: str, kind: str) -> np.ndarray:
    sizes = SIZES | ({"O": 2, "I": 8} if "transpose" in kind else {})
    values = np.random.default_rng(len(letters)).permutation(np.prod([sizes[c] for c in letters]))
    return values.reshape([sizes[c] for c in letters]).astype("float32") / 16


def run(kind: str, argument: str, arrays: list[np.ndarray], named: dict[str, str]) -> np.ndarray:
    params = ", ".join(f'x{i}: R.Tensor({a.shape}, "{a.dtype}")' for i, a in enumerate(arrays))
    args = [f"x{i}" for i in range(len(arrays))]
    args += [f"strides={argument}" if "conv" in kind else argument]
    args += [f'{name}="{layout}"' for name, layout in named.items()]
    function = from_source(f"""
@R.function
def main({params}):
    return {kind}({", ".join(args)})
""")
    return relax.build(function, check=True)(*arrays).numpy()


@pytest.mark.parametrize(("kind", "argument", "layouts", "out_layout"), CASES)
def test_other_layouts(kind, argument, layouts, out_layout):
    is_conv = "conv" in kind
    letters = ["NCHW", plain(kind)] if is_conv else ["NCHW"] * len(layouts)
    arrays = [array(own, kind) for own in letters]
    named = dict(zip(("data_layout", "kernel_layout") if is_conv else ("layout",), layouts))
    moved = [
        Arrangement(layout, own).numpy_packed(a)
        for a, layout, own in zip(arrays, layouts, letters, strict=True)
    ]
    wanted = run(kind, argument, arrays, {})
    found = run(kind, argument, moved, named | ({"out_layout": out_layout} if out_layout else {}))
    expected = Arrangement(out_layout or layouts[0], "NCHW").numpy_packed(wanted)
    np.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize("layout", ["NC4", "4C", "CC", "C0c", "4c", "C4c2c", "N-C", "c"])
def test_malformed_layouts(layout):
    with pytest.raises(ValueError, match="malformed layout"):
        axes_of(layout)
