"""The evaluator on the memory of PrimFuncs: indices, views, scratch buffers and arguments."""

from __future__ import annotations

import numpy as np
import pytest
from two_ways import MATMUL, both, normal

from xrelax.reference import EvaluationError, evaluate

GATHER = """
tir.prim_func @histogram(%I: !tir.buffer<[n], i64>, %H: !tir.buffer<[m], i32>) {
  tir.for %i in (0, n) {
    %k = tir.load %I[%i] : !tir.buffer<[n], i64>
    %at = arith.index_cast %k : i64 to index
    %old = tir.load %H[%at] : !tir.buffer<[m], i32>
    %one = arith.constant 1 : i32
    %new = arith.addi %old, %one : i32
    tir.store %new, %H[%at] : !tir.buffer<[m], i32>
  }
}
tir.prim_func @gather(%I: !tir.buffer<[n], i64>, %X: !tir.buffer<[m], f32>,
    %Y: !tir.buffer<[n], f32>) {
  tir.for %i in (0, n) {
    %k = tir.load %I[%i] : !tir.buffer<[n], i64>
    %at = arith.index_cast %k : i64 to index
    %x = tir.load %X[%at] : !tir.buffer<[m], f32>
    tir.store %x, %Y[%i] : !tir.buffer<[n], f32>
  }
}
"""


def test_stores_that_may_conflict_run_in_order(parse):
    i = np.random.default_rng(0).integers(0, 4, 30)
    h = both(parse(GATHER), "histogram", [i, np.zeros(4, "int32")])[1]
    np.testing.assert_array_equal(h, np.bincount(i, minlength=4))


def test_gather(parse):
    i, x = np.random.default_rng(0).integers(0, 4, 30), normal(4)
    np.testing.assert_array_equal(both(parse(GATHER), "gather", [i, x, normal(30)])[2], x[i])


def test_an_index_outside_a_buffer_is_an_error(parse):
    i, x = np.array([0, 3, -1]), normal(4)
    message = r"in 'gather': expected indices of dim 0 of 'X' in \[0, 4\), got -1"
    for vectorize in (True, False):
        with pytest.raises(EvaluationError, match=message):
            evaluate(parse(GATHER), "gather", [i, x, normal(3)], vectorize=vectorize)


LOCAL = """
tir.prim_func @softmax(%X: !tir.buffer<[n, m], f32>, %Y: !tir.buffer<[n, m], f32>) {
  tir.for %i in (0, n) {
    tir.block "row" (%vi: spatial (0, n) = %i) reads (%X[%vi, 0 : m]) writes (%Y[%vi, 0 : m]) {
      %T = tir.alloc_buffer : !tir.buffer<[m], f32>
      %S = tir.alloc_buffer : !tir.buffer<[], f32>
      %V = tir.match_buffer %X[%vi, 0] : !tir.buffer<[n, m], f32> to !tir.buffer<[m], f32>
      %zero = arith.constant 0.0 : f32
      tir.store %zero, %S[] : !tir.buffer<[], f32>
      tir.for %j in (0, m) {
        %x = tir.load %V[%j] : !tir.buffer<[m], f32>
        %e = math.exp %x : f32
        tir.store %e, %T[%j] : !tir.buffer<[m], f32>
        %s = tir.load %S[] : !tir.buffer<[], f32>
        %t = arith.addf %s, %e : f32
        tir.store %t, %S[] : !tir.buffer<[], f32>
      }
      tir.for %j in (0, m) {
        %e = tir.load %T[%j] : !tir.buffer<[m], f32>
        %s = tir.load %S[] : !tir.buffer<[], f32>
        %y = arith.divf %e, %s : f32
        tir.store %y, %Y[%vi, %j] : !tir.buffer<[n, m], f32>
      }
    }
  }
}
"""


def test_scratch_memory_of_a_block_is_private_to_a_lane(parse):
    x = normal(4, 6)
    y = both(parse(LOCAL), "softmax", [x, normal(4, 6)])[1]
    np.testing.assert_allclose(y, np.exp(x) / np.exp(x).sum(1, keepdims=True), rtol=1e-6)


