// RUN: xrelax-opt %s -p propagate-quantization,dce --split-input-file | filecheck %s

// Integers move, and to quantize them again changes nothing.

// CHECK-LABEL: @moved
// CHECK-NEXT:    %[[Y:.*]] = relax.permute_dims %x {axes = array<i64: 1, 0>} : !relax.tensor<[n, 4], ui8> -> !relax.tensor<[4, n], ui8>
// CHECK-NEXT:    relax.return %[[Y]]
relax.func @moved(%x: !relax.tensor<[n, 4], ui8>) -> !relax.tensor<[4, n], ui8> {
  %s = relax.constant <float32, [], [0.1]> : !relax.tensor<[], f32>
  %z = relax.constant <uint8, [], [3]> : !relax.tensor<[], ui8>
  %0 = relax.dequantize %x, %s, %z : !relax.tensor<[n, 4], ui8>, !relax.tensor<[], f32>, !relax.tensor<[], ui8> -> !relax.tensor<[n, 4], f32>
  %1 = relax.permute_dims %0 {axes = array<i64: 1, 0>} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[4, n], f32>
  %s2 = relax.constant <float32, [], [0.1]> : !relax.tensor<[], f32>
  %z2 = relax.constant <uint8, [], [3]> : !relax.tensor<[], ui8>
  %2 = relax.quantize %1, %s2, %z2 {out_dtype = ui8} : !relax.tensor<[4, n], f32>, !relax.tensor<[], f32>, !relax.tensor<[], ui8> -> !relax.tensor<[4, n], ui8>
  relax.return %2 : !relax.tensor<[4, n], ui8>
}

// -----

// Of several operands with one scale, and each part of a tuple.

// CHECK-LABEL: @joined
// CHECK:         %[[J:.*]] = relax.concat {{.*}} : (!relax.tensor<[2, 4], i8>, !relax.tensor<[2, 4], i8>)
// CHECK:         %[[P:.*]] = relax.split %[[J]]
// CHECK:         %[[F:.*]] = relax.tuple_get_item %[[P]][1]
// CHECK:         relax.dequantize %[[F]]
// CHECK-NOT:     relax.dequantize
relax.func @joined(%x: !relax.tensor<[2, 4], i8>, %y: !relax.tensor<[2, 4], i8>) -> !relax.tensor<[2, 4], f32> {
  %s = relax.constant <float32, [], [0.1]> : !relax.tensor<[], f32>
  %z = relax.constant <int8, [], [0]> : !relax.tensor<[], i8>
  %0 = relax.dequantize %x, %s, %z : !relax.tensor<[2, 4], i8>, !relax.tensor<[], f32>, !relax.tensor<[], i8> -> !relax.tensor<[2, 4], f32>
  %1 = relax.dequantize %y, %s, %z : !relax.tensor<[2, 4], i8>, !relax.tensor<[], f32>, !relax.tensor<[], i8> -> !relax.tensor<[2, 4], f32>
  %2 = relax.concat %0, %1 {axis = 0 : i64} : (!relax.tensor<[2, 4], f32>, !relax.tensor<[2, 4], f32>) -> !relax.tensor<[4, 4], f32>
  %3 = relax.split %2 {indices_or_sections = 2 : i64} : !relax.tensor<[4, 4], f32> -> tuple<!relax.tensor<[2, 4], f32>, !relax.tensor<[2, 4], f32>>
  %4 = relax.tuple_get_item %3[1] : tuple<!relax.tensor<[2, 4], f32>, !relax.tensor<[2, 4], f32>> -> !relax.tensor<[2, 4], f32>
  relax.return %4 : !relax.tensor<[2, 4], f32>
}

// -----

// The largest integer is the largest number, for a positive scale.

