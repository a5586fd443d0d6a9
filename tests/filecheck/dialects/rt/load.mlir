// RUN: xrelax-opt %s | filecheck %s
// RUN: xrelax-opt %s --print-op-generic | xrelax-opt | filecheck %s

// CHECK-LABEL: rt.func on_load @load(%p: !tir.buffer<[2], f32>) results tuple 1 {
rt.func on_load @load(%p: !tir.buffer<[2], f32>) results tuple 1 {
  %w = rt.constant <float32, [2], [1.0, 2.0]> : !tir.buffer<[2], f32>
  rt.copy %w, %p : !tir.buffer<[2], f32>, !tir.buffer<[2], f32>
}

// CHECK-LABEL: rt.func @main
rt.func @main(%y: !tir.buffer<[2], f32>) results 1 {
  // CHECK-NEXT: %p = rt.loaded @load[0] : !tir.buffer<[2], f32>
  %p = rt.loaded @load[0] : !tir.buffer<[2], f32>
  rt.copy %p, %y : !tir.buffer<[2], f32>, !tir.buffer<[2], f32>
}
