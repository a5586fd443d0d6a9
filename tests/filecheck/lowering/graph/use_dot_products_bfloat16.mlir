// RUN: xrelax-opt %s -p 'use-dot-products{target="llvm -mcpu=znver4 -mtriple=x86_64-linux-gnu"},dce' --split-input-file | filecheck %s
// RUN: xrelax-opt %s -p 'use-dot-products{target="llvm -mcpu=neoverse-v1 -mtriple=aarch64-linux-gnu"},dce' --split-input-file | filecheck %s
// RUN: xrelax-opt %s -p 'use-dot-products{target="llvm -mcpu=skylake-avx512 -mtriple=x86_64-linux-gnu"},dce' --split-input-file | filecheck %s --check-prefix=NONE
// RUN: xrelax-opt %s -p 'use-dot-products{target="llvm -mcpu=apple-m1 -mtriple=aarch64-linux-gnu"},dce' --split-input-file | filecheck %s --check-prefix=NONE
// NONE-NOT: words

// The words of a constant are a constant: 1 and 2 are 16256 and 16384, and 0 fills the last one.

// CHECK-LABEL: @by_a_constant
// CHECK:         %[[X:.*]] = relax.nn.pack_words %x : !relax.tensor<[n, 3], bf16> -> !relax.tensor<[n, 2], ui32>
// CHECK:         %[[W:.*]] = relax.constant <uint32, [2, 1], [1073758080, 16256]>
// CHECK:         %[[Y:.*]] = relax.nn.matmul_words %[[X]], %[[W]] {out_dtype = f32}
// CHECK:         %[[R:.*]] = relax.astype %[[Y]] {dtype = bf16}
// CHECK-NEXT:    relax.return %[[R]]
relax.func @by_a_constant(%x: !relax.tensor<[n, 3], bf16>) -> !relax.tensor<[n, 1], bf16> {
  %w = relax.constant <bfloat16, [3, 1], [16256, 16384, 16256]> : !relax.tensor<[3, 1], bf16>
  %0 = relax.matmul %x, %w : !relax.tensor<[n, 3], bf16>, !relax.tensor<[3, 1], bf16> -> !relax.tensor<[n, 1], bf16>
  relax.return %0 : !relax.tensor<[n, 1], bf16>
}

// -----

// Channels of images are packed, of any weight.

// CHECK-LABEL: @images
// CHECK:         %[[X:.*]] = relax.nn.pack_words %x {axis = 1 : i64} : !relax.tensor<[n, 3, h, 9], bf16> -> !relax.tensor<[n, 2, h, 9], ui32>
// CHECK:         %[[W:.*]] = relax.nn.pack_words %w {axis = 1 : i64} : !relax.tensor<[5, 3, 1, 3], bf16> -> !relax.tensor<[5, 2, 1, 3], ui32>
// CHECK:         %[[Y:.*]] = relax.nn.conv2d_words %[[X]], %[[W]] {{.*}}out_dtype = f32
// CHECK:         relax.astype %[[Y]] {dtype = bf16}
// CHECK-NOT:     relax.nn.conv2d
relax.func @images(%x: !relax.tensor<[n, 3, h, 9], bf16>, %w: !relax.tensor<[5, 3, 1, 3], bf16>) -> !relax.tensor<[n, 5, h, 9], bf16> {
  %0 = relax.nn.conv2d %x, %w {padding = array<i64: 0, 1, 0, 1>} : !relax.tensor<[n, 3, h, 9], bf16>, !relax.tensor<[5, 3, 1, 3], bf16> -> !relax.tensor<[n, 5, h, 9], bf16>
  relax.return %0 : !relax.tensor<[n, 5, h, 9], bf16>
}

// -----

// CHECK-LABEL: @signals
// CHECK:         relax.nn.conv1d_words {{.*}}out_dtype = f32
// CHECK-NOT:     relax.nn.conv1d
relax.func @signals(%x: !relax.tensor<[2, 4, 9], bf16>, %w: !relax.tensor<[5, 4, 3], bf16>) -> !relax.tensor<[2, 5, 7], f32> {
  %0 = relax.nn.conv1d %x, %w {out_dtype = f32} : !relax.tensor<[2, 4, 9], bf16>, !relax.tensor<[5, 4, 3], bf16> -> !relax.tensor<[2, 5, 7], f32>
  relax.return %0 : !relax.tensor<[2, 5, 7], f32>
}

// -----

