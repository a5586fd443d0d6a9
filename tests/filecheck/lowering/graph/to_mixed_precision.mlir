// RUN: xrelax-opt %s -p 'to-mixed-precision{dtype=bfloat16 target="llvm -mcpu=znver4 -mtriple=x86_64-linux-gnu"},dce' --split-input-file | filecheck %s
// RUN: xrelax-opt %s -p 'to-mixed-precision' --split-input-file | filecheck %s --check-prefix=NONE
// NONE-NOT: bf16

// Operands are rounded, and sums stay in float32; a bias is added to them.

// CHECK-LABEL: @layers
// CHECK:         %[[X:.*]] = relax.astype %x {dtype = bf16}
// CHECK:         %[[W:.*]] = relax.astype %w {dtype = bf16}
// CHECK:         %[[Y:.*]] = relax.linear %[[X]], %[[W]] {out_dtype = f32} : !relax.tensor<[n, 4], bf16>, !relax.tensor<[8, 4], bf16> -> !relax.tensor<[n, 8], f32>
// CHECK:         relax.add %[[Y]], %b
// CHECK:         relax.matmul {{.*}} {out_dtype = f32} : !relax.tensor<[n, 8], bf16>, !relax.tensor<[8, 2], bf16>
relax.func @layers(%x: !relax.tensor<[n, 4], f32>, %w: !relax.tensor<[8, 4], f32>, %b: !relax.tensor<[8], f32>, %v: !relax.tensor<[8, 2], f32>) -> !relax.tensor<[n, 2], f32> {
  %0 = relax.linear %x, %w bias %b : !relax.tensor<[8], f32> : !relax.tensor<[n, 4], f32>, !relax.tensor<[8, 4], f32> -> !relax.tensor<[n, 8], f32>
  %1 = relax.matmul %0, %v : !relax.tensor<[n, 8], f32>, !relax.tensor<[8, 2], f32> -> !relax.tensor<[n, 2], f32>
  relax.return %1 : !relax.tensor<[n, 2], f32>
}

// -----

// CHECK-LABEL: @image
// CHECK:         relax.nn.conv2d {{.*}} {{{.*}}out_dtype = f32{{.*}}} : !relax.tensor<[1, 3, 8, 8], bf16>
relax.func @image(%x: !relax.tensor<[1, 3, 8, 8], f32>, %w: !relax.tensor<[4, 3, 5, 5], f32>) -> !relax.tensor<[1, 4, 4, 4], f32> {
  %0 = relax.nn.conv2d %x, %w : !relax.tensor<[1, 3, 8, 8], f32>, !relax.tensor<[4, 3, 5, 5], f32> -> !relax.tensor<[1, 4, 4, 4], f32>
  relax.return %0 : !relax.tensor<[1, 4, 4, 4], f32>
}

// -----

// What stays: grouped convolutions, products of two activations, and other dtypes.

// CHECK-LABEL: @kept
// CHECK-NOT:     bf16
relax.func @kept(%x: !relax.tensor<[1, 3, 8, 8], f32>, %w: !relax.tensor<[3, 1, 5, 5], f32>, %y: !relax.tensor<[1, 3, 4, 4], f32>, %d: !relax.tensor<[4, 4], f64>) -> tuple<!relax.tensor<[1, 3, 4, 4], f32>, !relax.tensor<[4, 4], f64>> {
  %0 = relax.nn.conv2d %x, %w {groups = 3 : i64} : !relax.tensor<[1, 3, 8, 8], f32>, !relax.tensor<[3, 1, 5, 5], f32> -> !relax.tensor<[1, 3, 4, 4], f32>
  %1 = relax.matmul %0, %y : !relax.tensor<[1, 3, 4, 4], f32>, !relax.tensor<[1, 3, 4, 4], f32> -> !relax.tensor<[1, 3, 4, 4], f32>
  %2 = relax.matmul %d, %d : !relax.tensor<[4, 4], f64>, !relax.tensor<[4, 4], f64> -> !relax.tensor<[4, 4], f64>
  %3 = relax.tuple(%1, %2) : (!relax.tensor<[1, 3, 4, 4], f32>, !relax.tensor<[4, 4], f64>) -> tuple<!relax.tensor<[1, 3, 4, 4], f32>, !relax.tensor<[4, 4], f64>>
  relax.return %3 : tuple<!relax.tensor<[1, 3, 4, 4], f32>, !relax.tensor<[4, 4], f64>>
}

// -----

// Query, key and value of attention are rounded, and its result; the bias is not.

// CHECK-LABEL: @attention
// CHECK:         %[[Q:.*]] = relax.astype %q {dtype = bf16}
// CHECK:         %[[Y:.*]] = relax.nn.attention %[[Q]], %{{.*}}, %{{.*}} bias %b : !relax.tensor<[n, n], f32>
// CHECK:         relax.astype %[[Y]] {dtype = f32}
relax.func @attention(%q: !relax.tensor<[1, n, 2, 8], f32>, %b: !relax.tensor<[n, n], f32>) -> !relax.tensor<[1, n, 2, 8], f32> {
  %0 = relax.nn.attention %q, %q, %q bias %b : !relax.tensor<[n, n], f32> : !relax.tensor<[1, n, 2, 8], f32>, !relax.tensor<[1, n, 2, 8], f32>, !relax.tensor<[1, n, 2, 8], f32> -> !relax.tensor<[1, n, 2, 8], f32>
  relax.return %0 : !relax.tensor<[1, n, 2, 8], f32>
}
