// RUN: xrelax-opt %s -p fold-scale-axis --split-input-file | filecheck %s

// 288 numbers are read with 32 weights.

// CHECK-LABEL: @scaled
// CHECK-NEXT:    %r = relax.nn.relu %x
// CHECK-NEXT:    %0 = relax.multiply %w, %s : !relax.tensor<[4, 8, 1, 1], f32>, !relax.tensor<[1, 8, 1, 1], f32>
// CHECK-NEXT:    %1 = relax.nn.conv2d %r, %0 :
relax.func @scaled(%x: !relax.tensor<[1, 8, 6, 6], f32>, %s: !relax.tensor<[1, 8, 1, 1], f32>, %w: !relax.tensor<[4, 8, 1, 1], f32>) -> tuple<!relax.tensor<[1, 4, 6, 6], f32>, !relax.tensor<[1, 8, 6, 6], f32>> {
  %r = relax.nn.relu %x : !relax.tensor<[1, 8, 6, 6], f32> -> !relax.tensor<[1, 8, 6, 6], f32>
  %0 = relax.multiply %r, %s : !relax.tensor<[1, 8, 6, 6], f32>, !relax.tensor<[1, 8, 1, 1], f32> -> !relax.tensor<[1, 8, 6, 6], f32>
  %1 = relax.nn.conv2d %0, %w : !relax.tensor<[1, 8, 6, 6], f32>, !relax.tensor<[4, 8, 1, 1], f32> -> !relax.tensor<[1, 4, 6, 6], f32>
  %2 = relax.tuple(%1, %r) : (!relax.tensor<[1, 4, 6, 6], f32>, !relax.tensor<[1, 8, 6, 6], f32>) -> tuple<!relax.tensor<[1, 4, 6, 6], f32>, !relax.tensor<[1, 8, 6, 6], f32>>
  relax.return %2 : tuple<!relax.tensor<[1, 4, 6, 6], f32>, !relax.tensor<[1, 8, 6, 6], f32>>
}

// -----

// The factors may come first.

// CHECK-LABEL: @swapped
// CHECK-NEXT:    %r = relax.nn.relu %x
// CHECK-NEXT:    %0 = relax.multiply %w, %s : !relax.tensor<[4, 8, 1, 1], f32>, !relax.tensor<[1, 8, 1, 1], f32>
// CHECK-NEXT:    %1 = relax.nn.conv2d %r, %0 :
relax.func @swapped(%x: !relax.tensor<[1, 8, 6, 6], f32>, %s: !relax.tensor<[1, 8, 1, 1], f32>, %w: !relax.tensor<[4, 8, 1, 1], f32>) -> tuple<!relax.tensor<[1, 4, 6, 6], f32>, !relax.tensor<[1, 8, 6, 6], f32>> {
  %r = relax.nn.relu %x : !relax.tensor<[1, 8, 6, 6], f32> -> !relax.tensor<[1, 8, 6, 6], f32>
  %0 = relax.multiply %s, %r : !relax.tensor<[1, 8, 1, 1], f32>, !relax.tensor<[1, 8, 6, 6], f32> -> !relax.tensor<[1, 8, 6, 6], f32>
  %1 = relax.nn.conv2d %0, %w : !relax.tensor<[1, 8, 6, 6], f32>, !relax.tensor<[4, 8, 1, 1], f32> -> !relax.tensor<[1, 4, 6, 6], f32>
  %2 = relax.tuple(%1, %r) : (!relax.tensor<[1, 4, 6, 6], f32>, !relax.tensor<[1, 8, 6, 6], f32>) -> tuple<!relax.tensor<[1, 4, 6, 6], f32>, !relax.tensor<[1, 8, 6, 6], f32>>
  relax.return %2 : tuple<!relax.tensor<[1, 4, 6, 6], f32>, !relax.tensor<[1, 8, 6, 6], f32>>
}

// -----

// As many weights as numbers: these are scaled.

