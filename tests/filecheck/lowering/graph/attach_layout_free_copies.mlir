// RUN: xrelax-opt %s -p 'attach-attr-layout-free-buffers{copies=true}' | filecheck %s

// Calls with constants, and with what a model's parameters are, get kernels of their own by the
// positions of these; others keep the first one.

// CHECK:      tir.prim_func @matmul1({{.*}}) attributes {private, layout_free_buffers = [1 : i64]}
// CHECK:      tir.prim_func @matmul2({{.*}}) attributes {private, layout_free_buffers = [0 : i64]}
// CHECK:      tir.prim_func @matmul({{.*}}) attributes {private}
tir.prim_func @matmul(%X: !tir.buffer<[2, 2], f32>, %W: !tir.buffer<[2, 2], f32>, %Y: !tir.buffer<[2, 2], f32>) attributes {private} {
}

// One without other calls goes, and a public one stays as it is.

// CHECK-NOT:  tir.prim_func @always(
// CHECK:      tir.prim_func @always1({{.*}}) attributes {private, layout_free_buffers = [1 : i64]}
// CHECK-NOT:  tir.prim_func @always(
tir.prim_func @always(%X: !tir.buffer<[2, 2], f32>, %W: !tir.buffer<[2, 2], f32>, %Y: !tir.buffer<[2, 2], f32>) attributes {private} {
}

// CHECK:      tir.prim_func @public({{[^)]*}}) {
tir.prim_func @public(%X: !tir.buffer<[2, 2], f32>, %W: !tir.buffer<[2, 2], f32>, %Y: !tir.buffer<[2, 2], f32>) {
}

// CHECK-LABEL: relax.func @main
// CHECK:         relax.call_tir @matmul1(%x, %w)
// CHECK-NEXT:    relax.call_tir @matmul1(%0, %c)
// CHECK-NEXT:    relax.call_tir @matmul2(%w, %1)
// CHECK-NEXT:    relax.call_tir @matmul(%x, %2)
// CHECK-NEXT:    relax.call_tir @always1(%3, %c)
// CHECK-NEXT:    relax.call_tir @public(%4, %c)
relax.func @main(%x: !relax.tensor<[2, 2], f32>, %w: !relax.tensor<[2, 2], f32>) -> !relax.tensor<[2, 2], f32> attributes {num_input = 1 : i64} {
  %c = relax.constant <float32, [2, 2], [1.0, 2.0, 3.0, 4.0]> : !relax.tensor<[2, 2], f32>
  %0 = relax.call_tir @matmul(%x, %w) : (!relax.tensor<[2, 2], f32>, !relax.tensor<[2, 2], f32>) -> !relax.tensor<[2, 2], f32>
  %1 = relax.call_tir @matmul(%0, %c) : (!relax.tensor<[2, 2], f32>, !relax.tensor<[2, 2], f32>) -> !relax.tensor<[2, 2], f32>
  %2 = relax.call_tir @matmul(%w, %1) : (!relax.tensor<[2, 2], f32>, !relax.tensor<[2, 2], f32>) -> !relax.tensor<[2, 2], f32>
  %3 = relax.call_tir @matmul(%x, %2) : (!relax.tensor<[2, 2], f32>, !relax.tensor<[2, 2], f32>) -> !relax.tensor<[2, 2], f32>
  %4 = relax.call_tir @always(%3, %c) : (!relax.tensor<[2, 2], f32>, !relax.tensor<[2, 2], f32>) -> !relax.tensor<[2, 2], f32>
  %5 = relax.call_tir @public(%4, %c) : (!relax.tensor<[2, 2], f32>, !relax.tensor<[2, 2], f32>) -> !relax.tensor<[2, 2], f32>
  relax.return %5 : !relax.tensor<[2, 2], f32>
}
