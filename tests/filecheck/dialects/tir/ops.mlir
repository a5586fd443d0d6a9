// RUN: xrelax-opt %s --split-input-file | filecheck %s
// RUN: xrelax-opt %s --split-input-file --print-op-generic | xrelax-opt --split-input-file | filecheck %s

// A function: buffers with symbolic dims, an index parameter that is a symbol, scalars.
// CHECK:      tir.prim_func @params(%X: !tir.buffer<[1, n], f32>, %k: index, %s: f32) {
// CHECK-NEXT: }
tir.prim_func @params(%X: !tir.buffer<[1, n], f32>, %k: index, %s: f32) {
}

// Names that users gave and function attributes.
// CHECK: tir.prim_func @named(%X: !tir.buffer<[n], f32>) params ("x_handle") attributes {global_symbol = "named", tir.noalias = true} {
tir.prim_func @named(%X: !tir.buffer<[n], f32>) params ("x_handle") attributes {"global_symbol" = "named", "tir.noalias" = true} {
}

// -----

// Buffer types: dtypes, no dims, compound dims, strides, offset, scope.
// CHECK:      tir.prim_func @buffers(
// CHECK-SAME:   %a: !tir.buffer<[], f64>,
// CHECK-SAME:   %b: !tir.buffer<[n, m, m * n + 1], bf16>,
// CHECK-SAME:   %c: !tir.buffer<[n floordiv 4, min(m, n)], ui8>,
// CHECK-SAME:   %d: !tir.buffer<[4, 4], i1, strides = [n, 1]>,
// CHECK-SAME:   %e: !tir.buffer<[8], i32, offset = n * 2>,
// CHECK-SAME:   %f: !tir.buffer<[2, 3], f16, strides = [1, 2], offset = 5, "shared">) {
tir.prim_func @buffers(%a: !tir.buffer<[], f64>, %b: !tir.buffer<[n, m, m * n + 1], bf16>, %c: !tir.buffer<[n floordiv 4, min(n, m)], ui8>, %d: !tir.buffer<[4, 4], i1, strides = [n, 1]>, %e: !tir.buffer<[8], i32, offset = 2 * n>, %f: !tir.buffer<[2, 3], f16, strides = [1, 2], offset = 5, "shared">) {
}

// -----

// Loops of all kinds, with bounds over symbols and other loops, and annotations.
// CHECK-LABEL: @loops
tir.prim_func @loops(%X: !tir.buffer<[n], f32>) {
  // CHECK: tir.for %i in (0, n) {
  tir.for %i in (0, n) {
    // CHECK: tir.for %j in (%i, -%i + n) parallel {
    tir.for %j in (%i, n - %i) parallel {
      // CHECK: tir.for %l in (2, 4) vectorized {
      tir.for %l in (2, 4) vectorized {
        // CHECK: tir.for %u in (0, 4) unrolled annotations {pragma = 1 : i64, stage = "a"} {
        tir.for %u in (0, 4) unrolled annotations {"pragma" = 1 : i64, "stage" = "a"} {
        }
      }
    }
  }
  // CHECK: tir.for %t in (0, 32) thread_binding "threadIdx.x" {
  tir.for %t in (0, 32) thread_binding "threadIdx.x" {
  }
}

// -----

