// RUN: xrelax-opt %s -p 'use-dot-products{target="llvm -mcpu=znver4 -mtriple=x86_64-linux-gnu"},dce' --split-input-file | filecheck %s

// Scales are multiplied after the sum; the zero point of the data, by the sums of the weight.

// CHECK-LABEL: @dequantized
// CHECK:         %[[ZERO:.*]] = relax.astype %{{.*}} {dtype = i32}
// CHECK:         %[[X:.*]] = relax.nn.pack_words %x : !relax.tensor<[n, 4], ui8> -> !relax.tensor<[n, 1], ui32>
// CHECK:         %[[W:.*]] = relax.constant <int32, [1, 2], [117768961, 134611970]>
// CHECK:         %[[Y:.*]] = relax.nn.matmul_words %[[X]], %[[W]]
// CHECK:         %[[SUMS:.*]] = relax.constant <int32, [2], [16, 20]>
// CHECK:         %[[MORE:.*]] = relax.multiply %[[SUMS]], %[[ZERO]]
// CHECK:         %[[TOTAL:.*]] = relax.subtract %[[Y]], %[[MORE]]
// CHECK:         %[[SCALE:.*]] = relax.multiply %{{.*}}, %sx
// CHECK:         %[[FLOAT:.*]] = relax.astype %[[TOTAL]] {dtype = f32}
// CHECK:         relax.multiply %[[FLOAT]], %[[SCALE]]
relax.func @dequantized(%x: !relax.tensor<[n, 4], ui8>, %sx: !relax.tensor<[], f32>) -> !relax.tensor<[n, 2], f32> {
  %zx = relax.constant <uint8, [], [3]> : !relax.tensor<[], ui8>
  %w = relax.constant <int8, [4, 2], [1, 2, 3, 4, 5, 6, 7, 8]> : !relax.tensor<[4, 2], i8>
  %sw = relax.constant <float32, [2], [0.5, 0.25]> : !relax.tensor<[2], f32>
  %zw = relax.constant <int8, [], [0]> : !relax.tensor<[], i8>
  %0 = relax.dequantize %x, %sx, %zx {axis = 1 : i64} : !relax.tensor<[n, 4], ui8>, !relax.tensor<[], f32>, !relax.tensor<[], ui8> -> !relax.tensor<[n, 4], f32>
  %1 = relax.dequantize %w, %sw, %zw {axis = 1 : i64} : !relax.tensor<[4, 2], i8>, !relax.tensor<[2], f32>, !relax.tensor<[], i8> -> !relax.tensor<[4, 2], f32>
  %2 = relax.matmul %0, %1 : !relax.tensor<[n, 4], f32>, !relax.tensor<[4, 2], f32> -> !relax.tensor<[n, 2], f32>
  relax.return %2 : !relax.tensor<[n, 2], f32>
}

// -----

// A scale for each row is one for each row of sums; along the contracted axis there is no such.

