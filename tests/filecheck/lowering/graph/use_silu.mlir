// RUN: xrelax-opt %s -p use-silu --split-input-file | filecheck %s

// Either factor may be the sigmoid.

// CHECK-LABEL: @products
// CHECK-NEXT:    %0 = relax.nn.silu %x
// CHECK-NEXT:    %1 = relax.nn.silu %0
// CHECK-NEXT:    relax.return %1
relax.func @products(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.sigmoid %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %1 = relax.multiply %x, %0 : !relax.tensor<[n, 4], f32>, !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %2 = relax.sigmoid %1 : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %3 = relax.multiply %2, %1 : !relax.tensor<[n, 4], f32>, !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  relax.return %3 : !relax.tensor<[n, 4], f32>
}

// -----

// A gate of something else is none, and a sigmoid with other uses stays.

// CHECK-LABEL: @others
// CHECK-NEXT:    %0 = relax.sigmoid %x
// CHECK-NEXT:    %1 = relax.multiply %y, %0
// CHECK-NEXT:    %2 = relax.sigmoid %1
// CHECK-NEXT:    %3 = relax.multiply %1, %2
// CHECK-NEXT:    %4 = relax.add %3, %2
relax.func @others(%x: !relax.tensor<[n, 4], f32>, %y: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.sigmoid %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %1 = relax.multiply %y, %0 : !relax.tensor<[n, 4], f32>, !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %2 = relax.sigmoid %1 : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %3 = relax.multiply %1, %2 : !relax.tensor<[n, 4], f32>, !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %4 = relax.add %3, %2 : !relax.tensor<[n, 4], f32>, !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  relax.return %4 : !relax.tensor<[n, 4], f32>
}
