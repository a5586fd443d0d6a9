// RUN: xrelax-opt %s -p specialize-prim-funcs --split-input-file --verify-diagnostics | filecheck %s

// A kernel whose loop does not fit every shape is found out at the call with a wrong one.

// CHECK: call of 'first' with n = 4: indices of dim 0 of 'X' take values in [0, 8), outside [0, 4)
tir.prim_func @first(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[8], f32>) {
  tir.for %i in (0, 8) {
    tir.block "Y" (%vi: spatial (0, 8) = %i) reads (%X[%vi]) writes (%Y[%vi]) {
      %x = tir.load %X[%vi] : !tir.buffer<[n], f32>
      tir.store %x, %Y[%vi] : !tir.buffer<[8], f32>
    }
  }
}
relax.func @main(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[8], f32> {
  %0 = relax.call_tir @first(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[8], f32>
  relax.return %0 : !relax.tensor<[8], f32>
}
