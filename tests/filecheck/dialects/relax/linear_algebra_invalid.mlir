// RUN: xrelax-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: expected data of 'relax.linalg.inv' to have at least 2 dims, got (n,)
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.linalg.inv %x : !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
  relax.return %0 : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected a of 'relax.linalg.solve' to be square matrices, got (n, 3)
relax.func @main(%x: !relax.tensor<[n, 3], f32>) -> !relax.tensor<[n, 3], f32> {
  %0 = relax.linalg.solve %x, %x : !relax.tensor<[n, 3], f32>, !relax.tensor<[n, 3], f32> -> !relax.tensor<[n, 3], f32>
  relax.return %0 : !relax.tensor<[n, 3], f32>
}

// -----

// CHECK: expected shapes of 'relax.linalg.solve' to be compatible, got (n, n) and (4, 3)
relax.func @main(%x: !relax.tensor<[n, n], f32>, %y: !relax.tensor<[4, 3], f32>) -> !relax.tensor<[n, 3], f32> {
  %0 = relax.linalg.solve %x, %y : !relax.tensor<[n, n], f32>, !relax.tensor<[4, 3], f32> -> !relax.tensor<[n, 3], f32>
  relax.return %0 : !relax.tensor<[n, 3], f32>
}

// -----

// CHECK: expected operands of 'relax.linalg.solve' to have one dtype, got float32 and float64
relax.func @main(%x: !relax.tensor<[n, n], f32>, %y: !relax.tensor<[n, 3], f64>) -> !relax.tensor<[n, 3], f32> {
  %0 = relax.linalg.solve %x, %y : !relax.tensor<[n, n], f32>, !relax.tensor<[n, 3], f64> -> !relax.tensor<[n, 3], f32>
  relax.return %0 : !relax.tensor<[n, 3], f32>
}

// -----

// CHECK: expected operands of 'relax.linalg.eigh' to be float32 or float64, got float16
relax.func @main(%x: !relax.tensor<[n, n], f16>) -> !relax.tensor<[n], f16> {
  %0 = relax.linalg.eigh %x : !relax.tensor<[n, n], f16> -> !relax.tensor<[n], f16>
  relax.return %0 : !relax.tensor<[n], f16>
}

// -----

// CHECK: expected operands of 'relax.linalg.lu_permutation' to be int32 or int64, got float32
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.linalg.lu_permutation %x {size = [#sym.expr<n>]} : !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
  relax.return %0 : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected size of 'relax.linalg.lu_permutation' to be one dim, got 2
relax.func @main(%x: !relax.tensor<[n], i32>) -> !relax.tensor<[n], i32> {
  %0 = relax.linalg.lu_permutation %x {size = [#sym.expr<n>, #sym.expr<n>]} : !relax.tensor<[n], i32> -> !relax.tensor<[n], i32>
  relax.return %0 : !relax.tensor<[n], i32>
}

// -----

// CHECK: expected data of 'relax.linalg.lu_permutation' to have at least one dim, got ()
relax.func @main(%x: !relax.tensor<[], i32>) -> !relax.tensor<[4], i32> {
  %0 = relax.linalg.lu_permutation %x {size = [#sym.expr<4>]} : !relax.tensor<[], i32> -> !relax.tensor<[4], i32>
  relax.return %0 : !relax.tensor<[4], i32>
}
