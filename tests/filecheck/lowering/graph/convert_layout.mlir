// RUN: xrelax-opt %s -p convert-layout,dce --split-input-file | filecheck %s

// Channels are last between two convolutions, but neither in what comes in nor in the result.

// CHECK-LABEL: @between
// CHECK:         relax.nn.conv2d %x, %w {out_layout = "NHWC"}
// CHECK-NEXT:    {{.*}} = relax.nn.relu
// CHECK-NEXT:    {{.*}} = relax.nn.max_pool2d {{.*}}layout = "NHWC"
// CHECK-NEXT:    {{.*}} = relax.nn.conv2d {{.*}}data_layout = "NHWC", out_layout = "NCHW"
// CHECK-NEXT:    relax.return
relax.func @between(%x: !relax.tensor<[n, 3, 8, 8], f32>, %w: !relax.tensor<[4, 3, 1, 1], f32>, %v: !relax.tensor<[4, 4, 1, 1], f32>) -> !relax.tensor<[n, 4, 8, 8], f32> {
  %0 = relax.nn.conv2d %x, %w : !relax.tensor<[n, 3, 8, 8], f32>, !relax.tensor<[4, 3, 1, 1], f32> -> !relax.tensor<[n, 4, 8, 8], f32>
  %1 = relax.nn.relu %0 : !relax.tensor<[n, 4, 8, 8], f32> -> !relax.tensor<[n, 4, 8, 8], f32>
  %2 = relax.nn.max_pool2d %1 : !relax.tensor<[n, 4, 8, 8], f32> -> !relax.tensor<[n, 4, 8, 8], f32>
  %3 = relax.nn.conv2d %2, %v : !relax.tensor<[n, 4, 8, 8], f32>, !relax.tensor<[4, 4, 1, 1], f32> -> !relax.tensor<[n, 4, 8, 8], f32>
  relax.return %3 : !relax.tensor<[n, 4, 8, 8], f32>
}

// -----

// A constant operand is permuted, for `fold-constant`; a result in both layouts is permuted once.

// CHECK-LABEL: @both
// CHECK:         %[[C:.*]] = relax.nn.conv1d %x, %w {out_layout = "NWC"}
// CHECK-NEXT:    {{.*}} = relax.permute_dims %[[C]] {axes = array<i64: 0, 2, 1>}
// CHECK:         relax.expand_dims %b
// CHECK-NEXT:    {{.*}} = relax.permute_dims {{.*}} {axes = array<i64: 0, 2, 1>}
// CHECK-NEXT:    {{.*}} = relax.add %[[C]], {{.*}} -> !relax.tensor<[n, 8, 2], f32>
// CHECK-NEXT:    {{.*}} = relax.nn.conv1d {{.*}}data_layout = "NWC", out_layout = "NCW"
relax.func @both(%x: !relax.tensor<[n, 2, 8], f32>, %w: !relax.tensor<[2, 2, 1], f32>, %u: !relax.tensor<[8, 8], f32>) -> !relax.tensor<[n, 2, 8], f32> {
  %0 = relax.nn.conv1d %x, %w : !relax.tensor<[n, 2, 8], f32>, !relax.tensor<[2, 2, 1], f32> -> !relax.tensor<[n, 2, 8], f32>
  %b = relax.constant <float32, [2, 1], [1.0, 2.0]> : !relax.tensor<[2, 1], f32>
  %1 = relax.add %0, %b : !relax.tensor<[n, 2, 8], f32>, !relax.tensor<[2, 1], f32> -> !relax.tensor<[n, 2, 8], f32>
  %2 = relax.nn.conv1d %1, %w : !relax.tensor<[n, 2, 8], f32>, !relax.tensor<[2, 2, 1], f32> -> !relax.tensor<[n, 2, 8], f32>
  %3 = relax.matmul %0, %u : !relax.tensor<[n, 2, 8], f32>, !relax.tensor<[8, 8], f32> -> !relax.tensor<[n, 2, 8], f32>
  %4 = relax.add %2, %3 : !relax.tensor<[n, 2, 8], f32>, !relax.tensor<[n, 2, 8], f32> -> !relax.tensor<[n, 2, 8], f32>
  relax.return %4 : !relax.tensor<[n, 2, 8], f32>
}

// -----

// A convolution alone, and what is as large as its result but not a constant, stay.

