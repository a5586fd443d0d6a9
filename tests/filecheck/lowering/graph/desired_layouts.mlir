// RUN: xrelax-opt %s -p 'convert-layout{desired_layouts="relax.nn.conv2d NHWC OHWI"}' --split-input-file | filecheck %s

// The convolution gets its layouts, and the operators after it follow with their axes. A sum over both
// spatial axes has the original order again.
// CHECK-LABEL: @follow
relax.func @follow(%x: !relax.tensor<[n, 3, 9, 9], f32>, %w: !relax.tensor<[4, 3, 3, 3], f32>) -> !relax.tensor<[n, 4], f32> {
  %r = relax.dataflow -> !relax.tensor<[n, 4], f32> {
    // CHECK:      %0 = relax.permute_dims %x {axes = array<i64: 0, 2, 3, 1>}
    // CHECK-NEXT: %1 = relax.permute_dims %w {axes = array<i64: 0, 2, 3, 1>}
    // CHECK-NEXT: %2 = relax.nn.conv2d %0, %1 {data_layout = "NHWC", kernel_layout = "OHWI"} : {{.*}} -> !relax.tensor<[n, 7, 7, 4], f32>
    %1 = relax.nn.conv2d %x, %w : !relax.tensor<[n, 3, 9, 9], f32>, !relax.tensor<[4, 3, 3, 3], f32> -> !relax.tensor<[n, 4, 7, 7], f32>
    // CHECK-NEXT: %3 = relax.nn.relu %2
    %2 = relax.nn.relu %1 : !relax.tensor<[n, 4, 7, 7], f32> -> !relax.tensor<[n, 4, 7, 7], f32>
    // CHECK-NEXT: %4 = relax.nn.softmax %3 {axis = 3 : i64}
    %3 = relax.nn.softmax %2 {axis = 1 : i64} : !relax.tensor<[n, 4, 7, 7], f32> -> !relax.tensor<[n, 4, 7, 7], f32>
    // CHECK-NEXT: %5 = relax.sum %4 {axis = array<i64: 1, 2>}
    %4 = relax.sum %3 {axis = array<i64: 2, -1>} : !relax.tensor<[n, 4, 7, 7], f32> -> !relax.tensor<[n, 4], f32>
    // CHECK-NEXT: relax.output %5
    relax.output %4 : !relax.tensor<[n, 4], f32>
  }
  relax.return %r : !relax.tensor<[n, 4], f32>
}

// -----

// Outputs, and operators without a rule, have the original order; of two operands the one of fewer axes
// decides.
// CHECK-LABEL: @original
relax.func @original(%x: !relax.tensor<[n, 3, 9, 9], f32>, %w: !relax.tensor<[4, 3, 3, 3], f32>, %b: !relax.tensor<[7, 7], f32>) -> !relax.tensor<[n, 4, 7, 7], f32> {
  %r, %s = relax.dataflow -> !relax.tensor<[n, 4, 7, 7], f32>, !relax.tensor<[n, 4, 7, 7], f32> {
    // CHECK:      %2 = relax.nn.conv2d
    // CHECK-NEXT: %3 = relax.permute_dims %2 {axes = array<i64: 0, 3, 1, 2>}
    %1 = relax.nn.conv2d %x, %w : !relax.tensor<[n, 3, 9, 9], f32>, !relax.tensor<[4, 3, 3, 3], f32> -> !relax.tensor<[n, 4, 7, 7], f32>
    // CHECK-NEXT: %4 = relax.add %3, %b
    %2 = relax.add %1, %b : !relax.tensor<[n, 4, 7, 7], f32>, !relax.tensor<[7, 7], f32> -> !relax.tensor<[n, 4, 7, 7], f32>
    // CHECK-NEXT: relax.output %4, %3
    relax.output %2, %1 : !relax.tensor<[n, 4, 7, 7], f32>, !relax.tensor<[n, 4, 7, 7], f32>
  }
  relax.return %r : !relax.tensor<[n, 4, 7, 7], f32>
}

// -----

// Fields of tuples, casts, and new axes follow too.
// CHECK-LABEL: @fields
relax.func @fields(%x: !relax.tensor<[n, 3, 9, 9], f32>, %w: !relax.tensor<[4, 3, 3, 3], f32>) -> !relax.tensor<[1, n, 4, 7, 7], f32> {
  %r = relax.dataflow -> !relax.tensor<[1, n, 4, 7, 7], f32> {
    // CHECK: %2 = relax.nn.conv2d
    %1 = relax.nn.conv2d %x, %w : !relax.tensor<[n, 3, 9, 9], f32>, !relax.tensor<[4, 3, 3, 3], f32> -> !relax.tensor<[n, 4, 7, 7], f32>
    // CHECK-NEXT: %3 = relax.split %2 {indices_or_sections = 2 : i64, axis = 3 : i64}
    %2 = relax.split %1 {indices_or_sections = 2 : i64, axis = 1 : i64} : !relax.tensor<[n, 4, 7, 7], f32> -> tuple<!relax.tensor<[n, 2, 7, 7], f32>, !relax.tensor<[n, 2, 7, 7], f32>>
    // CHECK-NEXT: %4 = relax.tuple_get_item %3[1]
    %3 = relax.tuple_get_item %2[1] : tuple<!relax.tensor<[n, 2, 7, 7], f32>, !relax.tensor<[n, 2, 7, 7], f32>> -> !relax.tensor<[n, 2, 7, 7], f32>
    // CHECK-NEXT: %5 = relax.match_cast %4 : !relax.tensor<[n, 7, 7, 2], f32> -> !relax.tensor<[n, 7, 7, 2], f32>
    %4 = relax.match_cast %3 : !relax.tensor<[n, 2, 7, 7], f32> -> !relax.tensor<[n, 2, 7, 7], f32>
    // CHECK-NEXT: %6 = relax.concat %5, %5 {axis = 3 : i64}
    %5 = relax.concat %4, %4 {axis = 1 : i64} : (!relax.tensor<[n, 2, 7, 7], f32>, !relax.tensor<[n, 2, 7, 7], f32>) -> !relax.tensor<[n, 4, 7, 7], f32>
    // CHECK-NEXT: %7 = relax.expand_dims %6 {axis = array<i64: 0>}
    // CHECK-NEXT: relax.permute_dims %7 {axes = array<i64: 0, 1, 4, 2, 3>}
    %6 = relax.expand_dims %5 {axis = array<i64: 0>} : !relax.tensor<[n, 4, 7, 7], f32> -> !relax.tensor<[1, n, 4, 7, 7], f32>
    relax.output %6 : !relax.tensor<[1, n, 4, 7, 7], f32>
  }
  relax.return %r : !relax.tensor<[1, n, 4, 7, 7], f32>
}
