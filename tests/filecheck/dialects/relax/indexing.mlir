// RUN: xrelax-opt %s --split-input-file | filecheck %s
// RUN: xrelax-opt %s --split-input-file --print-op-generic | xrelax-opt --split-input-file | filecheck %s

// Elements chosen by indices.
// CHECK-LABEL: @choosing
relax.func @choosing(%x: !relax.tensor<[n, 12], f32>, %i: !relax.tensor<[m], i64>, %j: !relax.tensor<[k, 12], i32>) -> !relax.tensor<[n, 12], f32> {
  // CHECK: %0 = relax.take %x, %i {axis = 0 : i64} : !relax.tensor<[n, 12], f32>, !relax.tensor<[m], i64> -> !relax.tensor<[m, 12], f32>
  %0 = relax.take %x, %i {axis = 0 : i64} : !relax.tensor<[n, 12], f32>, !relax.tensor<[m], i64> -> !relax.tensor<[m, 12], f32>
  // CHECK: %1 = relax.take %x, %i {axis = 0 : i64, mode = "wrap"} : !relax.tensor<[n, 12], f32>, !relax.tensor<[m], i64> -> !relax.tensor<[m, 12], f32>
  %1 = relax.take %x, %i {axis = 0 : i64, mode = "wrap"} : !relax.tensor<[n, 12], f32>, !relax.tensor<[m], i64> -> !relax.tensor<[m, 12], f32>
  // CHECK: %2 = relax.gather_elements %x, %j : !relax.tensor<[n, 12], f32>, !relax.tensor<[k, 12], i32> -> !relax.tensor<[k, 12], f32>
  %2 = relax.gather_elements %x, %j : !relax.tensor<[n, 12], f32>, !relax.tensor<[k, 12], i32> -> !relax.tensor<[k, 12], f32>
  // CHECK: %3 = relax.gather_elements %x, %j : !relax.tensor<[n, 12], f32>, !relax.tensor<[k, 12], i32> -> !relax.tensor<[k, 12], f32>
  %3 = relax.gather_elements %x, %j : !relax.tensor<[n, 12], f32>, !relax.tensor<[k, 12], i32> -> !relax.tensor<[k, 12], f32>
  // CHECK: %4 = relax.index_tensor %x[%i] : !relax.tensor<[n, 12], f32>[!relax.tensor<[m], i64>] -> !relax.tensor<[m, 12], f32>
  %4 = relax.index_tensor %x[%i] : !relax.tensor<[n, 12], f32>[!relax.tensor<[m], i64>] -> !relax.tensor<[m, 12], f32>
  // CHECK: %5 = relax.index_tensor %x[%i, %i] : !relax.tensor<[n, 12], f32>[!relax.tensor<[m], i64>, !relax.tensor<[m], i64>] -> !relax.tensor<[m], f32>
  %5 = relax.index_tensor %x[%i, %i] : !relax.tensor<[n, 12], f32>[!relax.tensor<[m], i64>, !relax.tensor<[m], i64>] -> !relax.tensor<[m], f32>
  relax.return %x : !relax.tensor<[n, 12], f32>
}

// -----

// Indices in the last dim of a tensor.
// CHECK-LABEL: @choosing_places
relax.func @choosing_places(%x: !relax.tensor<[n, 12, 4], f32>, %i: !relax.tensor<[m, 2], i64>, %j: !relax.tensor<[n, 5, 1], i64>) -> !relax.tensor<[n, 12, 4], f32> {
  // CHECK: %0 = relax.gather_nd %x, %i : !relax.tensor<[n, 12, 4], f32>, !relax.tensor<[m, 2], i64> -> !relax.tensor<[m, 4], f32>
  %0 = relax.gather_nd %x, %i : !relax.tensor<[n, 12, 4], f32>, !relax.tensor<[m, 2], i64> -> !relax.tensor<[m, 4], f32>
  // CHECK: %1 = relax.gather_nd %x, %j {batch_dims = 1 : i64} : !relax.tensor<[n, 12, 4], f32>, !relax.tensor<[n, 5, 1], i64> -> !relax.tensor<[n, 5, 4], f32>
  %1 = relax.gather_nd %x, %j {batch_dims = 1 : i64} : !relax.tensor<[n, 12, 4], f32>, !relax.tensor<[n, 5, 1], i64> -> !relax.tensor<[n, 5, 4], f32>
  relax.return %x : !relax.tensor<[n, 12, 4], f32>
}

// -----

