// RUN: xrelax-opt %s --split-input-file | filecheck %s
// RUN: xrelax-opt %s --split-input-file --print-op-generic | xrelax-opt --split-input-file | filecheck %s

// Functions of one tensor.
// CHECK-LABEL: @unary
relax.func @unary(%x: !relax.tensor<[n, 4], f32>, %i: !relax.tensor<[n, 4], i32>) -> !relax.tensor<[n, 4], f32> {
  // CHECK-NEXT: %0 = relax.exp %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %0 = relax.exp %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %1 = relax.expm1 %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %1 = relax.expm1 %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %2 = relax.log %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %2 = relax.log %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %3 = relax.log2 %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %3 = relax.log2 %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %4 = relax.log1p %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %4 = relax.log1p %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %5 = relax.sqrt %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %5 = relax.sqrt %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %6 = relax.rsqrt %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %6 = relax.rsqrt %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %7 = relax.sigmoid %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %7 = relax.sigmoid %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %8 = relax.sin %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %8 = relax.sin %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %9 = relax.cos %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %9 = relax.cos %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %10 = relax.tan %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %10 = relax.tan %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %11 = relax.asin %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %11 = relax.asin %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %12 = relax.acos %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %12 = relax.acos %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %13 = relax.atan %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %13 = relax.atan %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %14 = relax.sinh %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %14 = relax.sinh %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %15 = relax.cosh %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %15 = relax.cosh %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %16 = relax.tanh %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %16 = relax.tanh %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %17 = relax.asinh %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %17 = relax.asinh %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %18 = relax.acosh %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %18 = relax.acosh %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %19 = relax.atanh %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %19 = relax.atanh %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %20 = relax.erf %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %20 = relax.erf %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %21 = relax.negative %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %21 = relax.negative %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %22 = relax.abs %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %22 = relax.abs %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %23 = relax.square %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %23 = relax.square %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %24 = relax.sign %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %24 = relax.sign %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %25 = relax.floor %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %25 = relax.floor %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %26 = relax.ceil %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %26 = relax.ceil %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %27 = relax.round %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %27 = relax.round %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %28 = relax.trunc %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %28 = relax.trunc %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %29 = relax.isnan %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], i1>
  %29 = relax.isnan %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], i1>
  // CHECK-NEXT: %30 = relax.isinf %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], i1>
  %30 = relax.isinf %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], i1>
  // CHECK-NEXT: %31 = relax.isfinite %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], i1>
  %31 = relax.isfinite %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], i1>
  // CHECK-NEXT: %32 = relax.logical_not %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], i1>
  %32 = relax.logical_not %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], i1>
  // CHECK-NEXT: %33 = relax.bitwise_not %i : !relax.tensor<[n, 4], i32> -> !relax.tensor<[n, 4], i32>
  %33 = relax.bitwise_not %i : !relax.tensor<[n, 4], i32> -> !relax.tensor<[n, 4], i32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// Activation functions; defaults are not written.
