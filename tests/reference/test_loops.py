"""The loops stage: carried values, conditions, vectors and masks; at once and point by point."""

from __future__ import annotations

import numpy as np
import pytest
from two_ways import both, normal

from xrelax.reference import EvaluationError, evaluate

RELU = """
loops.func @relu(%X: !tir.buffer<[m, n], f32>, %Y: !tir.buffer<[m, n], f32>)
    symbols [m, n] noalias {
  %z = arith.constant dense<0.0> : vector<4xf32>
  loops.for %i in (0, m) parallel {
    loops.for %j in (0, (n + 3) floordiv 4) {
      %m = loops.mask n - %j * 4 : vector<4xi1>
      %v = loops.load %X[%i, %j * 4] mask %m : !tir.buffer<[m, n], f32> -> vector<4xf32>
      %r = arith.maximumf %v, %z : vector<4xf32>
      loops.store %r, %Y[%i, %j * 4] mask %m : !tir.buffer<[m, n], f32>, vector<4xf32>
    }
  }
}
"""


@pytest.mark.parametrize("n", [1, 4, 7])
def test_masked_vectors(parse, n):
    x = normal(3, n)
    np.testing.assert_array_equal(both(parse(RELU), "relu", [x, normal(3, n)])[1], np.maximum(x, 0))


def test_a_vector_without_its_mask_is_outside(parse):
    module = parse(RELU.replace("loops.mask n -", "loops.mask 4 + n -"))
    with pytest.raises(EvaluationError, match=r"dim 1 of 'X' in \[0, 7\), got 7"):
        evaluate(module, "relu", [normal(2, 7), normal(2, 7)])


BORDER = """
loops.func @rows(%X: !tir.buffer<[n, 4], f32>, %Y: !tir.buffer<[m, 4], f32>) symbols [n, m] {
  loops.for %i in (0, m) {
    %m = loops.mask min(4, (%i - 1 + n) floordiv n * 4) : vector<4xi1>
    %v = loops.load %X[%i - 1, 0] mask %m : !tir.buffer<[n, 4], f32> -> vector<4xf32>
    loops.store %v, %Y[%i, 0] : !tir.buffer<[m, 4], f32>, vector<4xf32>
  }
}
"""


def test_a_vector_without_a_lane_reads_nothing(parse):
    """The row in front of the first one is of no lane: it is not looked at."""
    x = normal(3, 4)
    (_, y) = both(parse(BORDER), "rows", [x, normal(4, 4)])
    np.testing.assert_array_equal(y, np.concatenate([np.zeros((1, 4), np.float32), x]))


def test_a_row_outside_is_refused_where_a_lane_is_on(parse):
    with pytest.raises(EvaluationError, match=r"dim 0 of 'X' in \[0, 2\), got 2"):
        evaluate(parse(BORDER), "rows", [normal(2, 4), normal(4, 4)])


def test_vector_loops_are_array_axes(parse):
    from xrelax.reference.legality import independent_loops

    func = parse(RELU).body.block.first_op
    assert len(independent_loops(func.body.block, {"m": 3, "n": 7}, {})) == 2


DOT = """
loops.func @dot(%A: !tir.buffer<[n, k], f32>, %B: !tir.buffer<[k], f32>,
    %C: !tir.buffer<[n], f32>) symbols [n, k] {
  loops.for %i in (0, n) {
    %zero = arith.constant 0.0 : f32
    %zeros = vector.broadcast %zero : f32 to vector<2xf32>
    %acc = loops.for %j in (0, k floordiv 2) carry (%a = %zeros : vector<2xf32>) {
      %x = loops.load %A[%i, %j * 2] : !tir.buffer<[n, k], f32> -> vector<2xf32>
      %y = loops.load %B[%j * 2] : !tir.buffer<[k], f32> -> vector<2xf32>
      %s = vector.fma %x, %y, %a : vector<2xf32>
      loops.yield %s : vector<2xf32>
    }
    %sum = vector.reduction <add>, %acc, %zero : vector<2xf32> into f32
    %all = loops.for %j in (k floordiv 2 * 2, k mod 2) carry (%t = %sum : f32) {
      %x = loops.load %A[%i, %j] : !tir.buffer<[n, k], f32> -> f32
      %y = loops.load %B[%j] : !tir.buffer<[k], f32> -> f32
      %s = math.fma %x, %y, %t : f32
      loops.yield %s : f32
    }
    loops.store %all, %C[%i] : !tir.buffer<[n], f32>, f32
  }
}
"""


@pytest.mark.parametrize("k", [1, 4, 7])
def test_carried_vectors(parse, k):
    a, b = normal(3, k), normal(k, seed=1)
    c = both(parse(DOT), "dot", [a, b, normal(3)])[2]
    np.testing.assert_allclose(c, a.astype("f8") @ b, rtol=1e-5, atol=1e-6)


