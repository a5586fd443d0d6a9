"""PrimFuncs run by lanes and one iteration after the other."""

from __future__ import annotations

import numpy as np

from xrelax.reference import evaluate

MATMUL = """
tir.prim_func @matmul(%A: !tir.buffer<[n, k], f32>, %B: !tir.buffer<[k, m], f32>,
    %C: !tir.buffer<[n, m], f32>) {
  tir.for %i0 in (0, (n + 3) floordiv 4) parallel {
    tir.for %j in (0, m) {
      tir.for %l in (0, k) {
        tir.for %i1 in (0, 4) vectorized {
          tir.block "C" (%vi: spatial (0, n) = %i0 * 4 + %i1, %vj: spatial (0, m) = %j,
              %vk: reduce (0, k) = %l)
              where (%i0 * 4 + %i1 < n) reads (%A[%vi, %vk], %B[%vk, %vj]) writes (%C[%vi, %vj]) {
            tir.init {
              %zero = arith.constant 0.0 : f32
              tir.store %zero, %C[%vi, %vj] : !tir.buffer<[n, m], f32>
            }
            %c = tir.load %C[%vi, %vj] : !tir.buffer<[n, m], f32>
            %a = tir.load %A[%vi, %vk] : !tir.buffer<[n, k], f32>
            %b = tir.load %B[%vk, %vj] : !tir.buffer<[k, m], f32>
            %p = arith.mulf %a, %b : f32
            %s = arith.addf %c, %p : f32
            tir.store %s, %C[%vi, %vj] : !tir.buffer<[n, m], f32>
          }
        }
      }
    }
  }
}
"""


def both(module, name, args):
    """The buffers after a run at once, which must be what a run point by point gives."""
    at_once, one_by_one = ([np.array(a) for a in args] for _ in range(2))
    evaluate(module, name, at_once)
    evaluate(module, name, one_by_one, vectorize=False)
    for a, b in zip(at_once, one_by_one, strict=True):
        np.testing.assert_array_equal(a, b)
    return at_once


def normal(*shape, dtype="float32", seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)