// CHECK-LABEL: @activation
relax.func @activation(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  // CHECK-NEXT: %0 = relax.nn.relu %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %0 = relax.nn.relu %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %1 = relax.nn.relu6 %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %1 = relax.nn.relu6 %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %2 = relax.nn.silu %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %2 = relax.nn.silu %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %3 = relax.nn.gelu %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %3 = relax.nn.gelu %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %4 = relax.nn.gelu_tanh %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %4 = relax.nn.gelu_tanh %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %5 = relax.nn.softplus %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %5 = relax.nn.softplus %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %6 = relax.nn.leakyrelu %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %6 = relax.nn.leakyrelu %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %7 = relax.nn.softmax %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %7 = relax.nn.softmax %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %8 = relax.nn.leakyrelu %x {alpha = 2.500000e-01 : f64} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %8 = relax.nn.leakyrelu %x {alpha = 2.500000e-01 : f64} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %9 = relax.nn.softplus %x {beta = 2 : i64} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %9 = relax.nn.softplus %x {beta = 2 : i64} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %10 = relax.nn.log_softmax %x {axis = 0 : i64} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %10 = relax.nn.log_softmax %x {axis = 0 : i64} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %11 = relax.nn.selu %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %11 = relax.nn.selu %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// Functions of two tensors, which are broadcast.
// CHECK-LABEL: @binary
relax.func @binary(%x: !relax.tensor<[n, 4], i32>, %y: !relax.tensor<[4], i32>) -> !relax.tensor<[n, 4], i32> {
  // CHECK-NEXT: %0 = relax.floor_divide %x, %y : !relax.tensor<[n, 4], i32>, !relax.tensor<[4], i32> -> !relax.tensor<[n, 4], i32>
  %0 = relax.floor_divide %x, %y : !relax.tensor<[n, 4], i32>, !relax.tensor<[4], i32> -> !relax.tensor<[n, 4], i32>
  // CHECK-NEXT: %1 = relax.mod %x, %y : !relax.tensor<[n, 4], i32>, !relax.tensor<[4], i32> -> !relax.tensor<[n, 4], i32>
  %1 = relax.mod %x, %y : !relax.tensor<[n, 4], i32>, !relax.tensor<[4], i32> -> !relax.tensor<[n, 4], i32>
  // CHECK-NEXT: %2 = relax.power %x, %y : !relax.tensor<[n, 4], i32>, !relax.tensor<[4], i32> -> !relax.tensor<[n, 4], i32>
  %2 = relax.power %x, %y : !relax.tensor<[n, 4], i32>, !relax.tensor<[4], i32> -> !relax.tensor<[n, 4], i32>
  // CHECK-NEXT: %3 = relax.minimum %x, %y : !relax.tensor<[n, 4], i32>, !relax.tensor<[4], i32> -> !relax.tensor<[n, 4], i32>
  %3 = relax.minimum %x, %y : !relax.tensor<[n, 4], i32>, !relax.tensor<[4], i32> -> !relax.tensor<[n, 4], i32>
  // CHECK-NEXT: %4 = relax.bitwise_and %x, %y : !relax.tensor<[n, 4], i32>, !relax.tensor<[4], i32> -> !relax.tensor<[n, 4], i32>
  %4 = relax.bitwise_and %x, %y : !relax.tensor<[n, 4], i32>, !relax.tensor<[4], i32> -> !relax.tensor<[n, 4], i32>
  // CHECK-NEXT: %5 = relax.bitwise_or %x, %y : !relax.tensor<[n, 4], i32>, !relax.tensor<[4], i32> -> !relax.tensor<[n, 4], i32>
  %5 = relax.bitwise_or %x, %y : !relax.tensor<[n, 4], i32>, !relax.tensor<[4], i32> -> !relax.tensor<[n, 4], i32>
  // CHECK-NEXT: %6 = relax.bitwise_xor %x, %y : !relax.tensor<[n, 4], i32>, !relax.tensor<[4], i32> -> !relax.tensor<[n, 4], i32>
  %6 = relax.bitwise_xor %x, %y : !relax.tensor<[n, 4], i32>, !relax.tensor<[4], i32> -> !relax.tensor<[n, 4], i32>
  // CHECK-NEXT: %7 = relax.left_shift %x, %y : !relax.tensor<[n, 4], i32>, !relax.tensor<[4], i32> -> !relax.tensor<[n, 4], i32>
  %7 = relax.left_shift %x, %y : !relax.tensor<[n, 4], i32>, !relax.tensor<[4], i32> -> !relax.tensor<[n, 4], i32>
  // CHECK-NEXT: %8 = relax.right_shift %x, %y : !relax.tensor<[n, 4], i32>, !relax.tensor<[4], i32> -> !relax.tensor<[n, 4], i32>
  %8 = relax.right_shift %x, %y : !relax.tensor<[n, 4], i32>, !relax.tensor<[4], i32> -> !relax.tensor<[n, 4], i32>
  // CHECK-NEXT: %9 = relax.equal %x, %y : !relax.tensor<[n, 4], i32>, !relax.tensor<[4], i32> -> !relax.tensor<[n, 4], i1>
  %9 = relax.equal %x, %y : !relax.tensor<[n, 4], i32>, !relax.tensor<[4], i32> -> !relax.tensor<[n, 4], i1>
  // CHECK-NEXT: %10 = relax.not_equal %x, %y : !relax.tensor<[n, 4], i32>, !relax.tensor<[4], i32> -> !relax.tensor<[n, 4], i1>
  %10 = relax.not_equal %x, %y : !relax.tensor<[n, 4], i32>, !relax.tensor<[4], i32> -> !relax.tensor<[n, 4], i1>
  // CHECK-NEXT: %11 = relax.less %x, %y : !relax.tensor<[n, 4], i32>, !relax.tensor<[4], i32> -> !relax.tensor<[n, 4], i1>
  %11 = relax.less %x, %y : !relax.tensor<[n, 4], i32>, !relax.tensor<[4], i32> -> !relax.tensor<[n, 4], i1>
  // CHECK-NEXT: %12 = relax.less_equal %x, %y : !relax.tensor<[n, 4], i32>, !relax.tensor<[4], i32> -> !relax.tensor<[n, 4], i1>
  %12 = relax.less_equal %x, %y : !relax.tensor<[n, 4], i32>, !relax.tensor<[4], i32> -> !relax.tensor<[n, 4], i1>
  // CHECK-NEXT: %13 = relax.greater %x, %y : !relax.tensor<[n, 4], i32>, !relax.tensor<[4], i32> -> !relax.tensor<[n, 4], i1>
  %13 = relax.greater %x, %y : !relax.tensor<[n, 4], i32>, !relax.tensor<[4], i32> -> !relax.tensor<[n, 4], i1>
  // CHECK-NEXT: %14 = relax.greater_equal %x, %y : !relax.tensor<[n, 4], i32>, !relax.tensor<[4], i32> -> !relax.tensor<[n, 4], i1>
  %14 = relax.greater_equal %x, %y : !relax.tensor<[n, 4], i32>, !relax.tensor<[4], i32> -> !relax.tensor<[n, 4], i1>
  // CHECK-NEXT: %15 = relax.logical_and %x, %y : !relax.tensor<[n, 4], i32>, !relax.tensor<[4], i32> -> !relax.tensor<[n, 4], i1>
  %15 = relax.logical_and %x, %y : !relax.tensor<[n, 4], i32>, !relax.tensor<[4], i32> -> !relax.tensor<[n, 4], i1>
  // CHECK-NEXT: %16 = relax.logical_or %x, %y : !relax.tensor<[n, 4], i32>, !relax.tensor<[4], i32> -> !relax.tensor<[n, 4], i1>
  %16 = relax.logical_or %x, %y : !relax.tensor<[n, 4], i32>, !relax.tensor<[4], i32> -> !relax.tensor<[n, 4], i1>
  // CHECK-NEXT: %17 = relax.logical_xor %x, %y : !relax.tensor<[n, 4], i32>, !relax.tensor<[4], i32> -> !relax.tensor<[n, 4], i1>
  %17 = relax.logical_xor %x, %y : !relax.tensor<[n, 4], i32>, !relax.tensor<[4], i32> -> !relax.tensor<[n, 4], i1>
  relax.return %x : !relax.tensor<[n, 4], i32>
}

// -----

// Choice and conversion.
// CHECK-LABEL: @selection
relax.func @selection(%c: !relax.tensor<[4], i1>, %x: !relax.tensor<[n, 4], f32>, %z: !relax.tensor<[], f32>) -> !relax.tensor<[4], i1> {
  // CHECK-NEXT: %0 = relax.where %c, %x, %z : !relax.tensor<[4], i1>, !relax.tensor<[n, 4], f32>, !relax.tensor<[], f32> -> !relax.tensor<[n, 4], f32>
  %0 = relax.where %c, %x, %z : !relax.tensor<[4], i1>, !relax.tensor<[n, 4], f32>, !relax.tensor<[], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %1 = relax.clip %x {min = 0 : i64, max = 6.500000e+00 : f64} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %1 = relax.clip %x {min = 0 : i64, max = 6.500000e+00 : f64} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %2 = relax.clip %x {max = 1 : i64} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %2 = relax.clip %x {max = 1 : i64} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %3 = relax.astype %x {dtype = ui8} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], ui8>
  %3 = relax.astype %x {dtype = ui8} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], ui8>
  // CHECK-NEXT: %4 = relax.astype %x {dtype = bf16} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], bf16>
  %4 = relax.astype %x {dtype = bf16} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], bf16>
  relax.return %c : !relax.tensor<[4], i1>
}

