// RUN: xrelax-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: expected size of 'relax.image.resize2d' to have 2 ints, got 1
relax.func @main(%x: !relax.tensor<[n, c, h, w], f32>) -> !relax.tensor<[n, c, 3, 3], f32> {
  %0 = relax.image.resize2d %x {size = [#sym.expr<3>]} : !relax.tensor<[n, c, h, w], f32> -> !relax.tensor<[n, c, 3, 3], f32>
  relax.return %0 : !relax.tensor<[n, c, 3, 3], f32>
}

// -----

// CHECK: expected scales of 'relax.image.resize1d' to be 1 positive numbers, got (0.0,)
relax.func @main(%x: !relax.tensor<[n, c, w], f32>) -> !relax.tensor<[n, c, 3], f32> {
  %0 = relax.image.resize1d %x {size = [#sym.expr<3>], scales = array<f64: 0.0>} : !relax.tensor<[n, c, w], f32> -> !relax.tensor<[n, c, 3], f32>
  relax.return %0 : !relax.tensor<[n, c, 3], f32>
}

// -----

// CHECK: expected roi of 'relax.image.resize1d' to have 2 numbers, got 1
relax.func @main(%x: !relax.tensor<[n, c, w], f32>) -> !relax.tensor<[n, c, 3], f32> {
  %0 = relax.image.resize1d %x {size = [#sym.expr<3>], roi = array<f64: 0.0>} : !relax.tensor<[n, c, w], f32> -> !relax.tensor<[n, c, 3], f32>
  relax.return %0 : !relax.tensor<[n, c, 3], f32>
}

// -----

// CHECK: expected spatial dims of 'relax.image.resize1d' other than 0, got (n, c, 0)
relax.func @main(%x: !relax.tensor<[n, c, 0], f32>) -> !relax.tensor<[n, c, 3], f32> {
  %0 = relax.image.resize1d %x {size = [#sym.expr<3>]} : !relax.tensor<[n, c, 0], f32> -> !relax.tensor<[n, c, 3], f32>
  relax.return %0 : !relax.tensor<[n, c, 3], f32>
}

// -----

// CHECK: expected grid of 'relax.image.grid_sample' to be (n, 2, …), got (n, 3, 4, 4)
relax.func @main(%x: !relax.tensor<[n, c, h, w], f32>, %g: !relax.tensor<[n, 3, 4, 4], f32>) -> !relax.tensor<[n, c, 4, 4], f32> {
  %0 = relax.image.grid_sample %x, %g : !relax.tensor<[n, c, h, w], f32>, !relax.tensor<[n, 3, 4, 4], f32> -> !relax.tensor<[n, c, 4, 4], f32>
  relax.return %0 : !relax.tensor<[n, c, 4, 4], f32>
}

// -----

// CHECK: expected spatial dims of 'relax.image.grid_sample' other than 0, got (n, c, 0, w)
relax.func @main(%x: !relax.tensor<[n, c, 0, w], f32>, %g: !relax.tensor<[n, 2, 4, 4], f32>) -> !relax.tensor<[n, c, 4, 4], f32> {
  %0 = relax.image.grid_sample %x, %g : !relax.tensor<[n, c, 0, w], f32>, !relax.tensor<[n, 2, 4, 4], f32> -> !relax.tensor<[n, c, 4, 4], f32>
  relax.return %0 : !relax.tensor<[n, c, 4, 4], f32>
}
