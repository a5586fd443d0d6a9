// RUN: xrelax-opt %s -p adjust-matmul-order --split-input-file | filecheck %s

// A vector is multiplied by one matrix after the other, for every r.
// CHECK-LABEL: @vector
// CHECK: %[[Y:.*]] = relax.matmul %x, %a
// CHECK-NEXT: relax.matmul %[[Y]], %b
relax.func @vector(%x: !relax.tensor<[16], f32>, %a: !relax.tensor<[16, r], f32>, %b: !relax.tensor<[r, 32], f32>) -> !relax.tensor<[32], f32> {
  %0 = relax.matmul %a, %b : !relax.tensor<[16, r], f32>, !relax.tensor<[r, 32], f32> -> !relax.tensor<[16, 32], f32>
  %1 = relax.matmul %x, %0 : !relax.tensor<[16], f32>, !relax.tensor<[16, 32], f32> -> !relax.tensor<[32], f32>
  relax.return %1 : !relax.tensor<[32], f32>
}

// -----

// The product of parameters is computed before the input is known.
// CHECK-LABEL: @parameters
// CHECK: relax.matmul %a, %b
relax.func @parameters(%x: !relax.tensor<[16], f32>, %a: !relax.tensor<[16, 2], f32>, %b: !relax.tensor<[2, 32], f32>) -> !relax.tensor<[32], f32> attributes {num_input = 1 : i64} {
  %0 = relax.matmul %a, %b : !relax.tensor<[16, 2], f32>, !relax.tensor<[2, 32], f32> -> !relax.tensor<[16, 32], f32>
  %1 = relax.matmul %x, %0 : !relax.tensor<[16], f32>, !relax.tensor<[16, 32], f32> -> !relax.tensor<[32], f32>
  relax.return %1 : !relax.tensor<[32], f32>
}

// -----

// Neither order is cheaper for all n and r; with bounds one is. A transposed product swaps its factors.
// CHECK-LABEL: @unknown
// CHECK: relax.matmul %a, %b
// CHECK-LABEL: @bounded
// CHECK: %[[B:.*]] = relax.permute_dims %b
// CHECK-NEXT: %[[Y:.*]] = relax.matmul %x, %[[B]]
// CHECK-NEXT: %[[A:.*]] = relax.permute_dims %a
// CHECK-NEXT: relax.matmul %[[Y]], %[[A]]
relax.func @unknown(%x: !relax.tensor<[n, 16], f32>, %a: !relax.tensor<[16, r], f32>, %b: !relax.tensor<[r, 16], f32>) -> !relax.tensor<[n, 16], f32> {
  %0 = relax.matmul %a, %b : !relax.tensor<[16, r], f32>, !relax.tensor<[r, 16], f32> -> !relax.tensor<[16, 16], f32>
  %1 = relax.matmul %x, %0 : !relax.tensor<[n, 16], f32>, !relax.tensor<[16, 16], f32> -> !relax.tensor<[n, 16], f32>
  relax.return %1 : !relax.tensor<[n, 16], f32>
}
relax.func @bounded(%x: !relax.tensor<[n, 16], f32>, %a: !relax.tensor<[16, r], f32>, %b: !relax.tensor<[r, 16], f32>) -> !relax.tensor<[n, 16], f32> attributes {tir_var_upper_bound = {"n" = 8 : i64, "r" = 8 : i64}} {
  %0 = relax.matmul %a, %b : !relax.tensor<[16, r], f32>, !relax.tensor<[r, 16], f32> -> !relax.tensor<[16, 16], f32>
  %1 = relax.permute_dims %0 : !relax.tensor<[16, 16], f32> -> !relax.tensor<[16, 16], f32>
  %2 = relax.matmul %x, %1 : !relax.tensor<[n, 16], f32>, !relax.tensor<[16, 16], f32> -> !relax.tensor<[n, 16], f32>
  relax.return %2 : !relax.tensor<[n, 16], f32>
}

// -----

// A product with another use stays.
// CHECK-LABEL: @shared
// CHECK: relax.matmul %a, %b
// CHECK-NEXT: relax.matmul %x
relax.func @shared(%x: !relax.tensor<[16], f32>, %a: !relax.tensor<[16, 2], f32>, %b: !relax.tensor<[2, 32], f32>) -> tuple<!relax.tensor<[16, 32], f32>, !relax.tensor<[32], f32>> {
  %0 = relax.matmul %a, %b : !relax.tensor<[16, 2], f32>, !relax.tensor<[2, 32], f32> -> !relax.tensor<[16, 32], f32>
  %1 = relax.matmul %x, %0 : !relax.tensor<[16], f32>, !relax.tensor<[16, 32], f32> -> !relax.tensor<[32], f32>
  %2 = relax.tuple(%0, %1) : (!relax.tensor<[16, 32], f32>, !relax.tensor<[32], f32>) -> tuple<!relax.tensor<[16, 32], f32>, !relax.tensor<[32], f32>>
  relax.return %2 : tuple<!relax.tensor<[16, 32], f32>, !relax.tensor<[32], f32>>
}