// CHECK-LABEL: @rows
// CHECK:         relax.nn.matmul_words
// CHECK:         %[[ROWS:.*]] = relax.reshape %sx {{.*}} -> !relax.tensor<[n, 1], f32>
// CHECK:         relax.multiply %sw, %[[ROWS]] : !relax.tensor<[2], f32>, !relax.tensor<[n, 1], f32> -> !relax.tensor<[n, 2], f32>
// CHECK:         relax.nn.conv2d_words
// CHECK:         %[[IMAGES:.*]] = relax.reshape %sx {{.*}} -> !relax.tensor<[n, 1, 1, 1], f32>
// CHECK:         relax.multiply %{{.*}}, %[[IMAGES]]
// CHECK:         relax.matmul
relax.func @rows(%x: !relax.tensor<[n, 4], i8>, %sx: !relax.tensor<[n], f32>, %i: !relax.tensor<[n, 4, 5, 5], i8>, %sk: !relax.tensor<[4], f32>) -> tuple<!relax.tensor<[n, 2], f32>, !relax.tensor<[n, 1, 5, 5], f32>, !relax.tensor<[n, 2], f32>> {
  %z = relax.constant <int8, [], [0]> : !relax.tensor<[], i8>
  %w = relax.constant <int8, [4, 2], [1, 2, 3, 4, 5, 6, 7, 8]> : !relax.tensor<[4, 2], i8>
  %k = relax.constant <int8, [1, 4, 1, 1], [1, 2, 3, 4]> : !relax.tensor<[1, 4, 1, 1], i8>
  %sw = relax.constant <float32, [2], [0.5, 0.25]> : !relax.tensor<[2], f32>
  %so = relax.constant <float32, [1], [0.5]> : !relax.tensor<[1], f32>
  %0 = relax.dequantize %x, %sx, %z {axis = 0 : i64} : !relax.tensor<[n, 4], i8>, !relax.tensor<[n], f32>, !relax.tensor<[], i8> -> !relax.tensor<[n, 4], f32>
  %1 = relax.dequantize %w, %sw, %z {axis = 1 : i64} : !relax.tensor<[4, 2], i8>, !relax.tensor<[2], f32>, !relax.tensor<[], i8> -> !relax.tensor<[4, 2], f32>
  %2 = relax.matmul %0, %1 : !relax.tensor<[n, 4], f32>, !relax.tensor<[4, 2], f32> -> !relax.tensor<[n, 2], f32>
  %3 = relax.dequantize %i, %sx, %z {axis = 0 : i64} : !relax.tensor<[n, 4, 5, 5], i8>, !relax.tensor<[n], f32>, !relax.tensor<[], i8> -> !relax.tensor<[n, 4, 5, 5], f32>
  %4 = relax.dequantize %k, %so, %z {axis = 0 : i64} : !relax.tensor<[1, 4, 1, 1], i8>, !relax.tensor<[1], f32>, !relax.tensor<[], i8> -> !relax.tensor<[1, 4, 1, 1], f32>
  %5 = relax.nn.conv2d %3, %4 : !relax.tensor<[n, 4, 5, 5], f32>, !relax.tensor<[1, 4, 1, 1], f32> -> !relax.tensor<[n, 1, 5, 5], f32>
  %6 = relax.dequantize %x, %sk, %z {axis = 1 : i64} : !relax.tensor<[n, 4], i8>, !relax.tensor<[4], f32>, !relax.tensor<[], i8> -> !relax.tensor<[n, 4], f32>
  %7 = relax.matmul %6, %1 : !relax.tensor<[n, 4], f32>, !relax.tensor<[4, 2], f32> -> !relax.tensor<[n, 2], f32>
  %8 = relax.tuple(%2, %5, %7) : (!relax.tensor<[n, 2], f32>, !relax.tensor<[n, 1, 5, 5], f32>, !relax.tensor<[n, 2], f32>) -> tuple<!relax.tensor<[n, 2], f32>, !relax.tensor<[n, 1, 5, 5], f32>, !relax.tensor<[n, 2], f32>>
  relax.return %8 : tuple<!relax.tensor<[n, 2], f32>, !relax.tensor<[n, 1, 5, 5], f32>, !relax.tensor<[n, 2], f32>>
}

// -----

// Signed data becomes unsigned, and integers stay integers.

// CHECK-LABEL: @signed
// CHECK:         relax.add %{{.*}}, %{{.*}} : !relax.tensor<[n, 4], i16>
// CHECK:         relax.nn.pack_words {{.*}} !relax.tensor<[n, 4], ui8> -> !relax.tensor<[n, 1], ui32>
// CHECK:         relax.nn.matmul_words
// CHECK:         relax.subtract
// CHECK-NOT:     f32
relax.func @signed(%x: !relax.tensor<[n, 4], i8>) -> !relax.tensor<[n, 2], i32> {
  %w = relax.constant <int8, [4, 2], [1, 2, 3, 4, 5, 6, 7, 8]> : !relax.tensor<[4, 2], i8>
  %0 = relax.matmul %x, %w {out_dtype = i32} : !relax.tensor<[n, 4], i8>, !relax.tensor<[4, 2], i8> -> !relax.tensor<[n, 2], i32>
  relax.return %0 : !relax.tensor<[n, 2], i32>
}

// -----

// Padding becomes a constant zero point; the sums of windows are then equal.

