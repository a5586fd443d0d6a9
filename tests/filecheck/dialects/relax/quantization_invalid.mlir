// RUN: xrelax-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: expected data of 'relax.quantize' to be one of float16, bfloat16, float32, float64, got int32
relax.func @main(%x: !relax.tensor<[n], i32>, %s: !relax.tensor<[], f32>, %z: !relax.tensor<[], i8>) -> !relax.tensor<[n], i8> {
  %0 = relax.quantize %x, %s, %z : !relax.tensor<[n], i32>, !relax.tensor<[], f32>, !relax.tensor<[], i8> -> !relax.tensor<[n], i8>
  relax.return %0 : !relax.tensor<[n], i8>
}

// -----

// CHECK: expected out_dtype of 'relax.quantize' to be one of int8, uint8, int16, uint16, got int32
relax.func @main(%x: !relax.tensor<[n], f32>, %s: !relax.tensor<[], f32>, %z: !relax.tensor<[], i8>) -> !relax.tensor<[n], i32> {
  %0 = relax.quantize %x, %s, %z {out_dtype = i32} : !relax.tensor<[n], f32>, !relax.tensor<[], f32>, !relax.tensor<[], i8> -> !relax.tensor<[n], i32>
  relax.return %0 : !relax.tensor<[n], i32>
}

// -----

// CHECK: expected out_dtype of 'relax.dequantize' to be one of float16, bfloat16, float32, float64, got int8
relax.func @main(%x: !relax.tensor<[n], i8>, %s: !relax.tensor<[], f32>, %z: !relax.tensor<[], i8>) -> !relax.tensor<[n], i8> {
  %0 = relax.dequantize %x, %s, %z {out_dtype = i8} : !relax.tensor<[n], i8>, !relax.tensor<[], f32>, !relax.tensor<[], i8> -> !relax.tensor<[n], i8>
  relax.return %0 : !relax.tensor<[n], i8>
}

// -----

// CHECK: expected scale of 'relax.quantize' to be one of float16, bfloat16, float32, float64, got int32
relax.func @main(%x: !relax.tensor<[n], f32>, %s: !relax.tensor<[], i32>, %z: !relax.tensor<[], i8>) -> !relax.tensor<[n], i8> {
  %0 = relax.quantize %x, %s, %z : !relax.tensor<[n], f32>, !relax.tensor<[], i32>, !relax.tensor<[], i8> -> !relax.tensor<[n], i8>
  relax.return %0 : !relax.tensor<[n], i8>
}

// -----

// CHECK: expected zero_point of 'relax.dequantize' to be one of int8, int16, int32, int64, uint8, uint16, uint32, uint64, got float32
relax.func @main(%x: !relax.tensor<[n], i8>, %s: !relax.tensor<[], f32>, %z: !relax.tensor<[], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.dequantize %x, %s, %z : !relax.tensor<[n], i8>, !relax.tensor<[], f32>, !relax.tensor<[], f32> -> !relax.tensor<[n], f32>
  relax.return %0 : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected scale of 'relax.quantize' to have rank 0 or 1, got (1, n)
relax.func @main(%x: !relax.tensor<[n], f32>, %s: !relax.tensor<[1, n], f32>, %z: !relax.tensor<[], i8>) -> !relax.tensor<[n], i8> {
  %0 = relax.quantize %x, %s, %z : !relax.tensor<[n], f32>, !relax.tensor<[1, n], f32>, !relax.tensor<[], i8> -> !relax.tensor<[n], i8>
  relax.return %0 : !relax.tensor<[n], i8>
}

// -----

// CHECK: expected zero_point of 'relax.quantize' to have rank 0, got (1,)
relax.func @main(%x: !relax.tensor<[], f32>, %s: !relax.tensor<[], f32>, %z: !relax.tensor<[1], i8>) -> !relax.tensor<[], i8> {
  %0 = relax.quantize %x, %s, %z : !relax.tensor<[], f32>, !relax.tensor<[], f32>, !relax.tensor<[1], i8> -> !relax.tensor<[], i8>
  relax.return %0 : !relax.tensor<[], i8>
}

// -----

// CHECK: expected scale of 'relax.quantize' to have shape (c,), got (n,)
relax.func @main(%x: !relax.tensor<[n, c], f32>, %s: !relax.tensor<[n], f32>, %z: !relax.tensor<[], i8>) -> !relax.tensor<[n, c], i8> {
  %0 = relax.quantize %x, %s, %z : !relax.tensor<[n, c], f32>, !relax.tensor<[n], f32>, !relax.tensor<[], i8> -> !relax.tensor<[n, c], i8>
  relax.return %0 : !relax.tensor<[n, c], i8>
}

// -----

// CHECK: expected axis of 'relax.dequantize' in [-2, 2), got 2
relax.func @main(%x: !relax.tensor<[n, c], i8>, %s: !relax.tensor<[n], f32>, %z: !relax.tensor<[], i8>) -> !relax.tensor<[n, c], f32> {
  %0 = relax.dequantize %x, %s, %z {axis = 2 : i64} : !relax.tensor<[n, c], i8>, !relax.tensor<[n], f32>, !relax.tensor<[], i8> -> !relax.tensor<[n, c], f32>
  relax.return %0 : !relax.tensor<[n, c], f32>
}
