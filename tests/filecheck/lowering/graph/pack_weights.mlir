// RUN: xrelax-opt %s -p pack-weights,dce --split-input-file | filecheck %s

// A constant weight is laid out with its channels last.

// CHECK-LABEL: @constant
// CHECK-NEXT:    %w = relax.constant
// CHECK-NEXT:    %0 = relax.permute_dims %w {axes = array<i64: 2, 1, 0>}
// CHECK-NEXT:    %1 = relax.nn.conv1d %x, %0 {padding = array<i64: 1, 1>, kernel_layout = "WIO"}
// CHECK-NEXT:    relax.return %1
relax.func @constant(%x: !relax.tensor<[n, 1, 4], f32>) -> !relax.tensor<[n, 2, 4], f32> {
  %w = relax.constant <float32, [2, 1, 3], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : !relax.tensor<[2, 1, 3], f32>
  %0 = relax.nn.conv1d %x, %w {padding = array<i64: 1>} : !relax.tensor<[n, 1, 4], f32>, !relax.tensor<[2, 1, 3], f32> -> !relax.tensor<[n, 2, 4], f32>
  relax.return %0 : !relax.tensor<[n, 2, 4], f32>
}

// -----

// What comes at run time stays, and so does a constant that is laid out like that.

// CHECK-LABEL: @stays
// CHECK-NEXT:    %0 = relax.nn.conv1d %x, %w :
// CHECK-NEXT:    %v = relax.constant
// CHECK-NEXT:    relax.nn.conv1d %0, %v {kernel_layout = "WIO"}
relax.func @stays(%x: !relax.tensor<[n, 1, 4], f32>, %w: !relax.tensor<[1, 1, 3], f32>) -> !relax.tensor<[n, 1, 1], f32> {
  %0 = relax.nn.conv1d %x, %w : !relax.tensor<[n, 1, 4], f32>, !relax.tensor<[1, 1, 3], f32> -> !relax.tensor<[n, 1, 2], f32>
  %v = relax.constant <float32, [2, 1, 1], [1.0, 2.0]> : !relax.tensor<[2, 1, 1], f32>
  %1 = relax.nn.conv1d %0, %v {kernel_layout = "WIO"} : !relax.tensor<[n, 1, 2], f32>, !relax.tensor<[2, 1, 1], f32> -> !relax.tensor<[n, 1, 1], f32>
  relax.return %1 : !relax.tensor<[n, 1, 1], f32>
}
