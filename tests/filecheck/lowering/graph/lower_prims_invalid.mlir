// RUN: xrelax-opt %s -p lower-prims --split-input-file --verify-diagnostics | filecheck %s

// CHECK: expected 'times' of 'repeat' as an integer over symbols, as shapes, loops or indices use it, got a scalar of unknown value
tir.prim_func @repeat(%X: !tir.buffer<[4], f32>, %times: index, %Y: !tir.buffer<[4], f32>) {
  tir.for %k in (0, times) {
    %0 = tir.load %X[0] : !tir.buffer<[4], f32>
    tir.store %0, %Y[0] : !tir.buffer<[4], f32>
  }
}
relax.func @main(%x: !relax.tensor<[4], f32>, %n: !relax.prim<i64>) -> !relax.tensor<[4], f32> {
  %y = relax.call_tir @repeat(%x, %n) : (!relax.tensor<[4], f32>, !relax.prim<i64>) -> !relax.tensor<[4], f32>
  relax.return %y : !relax.tensor<[4], f32>
}
