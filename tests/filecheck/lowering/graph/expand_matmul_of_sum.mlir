// RUN: xrelax-opt %s -p expand-matmul-of-sum | filecheck %s

// A product with a sum is the sum of products.
// CHECK-LABEL: relax.func @plain
// CHECK-NEXT:    %[[L:.*]] = relax.matmul %x, %a
// CHECK-NEXT:    %[[R:.*]] = relax.matmul %x, %b
// CHECK-NEXT:    %[[Y:.*]] = relax.add %[[L]], %[[R]]
// CHECK-NEXT:    relax.return %[[Y]]
relax.func @plain(%x: !relax.tensor<[n, 4], f32>, %a: !relax.tensor<[4, 3], f32>, %b: !relax.tensor<[4, 3], f32>) -> !relax.tensor<[n, 3], f32> {
  %0 = relax.add %a, %b : !relax.tensor<[4, 3], f32>, !relax.tensor<[4, 3], f32> -> !relax.tensor<[4, 3], f32>
  %1 = relax.matmul %x, %0 : !relax.tensor<[n, 4], f32>, !relax.tensor<[4, 3], f32> -> !relax.tensor<[n, 3], f32>
  relax.return %1 : !relax.tensor<[n, 3], f32>
}

// The sum may be transposed.
// CHECK-LABEL: relax.func @transposed
// CHECK-NEXT:    %[[A:.*]] = relax.permute_dims %a
// CHECK-NEXT:    relax.matmul %x, %[[A]]
// CHECK-NEXT:    %[[B:.*]] = relax.permute_dims %b
// CHECK-NEXT:    relax.matmul %x, %[[B]]
// CHECK-NEXT:    relax.add
relax.func @transposed(%x: !relax.tensor<[n, 4], f32>, %a: !relax.tensor<[3, 4], f32>, %b: !relax.tensor<[3, 4], f32>) -> !relax.tensor<[n, 3], f32> {
  %0 = relax.add %a, %b : !relax.tensor<[3, 4], f32>, !relax.tensor<[3, 4], f32> -> !relax.tensor<[3, 4], f32>
  %1 = relax.permute_dims %0 : !relax.tensor<[3, 4], f32> -> !relax.tensor<[4, 3], f32>
  %2 = relax.matmul %x, %1 : !relax.tensor<[n, 4], f32>, !relax.tensor<[4, 3], f32> -> !relax.tensor<[n, 3], f32>
  relax.return %2 : !relax.tensor<[n, 3], f32>
}

// A sum of parameters is computed before the inputs are known, and stays; so does a broadcast sum.
// CHECK-LABEL: relax.func @kept
// CHECK-NEXT:    relax.add
// CHECK-NEXT:    relax.matmul
// CHECK-NEXT:    relax.add
// CHECK-NEXT:    relax.matmul
relax.func @kept(%x: !relax.tensor<[n, 4], f32>, %b: !relax.tensor<[4], f32>, %w: !relax.tensor<[4, 4], f32>) -> !relax.tensor<[n, 4], f32> attributes {num_input = 2 : i64} {
  %0 = relax.add %w, %w : !relax.tensor<[4, 4], f32>, !relax.tensor<[4, 4], f32> -> !relax.tensor<[4, 4], f32>
  %1 = relax.matmul %x, %0 : !relax.tensor<[n, 4], f32>, !relax.tensor<[4, 4], f32> -> !relax.tensor<[n, 4], f32>
  %2 = relax.add %w, %b : !relax.tensor<[4, 4], f32>, !relax.tensor<[4], f32> -> !relax.tensor<[4, 4], f32>
  %3 = relax.matmul %1, %2 : !relax.tensor<[n, 4], f32>, !relax.tensor<[4, 4], f32> -> !relax.tensor<[n, 4], f32>
  relax.return %3 : !relax.tensor<[n, 4], f32>
}
