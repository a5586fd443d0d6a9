// RUN: xrelax-opt %s -p bundle-model-params --split-input-file --verify-diagnostics | filecheck %s

// CHECK: expected at least 2 parameters, got 1
relax.func @few(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> attributes {num_input = 2 : i64} {
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected a function that the module does not call
relax.func @called(%x: !relax.tensor<[n], f32>, %w: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> attributes {num_input = 1 : i64} {
  relax.return %x : !relax.tensor<[n], f32>
}
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.call @called(%x, %x) : (!relax.tensor<[n], f32>, !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  relax.return %0 : !relax.tensor<[n], f32>
}
