// RUN: xrelax-opt %s --split-input-file | filecheck %s
// RUN: xrelax-opt %s --split-input-file --print-op-generic | xrelax-opt --split-input-file | filecheck %s

// A scale for all elements, and one along an axis; the result has the shape of the data.
// CHECK-LABEL: @quantized
relax.func @quantized(%x: !relax.tensor<[n, c], f32>, %s: !relax.tensor<[], f32>, %z: !relax.tensor<[], i8>, %v: !relax.tensor<[n], f32>, %w: !relax.tensor<[n], ui8>) -> !relax.tensor<[n, c], f16> {
  // CHECK: %0 = relax.quantize %x, %s, %z : !relax.tensor<[n, c], f32>, !relax.tensor<[], f32>, !relax.tensor<[], i8> -> !relax.tensor<[n, c], i8>
  %0 = relax.quantize %x, %s, %z : !relax.tensor<[n, c], f32>, !relax.tensor<[], f32>, !relax.tensor<[], i8> -> !relax.tensor<[n, c], i8>
  // CHECK: %1 = relax.quantize %x, %v, %w {axis = 0 : i64, out_dtype = ui8} : !relax.tensor<[n, c], f32>, !relax.tensor<[n], f32>, !relax.tensor<[n], ui8> -> !relax.tensor<[n, c], ui8>
  %1 = relax.quantize %x, %v, %w {axis = 0 : i64, out_dtype = ui8} : !relax.tensor<[n, c], f32>, !relax.tensor<[n], f32>, !relax.tensor<[n], ui8> -> !relax.tensor<[n, c], ui8>
  // CHECK: %2 = relax.dequantize %0, %s, %z : !relax.tensor<[n, c], i8>, !relax.tensor<[], f32>, !relax.tensor<[], i8> -> !relax.tensor<[n, c], f32>
  %2 = relax.dequantize %0, %s, %z : !relax.tensor<[n, c], i8>, !relax.tensor<[], f32>, !relax.tensor<[], i8> -> !relax.tensor<[n, c], f32>
  // CHECK: %3 = relax.dequantize %1, %v, %w {axis = 0 : i64, out_dtype = f16} : !relax.tensor<[n, c], ui8>, !relax.tensor<[n], f32>, !relax.tensor<[n], ui8> -> !relax.tensor<[n, c], f16>
  %3 = relax.dequantize %1, %v, %w {axis = 0 : i64, out_dtype = f16} : !relax.tensor<[n, c], ui8>, !relax.tensor<[n], f32>, !relax.tensor<[n], ui8> -> !relax.tensor<[n, c], f16>
  relax.return %3 : !relax.tensor<[n, c], f16>
}

// Weights of 4 bits in blocks of 16: words of eight numbers, by panels of 16 columns.
// CHECK-LABEL: @blocks
relax.func @blocks(%x: !relax.tensor<[n, 32], f32>, %w: !relax.tensor<[20, 32], ui8>, %s: !relax.tensor<[2, 2, 16], f16>, %m: !relax.tensor<[2, 2, 16], f32>) -> !relax.tensor<[n, 20], f32> {
  // CHECK: %0 = relax.nn.pack_blocks %w {block_size = 16 : i64} : !relax.tensor<[20, 32], ui8> -> !relax.tensor<[2, 2, 2, 16], ui32>
  %0 = relax.nn.pack_blocks %w {block_size = 16 : i64} : !relax.tensor<[20, 32], ui8> -> !relax.tensor<[2, 2, 2, 16], ui32>
  // CHECK: %1 = relax.nn.matmul_blocks %x, %0, %s {columns = 20 : i64, zero_point = 8 : i64} : !relax.tensor<[n, 32], f32>, !relax.tensor<[2, 2, 2, 16], ui32>, !relax.tensor<[2, 2, 16], f16> -> !relax.tensor<[n, 20], f32>
  %1 = relax.nn.matmul_blocks %x, %0, %s {columns = 20 : i64, zero_point = 8 : i64} : !relax.tensor<[n, 32], f32>, !relax.tensor<[2, 2, 2, 16], ui32>, !relax.tensor<[2, 2, 16], f16> -> !relax.tensor<[n, 20], f32>
  // CHECK: %2 = relax.nn.matmul_blocks %x, %0, %s minima %m : !relax.tensor<[2, 2, 16], f32> {activations = "int8", columns = 20 : i64} : !relax.tensor<[n, 32], f32>
  %2 = relax.nn.matmul_blocks %x, %0, %s minima %m : !relax.tensor<[2, 2, 16], f32> {activations = "int8", columns = 20 : i64} : !relax.tensor<[n, 32], f32>, !relax.tensor<[2, 2, 2, 16], ui32>, !relax.tensor<[2, 2, 16], f16> -> !relax.tensor<[n, 20], f32>
  relax.return %2 : !relax.tensor<[n, 20], f32>
}
