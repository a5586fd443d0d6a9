// RUN: xrelax-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: expected operands of 'relax.exp' to be floats, got int32
relax.func @main(%x: !relax.tensor<[n, 4], i32>) -> !relax.tensor<[n, 4], i32> {
  %0 = relax.exp %x : !relax.tensor<[n, 4], i32> -> !relax.tensor<[n, 4], i32>
  relax.return %x : !relax.tensor<[n, 4], i32>
}

// -----

// CHECK: expected operands of 'relax.negative' to be numbers, got bool
relax.func @main(%x: !relax.tensor<[n, 4], i1>) -> !relax.tensor<[n, 4], i1> {
  %0 = relax.negative %x : !relax.tensor<[n, 4], i1> -> !relax.tensor<[n, 4], i1>
  relax.return %x : !relax.tensor<[n, 4], i1>
}

// -----

// CHECK: expected operands of 'relax.left_shift' to be integers, got float32
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.left_shift %x, %x : !relax.tensor<[n, 4], f32>, !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected operands of 'relax.bitwise_not' to be integers or bools, got float32
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.bitwise_not %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected 'relax.equal' to give !relax.tensor<[n, 4], i1>, got !relax.tensor<[n, 4], f32>
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.equal %x, %x : !relax.tensor<[n, 4], f32>, !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected condition of 'relax.where' to be bool, got float32
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.where %x, %x, %x : !relax.tensor<[n, 4], f32>, !relax.tensor<[n, 4], f32>, !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected max of 'relax.clip' to be an int like its operand, got 0.5
relax.func @main(%x: !relax.tensor<[n, 4], i32>) -> !relax.tensor<[n, 4], i32> {
  %0 = relax.clip %x {max = 5.000000e-01 : f64} : !relax.tensor<[n, 4], i32> -> !relax.tensor<[n, 4], i32>
  relax.return %x : !relax.tensor<[n, 4], i32>
}

// -----

// CHECK: expected a number, got "high"
relax.func @main(%x: !relax.tensor<[n, 4], i32>) -> !relax.tensor<[n, 4], i32> {
  %0 = relax.clip %x {max = "high"} : !relax.tensor<[n, 4], i32> -> !relax.tensor<[n, 4], i32>
  relax.return %x : !relax.tensor<[n, 4], i32>
}

// -----

// CHECK: expected axis of 'relax.nn.softmax' in [-2, 2), got 2
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.nn.softmax %x {axis = 2 : i64} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected distinct axis of 'relax.sum', got (0, -2)
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.sum %x {axis = array<i64: 0, -2>} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected x of 'relax.max' to have elements along its axes, got (n, 0)
relax.func @main(%x: !relax.tensor<[n, 0], f32>) -> !relax.tensor<[n, 0], f32> {
  %0 = relax.max %x : !relax.tensor<[n, 0], f32> -> !relax.tensor<[], f32>
  relax.return %x : !relax.tensor<[n, 0], f32>
}

// -----

// CHECK: expected shape of 'relax.zeros' without negative dims, got (n, -1)
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.zeros {shape = [#sym.expr<n>, #sym.expr<-1>]} : !relax.tensor<[n, 4], f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected fill_value of 'relax.full' to have rank 0, got (n, 4)
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.full %x {shape = []} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[], f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected fill_value of 'relax.full' to be in the range of int8, got 300
relax.func @main() -> !relax.tensor<[2], i8> {
  %0 = relax.constant <int32, [], [300]> : !relax.tensor<[], i32>
  %1 = relax.full %0 {shape = [#sym.expr<2>], dtype = i8} : !relax.tensor<[], i32> -> !relax.tensor<[2], i8>
  relax.return %1 : !relax.tensor<[2], i8>
}

// -----

// CHECK: expected fill_value of 'relax.full_like' to be in the range of uint8, got -1.5
relax.func @main(%x: !relax.tensor<[n], ui8>) -> !relax.tensor<[n], ui8> {
  %0 = relax.constant <float32, [], [-1.5]> : !relax.tensor<[], f32>
  %1 = relax.full_like %x, %0 : !relax.tensor<[n], ui8>, !relax.tensor<[], f32> -> !relax.tensor<[n], ui8>
  relax.return %1 : !relax.tensor<[n], ui8>
}

// -----

// CHECK: expected step of 'relax.arange' to be a number other than 0, got 0
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.arange {start = #sym.expr<0>, end = #sym.expr<n>, step = #sym.expr<0>} : !relax.tensor<[n], i64>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected end of 'relax.arange' with step 1 to come after 4, got 0
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.arange {start = #sym.expr<4>, end = #sym.expr<0>} : !relax.tensor<[0], i64>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected bounds of 'relax.arange' of floats to be numbers, got symbols
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.arange {start = 5.000000e-01 : f64, end = #sym.expr<n>} : !relax.tensor<[n], f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected a number or an expression of symbols, got true
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.tril %x {k = true} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected k of 'relax.tril' to be an integer, got 0.5
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.tril %x {k = 5.000000e-01 : f64} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected x of 'relax.triu' to have at least two dims, got (4,)
relax.func @main(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %0 = relax.triu %x : !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  relax.return %x : !relax.tensor<[4], f32>
}

// -----

// CHECK: expected n of 'relax.eye' to be an integer, got 2.0
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.eye {n = 2.000000e+00 : f64} : !relax.tensor<[2, 2], f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected depth of 'relax.one_hot' to be at least 0, got -1
relax.func @main(%x: !relax.tensor<[n, 4], i32>) -> !relax.tensor<[n, 4], i32> {
  %0 = relax.one_hot %x {depth = -1 : i64} : !relax.tensor<[n, 4], i32> -> !relax.tensor<[n, 4, 0], i64>
  relax.return %x : !relax.tensor<[n, 4], i32>
}