// CHECK-LABEL: @padded
// CHECK:         %[[P:.*]] = relax.nn.pad %x {{.*}} pad_value = 3
// CHECK:         relax.nn.pack_words %[[P]] {axis = 1 : i64}
// CHECK:         relax.nn.conv2d_words
// CHECK-NOT:     relax.nn.conv2d
relax.func @padded(%x: !relax.tensor<[1, 4, h, 9], ui8>) -> !relax.tensor<[1, 1, h, 9], f32> {
  %sx = relax.constant <float32, [], [0.5]> : !relax.tensor<[], f32>
  %zx = relax.constant <uint8, [], [3]> : !relax.tensor<[], ui8>
  %w = relax.constant <int8, [1, 4, 1, 3], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]> : !relax.tensor<[1, 4, 1, 3], i8>
  %zw = relax.constant <int8, [], [0]> : !relax.tensor<[], i8>
  %0 = relax.dequantize %x, %sx, %zx {axis = 1 : i64} : !relax.tensor<[1, 4, h, 9], ui8>, !relax.tensor<[], f32>, !relax.tensor<[], ui8> -> !relax.tensor<[1, 4, h, 9], f32>
  %1 = relax.dequantize %w, %sx, %zw {axis = 0 : i64} : !relax.tensor<[1, 4, 1, 3], i8>, !relax.tensor<[], f32>, !relax.tensor<[], i8> -> !relax.tensor<[1, 4, 1, 3], f32>
  %2 = relax.nn.conv2d %0, %1 {padding = array<i64: 0, 1, 0, 1>} : !relax.tensor<[1, 4, h, 9], f32>, !relax.tensor<[1, 4, 1, 3], f32> -> !relax.tensor<[1, 1, h, 9], f32>
  relax.return %2 : !relax.tensor<[1, 1, h, 9], f32>
}

// -----

// A matrix that is not constant is packed at each call.

// CHECK-LABEL: @by_a_parameter
// CHECK:         relax.nn.pack_words %w {axis = 0 : i64}
// CHECK:         relax.nn.matmul_words
relax.func @by_a_parameter(%x: !relax.tensor<[n, 4], i8>, %w: !relax.tensor<[4, 2], i8>) -> !relax.tensor<[n, 2], i32> {
  %0 = relax.matmul %x, %w {out_dtype = i32} : !relax.tensor<[n, 4], i8>, !relax.tensor<[4, 2], i8> -> !relax.tensor<[n, 2], i32>
  relax.return %0 : !relax.tensor<[n, 2], i32>
}

// -----

// Weights of convolutions that are not constant stay.

// CHECK-LABEL: @convolution_by_a_parameter
// CHECK-NOT:     words
// CHECK:         relax.nn.conv2d
relax.func @convolution_by_a_parameter(%x: !relax.tensor<[1, 4, 8, 8], ui8>, %w: !relax.tensor<[2, 4, 1, 1], i8>) -> !relax.tensor<[1, 2, 8, 8], i32> {
  %0 = relax.astype %x {dtype = i32} : !relax.tensor<[1, 4, 8, 8], ui8> -> !relax.tensor<[1, 4, 8, 8], i32>
  %1 = relax.astype %w {dtype = i32} : !relax.tensor<[2, 4, 1, 1], i8> -> !relax.tensor<[2, 4, 1, 1], i32>
  %2 = relax.nn.conv2d %0, %1 : !relax.tensor<[1, 4, 8, 8], i32>, !relax.tensor<[2, 4, 1, 1], i32> -> !relax.tensor<[1, 2, 8, 8], i32>
  relax.return %2 : !relax.tensor<[1, 2, 8, 8], i32>
}

// -----

// So do products of wider integers, groups, and scales along the sum.

