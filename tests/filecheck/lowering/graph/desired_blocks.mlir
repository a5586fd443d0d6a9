// RUN: xrelax-opt %s -p 'convert-layout{desired_layouts="relax.nn.conv2d NCHW4c OIHW4o"}' --split-input-file | filecheck %s

// Channels are split into blocks, and joined where an operator does not know blocks, or at the end.
// CHECK-LABEL: @blocks
relax.func @blocks(%x: !relax.tensor<[n, 8, 9, 9], f32>, %w: !relax.tensor<[4, 8, 3, 3], f32>) -> !relax.tensor<[n, 4, 7, 7], f32> {
  %r = relax.dataflow -> !relax.tensor<[n, 4, 7, 7], f32> {
    // CHECK:      %0 = relax.layout_transform %x {index_map = "lambda i0, i1, i2, i3: (i0, i1 // 4, i2, i3, i1 % 4)"} : {{.*}} -> !relax.tensor<[n, 2, 9, 9, 4], f32>
    // CHECK-NEXT: %1 = relax.layout_transform %w {index_map = "lambda i0, i1, i2, i3: (i0 // 4, i1, i2, i3, i0 % 4)"} : {{.*}} -> !relax.tensor<[1, 8, 3, 3, 4], f32>
    // CHECK-NEXT: %2 = relax.nn.conv2d %0, %1 {data_layout = "NCHW4c", kernel_layout = "OIHW4o"} : {{.*}} -> !relax.tensor<[n, 1, 7, 7, 4], f32>
    %1 = relax.nn.conv2d %x, %w : !relax.tensor<[n, 8, 9, 9], f32>, !relax.tensor<[4, 8, 3, 3], f32> -> !relax.tensor<[n, 4, 7, 7], f32>
    // CHECK-NEXT: %3 = relax.nn.relu %2
    %2 = relax.nn.relu %1 : !relax.tensor<[n, 4, 7, 7], f32> -> !relax.tensor<[n, 4, 7, 7], f32>
    // CHECK-NEXT: %4 = relax.layout_transform %3 {index_map = "lambda i0, i1, i2, i3, i4: (i0, i1 * 4 + i4, i2, i3)"} : {{.*}} -> !relax.tensor<[n, 4, 7, 7], f32>
    // CHECK-NEXT: relax.nn.softmax %4 {axis = 1 : i64}
    %3 = relax.nn.softmax %2 {axis = 1 : i64} : !relax.tensor<[n, 4, 7, 7], f32> -> !relax.tensor<[n, 4, 7, 7], f32>
    relax.output %3 : !relax.tensor<[n, 4, 7, 7], f32>
  }
  relax.return %r : !relax.tensor<[n, 4, 7, 7], f32>
}

// -----

// A sum over channels has both parts of them; a mean over pixels leaves blocks. What does not divide stays.
// CHECK-LABEL: @sums
relax.func @sums(%x: !relax.tensor<[n, 8, 9, 9], f32>, %w: !relax.tensor<[4, 8, 3, 3], f32>, %v: !relax.tensor<[6, 8, 3, 3], f32>) -> tuple<!relax.tensor<[n, 7, 7], f32>, !relax.tensor<[n, 4], f32>, !relax.tensor<[n, 6, 7, 7], f32>> {
  %r, %s, %t = relax.dataflow -> !relax.tensor<[n, 7, 7], f32>, !relax.tensor<[n, 4], f32>, !relax.tensor<[n, 6, 7, 7], f32> {
    %1 = relax.nn.conv2d %x, %w : !relax.tensor<[n, 8, 9, 9], f32>, !relax.tensor<[4, 8, 3, 3], f32> -> !relax.tensor<[n, 4, 7, 7], f32>
    // CHECK:      relax.sum %2 {axis = array<i64: 1, 4>}
    %2 = relax.sum %1 {axis = array<i64: 1>} : !relax.tensor<[n, 4, 7, 7], f32> -> !relax.tensor<[n, 7, 7], f32>
    // CHECK-NEXT: %[[M:.*]] = relax.mean %2 {axis = array<i64: 2, 3>} : {{.*}} -> !relax.tensor<[n, 1, 4], f32>
    // CHECK-NEXT: relax.layout_transform %[[M]] {index_map = "lambda i0, i1, i2: (i0, i1 * 4 + i2)"}
    %3 = relax.mean %1 {axis = array<i64: 2, 3>} : !relax.tensor<[n, 4, 7, 7], f32> -> !relax.tensor<[n, 4], f32>
    // CHECK-NEXT: relax.nn.conv2d %x, %v :
    %4 = relax.nn.conv2d %x, %v : !relax.tensor<[n, 8, 9, 9], f32>, !relax.tensor<[6, 8, 3, 3], f32> -> !relax.tensor<[n, 6, 7, 7], f32>
    relax.output %2, %3, %4 : !relax.tensor<[n, 7, 7], f32>, !relax.tensor<[n, 4], f32>, !relax.tensor<[n, 6, 7, 7], f32>
  }
  %u = relax.tuple(%r, %s, %t) : (!relax.tensor<[n, 7, 7], f32>, !relax.tensor<[n, 4], f32>, !relax.tensor<[n, 6, 7, 7], f32>) -> tuple<!relax.tensor<[n, 7, 7], f32>, !relax.tensor<[n, 4], f32>, !relax.tensor<[n, 6, 7, 7], f32>>
  relax.return %u : tuple<!relax.tensor<[n, 7, 7], f32>, !relax.tensor<[n, 4], f32>, !relax.tensor<[n, 6, 7, 7], f32>>
}