// Several matrices.

// CHECK-LABEL: @matrices
// CHECK:         relax.nn.pack_words %v {axis = 1 : i64}
// CHECK:         relax.nn.matmul_words {{.*}} {out_dtype = f32} : !relax.tensor<[2, 4, 3], ui32>, !relax.tensor<[2, 3, 4], ui32> -> !relax.tensor<[2, 4, 4], f32>
relax.func @matrices(%y: !relax.tensor<[2, 4, 5], bf16>, %v: !relax.tensor<[2, 5, 4], bf16>) -> !relax.tensor<[2, 4, 4], bf16> {
  %0 = relax.matmul %y, %v : !relax.tensor<[2, 4, 5], bf16>, !relax.tensor<[2, 5, 4], bf16> -> !relax.tensor<[2, 4, 4], bf16>
  relax.return %0 : !relax.tensor<[2, 4, 4], bf16>
}

// -----

// What stays: groups, several matrices for few rows, and differences, as bf16 have no zero point.

// CHECK-LABEL: @others
// CHECK-NOT:     words
// CHECK:         relax.return
relax.func @others(%x: !relax.tensor<[1, 4, 5, 5], bf16>, %k: !relax.tensor<[4, 1, 1, 1], bf16>, %y: !relax.tensor<[2, 3, 5], bf16>, %v: !relax.tensor<[2, 5, 4], bf16>, %z: !relax.tensor<[], bf16>, %w: !relax.tensor<[5, 2], f32>) -> tuple<!relax.tensor<[1, 4, 5, 5], bf16>, !relax.tensor<[2, 3, 4], bf16>, !relax.tensor<[2, 3, 2], f32>> {
  %0 = relax.nn.conv2d %x, %k {groups = 4 : i64} : !relax.tensor<[1, 4, 5, 5], bf16>, !relax.tensor<[4, 1, 1, 1], bf16> -> !relax.tensor<[1, 4, 5, 5], bf16>
  %1 = relax.matmul %y, %v : !relax.tensor<[2, 3, 5], bf16>, !relax.tensor<[2, 5, 4], bf16> -> !relax.tensor<[2, 3, 4], bf16>
  %2 = relax.astype %y {dtype = f32} : !relax.tensor<[2, 3, 5], bf16> -> !relax.tensor<[2, 3, 5], f32>
  %3 = relax.astype %z {dtype = f32} : !relax.tensor<[], bf16> -> !relax.tensor<[], f32>
  %4 = relax.subtract %2, %3 : !relax.tensor<[2, 3, 5], f32>, !relax.tensor<[], f32> -> !relax.tensor<[2, 3, 5], f32>
  %b = relax.astype %w {dtype = bf16} : !relax.tensor<[5, 2], f32> -> !relax.tensor<[5, 2], bf16>
  %5 = relax.astype %b {dtype = f32} : !relax.tensor<[5, 2], bf16> -> !relax.tensor<[5, 2], f32>
  %6 = relax.matmul %4, %5 : !relax.tensor<[2, 3, 5], f32>, !relax.tensor<[5, 2], f32> -> !relax.tensor<[2, 3, 2], f32>
  %7 = relax.tuple(%0, %1, %6) : (!relax.tensor<[1, 4, 5, 5], bf16>, !relax.tensor<[2, 3, 4], bf16>, !relax.tensor<[2, 3, 2], f32>) -> tuple<!relax.tensor<[1, 4, 5, 5], bf16>, !relax.tensor<[2, 3, 4], bf16>, !relax.tensor<[2, 3, 2], f32>>
  relax.return %7 : tuple<!relax.tensor<[1, 4, 5, 5], bf16>, !relax.tensor<[2, 3, 4], bf16>, !relax.tensor<[2, 3, 2], f32>>
}

// -----

// Attention: words of query and key along a head, and of the value along the keys.

