// RUN: xrelax-opt %s -p optimize-layout-transform --check --split-input-file | filecheck %s

// A transform and its inverse cancel; equal transforms merge.

// CHECK-LABEL: relax.func @cancel
// CHECK-NEXT:    %a = relax.layout_transform %x {index_map = "lambda i0: (i0 // 4, i0 % 4)"}
// CHECK-NEXT:    %b = relax.exp %a
// CHECK-NEXT:    %c = relax.layout_transform %b
// CHECK-NEXT:    %f = relax.add %b, %a
// CHECK-NEXT:    %g = relax.tuple(%c, %f)
relax.func @cancel(%x: !relax.tensor<[16], f32>) -> tuple<!relax.tensor<[16], f32>, !relax.tensor<[4, 4], f32>> {
  %a = relax.layout_transform %x {index_map = "lambda i0: (i0 // 4, i0 % 4)"} : !relax.tensor<[16], f32> -> !relax.tensor<[4, 4], f32>
  %b = relax.exp %a : !relax.tensor<[4, 4], f32> -> !relax.tensor<[4, 4], f32>
  %c = relax.layout_transform %b {index_map = "lambda i0, i1: (i0 * 4 + i1,)"} : !relax.tensor<[4, 4], f32> -> !relax.tensor<[16], f32>
  %d = relax.layout_transform %c {index_map = "lambda i0: (i0 // 4, i0 % 4)"} : !relax.tensor<[16], f32> -> !relax.tensor<[4, 4], f32>
  %e = relax.layout_transform %x {index_map = "lambda i0: (i0 // 4, i0 % 4)"} : !relax.tensor<[16], f32> -> !relax.tensor<[4, 4], f32>
  %f = relax.add %d, %e : !relax.tensor<[4, 4], f32>, !relax.tensor<[4, 4], f32> -> !relax.tensor<[4, 4], f32>
  %g = relax.tuple(%c, %f) : (!relax.tensor<[16], f32>, !relax.tensor<[4, 4], f32>) -> tuple<!relax.tensor<[16], f32>, !relax.tensor<[4, 4], f32>>
  relax.return %g : tuple<!relax.tensor<[16], f32>, !relax.tensor<[4, 4], f32>>
}

// -----

// Two transpositions of the other axes are no inverses, and padding of another size stays.

// CHECK-LABEL: relax.func @kept
// CHECK-COUNT-4: relax.layout_transform
relax.func @kept(%x: !relax.tensor<[4, 4, 4], f32>, %y: !relax.tensor<[14], f32>) -> tuple<!relax.tensor<[4, 4, 4], f32>, !relax.tensor<[16], f32>> {
  %a = relax.layout_transform %x {index_map = "lambda i0, i1, i2: (i1, i2, i0)"} : !relax.tensor<[4, 4, 4], f32> -> !relax.tensor<[4, 4, 4], f32>
  %b = relax.layout_transform %a {index_map = "lambda i0, i1, i2: (i1, i2, i0)"} : !relax.tensor<[4, 4, 4], f32> -> !relax.tensor<[4, 4, 4], f32>
  %c = relax.layout_transform %y {index_map = "lambda i0: (i0 // 4, i0 % 4)"} : !relax.tensor<[14], f32> -> !relax.tensor<[4, 4], f32>
  %d = relax.layout_transform %c {index_map = "lambda i0, i1: (i0 * 4 + i1,)"} : !relax.tensor<[4, 4], f32> -> !relax.tensor<[16], f32>
  %e = relax.tuple(%b, %d) : (!relax.tensor<[4, 4, 4], f32>, !relax.tensor<[16], f32>) -> tuple<!relax.tensor<[4, 4, 4], f32>, !relax.tensor<[16], f32>>
  relax.return %e : tuple<!relax.tensor<[4, 4, 4], f32>, !relax.tensor<[16], f32>>
}
