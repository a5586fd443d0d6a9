"""Vectors that run over the ends of rows compute the same, natively and in the evaluator."""

import numpy as np
import pytest

from xrelax import relax
from xrelax.script import from_source
from xrelax.tir import Schedule

SHAPES = [(8, 14, 14), (3, 7, 5), (1, 1, 9), (5, 16, 1)]

SOURCE = """
@I.ir_module
class M:
    @T.prim_func
    def scale(X: T.Buffer({shape}, "{dtype}"), Y: T.Buffer({shape}, "{dtype}")):
        for c, i, j in T.grid{shape}:
            with T.sblock("Y"):
                vc, vi, vj = T.axis.remap("SSS", [c, i, j])
                Y[vc, vi, vj] = X[vc, vi, vj] + X[vc, vi, 0]

    @R.function
    def main(x: R.Tensor({shape}, "{dtype}")):
        return R.call_tir(M.scale, (x,), R.Tensor({shape}, "{dtype}"))
"""


@pytest.mark.parametrize("dtype", ["float32", "int8"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("parallel", ["none", "outer", "all"])
def test_fused_loops_as_vectors(shape: tuple[int, ...], dtype: str, parallel: str):
    sch = Schedule(from_source(SOURCE.format(shape=shape, dtype=dtype)))
    c, i, j = sch.get_loops(sch.get_block("Y", "scale"))
    outer, lanes = sch.split(sch.fuse(i, j), [None, 16])
    sch.vectorize(lanes)
    if parallel != "none":
        sch.parallel(c if parallel == "outer" else sch.fuse(c, outer))
    x = (np.arange(np.prod(shape)) % 7).reshape(shape).astype(dtype)
    result = relax.build(sch.mod, check=True)(x).numpy()
    np.testing.assert_array_equal(result, x + x[:, :, :1])
