// RUN: xrelax-opt %s -p combine-parallel-matmul --split-input-file | filecheck %s

// Matmuls of one tensor; the matrix with a symbolic number of columns is the last.
// CHECK-LABEL: @products
relax.func @products(%x: !relax.tensor<[n, 8], f32>, %a: !relax.tensor<[8, m], f32>, %b: !relax.tensor<[8, 4], f32>) -> tuple<!relax.tensor<[n, m], f32>, !relax.tensor<[n, 4], f32>> {
  // CHECK-NEXT: %0 = relax.concat %b, %a {axis = 1 : i64} : {{.*}} -> !relax.tensor<[8, m + 4], f32>
  // CHECK-NEXT: %1 = relax.matmul %x, %0
  // CHECK-NEXT: %2 = relax.split %1 {indices_or_sections = [#sym.expr<4>], axis = 1 : i64}
  // CHECK-NEXT: %3 = relax.tuple_get_item %2[1]
  // CHECK-NEXT: %4 = relax.tuple_get_item %2[0]
  // CHECK-NEXT: relax.tuple(%3, %4)
  %0 = relax.matmul %x, %a : !relax.tensor<[n, 8], f32>, !relax.tensor<[8, m], f32> -> !relax.tensor<[n, m], f32>
  %1 = relax.matmul %x, %b : !relax.tensor<[n, 8], f32>, !relax.tensor<[8, 4], f32> -> !relax.tensor<[n, 4], f32>
  %r = relax.tuple(%0, %1) : (!relax.tensor<[n, m], f32>, !relax.tensor<[n, 4], f32>) -> tuple<!relax.tensor<[n, m], f32>, !relax.tensor<[n, 4], f32>>
  relax.return %r : tuple<!relax.tensor<[n, m], f32>, !relax.tensor<[n, 4], f32>>
}

// -----

// Biases and activations that all of them have are combined too; a bias for all columns is not.
// CHECK-LABEL: @biases
relax.func @biases(%x: !relax.tensor<[n, 8], f32>, %a: !relax.tensor<[8, 3], f32>, %b: !relax.tensor<[8, 4], f32>, %p: !relax.tensor<[3], f32>, %q: !relax.tensor<[4], f32>) -> !relax.tensor<[n, 7], f32> {
  // CHECK-NEXT: %0 = relax.concat %a, %b {axis = 1 : i64}
  // CHECK-NEXT: %1 = relax.matmul %x, %0
  // CHECK-NEXT: %2 = relax.concat %p, %q
  // CHECK-NEXT: %3 = relax.add %1, %2
  // CHECK-NEXT: %4 = relax.nn.relu %3
  // CHECK-NEXT: %5 = relax.split %4
  // CHECK-NEXT: %6 = relax.tuple_get_item %5[0]
  // CHECK-NEXT: %7 = relax.tuple_get_item %5[1]
  // CHECK-NEXT: relax.concat %6, %7
  %0 = relax.matmul %x, %a : !relax.tensor<[n, 8], f32>, !relax.tensor<[8, 3], f32> -> !relax.tensor<[n, 3], f32>
  %1 = relax.add %0, %p : !relax.tensor<[n, 3], f32>, !relax.tensor<[3], f32> -> !relax.tensor<[n, 3], f32>
  %2 = relax.nn.relu %1 : !relax.tensor<[n, 3], f32> -> !relax.tensor<[n, 3], f32>
  %3 = relax.matmul %x, %b : !relax.tensor<[n, 8], f32>, !relax.tensor<[8, 4], f32> -> !relax.tensor<[n, 4], f32>
  %4 = relax.add %3, %q : !relax.tensor<[n, 4], f32>, !relax.tensor<[4], f32> -> !relax.tensor<[n, 4], f32>
  %5 = relax.nn.relu %4 : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %6 = relax.concat %2, %5 {axis = 1 : i64} : (!relax.tensor<[n, 3], f32>, !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 7], f32>
  relax.return %6 : !relax.tensor<[n, 7], f32>
}

// -----

// Matrices of other ranks stay apart, and so does one that is computed after the first product.
// CHECK-LABEL: @apart
relax.func @apart(%x: !relax.tensor<[8, 8], f32>, %a: !relax.tensor<[8, 8], f32>, %b: !relax.tensor<[2, 8, 8], f32>) -> tuple<!relax.tensor<[8, 8], f32>, !relax.tensor<[2, 8, 8], f32>> {
  // CHECK-NEXT: relax.matmul %x, %a
  // CHECK-NEXT: relax.matmul %x, %0
  // CHECK-NEXT: relax.matmul %x, %b
  %0 = relax.matmul %x, %a : !relax.tensor<[8, 8], f32>, !relax.tensor<[8, 8], f32> -> !relax.tensor<[8, 8], f32>
  %1 = relax.matmul %x, %0 : !relax.tensor<[8, 8], f32>, !relax.tensor<[8, 8], f32> -> !relax.tensor<[8, 8], f32>
  %2 = relax.matmul %x, %b : !relax.tensor<[8, 8], f32>, !relax.tensor<[2, 8, 8], f32> -> !relax.tensor<[2, 8, 8], f32>
  %r = relax.tuple(%1, %2) : (!relax.tensor<[8, 8], f32>, !relax.tensor<[2, 8, 8], f32>) -> tuple<!relax.tensor<[8, 8], f32>, !relax.tensor<[2, 8, 8], f32>>
  relax.return %r : tuple<!relax.tensor<[8, 8], f32>, !relax.tensor<[2, 8, 8], f32>>
}

// -----

// Matrices of other batch dims are combined among themselves.
// CHECK-LABEL: @batches
relax.func @batches(%x: !relax.tensor<[2, 8, 8], f32>, %a: !relax.tensor<[2, 8, 3], f32>, %b: !relax.tensor<[1, 8, 4], f32>, %c: !relax.tensor<[2, 8, 5], f32>) -> !relax.tensor<[2, 8, 12], f32> {
  // CHECK-NEXT: %[[W:.*]] = relax.concat %a, %c {axis = 2 : i64}
  // CHECK-NEXT: relax.matmul %x, %[[W]]
  // CHECK: relax.matmul %x, %b
  // CHECK-NOT: relax.matmul
  %0 = relax.matmul %x, %a : !relax.tensor<[2, 8, 8], f32>, !relax.tensor<[2, 8, 3], f32> -> !relax.tensor<[2, 8, 3], f32>
  %1 = relax.matmul %x, %b : !relax.tensor<[2, 8, 8], f32>, !relax.tensor<[1, 8, 4], f32> -> !relax.tensor<[2, 8, 4], f32>
  %2 = relax.matmul %x, %c : !relax.tensor<[2, 8, 8], f32>, !relax.tensor<[2, 8, 5], f32> -> !relax.tensor<[2, 8, 5], f32>
  %r = relax.concat %0, %1, %2 {axis = 2 : i64} : (!relax.tensor<[2, 8, 3], f32>, !relax.tensor<[2, 8, 4], f32>, !relax.tensor<[2, 8, 5], f32>) -> !relax.tensor<[2, 8, 12], f32>
  relax.return %r : !relax.tensor<[2, 8, 12], f32>
}
