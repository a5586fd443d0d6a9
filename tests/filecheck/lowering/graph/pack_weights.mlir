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

// -----

// Kernels of depthwise convolutions of planes read `OIHW`; with channels last, and for short rows, they read `HWIO`.

// CHECK-LABEL: @planes
// CHECK:         relax.nn.conv2d %x, %w {groups = 2 : i64} :
// CHECK:         %[[V:.*]] = relax.permute_dims %w {axes = array<i64: 2, 3, 1, 0>}
// CHECK-NEXT:    relax.nn.conv2d %y, %[[V]] {groups = 2 : i64, data_layout = "NHWC", kernel_layout = "HWIO"}
// CHECK:         %[[V:.*]] = relax.permute_dims %w {axes = array<i64: 2, 3, 1, 0>}
// CHECK-NEXT:    relax.nn.conv2d %z, %[[V]] {groups = 2 : i64, kernel_layout = "HWIO"}
relax.func @planes(%x: !relax.tensor<[n, 2, 9, 9], f32>, %y: !relax.tensor<[n, 9, 9, 2], f32>, %z: !relax.tensor<[n, 2, 9, 8], f32>) -> tuple<!relax.tensor<[n, 2, 8, 8], f32>, !relax.tensor<[n, 8, 8, 2], f32>, !relax.tensor<[n, 2, 8, 7], f32>> {
  %w = relax.constant <float32, [2, 1, 2, 2], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : !relax.tensor<[2, 1, 2, 2], f32>
  %0 = relax.nn.conv2d %x, %w {groups = 2 : i64} : !relax.tensor<[n, 2, 9, 9], f32>, !relax.tensor<[2, 1, 2, 2], f32> -> !relax.tensor<[n, 2, 8, 8], f32>
  %1 = relax.nn.conv2d %y, %w {groups = 2 : i64, data_layout = "NHWC"} : !relax.tensor<[n, 9, 9, 2], f32>, !relax.tensor<[2, 1, 2, 2], f32> -> !relax.tensor<[n, 8, 8, 2], f32>
  %2 = relax.nn.conv2d %z, %w {groups = 2 : i64} : !relax.tensor<[n, 2, 9, 8], f32>, !relax.tensor<[2, 1, 2, 2], f32> -> !relax.tensor<[n, 2, 8, 7], f32>
  %3 = relax.tuple(%0, %1, %2) : (!relax.tensor<[n, 2, 8, 8], f32>, !relax.tensor<[n, 8, 8, 2], f32>, !relax.tensor<[n, 2, 8, 7], f32>) -> tuple<!relax.tensor<[n, 2, 8, 8], f32>, !relax.tensor<[n, 8, 8, 2], f32>, !relax.tensor<[n, 2, 8, 7], f32>>
  relax.return %3 : tuple<!relax.tensor<[n, 2, 8, 8], f32>, !relax.tensor<[n, 8, 8, 2], f32>, !relax.tensor<[n, 2, 8, 7], f32>>
}
