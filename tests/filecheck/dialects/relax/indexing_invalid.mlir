// RUN: xrelax-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: expected an axis of 'relax.take' for a tensor of rank 2, got none
relax.func @main(%x: !relax.tensor<[n, 4], f32>, %i: !relax.tensor<[m], i64>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.take %x, %i : !relax.tensor<[n, 4], f32>, !relax.tensor<[m], i64> -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected operands of 'relax.take' to be integers, got float32
relax.func @main(%x: !relax.tensor<[n, 4], f32>, %i: !relax.tensor<[m], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.take %x, %i {axis = 0 : i64} : !relax.tensor<[n, 4], f32>, !relax.tensor<[m], f32> -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected one of fast, clip, wrap, nan, got "raise"
relax.func @main(%x: !relax.tensor<[n, 4], f32>, %i: !relax.tensor<[m], i64>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.take %x, %i {axis = 0 : i64, mode = "raise"} : !relax.tensor<[n, 4], f32>, !relax.tensor<[m], i64> -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected indices of 'relax.gather_elements' within data but for dim 0, got (n, 4) and (m, 5)
relax.func @main(%x: !relax.tensor<[n, 4], f32>, %i: !relax.tensor<[m, 5], i64>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.gather_elements %x, %i : !relax.tensor<[n, 4], f32>, !relax.tensor<[m, 5], i64> -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected data and indices of 'relax.gather_elements' to have one rank, got (n, 4) and (m,)
relax.func @main(%x: !relax.tensor<[n, 4], f32>, %i: !relax.tensor<[m], i64>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.gather_elements %x, %i : !relax.tensor<[n, 4], f32>, !relax.tensor<[m], i64> -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected indices of 'relax.gather_nd' to choose from data with 0 batch dims, got (n, 4) and (m, 3)
relax.func @main(%x: !relax.tensor<[n, 4], f32>, %i: !relax.tensor<[m, 3], i64>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.gather_nd %x, %i : !relax.tensor<[n, 4], f32>, !relax.tensor<[m, 3], i64> -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected an update of 'relax.scatter_elements' for each index, got (m, 4) and (k, 4)
relax.func @main(%x: !relax.tensor<[n, 4], f32>, %i: !relax.tensor<[m, 4], i64>, %u: !relax.tensor<[k, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.scatter_elements %x, %i, %u : !relax.tensor<[n, 4], f32>, !relax.tensor<[m, 4], i64>, !relax.tensor<[k, 4], f32> -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected operands of 'relax.scatter_elements' to be numbers, got bool
relax.func @main(%x: !relax.tensor<[n], i1>, %i: !relax.tensor<[m], i64>, %u: !relax.tensor<[m], i1>) -> !relax.tensor<[n], i1> {
  %0 = relax.scatter_elements %x, %i, %u {reduction = "add"} : !relax.tensor<[n], i1>, !relax.tensor<[m], i64>, !relax.tensor<[m], i1> -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n], i1>
}

// -----

// CHECK: expected one of update, add, mul, min, max, got "mean"
relax.func @main(%x: !relax.tensor<[n], f32>, %i: !relax.tensor<[m], i64>, %u: !relax.tensor<[m], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.scatter_elements %x, %i, %u {reduction = "mean"} : !relax.tensor<[n], f32>, !relax.tensor<[m], i64>, !relax.tensor<[m], f32> -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected indices and updates of 'relax.scatter_nd' that match (n, 4), got (m, 1) and (m,)
relax.func @main(%x: !relax.tensor<[n, 4], f32>, %i: !relax.tensor<[m, 1], i64>, %u: !relax.tensor<[m], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.scatter_nd %x, %i, %u : !relax.tensor<[n, 4], f32>, !relax.tensor<[m, 1], i64>, !relax.tensor<[m], f32> -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected indices of 'relax.index_tensor' to broadcast, got (2,) and (3,)
relax.func @main(%x: !relax.tensor<[n, 4], f32>, %i: !relax.tensor<[2], i64>, %j: !relax.tensor<[3], i64>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.index_tensor %x[%i, %j] : !relax.tensor<[n, 4], f32>[!relax.tensor<[2], i64>, !relax.tensor<[3], i64>] -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected indices of 'relax.index_tensor' for one to all dims of (n, 4), got 0
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.index_tensor %x[] : !relax.tensor<[n, 4], f32>[] -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected indices and values of 'relax.index_put' that match (n, 4), got (m,) and (m, 3)
relax.func @main(%x: !relax.tensor<[n, 4], f32>, %i: !relax.tensor<[m], i64>, %v: !relax.tensor<[m, 3], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.index_put %x[%i], %v : !relax.tensor<[n, 4], f32>[!relax.tensor<[m], i64>], !relax.tensor<[m, 3], f32> -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected indices of 'relax.index_put' for one to all dims of (n, 4), got 0
relax.func @main(%x: !relax.tensor<[n, 4], f32>, %v: !relax.tensor<[4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.index_put %x[], %v : !relax.tensor<[n, 4], f32>[], !relax.tensor<[4], f32> -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected at least 4 elements of 'relax.topk' along dim 1, got (n, 3)
relax.func @main(%x: !relax.tensor<[n, 3], f32>) -> !relax.tensor<[n, 3], f32> {
  %0 = relax.topk %x {k = 4 : i64} : !relax.tensor<[n, 3], f32> -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n, 3], f32>
}

// -----

// CHECK: expected x of 'relax.median' to have elements along its axes, got (n, 0)
relax.func @main(%x: !relax.tensor<[n, 0], f32>) -> !relax.tensor<[n, 0], f32> {
  %0 = relax.median %x : !relax.tensor<[n, 0], f32> -> !relax.tensor<[], f32>
  relax.return %x : !relax.tensor<[n, 0], f32>
}

// -----

// CHECK: expected k of 'relax.topk' to be at least 1, got 0
relax.func @main(%x: !relax.tensor<[n, 3], f32>) -> !relax.tensor<[n, 3], f32> {
  %0 = relax.topk %x {k = 0 : i64} : !relax.tensor<[n, 3], f32> -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n, 3], f32>
}

// -----

// CHECK: expected axis of 'relax.sort' in [-1, 1), got 1
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.sort %x {axis = 1 : i64} : !relax.tensor<[n], f32> -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected uniform_sample of 'relax.multinomial_from_uniform' to have shape (n, 1), got (3, 2)
relax.func @main(%p: !relax.tensor<[2, 5], f32>, %u: !relax.tensor<[3, 2], f32>, %i: !relax.tensor<[3, 1], i32>) -> !relax.tensor<[2, 5], f32> {
  %0 = relax.multinomial_from_uniform %p, %u, %i : !relax.tensor<[2, 5], f32>, !relax.tensor<[3, 2], f32>, !relax.tensor<[3, 1], i32> -> !relax.tensor<[3, 2], i64>
  relax.return %p : !relax.tensor<[2, 5], f32>
}

// -----

// CHECK: expected a row of 'relax.multinomial_from_uniform' for each of uniform numbers (3, 1), got (4, 1)
relax.func @main(%p: !relax.tensor<[2, 5], f32>, %u: !relax.tensor<[3, 1], f32>, %i: !relax.tensor<[4, 1], i32>) -> !relax.tensor<[2, 5], f32> {
  %0 = relax.multinomial_from_uniform %p, %u, %i : !relax.tensor<[2, 5], f32>, !relax.tensor<[3, 1], f32>, !relax.tensor<[4, 1], i32> -> !relax.tensor<[3, 1], i64>
  relax.return %p : !relax.tensor<[2, 5], f32>
}

// -----

// CHECK: expected src of 'relax.slice_scatter' to be (n, 3), got (n, 4)
relax.func @main(%x: !relax.tensor<[n, 8], f32>, %s: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 8], f32> {
  %0 = relax.slice_scatter %x, %s {start = #sym.expr<1>, end = #sym.expr<7>, step = 2 : i64, axis = 1 : i64} : !relax.tensor<[n, 8], f32>, !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 8], f32>
  relax.return %0 : !relax.tensor<[n, 8], f32>
}

// -----

// CHECK: expected step of 'relax.slice_scatter' to be positive, got -1
relax.func @main(%x: !relax.tensor<[n, 8], f32>, %s: !relax.tensor<[n, 8], f32>) -> !relax.tensor<[n, 8], f32> {
  %0 = relax.slice_scatter %x, %s {start = #sym.expr<0>, end = #sym.expr<8>, step = -1 : i64, axis = 1 : i64} : !relax.tensor<[n, 8], f32>, !relax.tensor<[n, 8], f32> -> !relax.tensor<[n, 8], f32>
  relax.return %0 : !relax.tensor<[n, 8], f32>
}

// -----

// CHECK: expected end of 'relax.slice_scatter' to be an integer, got 2.5
relax.func @main(%x: !relax.tensor<[n, 8], f32>, %s: !relax.tensor<[n, 2], f32>) -> !relax.tensor<[n, 8], f32> {
  %0 = relax.slice_scatter %x, %s {start = #sym.expr<0>, end = 2.5 : f64, axis = 1 : i64} : !relax.tensor<[n, 8], f32>, !relax.tensor<[n, 2], f32> -> !relax.tensor<[n, 8], f32>
  relax.return %0 : !relax.tensor<[n, 8], f32>
}

// -----

// CHECK: expected boundaries of 'relax.bucketize' to be a vector, got (m, 1)
relax.func @main(%x: !relax.tensor<[n, 8], f32>, %b: !relax.tensor<[m, 1], f32>) -> !relax.tensor<[n, 8], f32> {
  %0 = relax.bucketize %x, %b : !relax.tensor<[n, 8], f32>, !relax.tensor<[m, 1], f32> -> !relax.tensor<[n, 8], i64>
  relax.return %x : !relax.tensor<[n, 8], f32>
}
