// RUN: xrelax-opt %s -p convert-to-llvm --verify-diagnostics --split-input-file | filecheck %s

// Each error is one line with the place of the operation.

// CHECK: errors.mlir:8:3: error: 'rt.alloc': in 'f': expected memory to be planned by 'plan-memory'

rt.func @f(%x: !tir.buffer<[n], f32>) {
  %a = rt.alloc : !tir.buffer<[n], f32>
}

// -----

// CHECK: error: 'tir.prim_func': expected kernels and functions on memory in the module

tir.prim_func @f(%x: !tir.buffer<[n], f32>) {
}
