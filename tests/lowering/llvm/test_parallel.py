"""Parallel loops as functions of their own, run over parts of their range."""

import numpy as np

MODULE = """
rt.func @main(%x: !tir.buffer<[n, m], f32>, %s: !tir.buffer<[1], f32>, %y:
  !tir.buffer<[n, m], f32>) results 1 {
  rt.call_dps @k(%x, %s) outs(%y) : (!tir.buffer<[n, m], f32>, !tir.buffer<[1], f32>),
    (!tir.buffer<[n, m], f32>)
}
loops.func @k(%X: !tir.buffer<[n, m], f32>, %S: !tir.buffer<[1], f32>, %Y:
  !tir.buffer<[n, m], f32>) symbols [n, m] noalias {
  %scale = loops.load %S[0] : !tir.buffer<[1], f32> -> f32
  %one = arith.constant 1.0 : f32
  %ok = arith.cmpf ogt, %scale, %one : f32
  %last = tir.apply m - 1
  loops.for %i in (0, n) parallel {
    %t = loops.alloca : !tir.buffer<[4], f32>
    loops.for %j in (0, m) parallel {
      %v = loops.load %X[%i, %last - %j] : !tir.buffer<[n, m], f32> -> f32
      %w = arith.mulf %v, %scale : f32
      %u = arith.addf %w, %one : f32
      loops.store %u, %t[%j mod 4] : !tir.buffer<[4], f32>, f32
      scf.if %ok {
        %r = loops.load %t[%j mod 4] : !tir.buffer<[4], f32> -> f32
        loops.store %r, %Y[%i, %j] : !tir.buffer<[n, m], f32>, f32
      } else {
        loops.store %one, %Y[%i, %j] : !tir.buffer<[n, m], f32>, f32
      }
    }
  }
  loops.for %i in (1, n - 2) parallel {
    loops.store %scale, %Y[%i, 0] : !tir.buffer<[n, m], f32>, f32
  }
}
"""


def test_captured_values_of_all_kinds(build):
    """Buffers, floats, bools, indices, symbols, constants, and stack memory of the body itself."""
    main = build(MODULE)["main"]
    x = np.random.default_rng(0).random((6, 5), np.float32)
    for scale in (3.0, 0.5):
        found = main(x, np.array([scale], np.float32)).numpy()
        np.testing.assert_allclose(found, expected_rows(x, scale), rtol=1e-6)


def expected_rows(x: np.ndarray, scale: float) -> np.ndarray:
    """What the module computes; its second loop covers the rows from 1 on, n - 2 of them."""
    result = x[:, ::-1] * np.float32(scale) + 1 if scale > 1 else np.ones_like(x)
    result = result.copy()
    result[1 : 1 + len(x) - 2, 0] = scale
    return result


def test_no_iterations(build):
    main = build(MODULE)["main"]
    for shape in ((0, 5), (3, 0), (1, 2)):
        x = np.ones(shape, np.float32)
        found = main(x, np.array([2.0], np.float32)).numpy()
        if x.size:
            np.testing.assert_array_equal(found, np.full(shape, 3))


def test_buffer_and_view_of_it_may_alias(convert, build):
    """The second loop reads through the buffer what the first one wrote through the view."""
    text = """
    rt.func @main(%x: !tir.buffer<[n], f32>, %y: !tir.buffer<[n], f32>) results 1 {
      %a = rt.arena n * 4
      rt.call_dps @k(%x) outs(%y, %a) :
        (!tir.buffer<[n], f32>), (!tir.buffer<[n], f32>, !tir.buffer<[n * 4], i8>)
    }
    loops.func @k(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n], f32>,
                  %S: !tir.buffer<[n * 4], i8>) symbols [n] noalias {
      %t = rt.view %S[0] : !tir.buffer<[n * 4], i8> to !tir.buffer<[n], f32>
      %u = rt.view %S[0] : !tir.buffer<[n * 4], i8> to !tir.buffer<[n], i32>
      loops.for %i in (0, n) parallel {
        %v = loops.load %X[%i] : !tir.buffer<[n], f32> -> f32
        loops.store %v, %t[%i] : !tir.buffer<[n], f32>, f32
        %zero = loops.load %S[%i * 4] : !tir.buffer<[n * 4], i8> -> i8
        %bits = loops.load %u[%i] : !tir.buffer<[n], i32> -> i32
        %w = arith.bitcast %bits : i32 to f32
        %z = arith.sitofp %zero : i8 to f32
        %sum = arith.addf %w, %z : f32
        loops.store %sum, %Y[%i] : !tir.buffer<[n], f32>, f32
      }
    }"""
    body = next(f for f in convert(text).body.block.ops if f.sym_name.data == "xrelax.k.body0")
    flags = ["llvm.noalias" in a.data for a in body.arg_attrs.data]
    types = body.function_type.inputs.data
    assert [f for f, t in zip(flags, types) if str(t) == "!llvm.ptr"].count(True) == 2
    x = np.arange(20, dtype=np.float32)
    np.testing.assert_array_equal(build(text)["main"](x).numpy(), x)


def test_captured_lane_numbers(build):
    """A constant vector of indices from outside of the loop."""
    text = """
    rt.func @main(%x: !tir.buffer<[n], i64>, %y: !tir.buffer<[n], i64>) results 1 {
      rt.call_dps @k(%x) outs(%y) : (!tir.buffer<[n], i64>), (!tir.buffer<[n], i64>)
    }
    loops.func @k(%X: !tir.buffer<[n], i64>, %Y: !tir.buffer<[n], i64>)
        symbols [n] noalias {
      %lanes = arith.constant dense<[3, 1, 2, 0]> : vector<4xindex>
      loops.for %i in (0, n) parallel {
        %twice = arith.addi %lanes, %lanes : vector<4xindex>
        %lane = vector.extract %twice[2] : index from vector<4xindex>
        %number = arith.index_cast %lane : index to i64
        %v = loops.load %X[%i] : !tir.buffer<[n], i64> -> i64
        %sum = arith.addi %v, %number : i64
        loops.store %sum, %Y[%i] : !tir.buffer<[n], i64>, i64
      }
    }"""
    x = np.arange(20)
    np.testing.assert_array_equal(build(text)["main"](x).numpy(), x + 4)
