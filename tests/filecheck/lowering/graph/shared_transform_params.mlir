// RUN: xrelax-opt %s -p 'lift-transform-params{shared_transform=true}' --split-input-file --verify-diagnostics | filecheck %s

// Both functions transpose %w, and only the first needs %v for more: that stays.
// CHECK-LABEL: relax.func @transform_params(%params: tuple<!relax.tensor<[4, 3], f32>, !relax.tensor<[3], f32>>) -> tuple<!relax.tensor<[3], f32>, !relax.tensor<[3, 4], f32>> attributes {num_input = 0 : i64}
// CHECK:      %w = relax.tuple_get_item %params[0]
// CHECK-NEXT: %t = relax.permute_dims %w
// CHECK:      relax.tuple(%v, %t)
// CHECK-LABEL: relax.func @a(%x: !relax.tensor<[n, 3], f32>, %v: !relax.tensor<[3], f32>, %t: !relax.tensor<[3, 4], f32>)
// CHECK-NEXT:   relax.exp %v
// CHECK-LABEL: relax.func @b(%x: !relax.tensor<[n, 3], f32>, %v: !relax.tensor<[3], f32>, %u: !relax.tensor<[3, 4], f32>)
// CHECK-NEXT:   relax.matmul %x, %u
relax.func @a(%x: !relax.tensor<[n, 3], f32>, %w: !relax.tensor<[4, 3], f32>, %v: !relax.tensor<[3], f32>) -> !relax.tensor<[n, 4], f32> attributes {num_input = 1 : i64} {
  %e = relax.exp %v : !relax.tensor<[3], f32> -> !relax.tensor<[3], f32>
  %t = relax.permute_dims %w : !relax.tensor<[4, 3], f32> -> !relax.tensor<[3, 4], f32>
  %s = relax.add %x, %e : !relax.tensor<[n, 3], f32>, !relax.tensor<[3], f32> -> !relax.tensor<[n, 3], f32>
  %0 = relax.matmul %s, %t : !relax.tensor<[n, 3], f32>, !relax.tensor<[3, 4], f32> -> !relax.tensor<[n, 4], f32>
  relax.return %0 : !relax.tensor<[n, 4], f32>
}
relax.func @b(%x: !relax.tensor<[n, 3], f32>, %w: !relax.tensor<[4, 3], f32>, %v: !relax.tensor<[3], f32>) -> !relax.tensor<[n, 4], f32> attributes {num_input = 1 : i64} {
  %u = relax.permute_dims %w : !relax.tensor<[4, 3], f32> -> !relax.tensor<[3, 4], f32>
  %0 = relax.matmul %x, %u : !relax.tensor<[n, 3], f32>, !relax.tensor<[3, 4], f32> -> !relax.tensor<[n, 4], f32>
  relax.return %0 : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected 'b' to have the parameters of 'a' (!relax.tensor<[3], f32>), got !relax.tensor<[4], f32>
relax.func @a(%x: !relax.tensor<[n], f32>, %w: !relax.tensor<[3], f32>) -> !relax.tensor<[3], f32> attributes {num_input = 1 : i64} {
  relax.return %w : !relax.tensor<[3], f32>
}
relax.func @b(%x: !relax.tensor<[n], f32>, %w: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> attributes {num_input = 1 : i64} {
  relax.return %w : !relax.tensor<[4], f32>
}
