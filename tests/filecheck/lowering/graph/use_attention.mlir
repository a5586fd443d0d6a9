// RUN: xrelax-opt %s -p use-attention,fold-permute-dims,dce --split-input-file | filecheck %s

// The scale is that of both operands and of the products; a mask of lowest numbers is a bias.

// CHECK-LABEL: @masked
// CHECK-NOT:     relax.matmul
// CHECK:         %[[Q:.*]] = relax.permute_dims %q {axes = array<i64: 0, 2, 1, 3>}
// CHECK-NEXT:    %[[K:.*]] = relax.permute_dims %k {axes = array<i64: 0, 3, 1, 2>}
// CHECK-NEXT:    %[[V:.*]] = relax.permute_dims %v {axes = array<i64: 0, 2, 1, 3>}
// CHECK:         %[[BIAS:.*]] = relax.where %mask
// CHECK:         relax.nn.attention %[[Q]], %[[K]], %[[V]] bias %[[BIAS]]
// CHECK-SAME:      {scale = 1.250000e-01 : f64}
// CHECK-NEXT:    relax.permute_dims
relax.func @masked(%q: !relax.tensor<[b, 3, n, 8], f32>, %k: !relax.tensor<[b, 3, 8, m], f32>, %v: !relax.tensor<[b, 3, m, 8], f32>, %mask: !relax.tensor<[b, 1, 1, m], i1>) -> !relax.tensor<[b, 3, n, 8], f32> {
  %half = relax.constant <float32, [], [0.5]> : !relax.tensor<[], f32>
  %low = relax.constant <float32, [], [-3.4e38]> : !relax.tensor<[], f32>
  %0 = relax.multiply %q, %half : !relax.tensor<[b, 3, n, 8], f32>, !relax.tensor<[], f32> -> !relax.tensor<[b, 3, n, 8], f32>
  %1 = relax.multiply %k, %half : !relax.tensor<[b, 3, 8, m], f32>, !relax.tensor<[], f32> -> !relax.tensor<[b, 3, 8, m], f32>
  %2 = relax.matmul %0, %1 : !relax.tensor<[b, 3, n, 8], f32>, !relax.tensor<[b, 3, 8, m], f32> -> !relax.tensor<[b, 3, n, m], f32>
  %3 = relax.multiply %2, %half : !relax.tensor<[b, 3, n, m], f32>, !relax.tensor<[], f32> -> !relax.tensor<[b, 3, n, m], f32>
  %4 = relax.where %mask, %low, %3 : !relax.tensor<[b, 1, 1, m], i1>, !relax.tensor<[], f32>, !relax.tensor<[b, 3, n, m], f32> -> !relax.tensor<[b, 3, n, m], f32>
  %5 = relax.nn.softmax %4 : !relax.tensor<[b, 3, n, m], f32> -> !relax.tensor<[b, 3, n, m], f32>
  %6 = relax.matmul %5, %v : !relax.tensor<[b, 3, n, m], f32>, !relax.tensor<[b, 3, m, 8], f32> -> !relax.tensor<[b, 3, n, 8], f32>
  relax.return %6 : !relax.tensor<[b, 3, n, 8], f32>
}

// -----

// An additive mask may hide all keys of a query, of which the softmax is NaN.

// CHECK-LABEL: @unknown
// CHECK-NOT:     relax.nn.attention
relax.func @unknown(%q: !relax.tensor<[2, n, 8], f32>, %k: !relax.tensor<[2, 8, n], f32>, %v: !relax.tensor<[2, n, 8], f32>, %mask: !relax.tensor<[n, n], f32>) -> !relax.tensor<[2, n, 8], f32> {
  %0 = relax.matmul %q, %k : !relax.tensor<[2, n, 8], f32>, !relax.tensor<[2, 8, n], f32> -> !relax.tensor<[2, n, n], f32>
  %1 = relax.add %0, %mask : !relax.tensor<[2, n, n], f32>, !relax.tensor<[n, n], f32> -> !relax.tensor<[2, n, n], f32>
  %2 = relax.nn.softmax %1 : !relax.tensor<[2, n, n], f32> -> !relax.tensor<[2, n, n], f32>
  %3 = relax.matmul %2, %v : !relax.tensor<[2, n, n], f32>, !relax.tensor<[2, n, 8], f32> -> !relax.tensor<[2, n, 8], f32>
  relax.return %3 : !relax.tensor<[2, n, 8], f32>
}

// -----

// A scale in bf16 is a number, not its bits.

// CHECK-LABEL: @bfloat16
// CHECK:         relax.nn.attention {{.*}} {scale = 1.250000e-01 : f64}
relax.func @bfloat16(%q: !relax.tensor<[2, n, 8], bf16>, %k: !relax.tensor<[2, 8, n], bf16>, %v: !relax.tensor<[2, n, 8], bf16>) -> !relax.tensor<[2, n, 8], bf16> {
  %scale = relax.constant <bfloat16, [], [15872]> : !relax.tensor<[], bf16>
  %0 = relax.matmul %q, %k : !relax.tensor<[2, n, 8], bf16>, !relax.tensor<[2, 8, n], bf16> -> !relax.tensor<[2, n, n], bf16>
  %1 = relax.multiply %0, %scale : !relax.tensor<[2, n, n], bf16>, !relax.tensor<[], bf16> -> !relax.tensor<[2, n, n], bf16>
  %2 = relax.nn.softmax %1 : !relax.tensor<[2, n, n], bf16> -> !relax.tensor<[2, n, n], bf16>
  %3 = relax.matmul %2, %v : !relax.tensor<[2, n, n], bf16>, !relax.tensor<[2, n, 8], bf16> -> !relax.tensor<[2, n, 8], bf16>
  relax.return %3 : !relax.tensor<[2, n, 8], bf16>
}
