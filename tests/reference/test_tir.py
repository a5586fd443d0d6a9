"""The evaluator on loops of PrimFuncs: lanes give what one iteration after the other does."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from two_ways import MATMUL, both, normal

from xrelax.reference import EvaluationError, evaluate


@pytest.mark.parametrize("n", [1, 3, 4, 9])
def test_split_loop_with_predicate_and_init(parse, n):
    a, b = normal(n, 5), normal(5, 3, seed=1)
    *_, c = both(parse(MATMUL), "matmul", [a, b, np.full((n, 3), np.nan, "float32")])
    ordered = np.zeros((n, 3), "float32")
    for k in range(5):
        ordered += a[:, k : k + 1] * b[k]
    np.testing.assert_array_equal(c, ordered)


def test_float64_runs_return_new_arrays(parse):
    a, b, c = normal(4, 50), normal(50, 2), np.zeros((4, 2), "float32")
    found = evaluate(parse(MATMUL), "matmul", [a, b, c], float64=True)[2]
    assert found.dtype == np.float64 and not c.any()
    np.testing.assert_allclose(found, a.astype("f8") @ b.astype("f8"), rtol=1e-13, atol=1e-13)


def test_the_rows_of_a_linear_layer_are_computed_at_once(parse):
    """Python runs as many functions for 128 rows, as in the course, as for 8."""
    module, calls = parse(MATMUL), dict[int, int]()
    for rows in (8, 128):
        args, calls[rows] = [normal(rows, 784), normal(784, 1), np.zeros((rows, 1), "float32")], 0

        def count(frame: object, event: str, arg: object, rows: int = rows) -> None:
            calls[rows] += event == "call"

        before = sys.getprofile()
        sys.setprofile(count)
        try:
            evaluate(module, "matmul", args)
        finally:
            sys.setprofile(before)
    assert calls[128] < 2 * calls[8]


SCAN = """
tir.prim_func @scan(%X: !tir.buffer<[n, m], i32>, %Y: !tir.buffer<[n, m], i32>) {
  tir.for %i in (0, n) {
    tir.for %j in (0, m) {
      tir.block "Y" (%vi: spatial (0, n) = %i, %vj: opaque (0, m) = %j) reads (%X[%vi, %vj],
          %Y[%vi, 0 : m]) writes (%Y[%vi, %vj]) {
        %zero = arith.constant 0 : index
        %j1 = tir.apply %vj
        %first = arith.cmpi eq, %j1, %zero : index
        %x = tir.load %X[%vi, %vj] : !tir.buffer<[n, m], i32>
        %y = scf.if %first -> (i32) {
          scf.yield %x : i32
        } else {
          %before = tir.load %Y[%vi, %vj - 1] : !tir.buffer<[n, m], i32>
          %sum = arith.addi %before, %x : i32
          scf.yield %sum : i32
        }
        tir.store %y, %Y[%vi, %vj] : !tir.buffer<[n, m], i32>
      }
    }
  }
}
"""


def test_a_scan_runs_in_order(parse):
    x = np.random.default_rng(0).integers(-9, 9, (4, 7)).astype("int32")
    np.testing.assert_array_equal(both(parse(SCAN), "scan", [x, 0 * x])[1], np.cumsum(x, 1))


TRIANGLE = """
tir.prim_func @triangle(%X: !tir.buffer<[n, n], f32>, %Y: !tir.buffer<[n], f32>) {
  tir.for %i in (0, n) {
    tir.block "Y" (%vi: spatial (0, n) = %i) reads (%X[%vi, 0 : n], %Y[%vi]) writes (%Y[%vi]) {
      tir.for %j in (0, %vi + 1) {
        %y = tir.load %Y[%vi] : !tir.buffer<[n], f32>
        %x = tir.load %X[%vi, %j] : !tir.buffer<[n, n], f32>
        %s = arith.addf %x, %y : f32
        tir.store %s, %Y[%vi] : !tir.buffer<[n], f32>
      }
    }
  }
}
"""


def test_trip_counts_may_differ_from_lane_to_lane(parse):
    x = normal(6, 6)
    y = both(parse(TRIANGLE), "triangle", [x, np.zeros(6, "float32")])[1]
    np.testing.assert_allclose(y, np.tril(x).sum(1), rtol=1e-6)


COLLATZ = """
tir.prim_func @collatz(%X: !tir.buffer<[n], i32>, %Y: !tir.buffer<[n], i32>) {
  tir.for %i in (0, n) {
    %x = tir.load %X[%i] : !tir.buffer<[n], i32>
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %three = arith.constant 3 : i32
    %end, %steps = scf.while (%v = %x, %c = %zero) : (i32, i32) -> (i32, i32) {
      %more = arith.cmpi sgt, %v, %one : i32
      scf.condition(%more) %v, %c : i32, i32
    } do {
    ^bb0(%w: i32, %d: i32):
      %r = arith.remsi %w, %two : i32
      %even = arith.cmpi eq, %r, %zero : i32
      %next = scf.if %even -> (i32) {
        %half = arith.divsi %w, %two : i32
        scf.yield %half : i32
      } else {
        %triple = arith.muli %w, %three : i32
        %odd = arith.addi %triple, %one : i32
        scf.yield %odd : i32
      }
      %e = arith.addi %d, %one : i32
      scf.yield %next, %e : i32, i32
    }
    tir.store %steps, %Y[%i] : !tir.buffer<[n], i32>
  }
}
"""


def test_while_loops_run_as_long_as_a_lane_needs(parse):
    x = np.arange(1, 30, dtype="int32")

    def steps(v):
        count = 0
        while v > 1:
            v, count = (v // 2 if v % 2 == 0 else 3 * v + 1), count + 1
        return count

    np.testing.assert_array_equal(
        both(parse(COLLATZ), "collatz", [x, 0 * x])[1], [steps(int(v)) for v in x]
    )


FUSED = """
tir.prim_func @transpose(%X: !tir.buffer<[n, m], f32>, %Y: !tir.buffer<[m, n], f32>) {
  tir.for %f0 in (0, (n * m + 3) floordiv 4) {
    tir.for %f1 in (0, 4) {
      tir.block "Y" (%vi: spatial (0, m) = (%f0 * 4 + %f1) floordiv n,
          %vj: spatial (0, n) = (%f0 * 4 + %f1) mod n)
          where (%f0 * 4 + %f1 < n * m) reads (%X[%vj, %vi]) writes (%Y[%vi, %vj]) {
        %x = tir.load %X[%vj, %vi] : !tir.buffer<[n, m], f32>
        tir.store %x, %Y[%vi, %vj] : !tir.buffer<[m, n], f32>
      }
    }
  }
}
"""


def test_fused_and_split_loops_are_proven_by_enumeration(parse):
    from xrelax.reference.legality import independent_loops

    module, x = parse(FUSED), normal(3, 5)
    func = module.body.block.first_op
    assert len(independent_loops(func.body.block, {"n": 3, "m": 5}, {})) == 2
    np.testing.assert_array_equal(both(module, "transpose", [x, normal(5, 3)])[1], x.T)


def test_assert_and_external_calls(parse):
    module = parse("""
    tir.prim_func @f(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n], f32>) {
      tir.for %i in (0, n) {
        %x = tir.load %X[%i] : !tir.buffer<[n], f32>
        %zero = arith.constant 0.0 : f32
        %ok = arith.cmpf oge, %x, %zero : f32
        tir.assert %ok, "x must not be negative"
        %y = tir.call_extern "sqrtf"(%x) : (f32) -> f32
        %z = tir.call_extern "half"(%y) : (f32) -> f32
        tir.store %z, %Y[%i] : !tir.buffer<[n], f32>
      }
    }""")
    y = np.zeros(3, "float32")
    registry = {"half": lambda v: v / 2}
    evaluate(module, "f", [np.array([0, 1, 4], "float32"), y], registry=registry)
    np.testing.assert_array_equal(y, [0, 0.5, 1])
    with pytest.raises(EvaluationError, match="x must not be negative"):
        evaluate(module, "f", [np.array([0, -1, 4], "float32"), y], registry=registry)
    with pytest.raises(EvaluationError, match="expected 'half' to be registered"):
        evaluate(module, "f", [y, y])


@pytest.mark.parametrize("rows", [3, 9])
def test_an_empty_reduction_is_its_init(parse, rows):
    empty = [np.zeros((rows, 0), "float32"), np.zeros((0, 2), "float32")]
    *_, c = both(parse(MATMUL), "matmul", [*empty, np.full((rows, 2), np.nan, "float32")])
    np.testing.assert_array_equal(c, np.zeros((rows, 2), "float32"))


def test_an_empty_split_reduction_is_its_init(parse):
    """The outer loop is empty; the predicate only says that there is something to reduce."""
    split = """
tir.prim_func @total(%X: !tir.buffer<[n], f32>, %S: !tir.buffer<[], f32>) {
  tir.for %i0 in (0, (n + 3) floordiv 4) {
    tir.for %i1 in (0, 4) {
      tir.block "S" (%vi: reduce (0, n) = %i0 * 4 + %i1)
          where (%i0 * 4 + %i1 < n) reads (%X[%vi]) writes (%S[]) {
        tir.init {
          %one = arith.constant 1.0 : f32
          tir.store %one, %S[] : !tir.buffer<[], f32>
        }
        %s = tir.load %S[] : !tir.buffer<[], f32>
        %x = tir.load %X[%vi] : !tir.buffer<[n], f32>
        %p = arith.mulf %s, %x : f32
        tir.store %p, %S[] : !tir.buffer<[], f32>
      }
    }
  }
}
"""
    for size in (0, 5):
        x = np.full(size, 2, "float32")
        *_, s = both(parse(split), "total", [x, np.array(np.nan, "float32")])
        assert s == 2.0**size
