// RUN: xrelax-opt %s -p convert-tir-to-loops --split-input-file --verify-diagnostics | filecheck %s

// CHECK: in '@gpu': expected loops without thread axes on a CPU, got loop 'i' bound to "threadIdx.x"
tir.prim_func @gpu(%Y: !tir.buffer<[8], f32>) {
  tir.for %i in (0, 8) thread_binding "threadIdx.x" {
    %zero = arith.constant 0.0 : f32
    tir.store %zero, %Y[%i] : !tir.buffer<[8], f32>
  }
}

// -----

// CHECK: in '@large': expected scratch buffer 'T' of type !tir.buffer<[n], f32> to fit into 16384 bytes of stack or to be lifted by 'lift-workspace'
tir.prim_func @large(%Y: !tir.buffer<[n], f32>) {
  %T = tir.alloc_buffer : !tir.buffer<[n], f32>
  %zero = arith.constant 0.0 : f32
  tir.store %zero, %T[0] : !tir.buffer<[n], f32>
}
