// RUN: xrelax-opt %s | filecheck %s
// RUN: xrelax-opt %s --print-op-generic | xrelax-opt | filecheck %s

// CHECK-LABEL: @scratch
// CHECK:         %slot = rt.slot 16
tir.prim_func @scratch(%X: !tir.buffer<[n], f32>) {
  tir.for %i in (0, n) parallel {
    %slot = rt.slot 16
  }
}