// CHECK-LABEL: @others
// CHECK-NOT:     words
// CHECK:         relax.return
relax.func @others(%x: !relax.tensor<[n, 4], i16>, %y: !relax.tensor<[n, 4], i8>, %z: !relax.tensor<[1, 4, 5, 5], i8>, %s: !relax.tensor<[4], f32>) -> tuple<!relax.tensor<[n, 2], i32>, !relax.tensor<[n, 2], f32>, !relax.tensor<[1, 4, 5, 5], i32>> {
  %w = relax.constant <int16, [4, 2], [1, 2, 3, 4, 5, 6, 7, 8]> : !relax.tensor<[4, 2], i16>
  %v = relax.constant <int8, [4, 2], [1, 2, 3, 4, 5, 6, 7, 8]> : !relax.tensor<[4, 2], i8>
  %k = relax.constant <int8, [4, 1, 1, 1], [1, 2, 3, 4]> : !relax.tensor<[4, 1, 1, 1], i8>
  %zero = relax.constant <int8, [], [0]> : !relax.tensor<[], i8>
  %one = relax.constant <float32, [], [1.0]> : !relax.tensor<[], f32>
  %0 = relax.matmul %x, %w {out_dtype = i32} : !relax.tensor<[n, 4], i16>, !relax.tensor<[4, 2], i16> -> !relax.tensor<[n, 2], i32>
  %1 = relax.dequantize %y, %one, %zero {axis = 1 : i64} : !relax.tensor<[n, 4], i8>, !relax.tensor<[], f32>, !relax.tensor<[], i8> -> !relax.tensor<[n, 4], f32>
  %2 = relax.dequantize %v, %s, %zero {axis = 0 : i64} : !relax.tensor<[4, 2], i8>, !relax.tensor<[4], f32>, !relax.tensor<[], i8> -> !relax.tensor<[4, 2], f32>
  %3 = relax.matmul %1, %2 : !relax.tensor<[n, 4], f32>, !relax.tensor<[4, 2], f32> -> !relax.tensor<[n, 2], f32>
  %4 = relax.nn.conv2d %z, %k {groups = 4 : i64, out_dtype = i32} : !relax.tensor<[1, 4, 5, 5], i8>, !relax.tensor<[4, 1, 1, 1], i8> -> !relax.tensor<[1, 4, 5, 5], i32>
  %5 = relax.tuple(%0, %3, %4) : (!relax.tensor<[n, 2], i32>, !relax.tensor<[n, 2], f32>, !relax.tensor<[1, 4, 5, 5], i32>) -> tuple<!relax.tensor<[n, 2], i32>, !relax.tensor<[n, 2], f32>, !relax.tensor<[1, 4, 5, 5], i32>>
  relax.return %5 : tuple<!relax.tensor<[n, 2], i32>, !relax.tensor<[n, 2], f32>, !relax.tensor<[1, 4, 5, 5], i32>>
}

// -----

// Pairs of bf16 are summed in float32; the weight may be given, and of an odd depth.

// CHECK-LABEL: @bfloat16
// CHECK:         %[[X:.*]] = relax.nn.pack_words %x : !relax.tensor<[n, 5], bf16> -> !relax.tensor<[n, 3], ui32>
// CHECK:         %[[W:.*]] = relax.nn.pack_words %w {axis = 0 : i64} : !relax.tensor<[5, 2], bf16> -> !relax.tensor<[3, 2], ui32>
// CHECK:         %[[Y:.*]] = relax.nn.matmul_words %[[X]], %[[W]] {out_dtype = f32} {{.*}} -> !relax.tensor<[n, 2], f32>
// CHECK:         relax.astype %[[Y]] {dtype = bf16}
relax.func @bfloat16(%x: !relax.tensor<[n, 5], bf16>, %w: !relax.tensor<[5, 2], bf16>) -> !relax.tensor<[n, 2], bf16> {
  %0 = relax.matmul %x, %w : !relax.tensor<[n, 5], bf16>, !relax.tensor<[5, 2], bf16> -> !relax.tensor<[n, 2], bf16>
  relax.return %0 : !relax.tensor<[n, 2], bf16>
}

// -----

// A sum is rounded once, with its bias; float32 that was bf16 is contracted as bf16.

// CHECK-LABEL: @rounded_once
// CHECK:         %[[Y:.*]] = relax.nn.matmul_words {{.*}} {out_dtype = f32, transpose_rhs = true}
// CHECK:         %[[B:.*]] = relax.astype %b {dtype = f32}
// CHECK:         %[[S:.*]] = relax.add %[[Y]], %[[B]]
// CHECK:         relax.astype %[[S]] {dtype = bf16}
// CHECK:         relax.nn.matmul_words {{.*}} {out_dtype = f32}
// CHECK-NOT:     relax.matmul
relax.func @rounded_once(%x: !relax.tensor<[n, 4], bf16>, %w: !relax.tensor<[4, 4], bf16>, %b: !relax.tensor<[4], bf16>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.linear %x, %w bias %b : !relax.tensor<[4], bf16> : !relax.tensor<[n, 4], bf16>, !relax.tensor<[4, 4], bf16> -> !relax.tensor<[n, 4], bf16>
  %1 = relax.astype %0 {dtype = f32} : !relax.tensor<[n, 4], bf16> -> !relax.tensor<[n, 4], f32>
  %2 = relax.astype %w {dtype = f32} : !relax.tensor<[4, 4], bf16> -> !relax.tensor<[4, 4], f32>
  %3 = relax.matmul %1, %2 : !relax.tensor<[n, 4], f32>, !relax.tensor<[4, 4], f32> -> !relax.tensor<[n, 4], f32>
  relax.return %3 : !relax.tensor<[n, 4], f32>
}

