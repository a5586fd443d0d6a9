// RUN: xrelax-opt %s | filecheck %s
// RUN: xrelax-opt %s --print-op-generic | xrelax-opt | filecheck %s

// An element behind the end of the buffer may be asked for.

// CHECK-LABEL: @ahead
loops.func @ahead(%X: !tir.buffer<[n, 8], f32>) symbols [n] {
  loops.for %i in (0, n) {
    // CHECK: loops.prefetch %X[%i + 48, 0] : !tir.buffer<[n, 8], f32>
    loops.prefetch %X[%i + 48, 0] : !tir.buffer<[n, 8], f32>
  }
}