// CHECK-LABEL: @many_weights
// CHECK-NEXT:    %r = relax.nn.relu %x
// CHECK-NEXT:    %0 = relax.multiply
// CHECK-NEXT:    %1 = relax.nn.conv2d %0, %w
relax.func @many_weights(%x: !relax.tensor<[1, 8, 2, 2], f32>, %s: !relax.tensor<[1, 8, 1, 1], f32>, %w: !relax.tensor<[4, 8, 1, 1], f32>) -> tuple<!relax.tensor<[1, 4, 2, 2], f32>, !relax.tensor<[1, 8, 2, 2], f32>> {
  %r = relax.nn.relu %x : !relax.tensor<[1, 8, 2, 2], f32> -> !relax.tensor<[1, 8, 2, 2], f32>
  %0 = relax.multiply %r, %s : !relax.tensor<[1, 8, 2, 2], f32>, !relax.tensor<[1, 8, 1, 1], f32> -> !relax.tensor<[1, 8, 2, 2], f32>
  %1 = relax.nn.conv2d %0, %w : !relax.tensor<[1, 8, 2, 2], f32>, !relax.tensor<[4, 8, 1, 1], f32> -> !relax.tensor<[1, 4, 2, 2], f32>
  %2 = relax.tuple(%1, %r) : (!relax.tensor<[1, 4, 2, 2], f32>, !relax.tensor<[1, 8, 2, 2], f32>) -> tuple<!relax.tensor<[1, 4, 2, 2], f32>, !relax.tensor<[1, 8, 2, 2], f32>>
  relax.return %2 : tuple<!relax.tensor<[1, 4, 2, 2], f32>, !relax.tensor<[1, 8, 2, 2], f32>>
}

// -----

// Images of a batch have factors of their own.

// CHECK-LABEL: @batch
// CHECK-NEXT:    %r = relax.nn.relu %x
// CHECK-NEXT:    %0 = relax.multiply
// CHECK-NEXT:    %1 = relax.nn.conv2d %0, %w
relax.func @batch(%x: !relax.tensor<[2, 8, 6, 6], f32>, %s: !relax.tensor<[2, 8, 1, 1], f32>, %w: !relax.tensor<[4, 8, 1, 1], f32>) -> tuple<!relax.tensor<[2, 4, 6, 6], f32>, !relax.tensor<[2, 8, 6, 6], f32>> {
  %r = relax.nn.relu %x : !relax.tensor<[2, 8, 6, 6], f32> -> !relax.tensor<[2, 8, 6, 6], f32>
  %0 = relax.multiply %r, %s : !relax.tensor<[2, 8, 6, 6], f32>, !relax.tensor<[2, 8, 1, 1], f32> -> !relax.tensor<[2, 8, 6, 6], f32>
  %1 = relax.nn.conv2d %0, %w : !relax.tensor<[2, 8, 6, 6], f32>, !relax.tensor<[4, 8, 1, 1], f32> -> !relax.tensor<[2, 4, 6, 6], f32>
  %2 = relax.tuple(%1, %r) : (!relax.tensor<[2, 4, 6, 6], f32>, !relax.tensor<[2, 8, 6, 6], f32>) -> tuple<!relax.tensor<[2, 4, 6, 6], f32>, !relax.tensor<[2, 8, 6, 6], f32>>
  relax.return %2 : tuple<!relax.tensor<[2, 4, 6, 6], f32>, !relax.tensor<[2, 8, 6, 6], f32>>
}

// -----

// Factors of pixels are none of channels.

