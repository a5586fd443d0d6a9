// RUN: xrelax-opt %s -p 'convert-convolution-to-matmul{target="llvm -mcpu=znver4 -mtriple=x86_64-linux-gnu"},dce' --split-input-file | filecheck %s

// Pixels are columns of a product; functions of elements follow, with their constants.

// CHECK-LABEL: @pointwise
// CHECK:         %[[W:.*]] = relax.reshape %w {{.*}} -> !relax.tensor<[32, 16], f32>
// CHECK:         %[[P:.*]] = relax.matmul %[[W]], {{.*}} !relax.tensor<[n, 16, 400], f32> -> !relax.tensor<[n, 32, 400], f32>
// CHECK-NEXT:    %[[B:.*]] = relax.reshape %b {{.*}} -> !relax.tensor<[1, 32, 1], f32>
// CHECK-NEXT:    %[[S:.*]] = relax.add %[[P]], %[[B]]
// CHECK-NEXT:    %[[R:.*]] = relax.nn.relu %[[S]]
// CHECK-NEXT:    %[[Y:.*]] = relax.reshape %[[R]] {{.*}} -> !relax.tensor<[n, 32, 20, 20], f32>
// CHECK-NEXT:    relax.return %[[Y]]
relax.func @pointwise(%x: !relax.tensor<[n, 16, 20, 20], f32>, %w: !relax.tensor<[32, 16, 1, 1], f32>, %b: !relax.tensor<[32, 1, 1], f32>) -> !relax.tensor<[n, 32, 20, 20], f32> {
  %0 = relax.nn.conv2d %x, %w : !relax.tensor<[n, 16, 20, 20], f32>, !relax.tensor<[32, 16, 1, 1], f32> -> !relax.tensor<[n, 32, 20, 20], f32>
  %1 = relax.add %0, %b : !relax.tensor<[n, 32, 20, 20], f32>, !relax.tensor<[32, 1, 1], f32> -> !relax.tensor<[n, 32, 20, 20], f32>
  %2 = relax.nn.relu %1 : !relax.tensor<[n, 32, 20, 20], f32> -> !relax.tensor<[n, 32, 20, 20], f32>
  relax.return %2 : !relax.tensor<[n, 32, 20, 20], f32>
}

// -----

// What broadcasts along part of an image uses the image as it was.

// CHECK-LABEL: @along_rows
// CHECK:         %[[P:.*]] = relax.matmul
// CHECK-NEXT:    %[[I:.*]] = relax.reshape %[[P]] {{.*}} -> !relax.tensor<[1, 32, 20, 20], f32>
// CHECK-NEXT:    relax.add %[[I]], %b
relax.func @along_rows(%x: !relax.tensor<[1, 16, 20, 20], f32>, %w: !relax.tensor<[32, 16, 1, 1], f32>, %b: !relax.tensor<[20], f32>) -> !relax.tensor<[1, 32, 20, 20], f32> {
  %0 = relax.nn.conv2d %x, %w : !relax.tensor<[1, 16, 20, 20], f32>, !relax.tensor<[32, 16, 1, 1], f32> -> !relax.tensor<[1, 32, 20, 20], f32>
  %1 = relax.add %0, %b : !relax.tensor<[1, 32, 20, 20], f32>, !relax.tensor<[20], f32> -> !relax.tensor<[1, 32, 20, 20], f32>
  relax.return %1 : !relax.tensor<[1, 32, 20, 20], f32>
}

// -----

// Weights whose results come last are permuted, for `fold-constant`.

// CHECK-LABEL: @results_last
// CHECK:         %[[W:.*]] = relax.reshape %w {{.*}} -> !relax.tensor<[16, 32], f32>
// CHECK-NEXT:    %[[T:.*]] = relax.permute_dims %[[W]] {axes = array<i64: 1, 0>}
// CHECK-NEXT:    relax.matmul %[[T]]
relax.func @results_last(%x: !relax.tensor<[1, 16, 20, 20], f32>, %w: !relax.tensor<[1, 1, 16, 32], f32>) -> !relax.tensor<[1, 32, 20, 20], f32> {
  %0 = relax.nn.conv2d %x, %w {kernel_layout = "HWIO"} : !relax.tensor<[1, 16, 20, 20], f32>, !relax.tensor<[1, 1, 16, 32], f32> -> !relax.tensor<[1, 32, 20, 20], f32>
  relax.return %0 : !relax.tensor<[1, 32, 20, 20], f32>
}

// -----

// Few pixels leave much of a vector empty; larger windows and unknown sizes stay too.

// CHECK-LABEL: @few_pixels
// CHECK-NEXT:    relax.nn.conv2d
relax.func @few_pixels(%x: !relax.tensor<[1, 512, 7, 7], f32>, %w: !relax.tensor<[2048, 512, 1, 1], f32>) -> !relax.tensor<[1, 2048, 7, 7], f32> {
  %0 = relax.nn.conv2d %x, %w : !relax.tensor<[1, 512, 7, 7], f32>, !relax.tensor<[2048, 512, 1, 1], f32> -> !relax.tensor<[1, 2048, 7, 7], f32>
  relax.return %0 : !relax.tensor<[1, 2048, 7, 7], f32>
}

// CHECK-LABEL: @window
// CHECK-NEXT:    relax.nn.conv2d
relax.func @window(%x: !relax.tensor<[1, 16, 20, 20], f32>, %w: !relax.tensor<[32, 16, 3, 3], f32>) -> !relax.tensor<[1, 32, 18, 18], f32> {
  %0 = relax.nn.conv2d %x, %w : !relax.tensor<[1, 16, 20, 20], f32>, !relax.tensor<[32, 16, 3, 3], f32> -> !relax.tensor<[1, 32, 18, 18], f32>
  relax.return %0 : !relax.tensor<[1, 32, 18, 18], f32>
}

// CHECK-LABEL: @unknown
// CHECK-NEXT:    relax.nn.conv2d
relax.func @unknown(%x: !relax.tensor<[1, 16, h, 20], f32>, %w: !relax.tensor<[32, 16, 1, 1], f32>) -> !relax.tensor<[1, 32, h, 20], f32> {
  %0 = relax.nn.conv2d %x, %w : !relax.tensor<[1, 16, h, 20], f32>, !relax.tensor<[32, 16, 1, 1], f32> -> !relax.tensor<[1, 32, h, 20], f32>
  relax.return %0 : !relax.tensor<[1, 32, h, 20], f32>
}

// -----

// Channels that are last stay last.

// CHECK-LABEL: @channels_last
// CHECK-NEXT:    relax.nn.conv2d
relax.func @channels_last(%x: !relax.tensor<[1, 16, 20, 20], f32>, %w: !relax.tensor<[32, 16, 1, 1], f32>) -> !relax.tensor<[1, 20, 20, 32], f32> {
  %0 = relax.nn.conv2d %x, %w {out_layout = "NHWC"} : !relax.tensor<[1, 16, 20, 20], f32>, !relax.tensor<[32, 16, 1, 1], f32> -> !relax.tensor<[1, 20, 20, 32], f32>
  relax.return %0 : !relax.tensor<[1, 20, 20, 32], f32>
}