// Elements replaced at indices, one after the other.
// CHECK-LABEL: @scattering
relax.func @scattering(%x: !relax.tensor<[n, 12], f32>, %i: !relax.tensor<[m], i64>, %j: !relax.tensor<[k, 12], i32>, %p: !relax.tensor<[m, 1], i64>, %u: !relax.tensor<[k, 12], f32>, %v: !relax.tensor<[m, 12], f32>) -> !relax.tensor<[n, 12], f32> {
  // CHECK: %0 = relax.scatter_elements %x, %j, %u : !relax.tensor<[n, 12], f32>, !relax.tensor<[k, 12], i32>, !relax.tensor<[k, 12], f32> -> !relax.tensor<[n, 12], f32>
  %0 = relax.scatter_elements %x, %j, %u : !relax.tensor<[n, 12], f32>, !relax.tensor<[k, 12], i32>, !relax.tensor<[k, 12], f32> -> !relax.tensor<[n, 12], f32>
  // CHECK: %1 = relax.scatter_elements %x, %j, %u {reduction = "add"} : !relax.tensor<[n, 12], f32>, !relax.tensor<[k, 12], i32>, !relax.tensor<[k, 12], f32> -> !relax.tensor<[n, 12], f32>
  %1 = relax.scatter_elements %x, %j, %u {reduction = "add"} : !relax.tensor<[n, 12], f32>, !relax.tensor<[k, 12], i32>, !relax.tensor<[k, 12], f32> -> !relax.tensor<[n, 12], f32>
  // CHECK: %2 = relax.scatter_nd %x, %p, %v : !relax.tensor<[n, 12], f32>, !relax.tensor<[m, 1], i64>, !relax.tensor<[m, 12], f32> -> !relax.tensor<[n, 12], f32>
  %2 = relax.scatter_nd %x, %p, %v : !relax.tensor<[n, 12], f32>, !relax.tensor<[m, 1], i64>, !relax.tensor<[m, 12], f32> -> !relax.tensor<[n, 12], f32>
  // CHECK: %3 = relax.scatter_nd %x, %p, %v {reduction = "max"} : !relax.tensor<[n, 12], f32>, !relax.tensor<[m, 1], i64>, !relax.tensor<[m, 12], f32> -> !relax.tensor<[n, 12], f32>
  %3 = relax.scatter_nd %x, %p, %v {reduction = "max"} : !relax.tensor<[n, 12], f32>, !relax.tensor<[m, 1], i64>, !relax.tensor<[m, 12], f32> -> !relax.tensor<[n, 12], f32>
  // CHECK: %4 = relax.index_put %x[%i], %v : !relax.tensor<[n, 12], f32>[!relax.tensor<[m], i64>], !relax.tensor<[m, 12], f32> -> !relax.tensor<[n, 12], f32>
  %4 = relax.index_put %x[%i], %v : !relax.tensor<[n, 12], f32>[!relax.tensor<[m], i64>], !relax.tensor<[m, 12], f32> -> !relax.tensor<[n, 12], f32>
  // CHECK: %5 = relax.index_put %x[%i], %v {accumulate = true} : !relax.tensor<[n, 12], f32>[!relax.tensor<[m], i64>], !relax.tensor<[m, 12], f32> -> !relax.tensor<[n, 12], f32>
  %5 = relax.index_put %x[%i], %v {accumulate = true} : !relax.tensor<[n, 12], f32>[!relax.tensor<[m], i64>], !relax.tensor<[m, 12], f32> -> !relax.tensor<[n, 12], f32>
  relax.return %x : !relax.tensor<[n, 12], f32>
}

// -----

// Elements in order.
// CHECK-LABEL: @sorting
relax.func @sorting(%x: !relax.tensor<[n, 12], f32>) -> !relax.tensor<[n, 12], f32> {
  // CHECK: %0 = relax.sort %x : !relax.tensor<[n, 12], f32> -> !relax.tensor<[n, 12], f32>
  %0 = relax.sort %x : !relax.tensor<[n, 12], f32> -> !relax.tensor<[n, 12], f32>
  // CHECK: %1 = relax.sort %x {descending = true, axis = 0 : i64} : !relax.tensor<[n, 12], f32> -> !relax.tensor<[n, 12], f32>
  %1 = relax.sort %x {descending = true, axis = 0 : i64} : !relax.tensor<[n, 12], f32> -> !relax.tensor<[n, 12], f32>
  // CHECK: %2 = relax.argsort %x : !relax.tensor<[n, 12], f32> -> !relax.tensor<[n, 12], i32>
  %2 = relax.argsort %x : !relax.tensor<[n, 12], f32> -> !relax.tensor<[n, 12], i32>
  // CHECK: %3 = relax.argsort %x {dtype = i64} : !relax.tensor<[n, 12], f32> -> !relax.tensor<[n, 12], i64>
  %3 = relax.argsort %x {dtype = i64} : !relax.tensor<[n, 12], f32> -> !relax.tensor<[n, 12], i64>
  // CHECK: %4 = relax.topk %x {k = 3 : i64} : !relax.tensor<[n, 12], f32> -> tuple<!relax.tensor<[n, 3], f32>, !relax.tensor<[n, 3], i32>>
  %4 = relax.topk %x {k = 3 : i64} : !relax.tensor<[n, 12], f32> -> tuple<!relax.tensor<[n, 3], f32>, !relax.tensor<[n, 3], i32>>
  // CHECK: %5 = relax.topk %x {k = 3 : i64, ret_type = "values", largest = false} : !relax.tensor<[n, 12], f32> -> !relax.tensor<[n, 3], f32>
  %5 = relax.topk %x {k = 3 : i64, ret_type = "values", largest = false} : !relax.tensor<[n, 12], f32> -> !relax.tensor<[n, 3], f32>
  // CHECK: %6 = relax.median %x {axis = array<i64: 1>} : !relax.tensor<[n, 12], f32> -> tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], i64>>
  %6 = relax.median %x {axis = array<i64: 1>} : !relax.tensor<[n, 12], f32> -> tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], i64>>
  // CHECK: %7 = relax.median %x {keepdims = true} : !relax.tensor<[n, 12], f32> -> !relax.tensor<[1, 1], f32>
  %7 = relax.median %x {keepdims = true} : !relax.tensor<[n, 12], f32> -> !relax.tensor<[1, 1], f32>
  relax.return %x : !relax.tensor<[n, 12], f32>
}

