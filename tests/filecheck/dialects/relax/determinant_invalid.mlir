// RUN: xrelax-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: expected data of 'relax.det' to have at least 2 dims, got (n,)
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[], f32> {
  %0 = relax.det %x : !relax.tensor<[n], f32> -> !relax.tensor<[], f32>
  relax.return %0 : !relax.tensor<[], f32>
}

// -----

// CHECK: expected data of 'relax.det' to be square matrices, got (n, 3)
relax.func @main(%x: !relax.tensor<[n, 3], f32>) -> !relax.tensor<[], f32> {
  %0 = relax.det %x : !relax.tensor<[n, 3], f32> -> !relax.tensor<[], f32>
  relax.return %0 : !relax.tensor<[], f32>
}

// -----

// CHECK: expected operands of 'relax.det' to be floats, got int32
relax.func @main(%x: !relax.tensor<[n, n], i32>) -> !relax.tensor<[], i32> {
  %0 = relax.det %x : !relax.tensor<[n, n], i32> -> !relax.tensor<[], i32>
  relax.return %0 : !relax.tensor<[], i32>
}
