"""Kernels of operators: their operands, and the names of their blocks."""

import re

import numpy as np
import pytest
from xdsl.parser import Parser

from xrelax import relax
from xrelax.dialects import get_context, tir
from xrelax.lowering.graph.legalize_ops import _needed
from xrelax.script import from_source

KERNEL = """
tir.prim_func @rows(
    %X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n], f32>, %Z: !tir.buffer<[1], f32>) {
  tir.for %i in (0, n) {
    tir.block "Z" (%v: spatial (0, n) = %i) reads () writes (%Z[0]) {
      %x = arith.constant 1.0 : f32
      tir.store %x, %Z[0] : !tir.buffer<[1], f32>
    }
  }
}
"""


def test_one_of_two_unread_operands_has_the_symbol():
    (kernel,) = Parser(get_context(), KERNEL).parse_module().ops
    assert isinstance(kernel, tir.PrimFuncOp)
    assert _needed([0, 1], kernel) == [1]


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("fuse", [False, True])
def test_scalars_by_value(dtype, fuse):
    scaled = from_source(f"""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((3, "n"), "{dtype}"), a: R.Prim("{dtype}")):
        return R.greater(R.multiply(R.add(a, x), a), x)
""")
    kernels = relax.transform.LegalizeOps()(scaled)
    if fuse:
        kernels = relax.transform.FuseTIR()(relax.transform.FuseOps()(kernels))
    x = np.linspace(-1, 1, 12, dtype=dtype).reshape(3, 4)
    result = relax.build(kernels, check=True)["main"](x, 0.5).numpy()
    np.testing.assert_array_equal(result, (x + x.dtype.type(0.5)) * x.dtype.type(0.5) > x)


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ("R.max(x, axis=[1])", ["x_red"]),
        ("R.mean(x, axis=[1])", ["x_red", "T_divide"]),
        ("R.argmax(x, axis=1)", ["x_red_temp", "x_red", "T_cast"]),
        ("R.nn.max_pool2d(x, pool_size=2)", ["pool_max"]),
        ("R.nn.adaptive_avg_pool2d(x, 2)", ["adaptive_pool_sum", "adaptive_pool_avg"]),
        ("R.nn.conv2d(x, x)", ["pad_temp", "conv2d_nchw"]),
        ("R.nn.conv2d(x, x, data_layout='NHWC')", ["pad_temp", "conv2d_nhwc"]),
        ("R.split(x, 2, axis=0)", ["T_split_sections", "T_split_sections_1"]),
        ("R.tril(x)", ["trilu"]),
    ],
)
def test_blocks_have_the_names_of_tvm(value, names):
    module = from_source(f"""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 4, 4, 4), "float32")):
        return {value}
""")
    text = relax.transform.LegalizeOps()(module).script()
    assert re.findall(r'block\("(\w+)"', text) == ["root", *names]
