// RUN: xrelax-opt %s -p convert-to-llvm --verify-diagnostics --split-input-file | filecheck %s

// CHECK: in 'f': 'rt.alloc': expected memory to be planned by 'plan-memory'

rt.func @f(%x: !tir.buffer<[n], f32>) {
  %a = rt.alloc : !tir.buffer<[n], f32>
}

// -----

// CHECK: expected kernels and functions on memory in the module

tir.prim_func @f(%x: !tir.buffer<[n], f32>) {
}