// CHECK-LABEL: @pixels
// CHECK-NEXT:    %r = relax.nn.relu %x
// CHECK-NEXT:    %0 = relax.multiply
// CHECK-NEXT:    %1 = relax.nn.conv2d %0, %w
relax.func @pixels(%x: !relax.tensor<[1, 8, 6, 6], f32>, %s: !relax.tensor<[1, 1, 6, 6], f32>, %w: !relax.tensor<[4, 8, 1, 1], f32>) -> tuple<!relax.tensor<[1, 4, 6, 6], f32>, !relax.tensor<[1, 8, 6, 6], f32>> {
  %r = relax.nn.relu %x : !relax.tensor<[1, 8, 6, 6], f32> -> !relax.tensor<[1, 8, 6, 6], f32>
  %0 = relax.multiply %r, %s : !relax.tensor<[1, 8, 6, 6], f32>, !relax.tensor<[1, 1, 6, 6], f32> -> !relax.tensor<[1, 8, 6, 6], f32>
  %1 = relax.nn.conv2d %0, %w : !relax.tensor<[1, 8, 6, 6], f32>, !relax.tensor<[4, 8, 1, 1], f32> -> !relax.tensor<[1, 4, 6, 6], f32>
  %2 = relax.tuple(%1, %r) : (!relax.tensor<[1, 4, 6, 6], f32>, !relax.tensor<[1, 8, 6, 6], f32>) -> tuple<!relax.tensor<[1, 4, 6, 6], f32>, !relax.tensor<[1, 8, 6, 6], f32>>
  relax.return %2 : tuple<!relax.tensor<[1, 4, 6, 6], f32>, !relax.tensor<[1, 8, 6, 6], f32>>
}

// -----

// Larger windows have other algorithms, which transform the weights at load.

// CHECK-LABEL: @window
// CHECK-NEXT:    %r = relax.nn.relu %x
// CHECK-NEXT:    %0 = relax.multiply
// CHECK-NEXT:    %1 = relax.nn.conv2d %0, %w
relax.func @window(%x: !relax.tensor<[1, 8, 12, 12], f32>, %s: !relax.tensor<[1, 8, 1, 1], f32>, %w: !relax.tensor<[4, 8, 3, 3], f32>) -> tuple<!relax.tensor<[1, 4, 10, 10], f32>, !relax.tensor<[1, 8, 12, 12], f32>> {
  %r = relax.nn.relu %x : !relax.tensor<[1, 8, 12, 12], f32> -> !relax.tensor<[1, 8, 12, 12], f32>
  %0 = relax.multiply %r, %s : !relax.tensor<[1, 8, 12, 12], f32>, !relax.tensor<[1, 8, 1, 1], f32> -> !relax.tensor<[1, 8, 12, 12], f32>
  %1 = relax.nn.conv2d %0, %w : !relax.tensor<[1, 8, 12, 12], f32>, !relax.tensor<[4, 8, 3, 3], f32> -> !relax.tensor<[1, 4, 10, 10], f32>
  %2 = relax.tuple(%1, %r) : (!relax.tensor<[1, 4, 10, 10], f32>, !relax.tensor<[1, 8, 12, 12], f32>) -> tuple<!relax.tensor<[1, 4, 10, 10], f32>, !relax.tensor<[1, 8, 12, 12], f32>>
  relax.return %2 : tuple<!relax.tensor<[1, 4, 10, 10], f32>, !relax.tensor<[1, 8, 12, 12], f32>>
}

// -----

// An image without other uses is scaled where it is computed.

// CHECK-LABEL: @fused
// CHECK-NEXT:    %r = relax.nn.relu %x
// CHECK-NEXT:    %0 = relax.multiply
// CHECK-NEXT:    %1 = relax.nn.conv2d %0, %w
relax.func @fused(%x: !relax.tensor<[1, 8, 6, 6], f32>, %s: !relax.tensor<[1, 8, 1, 1], f32>, %w: !relax.tensor<[4, 8, 1, 1], f32>) -> tuple<!relax.tensor<[1, 4, 6, 6], f32>, !relax.tensor<[1, 8, 6, 6], f32>> {
  %r = relax.nn.relu %x : !relax.tensor<[1, 8, 6, 6], f32> -> !relax.tensor<[1, 8, 6, 6], f32>
  %0 = relax.multiply %r, %s : !relax.tensor<[1, 8, 6, 6], f32>, !relax.tensor<[1, 8, 1, 1], f32> -> !relax.tensor<[1, 8, 6, 6], f32>
  %1 = relax.nn.conv2d %0, %w : !relax.tensor<[1, 8, 6, 6], f32>, !relax.tensor<[4, 8, 1, 1], f32> -> !relax.tensor<[1, 4, 6, 6], f32>
  %2 = relax.tuple(%1, %x) : (!relax.tensor<[1, 4, 6, 6], f32>, !relax.tensor<[1, 8, 6, 6], f32>) -> tuple<!relax.tensor<[1, 4, 6, 6], f32>, !relax.tensor<[1, 8, 6, 6], f32>>
  relax.return %2 : tuple<!relax.tensor<[1, 4, 6, 6], f32>, !relax.tensor<[1, 8, 6, 6], f32>>
}

