// RUN: xrelax-opt %s -p fuse-transpose-matmul,dce --split-input-file | filecheck %s

// The product reads the weight as it lies in memory.

// CHECK-LABEL: @weight
// CHECK-NEXT:    %0 = relax.matmul %x, %w {transpose_rhs = true}
// CHECK-NEXT:    relax.return %0
relax.func @weight(%x: !relax.tensor<[n, 4], f32>, %w: !relax.tensor<[8, 4], f32>) -> !relax.tensor<[n, 8], f32> {
  %0 = relax.permute_dims %w : !relax.tensor<[8, 4], f32> -> !relax.tensor<[4, 8], f32>
  %1 = relax.matmul %x, %0 : !relax.tensor<[n, 4], f32>, !relax.tensor<[4, 8], f32> -> !relax.tensor<[n, 8], f32>
  relax.return %1 : !relax.tensor<[n, 8], f32>
}

// -----

// With batches; what else the product says is kept.

// CHECK-LABEL: @batches
// CHECK-NEXT:    %0 = relax.matmul %q, %k {out_dtype = f32, transpose_rhs = true}
// CHECK-NEXT:    relax.return %0
relax.func @batches(%q: !relax.tensor<[b, n, 4], f16>, %k: !relax.tensor<[b, m, 4], f16>) -> !relax.tensor<[b, n, m], f32> {
  %0 = relax.permute_dims %k {axes = array<i64: 0, -1, 1>} : !relax.tensor<[b, m, 4], f16> -> !relax.tensor<[b, 4, m], f16>
  %1 = relax.matmul %q, %0 {out_dtype = f32} : !relax.tensor<[b, n, 4], f16>, !relax.tensor<[b, 4, m], f16> -> !relax.tensor<[b, n, m], f32>
  relax.return %1 : !relax.tensor<[b, n, m], f32>
}

// -----

// Two transposes are none.

// CHECK-LABEL: @twice
// CHECK-NEXT:    %0 = relax.matmul %x, %w :
// CHECK-NEXT:    relax.return %0
relax.func @twice(%x: !relax.tensor<[n, 4], f32>, %w: !relax.tensor<[4, 8], f32>) -> !relax.tensor<[n, 8], f32> {
  %0 = relax.permute_dims %w : !relax.tensor<[4, 8], f32> -> !relax.tensor<[8, 4], f32>
  %1 = relax.matmul %x, %0 {transpose_rhs = true} : !relax.tensor<[n, 4], f32>, !relax.tensor<[8, 4], f32> -> !relax.tensor<[n, 8], f32>
  relax.return %1 : !relax.tensor<[n, 8], f32>
}

// -----

// Other permutations stay, and a transposed first operand.

// CHECK-LABEL: @others
// CHECK-NEXT:    %0 = relax.permute_dims %k
// CHECK-NEXT:    %1 = relax.matmul %q, %0 :
// CHECK-NEXT:    %2 = relax.permute_dims %q
// CHECK-NEXT:    %3 = relax.matmul %2, %1 :
relax.func @others(%q: !relax.tensor<[4, 4, 4], f32>, %k: !relax.tensor<[4, 4, 4], f32>) -> !relax.tensor<[4, 4, 4], f32> {
  %0 = relax.permute_dims %k : !relax.tensor<[4, 4, 4], f32> -> !relax.tensor<[4, 4, 4], f32>
  %1 = relax.matmul %q, %0 : !relax.tensor<[4, 4, 4], f32>, !relax.tensor<[4, 4, 4], f32> -> !relax.tensor<[4, 4, 4], f32>
  %2 = relax.permute_dims %q {axes = array<i64: 0, 2, 1>} : !relax.tensor<[4, 4, 4], f32> -> !relax.tensor<[4, 4, 4], f32>
  %3 = relax.matmul %2, %1 : !relax.tensor<[4, 4, 4], f32>, !relax.tensor<[4, 4, 4], f32> -> !relax.tensor<[4, 4, 4], f32>
  relax.return %3 : !relax.tensor<[4, 4, 4], f32>
}

// -----

// A copy of what a call may write afterwards stays a copy.

// CHECK-LABEL: @written
// CHECK-NEXT:    %0 = relax.permute_dims %w
// CHECK-NEXT:    relax.call_packed "f"(%w)
// CHECK-NEXT:    relax.matmul %x, %0 :
relax.func impure @written(%x: !relax.tensor<[2, 4], f32>, %w: !relax.tensor<[4, 4], f32>) -> !relax.tensor<[2, 4], f32> {
  %0 = relax.permute_dims %w : !relax.tensor<[4, 4], f32> -> !relax.tensor<[4, 4], f32>
  %1 = relax.call_packed "f"(%w) : (!relax.tensor<[4, 4], f32>) -> tuple<>
  %2 = relax.matmul %x, %0 : !relax.tensor<[2, 4], f32>, !relax.tensor<[4, 4], f32> -> !relax.tensor<[2, 4], f32>
  relax.return %2 : !relax.tensor<[2, 4], f32>
}