// -----

// What stays: sums in float64, float16, and one operand alone in bf16.

// CHECK-LABEL: @other_floats
// CHECK-NOT:     words
relax.func @other_floats(%x: !relax.tensor<[n, 4], bf16>, %w: !relax.tensor<[4, 4], bf16>, %h: !relax.tensor<[4, 4], f16>, %f: !relax.tensor<[4, 4], f32>) -> tuple<!relax.tensor<[n, 4], f64>, !relax.tensor<[4, 4], f16>, !relax.tensor<[n, 4], f32>> {
  %0 = relax.matmul %x, %w {out_dtype = f64} : !relax.tensor<[n, 4], bf16>, !relax.tensor<[4, 4], bf16> -> !relax.tensor<[n, 4], f64>
  %1 = relax.matmul %h, %h : !relax.tensor<[4, 4], f16>, !relax.tensor<[4, 4], f16> -> !relax.tensor<[4, 4], f16>
  %2 = relax.astype %x {dtype = f32} : !relax.tensor<[n, 4], bf16> -> !relax.tensor<[n, 4], f32>
  %3 = relax.matmul %2, %f : !relax.tensor<[n, 4], f32>, !relax.tensor<[4, 4], f32> -> !relax.tensor<[n, 4], f32>
  %4 = relax.tuple(%0, %1, %3) : (!relax.tensor<[n, 4], f64>, !relax.tensor<[4, 4], f16>, !relax.tensor<[n, 4], f32>) -> tuple<!relax.tensor<[n, 4], f64>, !relax.tensor<[4, 4], f16>, !relax.tensor<[n, 4], f32>>
  relax.return %4 : tuple<!relax.tensor<[n, 4], f64>, !relax.tensor<[4, 4], f16>, !relax.tensor<[n, 4], f32>>
}

// -----

// Several matrices, with zero points: sums along k of each, as a row.

// CHECK-LABEL: @matrices
// CHECK:         %[[Y:.*]] = relax.nn.matmul_words {{.*}} -> !relax.tensor<[2, n, 3], i32>
// CHECK:         %[[S:.*]] = relax.sum {{.*}} -> !relax.tensor<[2, 3], i32>
// CHECK:         %[[R:.*]] = relax.expand_dims %[[S]] {axis = array<i64: -2>} : {{.*}} -> !relax.tensor<[2, 1, 3], i32>
relax.func @matrices(%x: !relax.tensor<[2, n, 8], ui8>, %w: !relax.tensor<[2, 8, 3], i8>, %s: !relax.tensor<[], f32>) -> !relax.tensor<[2, n, 3], f32> {
  %z = relax.constant <uint8, [], [3]> : !relax.tensor<[], ui8>
  %o = relax.constant <int8, [], [0]> : !relax.tensor<[], i8>
  %0 = relax.dequantize %x, %s, %z : !relax.tensor<[2, n, 8], ui8>, !relax.tensor<[], f32>, !relax.tensor<[], ui8> -> !relax.tensor<[2, n, 8], f32>
  %1 = relax.dequantize %w, %s, %o : !relax.tensor<[2, 8, 3], i8>, !relax.tensor<[], f32>, !relax.tensor<[], i8> -> !relax.tensor<[2, 8, 3], f32>
  %2 = relax.matmul %0, %1 : !relax.tensor<[2, n, 8], f32>, !relax.tensor<[2, 8, 3], f32> -> !relax.tensor<[2, n, 3], f32>
  relax.return %2 : !relax.tensor<[2, n, 3], f32>
}
