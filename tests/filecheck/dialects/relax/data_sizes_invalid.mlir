// RUN: xrelax-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: expected !relax.tensor<[1], i64> for 1 limits, got !relax.tensor<[2], i64>
relax.func @count(%c: !relax.tensor<[2], i64>) -> !relax.tensor<[2], i64> {
  %s = relax.tensor_to_shape %c at_most [#sym.expr<4>] : !relax.tensor<[2], i64> -> !relax.shape<rank 1>
  relax.return %c : !relax.tensor<[2], i64>
}

// -----

// CHECK: expected !relax.tensor<[1], i64> for 1 limits, got !relax.tensor<[1], i32>
relax.func @dtype(%c: !relax.tensor<[1], i32>) -> !relax.tensor<[1], i32> {
  %s = relax.tensor_to_shape %c at_most [#sym.expr<4>] : !relax.tensor<[1], i32> -> !relax.shape<rank 1>
  relax.return %c : !relax.tensor<[1], i32>
}

// -----

// CHECK: expected !relax.shape<rank 1>, got !relax.shape<[4]>
relax.func @result(%c: !relax.tensor<[1], i64>) -> !relax.tensor<[1], i64> {
  %s = relax.tensor_to_shape %c at_most [#sym.expr<4>] : !relax.tensor<[1], i64> -> !relax.shape<[4]>
  relax.return %c : !relax.tensor<[1], i64>
}

// -----

// CHECK: expected size of 'relax.nonzero' to be one dim, got 2
relax.func @size(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[1, 4], i64> {
  %b = relax.nonzero %x {size = [#sym.expr<4>, #sym.expr<4>]} : !relax.tensor<[n], f32> -> !relax.tensor<[1, 4], i64>
  relax.return %b : !relax.tensor<[1, 4], i64>
}

// -----

// CHECK: expected size of 'relax.unique' to be one dim, got 0
relax.func @values(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[4], f32> {
  %b = relax.unique %x {size = []} : !relax.tensor<[n], f32> -> !relax.tensor<[4], f32>
  relax.return %b : !relax.tensor<[4], f32>
}

// -----

// CHECK: expected axis of 'relax.unique' in [-1, 1), got 1
relax.func @axis(%x: !relax.tensor<[n], f32>) -> !relax.tensor<rank 1, f32> {
  %b = relax.unique %x {axis = 1 : i64} : !relax.tensor<[n], f32> -> !relax.tensor<rank 1, f32>
  relax.return %b : !relax.tensor<rank 1, f32>
}

// -----

// CHECK: expected size of 'relax.dynamic_strided_slice' to have 1 dims, got 2
relax.func @slice_size(%x: !relax.tensor<[n], f32>, %b: !relax.tensor<[1], i64>) -> !relax.tensor<[1, 4], f32> {
  %s = relax.dynamic_strided_slice %x, %b, %b, %b {size = [#sym.expr<1>, #sym.expr<4>]} : !relax.tensor<[n], f32>, !relax.tensor<[1], i64>, !relax.tensor<[1], i64>, !relax.tensor<[1], i64> -> !relax.tensor<[1, 4], f32>
  relax.return %s : !relax.tensor<[1, 4], f32>
}

// -----

// CHECK: expected end of 'relax.dynamic_strided_slice' to have 1 numbers, got 2
relax.func @slice_end(%x: !relax.tensor<[n], f32>, %b: !relax.tensor<[1], i64>, %e: !relax.tensor<[2], i64>) -> !relax.tensor<rank 1, f32> {
  %s = relax.dynamic_strided_slice %x, %b, %e, %b : !relax.tensor<[n], f32>, !relax.tensor<[1], i64>, !relax.tensor<[2], i64>, !relax.tensor<[1], i64> -> !relax.tensor<rank 1, f32>
  relax.return %s : !relax.tensor<rank 1, f32>
}

// -----

// CHECK: expected an i64 tensor of rank 1 and known length, got !relax.tensor<[n], i64>
relax.func @count(%c: !relax.tensor<[n], i64>) -> !relax.tensor<[n], i64> {
  %s = relax.tensor_to_shape %c : !relax.tensor<[n], i64> -> !relax.shape<*>
  relax.return %c : !relax.tensor<[n], i64>
}