// CHECK-LABEL: @pooled
// CHECK:         relax.nn.max_pool2d %x {{.*}} ui8>
// CHECK-NEXT:    relax.dequantize
relax.func @pooled(%x: !relax.tensor<[1, 3, 8, 8], ui8>) -> !relax.tensor<[1, 3, 4, 4], f32> {
  %s = relax.constant <float32, [], [0.1]> : !relax.tensor<[], f32>
  %z = relax.constant <uint8, [], [3]> : !relax.tensor<[], ui8>
  %0 = relax.dequantize %x, %s, %z : !relax.tensor<[1, 3, 8, 8], ui8>, !relax.tensor<[], f32>, !relax.tensor<[], ui8> -> !relax.tensor<[1, 3, 8, 8], f32>
  %1 = relax.nn.max_pool2d %0 {pool_size = array<i64: 2, 2>, strides = array<i64: 2, 2>} : !relax.tensor<[1, 3, 8, 8], f32> -> !relax.tensor<[1, 3, 4, 4], f32>
  relax.return %1 : !relax.tensor<[1, 3, 4, 4], f32>
}

// -----

// What stays: scales of channels and those that are not known, other scales, and other zero points.

// CHECK-LABEL: @kept
// CHECK:         relax.dequantize %x, %c
// CHECK-NEXT:    relax.permute_dims
// CHECK:         relax.dequantize %x, %v
// CHECK-NEXT:    relax.permute_dims
// CHECK:         relax.quantize
// CHECK:         relax.quantize
relax.func @kept(%x: !relax.tensor<[2, 2], ui8>, %v: !relax.tensor<[], f32>) -> tuple<!relax.tensor<[2, 2], f32>, !relax.tensor<[2, 2], f32>, !relax.tensor<[2, 2], ui8>, !relax.tensor<[2, 2], ui8>> {
  %z = relax.constant <uint8, [], [3]> : !relax.tensor<[], ui8>
  %z2 = relax.constant <uint8, [], [4]> : !relax.tensor<[], ui8>
  %s = relax.constant <float32, [], [0.1]> : !relax.tensor<[], f32>
  %s2 = relax.constant <float32, [], [0.2]> : !relax.tensor<[], f32>
  %c = relax.constant <float32, [2], [0.1, 0.2]> : !relax.tensor<[2], f32>
  %0 = relax.dequantize %x, %c, %z : !relax.tensor<[2, 2], ui8>, !relax.tensor<[2], f32>, !relax.tensor<[], ui8> -> !relax.tensor<[2, 2], f32>
  %1 = relax.permute_dims %0 : !relax.tensor<[2, 2], f32> -> !relax.tensor<[2, 2], f32>
  %2 = relax.dequantize %x, %v, %z : !relax.tensor<[2, 2], ui8>, !relax.tensor<[], f32>, !relax.tensor<[], ui8> -> !relax.tensor<[2, 2], f32>
  %3 = relax.permute_dims %2 : !relax.tensor<[2, 2], f32> -> !relax.tensor<[2, 2], f32>
  %4 = relax.dequantize %x, %s, %z : !relax.tensor<[2, 2], ui8>, !relax.tensor<[], f32>, !relax.tensor<[], ui8> -> !relax.tensor<[2, 2], f32>
  %5 = relax.quantize %4, %s2, %z {out_dtype = ui8} : !relax.tensor<[2, 2], f32>, !relax.tensor<[], f32>, !relax.tensor<[], ui8> -> !relax.tensor<[2, 2], ui8>
  %6 = relax.quantize %4, %s, %z2 {out_dtype = ui8} : !relax.tensor<[2, 2], f32>, !relax.tensor<[], f32>, !relax.tensor<[], ui8> -> !relax.tensor<[2, 2], ui8>
  %7 = relax.tuple(%1, %3, %5, %6) : (!relax.tensor<[2, 2], f32>, !relax.tensor<[2, 2], f32>, !relax.tensor<[2, 2], ui8>, !relax.tensor<[2, 2], ui8>) -> tuple<!relax.tensor<[2, 2], f32>, !relax.tensor<[2, 2], f32>, !relax.tensor<[2, 2], ui8>, !relax.tensor<[2, 2], ui8>>
  relax.return %7 : tuple<!relax.tensor<[2, 2], f32>, !relax.tensor<[2, 2], f32>, !relax.tensor<[2, 2], ui8>, !relax.tensor<[2, 2], ui8>>
}