def test_conditions_and_scratch_memory(parse):
    module = parse("""
    loops.func @f(%X: !tir.buffer<[n], i32>, %Y: !tir.buffer<[n], i32>) symbols [n] {
      loops.for %i in (0, (n + 1) floordiv 2) {
        %t = loops.alloca : !tir.buffer<[2], i32>
        loops.for %j in (0, 2) unrolled {
          loops.if (%i * 2 + %j < n) {
            %x = loops.load %X[%i * 2 + %j] : !tir.buffer<[n], i32> -> i32
            loops.store %x, %t[%j] : !tir.buffer<[2], i32>, i32
          }
        }
        loops.for %j in (0, 2) {
          loops.if (%i * 2 + 1 - %j < n) {
            %x = loops.load %t[1 - %j] : !tir.buffer<[2], i32> -> i32
            %k = tir.apply %i * 2 + 1 - %j
            %l = arith.index_cast %k : index to i32
            %y = arith.addi %x, %l : i32
            loops.store %y, %Y[%i * 2 + 1 - %j] : !tir.buffer<[n], i32>, i32
          }
        }
      }
    }""")
    x = np.arange(7, dtype="int32") * 10
    np.testing.assert_array_equal(both(module, "f", [x, 0 * x])[1], x + np.arange(7))


def test_lanes_of_a_vector(parse):
    module = parse("""
    loops.func @f(%X: !tir.buffer<[n, 4], f32>, %Y: !tir.buffer<[n, 4], f32>,
        %Z: !tir.buffer<[n], f32>) symbols [n] {
      loops.for %i in (0, n) {
        %v = loops.load %X[%i, 0] : !tir.buffer<[n, 4], f32> -> vector<4xf32>
        %a = vector.extract %v[2] : f32 from vector<4xf32>
        %w = vector.shuffle %v, %v [3, 2, 5, 0] : vector<4xf32>, vector<4xf32>
        %u = vector.insert %a, %w[%i] : f32 into vector<4xf32>
        loops.store %u, %Y[%i, 0] : !tir.buffer<[n, 4], f32>, vector<4xf32>
        %m = vector.reduction <maximumf>, %v : vector<4xf32> into f32
        loops.store %m, %Z[%i] : !tir.buffer<[n], f32>, f32
      }
    }""")
    x = normal(3, 4)
    expected = x[:, [3, 2, 1, 0]]
    expected[range(3), range(3)] = x[:, 2]
    _, y, z = both(module, "f", [x, normal(3, 4), normal(3)])
    np.testing.assert_array_equal(y, expected)
    np.testing.assert_array_equal(z, x.max(1))


def test_data_dependent_for_and_if(parse):
    module = parse("""
    loops.func @f(%N: !tir.buffer<[n], i32>, %Y: !tir.buffer<[n], i32>) symbols [n] {
      loops.for %i in (0, n) {
        %c = loops.load %N[%i] : !tir.buffer<[n], i32> -> i32
        %zero = arith.constant 0 : i32
        %one = arith.constant 1 : i32
        %s = scf.for %k = %zero to %c step %one iter_args(%t = %zero) -> (i32) : i32 {
          %u = arith.addi %t, %k : i32
          scf.yield %u : i32
        }
        %big = arith.cmpi sgt, %s, %one : i32
        scf.if %big {
          loops.store %s, %Y[%i] : !tir.buffer<[n], i32>, i32
        }
      }
    }""")
    n = np.array([0, 5, 1, 3, 2], "int32")
    np.testing.assert_array_equal(both(module, "f", [n, n * 0 - 1])[1], [-1, 10, -1, 3, -1])


def test_a_loop_that_carries_through_memory_runs_in_order(parse):
    module = parse("""
    loops.func @f(%Y: !tir.buffer<[n], f32>) symbols [n] {
      loops.for %i in (1, n - 1) {
        %a = loops.load %Y[%i - 1] : !tir.buffer<[n], f32> -> f32
        %b = loops.load %Y[%i] : !tir.buffer<[n], f32> -> f32
        %s = arith.addf %a, %b : f32
        loops.store %s, %Y[%i] : !tir.buffer<[n], f32>, f32
      }
    }""")
    y = np.arange(6, dtype="float32")
    np.testing.assert_array_equal(both(module, "f", [y])[0], np.cumsum(y))


def test_unknown_operations_are_named(parse):
    module = parse("""
    loops.func @f(%Y: !tir.buffer<[n], i32>) symbols [n] {
      %a = arith.constant 1 : i32
      %s, %o = arith.addui_extended %a, %a : i32, i1
    }""")
    with pytest.raises(
        EvaluationError, match=r"expected an operation with a reference, got 'arith.addui_extended'"
    ):
        evaluate(module, "f", [np.zeros(1, "int32")])