// -----

// Reductions and what runs along an axis.
// CHECK-LABEL: @reductions
relax.func @reductions(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  // CHECK-NEXT: %0 = relax.sum %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[], f32>
  %0 = relax.sum %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[], f32>
  // CHECK-NEXT: %1 = relax.sum %x {axis = array<i64: -1>, dtype = f64} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n], f64>
  %1 = relax.sum %x {axis = array<i64: -1>, dtype = f64} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n], f64>
  // CHECK-NEXT: %2 = relax.prod %x {axis = array<i64: 0>} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[4], f32>
  %2 = relax.prod %x {axis = array<i64: 0>} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[4], f32>
  // CHECK-NEXT: %3 = relax.mean %x {axis = array<i64: 0, 1>, keepdims = true} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[1, 1], f32>
  %3 = relax.mean %x {axis = array<i64: 0, 1>, keepdims = true} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[1, 1], f32>
  // CHECK-NEXT: %4 = relax.variance %x {axis = array<i64: 1>, correction = 1 : i64} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n], f32>
  %4 = relax.variance %x {axis = array<i64: 1>, correction = 1 : i64} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n], f32>
  // CHECK-NEXT: %5 = relax.std %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[], f32>
  %5 = relax.std %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[], f32>
  // CHECK-NEXT: %6 = relax.max %x {axis = array<i64: 1>} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n], f32>
  %6 = relax.max %x {axis = array<i64: 1>} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n], f32>
  // CHECK-NEXT: %7 = relax.min %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[], f32>
  %7 = relax.min %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[], f32>
  // CHECK-NEXT: %8 = relax.any %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[], i1>
  %8 = relax.any %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[], i1>
  // CHECK-NEXT: %9 = relax.all %x {axis = array<i64: 1>} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n], i1>
  %9 = relax.all %x {axis = array<i64: 1>} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n], i1>
  // CHECK-NEXT: %10 = relax.argmax %x {axis = 1 : i64} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n], i64>
  %10 = relax.argmax %x {axis = 1 : i64} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n], i64>
  // CHECK-NEXT: %11 = relax.argmin %x {keepdims = true} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[1, 1], i64>
  %11 = relax.argmin %x {keepdims = true} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[1, 1], i64>
  // CHECK-NEXT: %12 = relax.cumsum %x {axis = 0 : i64, exclusive = true} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %12 = relax.cumsum %x {axis = 0 : i64, exclusive = true} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %13 = relax.cumprod %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n * 4], f32>
  %13 = relax.cumprod %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n * 4], f32>
  // CHECK-NEXT: %14 = relax.cummax %x {axis = 1 : i64} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %14 = relax.cummax %x {axis = 1 : i64} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %15 = relax.logcumsumexp %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %15 = relax.logcumsumexp %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// Tensors from shapes, whose attributes may name symbols.