// CHECK-LABEL: @attention
// CHECK:         %[[Q:.*]] = relax.nn.pack_words %q : {{.*}} -> !relax.tensor<[1, n, 2, 4], ui32>
// CHECK:         %[[K:.*]] = relax.nn.pack_words %k : {{.*}} -> !relax.tensor<[1, m, 2, 4], ui32>
// CHECK:         %[[V:.*]] = relax.nn.pack_words %v {axis = 1 : i64} : {{.*}} -> !relax.tensor<[1, (m + 1) floordiv 2, 2, 8], ui32>
// CHECK:         %[[Y:.*]] = relax.nn.attention_words %[[Q]], %[[K]], %[[V]] bias %b : !relax.tensor<[n, m], f32> {{{.*}}causal_mask = "TopLeft"}
// CHECK:         relax.astype %[[Y]] {dtype = bf16}
relax.func @attention(%q: !relax.tensor<[1, n, 2, 8], bf16>, %k: !relax.tensor<[1, m, 2, 8], bf16>, %v: !relax.tensor<[1, m, 2, 8], bf16>, %b: !relax.tensor<[n, m], f32>) -> !relax.tensor<[1, n, 2, 8], bf16> {
  %0 = relax.nn.attention %q, %k, %v bias %b : !relax.tensor<[n, m], f32> {causal_mask = "TopLeft", scale = 0.5 : f64} : !relax.tensor<[1, n, 2, 8], bf16>, !relax.tensor<[1, m, 2, 8], bf16>, !relax.tensor<[1, m, 2, 8], bf16> -> !relax.tensor<[1, n, 2, 8], bf16>
  relax.return %0 : !relax.tensor<[1, n, 2, 8], bf16>
}

// -----

// A single query stays: packing the keys would take longer.

// CHECK-LABEL: @one_query
// CHECK-NOT:     words
relax.func @one_query(%q: !relax.tensor<[1, 1, 2, 8], bf16>, %k: !relax.tensor<[1, m, 2, 8], bf16>, %v: !relax.tensor<[1, m, 2, 8], bf16>) -> !relax.tensor<[1, 1, 2, 8], bf16> {
  %0 = relax.nn.attention %q, %k, %v : !relax.tensor<[1, 1, 2, 8], bf16>, !relax.tensor<[1, m, 2, 8], bf16>, !relax.tensor<[1, m, 2, 8], bf16> -> !relax.tensor<[1, 1, 2, 8], bf16>
  relax.return %0 : !relax.tensor<[1, 1, 2, 8], bf16>
}

// -----

// A convolution that is quicker with fewer products is one of f32 for them; a short one is not.

// CHECK-LABEL: @fewer_products
// CHECK:         %[[X:.*]] = relax.astype %x {dtype = f32}
// CHECK-NEXT:    %[[W:.*]] = relax.astype %w {dtype = f32}
// CHECK-NEXT:    %[[Y:.*]] = relax.nn.conv2d %[[X]], %[[W]] {{.*}} -> !relax.tensor<[1, 64, 56, 56], f32>
// CHECK-NEXT:    relax.astype %[[Y]] {dtype = bf16}
// CHECK:         relax.nn.conv2d_words
relax.func @fewer_products(%x: !relax.tensor<[1, 64, 56, 56], bf16>, %y: !relax.tensor<[1, 2, 56, 56], bf16>) -> tuple<!relax.tensor<[1, 64, 56, 56], bf16>, !relax.tensor<[1, 64, 56, 56], bf16>> {
  %w = relax.zeros {shape = [#sym.expr<64>, #sym.expr<64>, #sym.expr<3>, #sym.expr<3>], dtype = bf16} : !relax.tensor<[64, 64, 3, 3], bf16>
  %v = relax.zeros {shape = [#sym.expr<64>, #sym.expr<2>, #sym.expr<3>, #sym.expr<3>], dtype = bf16} : !relax.tensor<[64, 2, 3, 3], bf16>
  %0 = relax.nn.conv2d %x, %w {padding = array<i64: 1, 1, 1, 1>} : !relax.tensor<[1, 64, 56, 56], bf16>, !relax.tensor<[64, 64, 3, 3], bf16> -> !relax.tensor<[1, 64, 56, 56], bf16>
  %1 = relax.nn.conv2d %y, %v {padding = array<i64: 1, 1, 1, 1>} : !relax.tensor<[1, 2, 56, 56], bf16>, !relax.tensor<[64, 2, 3, 3], bf16> -> !relax.tensor<[1, 64, 56, 56], bf16>
  %2 = relax.tuple(%0, %1) : (!relax.tensor<[1, 64, 56, 56], bf16>, !relax.tensor<[1, 64, 56, 56], bf16>) -> tuple<!relax.tensor<[1, 64, 56, 56], bf16>, !relax.tensor<[1, 64, 56, 56], bf16>>
  relax.return %2 : tuple<!relax.tensor<[1, 64, 56, 56], bf16>, !relax.tensor<[1, 64, 56, 56], bf16>>
}
