// RUN: xrelax-opt %s | filecheck %s
// RUN: xrelax-opt %s --print-op-generic | xrelax-opt | filecheck %s

// Batches of matrices, and their sizes in the results.

// CHECK-LABEL: relax.func @batch
relax.func @batch(%x: !relax.tensor<[n, m, m], f32>, %y: !relax.tensor<[1, m, k], f32>) -> !relax.tensor<[n, m, k], f32> {
  // CHECK-NEXT: %0 = relax.linalg.inv %x : !relax.tensor<[n, m, m], f32> -> !relax.tensor<[n, m, m], f32>
  %0 = relax.linalg.inv %x : !relax.tensor<[n, m, m], f32> -> !relax.tensor<[n, m, m], f32>
  // CHECK-NEXT: %1 = relax.linalg.inv_ex %x : !relax.tensor<[n, m, m], f32> -> tuple<!relax.tensor<[n, m, m], f32>, !relax.tensor<[n], i32>>
  %1 = relax.linalg.inv_ex %x : !relax.tensor<[n, m, m], f32> -> tuple<!relax.tensor<[n, m, m], f32>, !relax.tensor<[n], i32>>
  // CHECK-NEXT: %2 = relax.linalg.solve_triangular %x, %y {upper = true} : !relax.tensor<[n, m, m], f32>, !relax.tensor<[1, m, k], f32> -> !relax.tensor<[n, m, k], f32>
  %2 = relax.linalg.solve_triangular %x, %y {upper = true} : !relax.tensor<[n, m, m], f32>, !relax.tensor<[1, m, k], f32> -> !relax.tensor<[n, m, k], f32>
  // CHECK-NEXT: %3 = relax.linalg.qr %y : !relax.tensor<[1, m, k], f32> -> tuple<!relax.tensor<[1, m, min(k, m)], f32>, !relax.tensor<[1, min(k, m), k], f32>>
  %3 = relax.linalg.qr %y : !relax.tensor<[1, m, k], f32> -> tuple<!relax.tensor<[1, m, min(k, m)], f32>, !relax.tensor<[1, min(k, m), k], f32>>
  // CHECK-NEXT: %4 = relax.linalg.qr %y {mode = "complete"} : !relax.tensor<[1, m, k], f32> -> tuple<!relax.tensor<[1, m, m], f32>, !relax.tensor<[1, m, k], f32>>
  %4 = relax.linalg.qr %y {mode = "complete"} : !relax.tensor<[1, m, k], f32> -> tuple<!relax.tensor<[1, m, m], f32>, !relax.tensor<[1, m, k], f32>>
  relax.return %2 : !relax.tensor<[n, m, k], f32>
}

// Matrices of unknown shape.

// CHECK-LABEL: relax.func @rank
relax.func @rank(%x: !relax.tensor<rank 3, f32>) -> !relax.tensor<rank 2, f32> {
  // CHECK-NEXT: %0 = relax.linalg.svdvals %x : !relax.tensor<rank 3, f32> -> !relax.tensor<rank 2, f32>
  %0 = relax.linalg.svdvals %x : !relax.tensor<rank 3, f32> -> !relax.tensor<rank 2, f32>
  relax.return %0 : !relax.tensor<rank 2, f32>
}

// LU decompositions that must have no pivot of 0, and the order of their rows.
// CHECK-LABEL: @lu
relax.func @lu(%x: !relax.tensor<[n, n, 3], f32>) -> !relax.tensor<[n, n], i32> {
  // CHECK: %0 = relax.linalg.lu_factor %x {check_errors = true} : !relax.tensor<[n, n, 3], f32> -> tuple<!relax.tensor<[n, n, 3], f32>, !relax.tensor<[n, min(3, n)], i32>, !relax.tensor<[n], i32>>
  %0 = relax.linalg.lu_factor %x {check_errors = true} : !relax.tensor<[n, n, 3], f32> -> tuple<!relax.tensor<[n, n, 3], f32>, !relax.tensor<[n, min(3, n)], i32>, !relax.tensor<[n], i32>>
  %1 = relax.tuple_get_item %0[1] : tuple<!relax.tensor<[n, n, 3], f32>, !relax.tensor<[n, min(3, n)], i32>, !relax.tensor<[n], i32>> -> !relax.tensor<[n, min(3, n)], i32>
  // CHECK: %2 = relax.linalg.lu_permutation %1 {size = [#sym.expr<n>]} : !relax.tensor<[n, min(3, n)], i32> -> !relax.tensor<[n, n], i32>
  %2 = relax.linalg.lu_permutation %1 {size = [#sym.expr<n>]} : !relax.tensor<[n, min(3, n)], i32> -> !relax.tensor<[n, n], i32>
  relax.return %2 : !relax.tensor<[n, n], i32>
}