// CHECK-LABEL: @alone
// CHECK-NEXT:    {{.*}} = relax.nn.conv2d %x, %w :
// CHECK-NEXT:    {{.*}} = relax.add %0, %y
relax.func @alone(%x: !relax.tensor<[n, 3, 8, 8], f32>, %w: !relax.tensor<[4, 3, 1, 1], f32>, %y: !relax.tensor<[n, 4, 8, 8], f32>) -> !relax.tensor<[n, 4, 8, 8], f32> {
  %0 = relax.nn.conv2d %x, %w : !relax.tensor<[n, 3, 8, 8], f32>, !relax.tensor<[4, 3, 1, 1], f32> -> !relax.tensor<[n, 4, 8, 8], f32>
  %1 = relax.add %0, %y : !relax.tensor<[n, 4, 8, 8], f32>, !relax.tensor<[n, 4, 8, 8], f32> -> !relax.tensor<[n, 4, 8, 8], f32>
  relax.return %1 : !relax.tensor<[n, 4, 8, 8], f32>
}

// -----

// Weights of a flattened image are permuted, for `fold-constant`, and not the image.

// CHECK-LABEL: @flattened
// CHECK:         %[[P:.*]] = relax.nn.max_pool2d {{.*}}layout = "NHWC"
// CHECK-NEXT:    {{.*}} = relax.reshape %[[P]] {{.*}} -> !relax.tensor<[n, 8], f32>
// CHECK:         {{.*}} = relax.reshape %c {{.*}} -> !relax.tensor<[3, 4, 2, 1], f32>
// CHECK-NEXT:    {{.*}} = relax.permute_dims {{.*}} {axes = array<i64: 0, 2, 3, 1>}
// CHECK-NEXT:    {{.*}} = relax.reshape {{.*}} -> !relax.tensor<[3, 8], f32>
// CHECK-NEXT:    {{.*}} = relax.matmul {{.*}} {transpose_rhs = true}
// CHECK-NEXT:    relax.return
relax.func @flattened(%x: !relax.tensor<[n, 3, 4, 2], f32>, %w: !relax.tensor<[4, 3, 1, 1], f32>) -> !relax.tensor<[n, 3], f32> {
  %0 = relax.nn.conv2d %x, %w : !relax.tensor<[n, 3, 4, 2], f32>, !relax.tensor<[4, 3, 1, 1], f32> -> !relax.tensor<[n, 4, 4, 2], f32>
  %1 = relax.nn.max_pool2d %0 {pool_size = array<i64: 2, 2>, strides = array<i64: 2, 2>} : !relax.tensor<[n, 4, 4, 2], f32> -> !relax.tensor<[n, 4, 2, 1], f32>
  %2 = relax.reshape %1 {shape = [#sym.expr<n>, #sym.expr<8>]} : !relax.tensor<[n, 4, 2, 1], f32> -> !relax.tensor<[n, 8], f32>
  %c = relax.constant <float32, [3, 8], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : !relax.tensor<[3, 8], f32>
  %3 = relax.matmul %2, %c {transpose_rhs = true} : !relax.tensor<[n, 8], f32>, !relax.tensor<[3, 8], f32> -> !relax.tensor<[n, 3], f32>
  relax.return %3 : !relax.tensor<[n, 3], f32>
}

// -----

// An image whose elements something else uses in order stays as it was flattened.

// CHECK-LABEL: @flattened_for_others
// CHECK:         %0 = relax.nn.conv2d %x, %w :
// CHECK-NEXT:    %1 = relax.reshape %0
// CHECK-NEXT:    {{.*}} = relax.constant
// CHECK-NEXT:    {{.*}} = relax.matmul %1
// CHECK-NEXT:    {{.*}} = relax.sum %1
relax.func @flattened_for_others(%x: !relax.tensor<[n, 3, 2, 1], f32>, %w: !relax.tensor<[4, 3, 1, 1], f32>) -> !relax.tensor<[n, 1], f32> {
  %0 = relax.nn.conv2d %x, %w : !relax.tensor<[n, 3, 2, 1], f32>, !relax.tensor<[4, 3, 1, 1], f32> -> !relax.tensor<[n, 4, 2, 1], f32>
  %1 = relax.reshape %0 {shape = [#sym.expr<n>, #sym.expr<8>]} : !relax.tensor<[n, 4, 2, 1], f32> -> !relax.tensor<[n, 8], f32>
  %c = relax.constant <float32, [8, 1], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : !relax.tensor<[8, 1], f32>
  %2 = relax.matmul %1, %c : !relax.tensor<[n, 8], f32>, !relax.tensor<[8, 1], f32> -> !relax.tensor<[n, 1], f32>
  %3 = relax.sum %1 {axis = array<i64: 1>, keepdims = true} : !relax.tensor<[n, 8], f32> -> !relax.tensor<[n, 1], f32>
  %4 = relax.add %2, %3 : !relax.tensor<[n, 1], f32>, !relax.tensor<[n, 1], f32> -> !relax.tensor<[n, 1], f32>
  relax.return %4 : !relax.tensor<[n, 1], f32>
}

// -----

// Words of channels, integers and padding keep their channels last.

// CHECK-LABEL: @quantized
// CHECK:         relax.nn.conv2d %x, %w {out_layout = "NHWC"}
// CHECK-NEXT:    relax.quantize {{.*}} {axis = 3 : i64, out_dtype = ui8}
// CHECK-NEXT:    relax.nn.pad {{.*}}pad_width = array<i64: 0, 0, 1, 2, 3, 4, 0, 0>
// CHECK-NEXT:    relax.nn.pack_words {{.*}} {axis = 3 : i64} : !relax.tensor<[1, 11, 15, 4], ui8> -> !relax.tensor<[1, 11, 15, 1], ui32>
// CHECK-NEXT:    relax.nn.conv2d_words {{.*}}data_layout = "NHWC"
relax.func @quantized(%x: !relax.tensor<[1, 3, 8, 8], f32>, %w: !relax.tensor<[4, 3, 1, 1], f32>, %s: !relax.tensor<[4], f32>, %z: !relax.tensor<[], ui8>, %v: !relax.tensor<[2, 1, 1, 1], i32>) -> !relax.tensor<[1, 2, 11, 15], i32> {
  %0 = relax.nn.conv2d %x, %w : !relax.tensor<[1, 3, 8, 8], f32>, !relax.tensor<[4, 3, 1, 1], f32> -> !relax.tensor<[1, 4, 8, 8], f32>
  %1 = relax.quantize %0, %s, %z {axis = 1 : i64, out_dtype = ui8} : !relax.tensor<[1, 4, 8, 8], f32>, !relax.tensor<[4], f32>, !relax.tensor<[], ui8> -> !relax.tensor<[1, 4, 8, 8], ui8>
  %2 = relax.nn.pad %1 {pad_width = array<i64: 0, 0, 0, 0, 1, 2, 3, 4>} : !relax.tensor<[1, 4, 8, 8], ui8> -> !relax.tensor<[1, 4, 11, 15], ui8>
  %3 = relax.nn.pack_words %2 {axis = 1 : i64} : !relax.tensor<[1, 4, 11, 15], ui8> -> !relax.tensor<[1, 1, 11, 15], ui32>
  %4 = relax.nn.conv2d_words %3, %v : !relax.tensor<[1, 1, 11, 15], ui32>, !relax.tensor<[2, 1, 1, 1], i32> -> !relax.tensor<[1, 2, 11, 15], i32>
  relax.return %4 : !relax.tensor<[1, 2, 11, 15], i32>
}

// -----

// A mean of all pixels, with dims of 1 or without them, is the same in both layouts.

// CHECK-LABEL: @means
// CHECK:         %[[C:.*]] = relax.nn.conv2d %x, %w {out_layout = "NHWC"}
// CHECK-NEXT:    relax.mean %[[C]] {axis = array<i64: 1, 2>} {{.*}} -> !relax.tensor<[1, 4], f32>
// CHECK-NEXT:    %[[K:.*]] = relax.mean %[[C]] {axis = array<i64: 1, 2>, keepdims = true} {{.*}} -> !relax.tensor<[1, 1, 1, 4], f32>
// CHECK-NEXT:    relax.reshape %[[K]] {{.*}} -> !relax.tensor<[4], f32>
// CHECK-NOT:     permute_dims
relax.func @means(%x: !relax.tensor<[1, 3, 8, 8], f32>, %w: !relax.tensor<[4, 3, 1, 1], f32>) -> tuple<!relax.tensor<[1, 4], f32>, !relax.tensor<[4], f32>> {
  %0 = relax.nn.conv2d %x, %w : !relax.tensor<[1, 3, 8, 8], f32>, !relax.tensor<[4, 3, 1, 1], f32> -> !relax.tensor<[1, 4, 8, 8], f32>
  %1 = relax.mean %0 {axis = array<i64: 2, 3>} : !relax.tensor<[1, 4, 8, 8], f32> -> !relax.tensor<[1, 4], f32>
  %2 = relax.mean %0 {axis = array<i64: 2, 3>, keepdims = true} : !relax.tensor<[1, 4, 8, 8], f32> -> !relax.tensor<[1, 4, 1, 1], f32>
  %3 = relax.flatten %2 : !relax.tensor<[1, 4, 1, 1], f32> -> !relax.tensor<[4], f32>
  %5 = relax.tuple(%1, %3) : (!relax.tensor<[1, 4], f32>, !relax.tensor<[4], f32>) -> tuple<!relax.tensor<[1, 4], f32>, !relax.tensor<[4], f32>>
  relax.return %5 : tuple<!relax.tensor<[1, 4], f32>, !relax.tensor<[4], f32>>
}
