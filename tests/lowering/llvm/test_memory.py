"""Buffers of all layouts, views, stack memory and vectors with masks, compiled and run."""

import numpy as np
import pytest

TRANSPOSE = """
rt.func @main(%x: !tir.buffer<[n, m], f32>, %y: !tir.buffer<[m, n], f32>) results 1 {
  rt.call_dps @k(%x) outs(%y) : (!tir.buffer<[n, m], f32>), (!tir.buffer<[m, n], f32>)
}
loops.func @k(%X: !tir.buffer<[n, m], f32>, %Y: !tir.buffer<[m, n], f32>) symbols [n, m] noalias {
  loops.for %i in (0, n) {
    loops.for %j in (0, m) {
      %v = loops.load %X[%i, %j] : !tir.buffer<[n, m], f32> -> f32
      loops.store %v, %Y[%j, %i] : !tir.buffer<[m, n], f32>, f32
    }
  }
}
"""


@pytest.mark.parametrize("shape", [(3, 5), (1, 1), (0, 4), (4, 0), (0, 0), (17, 33)])
def test_dynamic_shapes(build, shape):
    x = np.random.default_rng(0).random(shape, np.float32)
    np.testing.assert_array_equal(build(TRANSPOSE)["main"](x).numpy(), x.T)


def test_one_kernel_for_two_shapes_in_a_module(build):
    kernel = TRANSPOSE[TRANSPOSE.index("loops.func") :]
    main = build(
        """
    rt.func @main(%x: !tir.buffer<[2, 3], f32>, %z: !tir.buffer<[p, p], f32>, %y:
      !tir.buffer<[3, 2], f32>, %w: !tir.buffer<[p, p], f32>) results tuple 2 {
      rt.call_dps @k(%x) outs(%y) : (!tir.buffer<[2, 3], f32>), (!tir.buffer<[3, 2], f32>)
      rt.call_dps @k(%z) outs(%w) : (!tir.buffer<[p, p], f32>), (!tir.buffer<[p, p], f32>)
    }"""
        + kernel
    )["main"]
    x, z = np.arange(6, dtype=np.float32).reshape(2, 3), np.eye(4, k=1, dtype=np.float32)
    y, w = main(x, z)
    np.testing.assert_array_equal(y.numpy(), x.T)
    np.testing.assert_array_equal(w.numpy(), z.T)


def test_strides_and_offset_of_a_buffer(build):
    """Every second element of every third row, starting at the second one."""
    main = build("""
    rt.func @main(%x: !tir.buffer<[n], i32>, %y: !tir.buffer<[2, 3], i32>) results 1 {
      rt.call_dps @k(%x) outs(%y) : (!tir.buffer<[n], i32>), (!tir.buffer<[2, 3], i32>)
    }
    loops.func @k(%X: !tir.buffer<[n], i32>, %Y: !tir.buffer<[2, 3], i32>) symbols [n] noalias {
      loops.for %i in (0, 2) {
        loops.for %j in (0, 3) {
          %v = loops.load %X[%i * 21 + %j * 2 + 1] : !tir.buffer<[n], i32> -> i32
          loops.store %v, %Y[%i, %j] : !tir.buffer<[2, 3], i32>, i32
        }
      }
    }""")["main"]
    x = np.arange(42, dtype=np.int32)
    np.testing.assert_array_equal(main(x).numpy(), x.reshape(6, 7)[::3, 1::2])


def test_strided_views_and_stack_memory(build):
    """A byte buffer on the stack seen through strides, in each iteration of a loop."""
    strided = "!tir.buffer<[2, 2], i16, strides = [1, 4], offset = 2>"
    main = build(
        """
    rt.func @main(%x: !tir.buffer<[n, 4], i16>, %y: !tir.buffer<[n, 4], i16>) results 1 {
      rt.call_dps @k(%x) outs(%y) : (!tir.buffer<[n, 4], i16>), (!tir.buffer<[n, 4], i16>)
    }
    loops.func @k(%X: !tir.buffer<[n, 4], i16>, %Y: !tir.buffer<[n, 4], i16>) symbols [n] noalias {
      %bytes = loops.alloca : !tir.buffer<[64], i8>
      %t = rt.view %bytes[32] : !tir.buffer<[64], i8> to STRIDED
      loops.for %i in (0, n) {
        loops.for %a in (0, 2) {
          loops.for %b in (0, 2) {
            %v = loops.load %X[%i, %a * 2 + %b] : !tir.buffer<[n, 4], i16> -> i16
            loops.store %v, %t[%a, %b] : STRIDED, i16
          }
        }
        loops.for %a in (0, 2) {
          loops.for %b in (0, 2) {
            %v = loops.load %t[%b, %a] : STRIDED -> i16
            loops.store %v, %Y[%i, %a * 2 + %b] : !tir.buffer<[n, 4], i16>, i16
          }
        }
      }
    }""".replace("STRIDED", strided)
    )["main"]
    x = np.arange(20, dtype=np.int16).reshape(5, 4)
    np.testing.assert_array_equal(
        main(x).numpy(), x.reshape(5, 2, 2).transpose(0, 2, 1).reshape(5, 4)
    )