// A reduction block: axes of two kinds, regions, init first; and scalars on builtin types.
// CHECK-LABEL: @matmul
tir.prim_func @matmul(%A: !tir.buffer<[n, k], f32>, %B: !tir.buffer<[k, m], f32>, %C: !tir.buffer<[n, m], f32>) {
  tir.for %i in (0, n) {
    tir.for %j in (0, m) {
      tir.for %l in (0, k) {
        // CHECK:      tir.block "C" (%vi: spatial (0, n) = %i, %vj: spatial (0, m) = %j, %vk: reduce (0, k) = %l)
        // CHECK-SAME:   reads (%A[%vi, %vk], %B[%vk, %vj]) writes (%C[%vi, %vj]) annotations {note = "x"} {
        tir.block "C" (%vi: spatial (0, n) = %i, %vj: spatial (0, m) = %j, %vk: reduce (0, k) = %l) reads (%A[%vi, %vk], %B[%vk, %vj]) writes (%C[%vi, %vj]) annotations {"note" = "x"} {
          // CHECK-NEXT: tir.init {
          tir.init {
            %z = arith.constant 0.0 : f32
            // CHECK: tir.store %z, %C[%vi, %vj] : !tir.buffer<[n, m], f32>
            tir.store %z, %C[%vi, %vj] : !tir.buffer<[n, m], f32>
          }
          // CHECK: %c = tir.load %C[%vi, %vj] : !tir.buffer<[n, m], f32>
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

// -----

// Predicates, regions with extents, opaque axes, and a block in a block.
// CHECK-LABEL: @tiled
tir.prim_func @tiled(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n], f32>) {
  tir.for %i in (0, n floordiv 4 + 1) {
    // CHECK:      tir.block "outer" (%vo: opaque (0, n floordiv 4 + 1) = %i)
    // CHECK-SAME:   reads (%X[%vo * 4 : min(-%vo * 4 + n, 4)]) writes (%Y[%vo * 4 : 4]) {
    tir.block "outer" (%vo: opaque (0, n floordiv 4 + 1) = %i) reads (%X[%vo * 4 : min(4, n - %vo * 4)]) writes (%Y[%vo * 4 : 4]) {
      tir.for %j in (0, 4) {
        // CHECK:      tir.block "inner" (%vi: spatial (0, n) = %vo * 4 + %j) where (%vo * 4 + %j < n, %j < 4)
        // CHECK-SAME:   reads (%X[%vi]) writes (%Y[%vi]) {
        tir.block "inner" (%vi: spatial (0, n) = %vo * 4 + %j) where (%vo * 4 + %j < n, %j < 4) reads (%X[%vi]) writes (%Y[%vi]) {
          %x = tir.load %X[%vi] : !tir.buffer<[n], f32>
          tir.store %x, %Y[%vi] : !tir.buffer<[n], f32>
        }
      }
    }
  }
  // CHECK: tir.block "empty" () {
  tir.block "empty" () {
  }
}

// -----

// Scratch memory, views, index arithmetic, calls out and assertions.
// CHECK-LABEL: @memory
tir.prim_func @memory(%X: !tir.buffer<[16, n], f32>, %ok: i1) {
  // CHECK: %A = tir.alloc_buffer : !tir.buffer<[n], f32>
  %A = tir.alloc_buffer : !tir.buffer<[n], f32>
  // CHECK: %B = tir.alloc_buffer "scratch" : !tir.buffer<[4], i8, "shared">
  %B = tir.alloc_buffer "scratch" : !tir.buffer<[4], i8, "shared">
  // CHECK: tir.assert %ok, "n must be even"
  tir.assert %ok, "n must be even"
  tir.for %i in (0, 4) {
    // CHECK: %V = tir.match_buffer %X[%i * 4, 0] : !tir.buffer<[16, n], f32> to !tir.buffer<[4, n], f32>
    %V = tir.match_buffer %X[%i * 4, 0] : !tir.buffer<[16, n], f32> to !tir.buffer<[4, n], f32>
    // CHECK: %k = tir.apply (%i + %i * %i * n) mod (n + 1)
    %k = tir.apply (%i * n * %i + %i) mod (n + 1)
    // CHECK: %c = tir.apply 7
    %c = tir.apply 3 + 4
    %v = tir.load %X[%i, %k] : !tir.buffer<[16, n], f32>
    // CHECK: %r = tir.call_extern "fmaf"(%v, %v, %v) : (f32, f32, f32) -> f32
    %r = tir.call_extern "fmaf"(%v, %v, %v) : (f32, f32, f32) -> f32
    // CHECK: tir.call_extern "tick"() : () -> ()
    tir.call_extern "tick"() : () -> ()
  }
}

// -----

// Attributes on their own.
// CHECK:      "test.op"() {
// CHECK-SAME:   axis = #tir.axis<"spatial", #sym.expr<0>, #sym.expr<n>>,
// CHECK-SAME:   bound = #tir.bound<n, 4>,
// CHECK-SAME:   region = #tir.region<[#sym.expr<0>], [#sym.expr<n>]>
"test.op"() {"axis" = #tir.axis<"spatial", #sym.expr<0>, #sym.expr<n>>, "bound" = #tir.bound<n, 4>, "region" = #tir.region<[#sym.expr<0>], [#sym.expr<n>]>} : () -> ()

// -----

// Regions may use operands that no axis is bound to.
// CHECK-LABEL: tir.prim_func @unbound
// CHECK:         tir.block "b" (%v: spatial (0, 1) = 0) reads (%X[%i]) writes (%Y[%i])
tir.prim_func @unbound(%X: !tir.buffer<[4], f32>, %Y: !tir.buffer<[4], f32>) {
  tir.for %i in (0, 4) {
    tir.block "b" (%v: spatial (0, 1) = 0) reads (%X[%i]) writes (%Y[%i]) {
      %x = tir.load %X[%i] : !tir.buffer<[4], f32>
      tir.store %x, %Y[%i] : !tir.buffer<[4], f32>
    }
  }
}

// CHECK-LABEL: tir.prim_func @unsigned(%s: i8, %t: i8) unsigned ("t") {
tir.prim_func @unsigned(%s: i8, %t: i8) unsigned ("t") {
}
