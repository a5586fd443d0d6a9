"""The course's network from graph and TensorIR through every pass to machine code."""

import re

import numpy as np
import pytest
from xdsl.parser import Parser

from xrelax.backend.build import compile_executable
from xrelax.backend.target import Target
from xrelax.dialects import get_context
from xrelax.dialects.diagnostics import verify
from xrelax.lowering.llvm.interface import module_interface
from xrelax.pipeline import load_pass
from xrelax.runtime import register_func

TO_LOOPS = (
    "convert-relax-to-rt",
    "lift-workspace",
    "plan-memory",
    "convert-tir-to-loops",
    "unroll-loops",
    "vectorize-loops",
    "promote-buffers",
    "lower-multi-reduction",
    "cse-loops",
    "dce",
)

LINEAR = """
tir.prim_func @linear0(
  %X: !tir.buffer<[p, m], f32>, %W: !tir.buffer<[n, m], f32>, %B: !tir.buffer<[n], f32>,
  %Z: !tir.buffer<[p, n], f32>
) params ("x", "w", "b", "z") attributes {"tir.noalias" = true} {
  %Y = tir.alloc_buffer : !tir.buffer<[p, n], f32>
  tir.for %i in (0, p) parallel {
    tir.for %j in (0, n) {
      tir.for %k in (0, m) {
        tir.block "Y" (%vi: spatial (0, p) = %i, %vj: spatial (0, n) = %j, %vk: reduce (0, m) = %k)
            reads (%X[%vi, %vk], %W[%vj, %vk]) writes (%Y[%vi, %vj]) {
          tir.init {
            %c = arith.constant 0.0 : f32
            tir.store %c, %Y[%vi, %vj] : !tir.buffer<[p, n], f32>
          }
          %y = tir.load %Y[%vi, %vj] : !tir.buffer<[p, n], f32>
          %x = tir.load %X[%vi, %vk] : !tir.buffer<[p, m], f32>
          %w = tir.load %W[%vj, %vk] : !tir.buffer<[n, m], f32>
          %p = arith.mulf %x, %w : f32
          %q = arith.addf %y, %p : f32
          tir.store %q, %Y[%vi, %vj] : !tir.buffer<[p, n], f32>
        }
      }
    }
  }
  tir.for %i in (0, p) {
    tir.for %j in (0, n) vectorized {
      tir.block "Z" (%vi: spatial (0, p) = %i, %vj: spatial (0, n) = %j)
          reads (%Y[%vi, %vj], %B[%vj]) writes (%Z[%vi, %vj]) {
        %y = tir.load %Y[%vi, %vj] : !tir.buffer<[p, n], f32>
        %b = tir.load %B[%vj] : !tir.buffer<[n], f32>
        %q = arith.addf %y, %b : f32
        tir.store %q, %Z[%vi, %vj] : !tir.buffer<[p, n], f32>
      }
    }
  }
}
relax.func @main(
  %x: T<[p, m], f32>, %w0: T<[n, m], f32>, %b0: T<[n], f32>, %w1: T<[k, n], f32>, %b1: T<[k], f32>
) -> T<[p, k], f32> {
  %out = relax.dataflow -> T<[p, k], f32> {
    %lv0 = relax.call_tir @linear0(%x, %w0, %b0) :
      (T<[p, m], f32>, T<[n, m], f32>, T<[n], f32>) -> T<[p, n], f32>
    %lv1 = relax.call_dps_packed "test.llvm.relu"(%lv0) : (T<[p, n], f32>) -> T<[p, n], f32>
    %gv = relax.call_tir @linear0(%lv1, %w1, %b1) :
      (T<[p, n], f32>, T<[k, n], f32>, T<[k], f32>) -> T<[p, k], f32>
    relax.output %gv : T<[p, k], f32>
  }
  relax.return %out : T<[p, k], f32>
}
"""


@pytest.fixture(scope="module")
def executable():
    context = get_context()
    module = Parser(context, re.sub(r"\bT<", "!relax.tensor<", LINEAR)).parse_module()
    for name in TO_LOOPS:
        load_pass(name)().apply(context, module)
        verify(module)
    interface = module_interface(module)
    load_pass("convert-to-llvm")().apply(context, module)
    module.verify()
    verify(module)
    return compile_executable(interface.functions, interface.constants, module, Target("llvm"))


def linear(x: np.ndarray, w: np.ndarray, b: np.ndarray) -> np.ndarray:
    return x.astype(np.float64) @ w.T.astype(np.float64) + b


@pytest.mark.parametrize("sizes", [(1, 784, 128, 10), (3, 17, 33, 5), (1, 0, 4, 1), (0, 4, 4, 4)])
def test_network_with_symbolic_shapes(executable, sizes):
    def relu(x, y):
        np.maximum(np.asarray(x), 0, out=np.asarray(y))

    register_func("test.llvm.relu", relu, override=True)
    p, m, n, k = sizes
    random = np.random.default_rng(1)
    shapes = ((p, m), (n, m), (n,), (k, n), (k,))
    x, w0, b0, w1, b1 = (random.standard_normal(s).astype(np.float32) for s in shapes)
    found = executable["main"](x, w0, b0, w1, b1).numpy()
    expected = linear(np.maximum(linear(x, w0, b0), 0), w1, b1)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-3)


def test_kernel_has_an_entry_too(executable):
    x, w, b = np.ones((2, 3), np.float32), np.ones((4, 3), np.float32), np.ones(4, np.float32)
    z = np.zeros((2, 4), np.float32)
    executable["linear0"](x, w, b, z)
    np.testing.assert_array_equal(z, np.full((2, 4), 4))