VECTORS = """
rt.func @main(%x: !tir.buffer<[n], KIND>, %y: !tir.buffer<[n], KIND>) written [1] {
  rt.call_dps @k(%x) outs(%y) : (!tir.buffer<[n], KIND>), (!tir.buffer<[n], KIND>)
}
loops.func @k(%X: !tir.buffer<[n], KIND>, %Y: !tir.buffer<[n], KIND>) symbols [n] noalias {
  loops.for %i in (0, (n + 15) floordiv 16) {
    %m = loops.mask n - %i * 16 : vector<16xi1>
    %v = loops.load %X[%i * 16] mask %m : !tir.buffer<[n], KIND> -> vector<16xVALUE>
    %w = loops.load %X[%i * 16] mask %m : !tir.buffer<[n], KIND> -> vector<16xVALUE>
    %s = arith.ADD %v, %w : vector<16xVALUE>
    loops.store %s, %Y[%i * 16] mask %m : !tir.buffer<[n], KIND>, vector<16xVALUE>
  }
}
"""


@pytest.mark.parametrize("kind", ["f16", "f32", "f64", "i8", "ui8", "i16", "i32", "i64"])
def test_masked_tail_touches_no_memory_outside(build, kind):
    """Guard elements around the arrays stay as they are."""
    value = kind.replace("u", "")
    text = VECTORS.replace("KIND", kind).replace("VALUE", value)
    text = text.replace("ADD", "addf" if kind[0] == "f" else "addi")
    dtype = np.dtype({"f": "f", "i": "i", "u": "u"}[kind[0]] + str(int(kind.lstrip("uif")) // 8))
    main = build(text)["main"]
    for n in (1, 15, 16, 17, 47):
        x, guarded = np.arange(n).astype(dtype), np.full(n + 40, 99, dtype)
        main(x, guarded[20 : 20 + n])
        np.testing.assert_array_equal(guarded[20 : 20 + n], x + x)
        assert (guarded[:20] == 99).all() and (guarded[20 + n :] == 99).all()


def test_masked_store_leaves_other_lanes(build):
    main = build("""
    rt.func @main(%x: !tir.buffer<[8], f32>, %n: !tir.buffer<[k], i8>) written [0] {
      rt.call_dps @k(%n) outs(%x) : (!tir.buffer<[k], i8>), (!tir.buffer<[8], f32>)
    }
    loops.func @k(%N: !tir.buffer<[k], i8>, %X: !tir.buffer<[8], f32>) symbols [k] noalias {
      %m = loops.mask k - 4 : vector<8xi1>
      %c = arith.constant dense<7.0> : vector<8xf32>
      loops.store %c, %X[0] mask %m : !tir.buffer<[8], f32>, vector<8xf32>
    }""")["main"]
    for k in (0, 3, 4, 5, 7, 11, 12, 100):
        x = np.zeros(8, np.float32)
        main(x, np.zeros(k, np.int8))
        np.testing.assert_array_equal(x, np.where(np.arange(8) < k - 4, 7, 0))


@pytest.mark.parametrize("kind", ["f16", "f32", "f64", "i8", "i32", "i64"])
def test_lanes_are_combined_and_moved(build, kind):
    is_float = kind[0] == "f"
    text = """
    rt.func @main(%x: !tir.buffer<[8], K>, %y: !tir.buffer<[16], K>) results 1 {
      rt.call_dps @k(%x) outs(%y) : (!tir.buffer<[8], K>), (!tir.buffer<[16], K>)
    }
    loops.func @k(%X: !tir.buffer<[8], K>, %Y: !tir.buffer<[16], K>) noalias {
      %v = loops.load %X[0] : !tir.buffer<[8], K> -> vector<8xK>
      %one = vector.extract %v[1] : K from vector<8xK>
      %sum = vector.reduction <add>, %v, %one : vector<8xK> into K
      %plain = vector.reduction <add>, %v : vector<8xK> into K
      %max = vector.reduction <MAX>, %v : vector<8xK> into K
      %min = vector.reduction <MIN>, %v, %one : vector<8xK> into K
      %all = vector.broadcast %sum : K to vector<8xK>
      %a = vector.insert %plain, %all [1] : K into vector<8xK>
      %b = vector.insert %max, %a [2] : K into vector<8xK>
      %c = vector.insert %min, %b [3] : K into vector<8xK>
      loops.store %c, %Y[0] : !tir.buffer<[16], K>, vector<8xK>
      %r = vector.shuffle %v, %c [7, 6, 5, 4, 3, 2, 1, 8] : vector<8xK>, vector<8xK>
      loops.store %r, %Y[8] : !tir.buffer<[16], K>, vector<8xK>
    }"""
    text = text.replace("MAX", "maximumf" if is_float else "maxsi")
    text = text.replace("MIN", "minimumf" if is_float else "minsi")
    x = np.array([3, -1, 4, 1, -5, 9, 2, 6]).astype(np.dtype(f"{kind[0]}{int(kind[1:]) // 8}"))
    found = build(text.replace("K", kind))["main"](x).numpy()
    np.testing.assert_array_equal(found[:8], [18, 19, 9, -5, 18, 18, 18, 18])
    np.testing.assert_array_equal(found[8:], [*x[:0:-1], 18])


PAST_CACHES = """
rt.func @main(%x: {T}, %y: {T}) results 1 {{
  rt.call_dps @k(%x) outs(%y) : ({T}), ({T})
}}
loops.func @k(%X: {T}, %Y: {T}) noalias {{
  loops.for %i in (0, 64) parallel {{
    loops.for %j in (0, {vectors}) {{
      %v = loops.load %X[%i, %j * {lanes}] : {T} -> vector<{lanes}xf32>
      loops.store %v, %Y[%i, %j * {lanes}] nontemporal : {T}, vector<{lanes}xf32>
    }}
    %m = loops.mask {rest} : vector<{lanes}xi1>
    %r = loops.load %X[%i, {done}] mask %m : {T} -> vector<{lanes}xf32>
    loops.store %r, %Y[%i, {done}] mask %m nontemporal : {T}, vector<{lanes}xf32>
  }}
}}
"""


@pytest.mark.parametrize("lanes", [2, 4, 8, 16, 32])
@pytest.mark.parametrize("columns", [16, 37, 64])
def test_stores_past_the_caches_at_addresses_of_every_alignment(build, lanes, columns):
    vectors, rest = divmod(columns, lanes)
    type_, done = f"!tir.buffer<[64, {columns}], f32>", columns - rest
    text = PAST_CACHES.format(T=type_, lanes=lanes, vectors=vectors, rest=rest, done=done)
    main, x = build(text)["main"], np.random.default_rng(0).random((64, columns), np.float32)
    memory = np.empty(x.size + 32, np.float32)
    for start in (*range(5), 8, 16):
        memory[:] = -1
        y = memory[start : start + x.size].reshape(x.shape)
        main(x, out=y)
        np.testing.assert_array_equal(y, x)
        assert (memory[:start] == -1).all() and (memory[start + x.size :] == -1).all()


@pytest.mark.parametrize("kind", ["", "vectorized"])
def test_any_byte_but_zero_is_true(build, kind):
    """As for NumPy, where arrays of bools are views of bytes."""
    main = build(f"""
    rt.func @main(%x: !tir.buffer<[n], i1>, %y: !tir.buffer<[n], i32>) results 1 {{
      rt.call_dps @k(%x) outs(%y) : (!tir.buffer<[n], i1>), (!tir.buffer<[n], i32>)
    }}
    loops.func @k(%X: !tir.buffer<[n], i1>, %Y: !tir.buffer<[n], i32>) symbols [n] noalias {{
      loops.for %i in (0, n) {kind} {{
        %v = loops.load %X[%i] : !tir.buffer<[n], i1> -> i1
        %w = arith.extui %v : i1 to i32
        loops.store %w, %Y[%i] : !tir.buffer<[n], i32>, i32
      }}
    }}""")["main"]
    data = np.arange(256, dtype=np.uint8)
    np.testing.assert_array_equal(main(data.view(bool)).numpy(), data != 0)
