// RUN: xrelax-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: expected at least one slot, got 0
tir.prim_func @scratch(%X: !tir.buffer<[n], f32>) {
  %slot = rt.slot 0
}
