// RUN: xrelax-opt %s -p unroll-loops --split-input-file --verify-diagnostics | filecheck %s

// CHECK: in '@symbolic': expected unrolled loop 'j' to have a constant extent, got -i + n
loops.func @symbolic(%Y: !tir.buffer<[n], f32>) symbols [n] noalias {
  %zero = arith.constant 0.0 : f32
  loops.for %i in (0, n) {
    loops.for %j in (0, n - %i) unrolled {
      loops.store %zero, %Y[%i + %j] : !tir.buffer<[n], f32>, f32
    }
  }
}
