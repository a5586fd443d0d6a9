// RUN: xrelax-opt %s -p reorder-permute-dims-after-concat | filecheck %s

// One permutation of all tensors is that of their concatenation, along the dim that it moves.
// CHECK-LABEL: relax.func @same
// CHECK-NEXT:    %[[C:.*]] = relax.concat %a, %b :
// CHECK-NEXT:    %[[P:.*]] = relax.permute_dims %[[C]]
// CHECK-NEXT:    relax.return %[[P]]
relax.func @same(%a: !relax.tensor<[n, 4], f32>, %b: !relax.tensor<[m, 4], f32>) -> !relax.tensor<[4, m + n], f32> {
  %0 = relax.permute_dims %a : !relax.tensor<[n, 4], f32> -> !relax.tensor<[4, n], f32>
  %1 = relax.permute_dims %b {axes = array<i64: 1, 0>} : !relax.tensor<[m, 4], f32> -> !relax.tensor<[4, m], f32>
  %2 = relax.concat %0, %1 {axis = 1 : i64} : (!relax.tensor<[4, n], f32>, !relax.tensor<[4, m], f32>) -> !relax.tensor<[4, m + n], f32>
  relax.return %2 : !relax.tensor<[4, m + n], f32>
}

// Other permutations stay, and so does a tensor without one.
// CHECK-LABEL: relax.func @different
// CHECK-NEXT:    relax.permute_dims
// CHECK-NEXT:    relax.permute_dims
// CHECK-NEXT:    relax.concat
// CHECK-NEXT:    relax.concat
relax.func @different(%a: !relax.tensor<[4, 4], f32>) -> !relax.tensor<[12, 4], f32> {
  %0 = relax.permute_dims %a : !relax.tensor<[4, 4], f32> -> !relax.tensor<[4, 4], f32>
  %1 = relax.permute_dims %a {axes = array<i64: 0, 1>} : !relax.tensor<[4, 4], f32> -> !relax.tensor<[4, 4], f32>
  %2 = relax.concat %0, %1 : (!relax.tensor<[4, 4], f32>, !relax.tensor<[4, 4], f32>) -> !relax.tensor<[8, 4], f32>
  %3 = relax.concat %2, %a : (!relax.tensor<[8, 4], f32>, !relax.tensor<[4, 4], f32>) -> !relax.tensor<[12, 4], f32>
  relax.return %3 : !relax.tensor<[12, 4], f32>
}