// CHECK-LABEL: @sampling
relax.func @sampling(%p: !relax.tensor<[b, 5], f32>, %u: !relax.tensor<[n, 1], f32>, %i: !relax.tensor<[n, 1], i32>) -> !relax.tensor<[n, 1], i32> {
  // CHECK: %0 = relax.multinomial_from_uniform %p, %u, %i {dtype = i32} : !relax.tensor<[b, 5], f32>, !relax.tensor<[n, 1], f32>, !relax.tensor<[n, 1], i32> -> !relax.tensor<[n, 1], i32>
  %0 = relax.multinomial_from_uniform %p, %u, %i {dtype = i32} : !relax.tensor<[b, 5], f32>, !relax.tensor<[n, 1], f32>, !relax.tensor<[n, 1], i32> -> !relax.tensor<[n, 1], i32>
  // CHECK: %1 = relax.wrap_param %0 {dtype = i32}
  %1 = relax.wrap_param %0 {dtype = i32} : !relax.tensor<[n, 1], i32> -> !relax.tensor<[n, 1], i32>
  relax.return %1 : !relax.tensor<[n, 1], i32>
}

// Slices that other tensors replace.
// CHECK-LABEL: @slices
relax.func @slices(%x: !relax.tensor<[n + 1, 8], f32>, %s: !relax.tensor<[n + 1, 3], f32>, %r: !relax.tensor<[n, 8], f32>) -> !relax.tensor<[n + 1, 8], f32> {
  // CHECK: %0 = relax.slice_scatter %x, %s {start = #sym.expr<1>, end = #sym.expr<7>, step = 2 : i64, axis = 1 : i64} : !relax.tensor<[n + 1, 8], f32>, !relax.tensor<[n + 1, 3], f32> -> !relax.tensor<[n + 1, 8], f32>
  %0 = relax.slice_scatter %x, %s {start = #sym.expr<1>, end = #sym.expr<7>, step = 2 : i64, axis = 1 : i64} : !relax.tensor<[n + 1, 8], f32>, !relax.tensor<[n + 1, 3], f32> -> !relax.tensor<[n + 1, 8], f32>
  // CHECK: %1 = relax.slice_scatter %0, %r {start = #sym.expr<0>, end = #sym.expr<-1>}
  %1 = relax.slice_scatter %0, %r {start = #sym.expr<0>, end = #sym.expr<-1>} : !relax.tensor<[n + 1, 8], f32>, !relax.tensor<[n, 8], f32> -> !relax.tensor<[n + 1, 8], f32>
  relax.return %1 : !relax.tensor<[n + 1, 8], f32>
}

// The places of numbers among boundaries.
// CHECK-LABEL: @places
relax.func @places(%x: !relax.tensor<[n, 4], f32>, %b: !relax.tensor<[m], f32>) -> !relax.tensor<[n, 4], i32> {
  // CHECK: %0 = relax.bucketize %x, %b : !relax.tensor<[n, 4], f32>, !relax.tensor<[m], f32> -> !relax.tensor<[n, 4], i64>
  %0 = relax.bucketize %x, %b : !relax.tensor<[n, 4], f32>, !relax.tensor<[m], f32> -> !relax.tensor<[n, 4], i64>
  // CHECK: %1 = relax.bucketize %x, %b {out_int32 = true, right = true}
  %1 = relax.bucketize %x, %b {out_int32 = true, right = true} : !relax.tensor<[n, 4], f32>, !relax.tensor<[m], f32> -> !relax.tensor<[n, 4], i32>
  relax.return %1 : !relax.tensor<[n, 4], i32>
}
