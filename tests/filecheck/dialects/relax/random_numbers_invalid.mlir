// RUN: xrelax-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: expected key of 'relax.random.uniform' to be int64 of shape (2,), got int64 of shape (3,)
relax.func @main(%key: !relax.tensor<[3], i64>) -> !relax.tensor<[4], f32> {
  %0 = relax.random.uniform %key {shape = [#sym.expr<4>]} : !relax.tensor<[3], i64> -> !relax.tensor<[4], f32>
  relax.return %0 : !relax.tensor<[4], f32>
}

// -----

// CHECK: expected stream of 'relax.random.uniform' in [0, 2**32), got -1
relax.func @main(%key: !relax.tensor<[2], i64>) -> !relax.tensor<[4], f32> {
  %0 = relax.random.uniform %key {shape = [#sym.expr<4>], stream = -1 : i64} : !relax.tensor<[2], i64> -> !relax.tensor<[4], f32>
  relax.return %0 : !relax.tensor<[4], f32>
}

// -----

// CHECK: expected shape of 'relax.random.normal' without negative dims, got (-4)
relax.func @main(%key: !relax.tensor<[2], i64>) -> !relax.tensor<[4], f32> {
  %0 = relax.random.normal %key {shape = [#sym.expr<-4>]} : !relax.tensor<[2], i64> -> !relax.tensor<[4], f32>
  relax.return %0 : !relax.tensor<[4], f32>
}

// -----

// CHECK: expected dtype of 'relax.random.normal' to be a float, got int32
relax.func @main(%key: !relax.tensor<[2], i64>) -> !relax.tensor<[4], i32> {
  %0 = relax.random.normal %key {shape = [#sym.expr<4>], dtype = i32} : !relax.tensor<[2], i64> -> !relax.tensor<[4], i32>
  relax.return %0 : !relax.tensor<[4], i32>
}

// -----

// CHECK: expected dtype of 'relax.random.bits' to be uint32, got int32
relax.func @main(%key: !relax.tensor<[2], i64>) -> !relax.tensor<[4], i32> {
  %0 = relax.random.bits %key {shape = [#sym.expr<4>], dtype = i32} : !relax.tensor<[2], i64> -> !relax.tensor<[4], i32>
  relax.return %0 : !relax.tensor<[4], i32>
}

// -----

// CHECK: expected dtype of 'relax.random.randint' to be an integer, got float32
relax.func @main(%key: !relax.tensor<[2], i64>) -> !relax.tensor<[4], f32> {
  %0 = relax.random.randint %key {shape = [#sym.expr<4>], high = 3 : i64, dtype = f32} : !relax.tensor<[2], i64> -> !relax.tensor<[4], f32>
  relax.return %0 : !relax.tensor<[4], f32>
}

// -----

// CHECK: expected -128 <= low < high <= 128 of 'relax.random.randint', got 3 and 3
relax.func @main(%key: !relax.tensor<[2], i64>) -> !relax.tensor<[4], i8> {
  %0 = relax.random.randint %key {shape = [#sym.expr<4>], low = 3 : i64, high = 3 : i64, dtype = i8} : !relax.tensor<[2], i64> -> !relax.tensor<[4], i8>
  relax.return %0 : !relax.tensor<[4], i8>
}
