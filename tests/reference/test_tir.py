"""TensorIR: blocks, predicates, data-dependent control flow, views; at once and point by point."""

from __future__ import annotations

import time

import numpy as np
import pytest

from xrelax.reference import EvaluationError, evaluate

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


def test_a_linear_layer_of_the_course_takes_well_under_a_second(parse):
    a, b = normal(128, 784), normal(784, 1)
    start = time.process_time()
    evaluate(parse(MATMUL), "matmul", [a, b, np.zeros((128, 1), "float32")])
    assert time.process_time() - start < 1


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
