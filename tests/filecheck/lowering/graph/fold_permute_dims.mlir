// RUN: xrelax-opt %s -p fold-permute-dims,dce --split-input-file | filecheck %s

// Two permutations are one.

// CHECK-LABEL: @two
// CHECK-NEXT:    %[[Y:.*]] = relax.permute_dims %x {axes = array<i64: 1, 2, 0>}
// CHECK-NEXT:    relax.return %[[Y]]
relax.func @two(%x: !relax.tensor<[n, 3, 4], f32>) -> !relax.tensor<[3, 4, n], f32> {
  %0 = relax.permute_dims %x {axes = array<i64: 1, 0, 2>} : !relax.tensor<[n, 3, 4], f32> -> !relax.tensor<[3, n, 4], f32>
  %1 = relax.permute_dims %0 {axes = array<i64: 0, 2, 1>} : !relax.tensor<[3, n, 4], f32> -> !relax.tensor<[3, 4, n], f32>
  relax.return %1 : !relax.tensor<[3, 4, n], f32>
}

// -----

// Through a reshape that joins heads with a batch of one, both cancel.

// CHECK-LABEL: @heads
// CHECK-NEXT:    %[[Y:.*]] = relax.reshape %x
// CHECK-NEXT:    relax.return %[[Y]]
relax.func @heads(%x: !relax.tensor<[1, n, 12, 64], f32>) -> !relax.tensor<[n, 12, 64], f32> {
  %0 = relax.permute_dims %x {axes = array<i64: 0, 2, 1, 3>} : !relax.tensor<[1, n, 12, 64], f32> -> !relax.tensor<[1, 12, n, 64], f32>
  %1 = relax.reshape %0 {shape = [#sym.expr<12>, #sym.expr<n>, #sym.expr<64>]} : !relax.tensor<[1, 12, n, 64], f32> -> !relax.tensor<[12, n, 64], f32>
  %2 = relax.permute_dims %1 {axes = array<i64: 1, 0, 2>} : !relax.tensor<[12, n, 64], f32> -> !relax.tensor<[n, 12, 64], f32>
  relax.return %2 : !relax.tensor<[n, 12, 64], f32>
}

// -----

// Dims that a reshape splits stay together in their order.

// CHECK-LABEL: @split
// CHECK-NEXT:    %[[P:.*]] = relax.permute_dims %x {axes = array<i64: 1, 2, 0>}
// CHECK-NEXT:    %[[Y:.*]] = relax.reshape %[[P]]
// CHECK-NEXT:    relax.return %[[Y]]
relax.func @split(%x: !relax.tensor<[6, n, 8], f32>) -> !relax.tensor<[n, 8, 2, 3], f32> {
  %0 = relax.permute_dims %x {axes = array<i64: 0, 2, 1>} : !relax.tensor<[6, n, 8], f32> -> !relax.tensor<[6, 8, n], f32>
  %1 = relax.reshape %0 {shape = [#sym.expr<2>, #sym.expr<3>, #sym.expr<8>, #sym.expr<n>]} : !relax.tensor<[6, 8, n], f32> -> !relax.tensor<[2, 3, 8, n], f32>
  %2 = relax.permute_dims %1 {axes = array<i64: 3, 2, 0, 1>} : !relax.tensor<[2, 3, 8, n], f32> -> !relax.tensor<[n, 8, 2, 3], f32>
  relax.return %2 : !relax.tensor<[n, 8, 2, 3], f32>
}

// -----

// A reshape whose parts are permuted stays between both.

// CHECK-LABEL: @parts
// CHECK-NEXT:    relax.permute_dims
// CHECK-NEXT:    relax.reshape
// CHECK-NEXT:    relax.permute_dims
relax.func @parts(%x: !relax.tensor<[6, n], f32>) -> !relax.tensor<[3, 2, n], f32> {
  %0 = relax.permute_dims %x : !relax.tensor<[6, n], f32> -> !relax.tensor<[n, 6], f32>
  %1 = relax.reshape %0 {shape = [#sym.expr<n>, #sym.expr<2>, #sym.expr<3>]} : !relax.tensor<[n, 6], f32> -> !relax.tensor<[n, 2, 3], f32>
  %2 = relax.permute_dims %1 {axes = array<i64: 2, 1, 0>} : !relax.tensor<[n, 2, 3], f32> -> !relax.tensor<[3, 2, n], f32>
  relax.return %2 : !relax.tensor<[3, 2, n], f32>
}

// -----

// A permutation of dims of 1 is a reshape.

// CHECK-LABEL: @ones
// CHECK-NEXT:    %[[Y:.*]] = relax.reshape %x
// CHECK-NEXT:    relax.return %[[Y]]
relax.func @ones(%x: !relax.tensor<[4, 1, n], f32>) -> !relax.tensor<[1, 4, n], f32> {
  %0 = relax.permute_dims %x {axes = array<i64: 1, 0, 2>} : !relax.tensor<[4, 1, n], f32> -> !relax.tensor<[1, 4, n], f32>
  relax.return %0 : !relax.tensor<[1, 4, n], f32>
}

// -----

// One permutation alone stays.

// CHECK-LABEL: @alone
// CHECK-NEXT:    relax.permute_dims %x
// CHECK-NEXT:    relax.reshape
relax.func @alone(%x: !relax.tensor<[4, n], f32>) -> !relax.tensor<[n, 2, 2], f32> {
  %0 = relax.permute_dims %x : !relax.tensor<[4, n], f32> -> !relax.tensor<[n, 4], f32>
  %1 = relax.reshape %0 {shape = [#sym.expr<n>, #sym.expr<2>, #sym.expr<2>]} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 2, 2], f32>
  relax.return %1 : !relax.tensor<[n, 2, 2], f32>
}

// -----

// Of a tensor of unknown shape, nothing is known.

// CHECK-LABEL: @unknown
// CHECK-NEXT:    relax.permute_dims %x
// CHECK-NEXT:    relax.permute_dims
relax.func @unknown(%x: !relax.tensor<*, f32>) -> !relax.tensor<*, f32> {
  %0 = relax.permute_dims %x : !relax.tensor<*, f32> -> !relax.tensor<*, f32>
  %1 = relax.permute_dims %0 : !relax.tensor<*, f32> -> !relax.tensor<*, f32>
  relax.return %1 : !relax.tensor<*, f32>
}
