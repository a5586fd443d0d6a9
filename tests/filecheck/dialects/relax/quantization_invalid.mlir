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

// -----

// CHECK: expected bits of 'relax.nn.pack_blocks' to be 2, 4 or 8, got 3
relax.func @main(%w: !relax.tensor<[20, 32], ui8>) -> !relax.tensor<[2, 2, 2, 16], ui32> {
  %0 = relax.nn.pack_blocks %w {bits = 3 : i64} : !relax.tensor<[20, 32], ui8> -> !relax.tensor<[2, 2, 2, 16], ui32>
  relax.return %0 : !relax.tensor<[2, 2, 2, 16], ui32>
}

// -----

// CHECK: expected block_size of 'relax.nn.pack_blocks' to be a multiple of 8, got 12
relax.func @main(%w: !relax.tensor<[20, 32], ui8>) -> !relax.tensor<[2, 2, 2, 16], ui32> {
  %0 = relax.nn.pack_blocks %w {block_size = 12 : i64} : !relax.tensor<[20, 32], ui8> -> !relax.tensor<[2, 2, 2, 16], ui32>
  relax.return %0 : !relax.tensor<[2, 2, 2, 16], ui32>
}

// -----

// CHECK: expected x (n, k) of 'relax.nn.pack_blocks' to have k of whole blocks of 24, got (20, 32)
relax.func @main(%w: !relax.tensor<[20, 32], ui8>) -> !relax.tensor<[2, 2, 2, 16], ui32> {
  %0 = relax.nn.pack_blocks %w {block_size = 24 : i64} : !relax.tensor<[20, 32], ui8> -> !relax.tensor<[2, 2, 2, 16], ui32>
  relax.return %0 : !relax.tensor<[2, 2, 2, 16], ui32>
}

// -----

// CHECK: expected operands of 'relax.nn.pack_blocks' to be uint8, got int8
relax.func @main(%w: !relax.tensor<[20, 32], i8>) -> !relax.tensor<[2, 2, 2, 16], ui32> {
  %0 = relax.nn.pack_blocks %w {bits = 4 : i64} : !relax.tensor<[20, 32], i8> -> !relax.tensor<[2, 2, 2, 16], ui32>
  relax.return %0 : !relax.tensor<[2, 2, 2, 16], ui32>
}

// -----

// CHECK: expected weight of 'relax.nn.matmul_blocks' to be (3, blocks, words, 16) for 33 columns, got (2, 2, 2, 16)
relax.func @main(%x: !relax.tensor<[n, 32], f32>, %w: !relax.tensor<[2, 2, 2, 16], ui32>, %s: !relax.tensor<[2, 2, 16], f16>) -> !relax.tensor<[n, 20], f32> {
  %0 = relax.nn.matmul_blocks %x, %w, %s {columns = 33 : i64} : !relax.tensor<[n, 32], f32>, !relax.tensor<[2, 2, 2, 16], ui32>, !relax.tensor<[2, 2, 16], f16> -> !relax.tensor<[n, 20], f32>
  relax.return %0 : !relax.tensor<[n, 20], f32>
}

// -----

// CHECK: expected scales and minima of 'relax.nn.matmul_blocks' to have rank 3, got (2, 16)
relax.func @main(%x: !relax.tensor<[n, 32], f32>, %w: !relax.tensor<[2, 2, 2, 16], ui32>, %s: !relax.tensor<[2, 16], f16>) -> !relax.tensor<[n, 20], f32> {
  %0 = relax.nn.matmul_blocks %x, %w, %s {columns = 20 : i64} : !relax.tensor<[n, 32], f32>, !relax.tensor<[2, 2, 2, 16], ui32>, !relax.tensor<[2, 16], f16> -> !relax.tensor<[n, 20], f32>
  relax.return %0 : !relax.tensor<[n, 20], f32>
}

// -----

// CHECK: expected scales and minima of 'relax.nn.matmul_blocks' to be (2, 2, 16), got (2, 3, 16)
relax.func @main(%x: !relax.tensor<[n, 32], f32>, %w: !relax.tensor<[2, 2, 2, 16], ui32>, %s: !relax.tensor<[2, 3, 16], f16>) -> !relax.tensor<[n, 20], f32> {
  %0 = relax.nn.matmul_blocks %x, %w, %s {columns = 20 : i64} : !relax.tensor<[n, 32], f32>, !relax.tensor<[2, 2, 2, 16], ui32>, !relax.tensor<[2, 3, 16], f16> -> !relax.tensor<[n, 20], f32>
  relax.return %0 : !relax.tensor<[n, 20], f32>
}

// -----

// CHECK: expected data of 'relax.nn.matmul_blocks' to be (…, 32) as the weight is, got (n, 24)
relax.func @main(%x: !relax.tensor<[n, 24], f32>, %w: !relax.tensor<[2, 2, 2, 16], ui32>, %s: !relax.tensor<[2, 2, 16], f16>) -> !relax.tensor<[n, 20], f32> {
  %0 = relax.nn.matmul_blocks %x, %w, %s {columns = 20 : i64} : !relax.tensor<[n, 24], f32>, !relax.tensor<[2, 2, 2, 16], ui32>, !relax.tensor<[2, 2, 16], f16> -> !relax.tensor<[n, 20], f32>
  relax.return %0 : !relax.tensor<[n, 20], f32>
}

// -----

// CHECK: expected operands of 'relax.nn.matmul_blocks' to be floats of at most 32 bits, got float64
relax.func @main(%x: !relax.tensor<[n, 32], f64>, %w: !relax.tensor<[2, 2, 2, 16], ui32>, %s: !relax.tensor<[2, 2, 16], f16>) -> !relax.tensor<[n, 20], f32> {
  %0 = relax.nn.matmul_blocks %x, %w, %s {columns = 20 : i64} : !relax.tensor<[n, 32], f64>, !relax.tensor<[2, 2, 2, 16], ui32>, !relax.tensor<[2, 2, 16], f16> -> !relax.tensor<[n, 20], f32>
  relax.return %0 : !relax.tensor<[n, 20], f32>
}

// -----

// CHECK: expected one of float32, int8, int16, got "int4"
relax.func @main(%x: !relax.tensor<[n, 32], f32>, %w: !relax.tensor<[2, 2, 2, 16], ui32>, %s: !relax.tensor<[2, 2, 16], f16>) -> !relax.tensor<[n, 20], f32> {
  %0 = relax.nn.matmul_blocks %x, %w, %s {activations = "int4", columns = 20 : i64} : !relax.tensor<[n, 32], f32>, !relax.tensor<[2, 2, 2, 16], ui32>, !relax.tensor<[2, 2, 16], f16> -> !relax.tensor<[n, 20], f32>
  relax.return %0 : !relax.tensor<[n, 20], f32>
}