// CHECK-LABEL: @creation
relax.func @creation(%x: !relax.tensor<[n, 4], f32>, %v: !relax.tensor<[], f32>, %i: !relax.tensor<[n], i32>) -> !relax.tensor<[n, 4], f32> {
  // CHECK-NEXT: %0 = relax.zeros {shape = [#sym.expr<n>, #sym.expr<4>]} : !relax.tensor<[n, 4], f32>
  %0 = relax.zeros {shape = [#sym.expr<n>, #sym.expr<4>]} : !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %1 = relax.ones {shape = [], dtype = i8} : !relax.tensor<[], i8>
  %1 = relax.ones {shape = [], dtype = i8} : !relax.tensor<[], i8>
  // CHECK-NEXT: %2 = relax.full %v {shape = [#sym.expr<n>]} : !relax.tensor<[], f32> -> !relax.tensor<[n], f32>
  %2 = relax.full %v {shape = [#sym.expr<n>]} : !relax.tensor<[], f32> -> !relax.tensor<[n], f32>
  // CHECK-NEXT: %3 = relax.zeros_like %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %3 = relax.zeros_like %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %4 = relax.ones_like %x {dtype = i8} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], i8>
  %4 = relax.ones_like %x {dtype = i8} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], i8>
  // CHECK-NEXT: %5 = relax.full_like %x, %v : !relax.tensor<[n, 4], f32>, !relax.tensor<[], f32> -> !relax.tensor<[n, 4], f32>
  %5 = relax.full_like %x, %v : !relax.tensor<[n, 4], f32>, !relax.tensor<[], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %6 = relax.arange {start = #sym.expr<n>} : !relax.tensor<[n], i64>
  %6 = relax.arange {start = #sym.expr<n>} : !relax.tensor<[n], i64>
  // CHECK-NEXT: %7 = relax.arange {start = 0.000000e+00 : f64, end = #sym.expr<1>, step = 2.500000e-01 : f64} : !relax.tensor<[4], f32>
  %7 = relax.arange {start = 0.000000e+00 : f64, end = #sym.expr<1>, step = 2.500000e-01 : f64} : !relax.tensor<[4], f32>
  // CHECK-NEXT: %8 = relax.tril %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %8 = relax.tril %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %9 = relax.triu %x {k = #sym.expr<n - 1>} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %9 = relax.triu %x {k = #sym.expr<n - 1>} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK-NEXT: %10 = relax.eye {n = #sym.expr<n>, k = #sym.expr<1>} : !relax.tensor<[n, n], f32>
  %10 = relax.eye {n = #sym.expr<n>, k = #sym.expr<1>} : !relax.tensor<[n, n], f32>
  // CHECK-NEXT: %11 = relax.one_hot %i {depth = 3 : i64} : !relax.tensor<[n], i32> -> !relax.tensor<[n, 3], i64>
  %11 = relax.one_hot %i {depth = 3 : i64} : !relax.tensor<[n], i32> -> !relax.tensor<[n, 3], i64>
  // CHECK-NEXT: %12 = relax.one_hot %i {on_value = 1.000000e+00 : f64, depth = 3 : i64, axis = 0 : i64} : !relax.tensor<[n], i32> -> !relax.tensor<[3, n], f32>
  %12 = relax.one_hot %i {on_value = 1.000000e+00 : f64, depth = 3 : i64, axis = 0 : i64} : !relax.tensor<[n], i32> -> !relax.tensor<[3, n], f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}