// -----

// Sizes must be known.

// CHECK-LABEL: @symbolic
// CHECK-NEXT:    %r = relax.nn.relu %x
// CHECK-NEXT:    %0 = relax.multiply
// CHECK-NEXT:    %1 = relax.nn.conv2d %0, %w
relax.func @symbolic(%x: !relax.tensor<[1, 8, h, h], f32>, %s: !relax.tensor<[1, 8, 1, 1], f32>, %w: !relax.tensor<[4, 8, 1, 1], f32>) -> tuple<!relax.tensor<[1, 4, h, h], f32>, !relax.tensor<[1, 8, h, h], f32>> {
  %r = relax.nn.relu %x : !relax.tensor<[1, 8, h, h], f32> -> !relax.tensor<[1, 8, h, h], f32>
  %0 = relax.multiply %r, %s : !relax.tensor<[1, 8, h, h], f32>, !relax.tensor<[1, 8, 1, 1], f32> -> !relax.tensor<[1, 8, h, h], f32>
  %1 = relax.nn.conv2d %0, %w : !relax.tensor<[1, 8, h, h], f32>, !relax.tensor<[4, 8, 1, 1], f32> -> !relax.tensor<[1, 4, h, h], f32>
  %2 = relax.tuple(%1, %r) : (!relax.tensor<[1, 4, h, h], f32>, !relax.tensor<[1, 8, h, h], f32>) -> tuple<!relax.tensor<[1, 4, h, h], f32>, !relax.tensor<[1, 8, h, h], f32>>
  relax.return %2 : tuple<!relax.tensor<[1, 4, h, h], f32>, !relax.tensor<[1, 8, h, h], f32>>
}

// -----

// A batch may share the factors.

// CHECK-LABEL: @shared
// CHECK-NEXT:    %r = relax.nn.relu %x
// CHECK-NEXT:    %0 = relax.multiply %w, %s
// CHECK-NEXT:    %1 = relax.nn.conv2d %r, %0 :
relax.func @shared(%x: !relax.tensor<[2, 8, 6, 6], f32>, %s: !relax.tensor<[1, 8, 1, 1], f32>, %w: !relax.tensor<[4, 8, 1, 1], f32>) -> tuple<!relax.tensor<[2, 4, 6, 6], f32>, !relax.tensor<[2, 8, 6, 6], f32>> {
  %r = relax.nn.relu %x : !relax.tensor<[2, 8, 6, 6], f32> -> !relax.tensor<[2, 8, 6, 6], f32>
  %0 = relax.multiply %r, %s : !relax.tensor<[2, 8, 6, 6], f32>, !relax.tensor<[1, 8, 1, 1], f32> -> !relax.tensor<[2, 8, 6, 6], f32>
  %1 = relax.nn.conv2d %0, %w : !relax.tensor<[2, 8, 6, 6], f32>, !relax.tensor<[4, 8, 1, 1], f32> -> !relax.tensor<[2, 4, 6, 6], f32>
  %2 = relax.tuple(%1, %r) : (!relax.tensor<[2, 4, 6, 6], f32>, !relax.tensor<[2, 8, 6, 6], f32>) -> tuple<!relax.tensor<[2, 4, 6, 6], f32>, !relax.tensor<[2, 8, 6, 6], f32>>
  relax.return %2 : tuple<!relax.tensor<[2, 4, 6, 6], f32>, !relax.tensor<[2, 8, 6, 6], f32>>
}
