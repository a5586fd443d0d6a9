// RUN: xrelax-opt %s -p reorder-take-after-matmul | filecheck %s

// Columns of a weight are columns of the product.
// CHECK-LABEL: relax.func @columns
// CHECK-NEXT:    %[[P:.*]] = relax.matmul %x, %w
// CHECK-NEXT:    %{{.*}} = relax.take %[[P]], %i {axis = 2 : i64}
// CHECK-NEXT:    relax.return
relax.func @columns(%x: !relax.tensor<[n, 1, 4], f32>, %w: !relax.tensor<[4, m], f32>, %i: !relax.tensor<[3], i64>) -> !relax.tensor<[n, 1, 3], f32> {
  %0 = relax.take %w, %i {axis = 1 : i64} : !relax.tensor<[4, m], f32>, !relax.tensor<[3], i64> -> !relax.tensor<[4, 3], f32>
  %1 = relax.matmul %x, %0 : !relax.tensor<[n, 1, 4], f32>, !relax.tensor<[4, 3], f32> -> !relax.tensor<[n, 1, 3], f32>
  relax.return %1 : !relax.tensor<[n, 1, 3], f32>
}

// A matrix for each batch: all products, and the one of the batch.
// CHECK-LABEL: relax.func @matrices
// CHECK-NEXT:    %[[A:.*]] = relax.permute_dims %w {axes = array<i64: 1, 0, 2>}
// CHECK-NEXT:    %[[B:.*]] = relax.reshape %[[A]]
// CHECK-NEXT:    %[[C:.*]] = relax.matmul %x, %[[B]]
// CHECK-NEXT:    %[[D:.*]] = relax.reshape %[[C]]
// CHECK-NEXT:    %[[E:.*]] = relax.take %[[D]], %i {axis = 2 : i64}
// CHECK-NEXT:    relax.einsum %[[E]] {subscripts = "ijik->ijk"}
relax.func @matrices(%x: !relax.tensor<[n, 1, 4], f32>, %w: !relax.tensor<[m, 4, 3], f32>, %i: !relax.tensor<[n], i64>) -> !relax.tensor<[n, 1, 3], f32> {
  %0 = relax.take %w, %i {axis = 0 : i64} : !relax.tensor<[m, 4, 3], f32>, !relax.tensor<[n], i64> -> !relax.tensor<[n, 4, 3], f32>
  %1 = relax.matmul %x, %0 : !relax.tensor<[n, 1, 4], f32>, !relax.tensor<[n, 4, 3], f32> -> !relax.tensor<[n, 1, 3], f32>
  relax.return %1 : !relax.tensor<[n, 1, 3], f32>
}

// Rows of a weight are summed over, and stay.
// CHECK-LABEL: relax.func @rows
// CHECK-NEXT:    relax.take
// CHECK-NEXT:    relax.matmul
relax.func @rows(%x: !relax.tensor<[n, 3], f32>, %w: !relax.tensor<[m, 4], f32>, %i: !relax.tensor<[3], i64>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.take %w, %i {axis = 0 : i64} : !relax.tensor<[m, 4], f32>, !relax.tensor<[3], i64> -> !relax.tensor<[3, 4], f32>
  %1 = relax.matmul %x, %0 : !relax.tensor<[n, 3], f32>, !relax.tensor<[3, 4], f32> -> !relax.tensor<[n, 4], f32>
  relax.return %1 : !relax.tensor<[n, 4], f32>
}
