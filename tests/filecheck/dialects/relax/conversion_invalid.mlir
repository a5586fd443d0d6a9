// RUN: xrelax-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: expected dtype of 'relax.bitcast' to be as wide as its operand, got int64 and float32
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], i64> {
  %0 = relax.bitcast %x {dtype = i64} : !relax.tensor<[n], f32> -> !relax.tensor<[n], i64>
  relax.return %0 : !relax.tensor<[n], i64>
}

// -----

// CHECK: expected operands of 'relax.bitcast' to be integers of 16 bits, got float16
relax.func @main(%x: !relax.tensor<[n], f16>) -> !relax.tensor<[n], bf16> {
  %0 = relax.bitcast %x {dtype = bf16} : !relax.tensor<[n], f16> -> !relax.tensor<[n], bf16>
  relax.return %0 : !relax.tensor<[n], bf16>
}

// -----

// CHECK: expected operands of 'relax.bitcast' to be numbers other than bfloat16, got bool
relax.func @main(%x: !relax.tensor<[n], i1>) -> !relax.tensor<[n], i8> {
  %0 = relax.bitcast %x {dtype = i8} : !relax.tensor<[n], i1> -> !relax.tensor<[n], i8>
  relax.return %0 : !relax.tensor<[n], i8>
}
