// RUN: xrelax-opt %s --split-input-file | filecheck %s
// RUN: xrelax-opt %s --split-input-file --print-op-generic | xrelax-opt --split-input-file | filecheck %s

// Numbers of a tensor as a shape, whose dims a cast declares.
// CHECK-LABEL: @declare
relax.func @declare(%x: !relax.tensor<[n], f32>, %c: !relax.tensor<[2], i64>) -> !relax.tensor<rank 2, f32> {
  // CHECK: %s = relax.tensor_to_shape %c at_most [#sym.expr<n>, #sym.expr<n * 2>] : !relax.tensor<[2], i64> -> !relax.shape<rank 2>
  %s = relax.tensor_to_shape %c at_most [#sym.expr<n>, #sym.expr<n * 2>] : !relax.tensor<[2], i64> -> !relax.shape<rank 2>
  // CHECK: %d = relax.match_cast %s : !relax.shape<rank 2> -> !relax.shape<[k, l]>
  %d = relax.match_cast %s : !relax.shape<rank 2> -> !relax.shape<[k, l]>
  // CHECK: %z = relax.zeros {shape = [#sym.expr<k>, #sym.expr<l>]} : !relax.tensor<[k, l], f32>
  %z = "relax.zeros"() <{shape = [#sym.expr<k>, #sym.expr<l>]}> : () -> !relax.tensor<[k, l], f32>
  relax.return %z : !relax.tensor<[k, l], f32>
}

// -----

// The positions of elements, of unknown number or with a given one.
// CHECK-LABEL: @positions
relax.func @positions(%x: !relax.tensor<[n, 3], f32>) -> !relax.tensor<[2, 4], i64> {
  // CHECK: %a = relax.nonzero %x : !relax.tensor<[n, 3], f32> -> !relax.tensor<rank 2, i64>
  %a = relax.nonzero %x : !relax.tensor<[n, 3], f32> -> !relax.tensor<rank 2, i64>
  // CHECK: %b = relax.nonzero %x {size = [#sym.expr<4>]} : !relax.tensor<[n, 3], f32> -> !relax.tensor<[2, 4], i64>
  %b = relax.nonzero %x {size = [#sym.expr<4>]} : !relax.tensor<[n, 3], f32> -> !relax.tensor<[2, 4], i64>
  relax.return %b : !relax.tensor<[2, 4], i64>
}

// -----

// Different elements or rows, of unknown number or of a given one.
// CHECK-LABEL: @different
relax.func @different(%x: !relax.tensor<[n, 3], f32>) -> !relax.tensor<rank 1, f32> {
  // CHECK: %a = relax.unique %x : !relax.tensor<[n, 3], f32> -> !relax.tensor<rank 1, f32>
  %a = relax.unique %x : !relax.tensor<[n, 3], f32> -> !relax.tensor<rank 1, f32>
  // CHECK: %b = relax.unique %x {axis = 0 : i64, return_inverse = true, return_counts = true} : !relax.tensor<[n, 3], f32> -> tuple<!relax.tensor<rank 2, f32>, !relax.tensor<[n], i64>, !relax.tensor<rank 1, i64>>
  %b = relax.unique %x {axis = 0 : i64, return_inverse = true, return_counts = true} : !relax.tensor<[n, 3], f32> -> tuple<!relax.tensor<rank 2, f32>, !relax.tensor<[n], i64>, !relax.tensor<rank 1, i64>>
  // CHECK: %c = relax.unique %x {sorted = false, axis = 0 : i64, return_index = true, size = [#sym.expr<4>]} : !relax.tensor<[n, 3], f32> -> tuple<!relax.tensor<[4, 3], f32>, !relax.tensor<[4], i64>>
  %c = relax.unique %x {sorted = false, axis = 0 : i64, return_index = true, size = [#sym.expr<4>]} : !relax.tensor<[n, 3], f32> -> tuple<!relax.tensor<[4, 3], f32>, !relax.tensor<[4], i64>>
  relax.return %a : !relax.tensor<rank 1, f32>
}
// -----

// Slices whose bounds are data, of unknown or given dims, and their lengths.
// CHECK-LABEL: @slices
relax.func @slices(%x: !relax.tensor<[n], f32>, %b: !relax.tensor<[1], i64>) -> !relax.tensor<[1], i64> {
  // CHECK: %a = relax.dynamic_strided_slice %x, %b, %b, %b : !relax.tensor<[n], f32>, !relax.tensor<[1], i64>, !relax.tensor<[1], i64>, !relax.tensor<[1], i64> -> !relax.tensor<rank 1, f32>
  %a = relax.dynamic_strided_slice %x, %b, %b, %b : !relax.tensor<[n], f32>, !relax.tensor<[1], i64>, !relax.tensor<[1], i64>, !relax.tensor<[1], i64> -> !relax.tensor<rank 1, f32>
  // CHECK: %c = relax.dynamic_strided_slice %x, %b, %b, %b {size = [#sym.expr<4>]} : {{.*}} -> !relax.tensor<[4], f32>
  %c = relax.dynamic_strided_slice %x, %b, %b, %b {size = [#sym.expr<4>]} : !relax.tensor<[n], f32>, !relax.tensor<[1], i64>, !relax.tensor<[1], i64>, !relax.tensor<[1], i64> -> !relax.tensor<[4], f32>
  // CHECK: %d = relax.dynamic_strided_slice_lengths %x, %b, %b, %b : {{.*}} -> !relax.tensor<[1], i64>
  %d = relax.dynamic_strided_slice_lengths %x, %b, %b, %b : !relax.tensor<[n], f32>, !relax.tensor<[1], i64>, !relax.tensor<[1], i64>, !relax.tensor<[1], i64> -> !relax.tensor<[1], i64>
  relax.return %d : !relax.tensor<[1], i64>
}