def test_views_check_their_own_shape(parse):
    module = parse("""
    tir.prim_func @f(%X: !tir.buffer<[8], f32>, %Y: !tir.buffer<[8], f32>) {
      tir.for %i in (0, 3) {
        %V = tir.match_buffer %X[%i * 2] : !tir.buffer<[8], f32> to !tir.buffer<[2], f32>
        %W = tir.match_buffer %Y[%i * 2] : !tir.buffer<[8], f32> to !tir.buffer<[2], f32>
        tir.for %j in (0, 2) {
          %v = tir.load %V[%j] : !tir.buffer<[2], f32>
          tir.store %v, %W[1 - %j] : !tir.buffer<[2], f32>
        }
      }
    }""")
    x = np.arange(8, dtype="float32")
    np.testing.assert_array_equal(both(module, "f", [x, x])[1], [1, 0, 3, 2, 5, 4, 6, 7])


def test_memory_that_nobody_wrote_is_poison(parse):
    module = parse("""
    tir.prim_func @f(%Y: !tir.buffer<[4], f32>, %Z: !tir.buffer<[4], i32>) {
      %T = tir.alloc_buffer : !tir.buffer<[4], f32>
      %U = tir.alloc_buffer : !tir.buffer<[4], i32>
      tir.for %i in (0, 4) {
        %t = tir.load %T[%i] : !tir.buffer<[4], f32>
        tir.store %t, %Y[%i] : !tir.buffer<[4], f32>
        %u = tir.load %U[%i] : !tir.buffer<[4], i32>
        tir.store %u, %Z[%i] : !tir.buffer<[4], i32>
      }
    }""")
    y, z = both(module, "f", [np.zeros(4, "float32"), np.zeros(4, "int32")])
    assert np.isnan(y).all() and (np.abs(z.astype("int64")) > 1e9).all()


def test_arguments_that_overlap_run_in_order(parse):
    module = parse("""
    tir.prim_func @shift(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n], f32>) {
      tir.for %i in (0, n) {
        %x = tir.load %X[%i] : !tir.buffer<[n], f32>
        tir.store %x, %Y[%i] : !tir.buffer<[n], f32>
      }
    }""")
    memory = np.arange(5, dtype="float32")
    evaluate(module, "shift", [memory[:-1], memory[1:]])
    np.testing.assert_array_equal(memory, 0)


def test_strided_arguments(parse):
    a, b, c = normal(5, 4).T, normal(12, 3)[::-2, :][:5], normal(3, 4).T
    expected = a.astype("f8") @ b
    evaluate(parse(MATMUL), "matmul", [a, b, c])
    np.testing.assert_allclose(c, expected, rtol=1e-5, atol=1e-6)


def test_index_and_scalar_parameters(parse):
    module = parse("""
    tir.prim_func @axpy(%a: f32, %X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n], f32>, %m: index) {
      tir.for %i in (0, m) {
        %x = tir.load %X[%i] : !tir.buffer<[n], f32>
        %p = arith.mulf %a, %x : f32
        tir.store %p, %Y[%m - 1 - %i] : !tir.buffer<[n], f32>
      }
    }""")
    x, y = np.arange(4, dtype="float32"), np.zeros(4, "float32")
    evaluate(module, "axpy", [2.5, x, y, 3])
    np.testing.assert_array_equal(y, [5, 2.5, 0, 0])


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([normal(2, 3), normal(4, 5), normal(2, 5)], r"'B' to have shape \(3, 5\), got \(4, 5\)"),
        ([normal(2, 3), normal(3), normal(2, 5)], "expected argument 'B' to have rank 2, got 1"),
        ([normal(2, 3), normal(3, 5, dtype="float64"), normal(2, 5)], "'B' to have dtype float32"),
        ([normal(2, 3)], "expected 3 arguments for 'matmul', got 1"),
        ([normal(2, 3), 3.0, normal(2, 5)], "expected argument 'B' to be an array, got float"),
    ],
)  # fmt: skip
def test_arguments_that_do_not_fit(parse, args, message):
    with pytest.raises(EvaluationError, match=message):
        evaluate(parse(MATMUL), "matmul", args)
