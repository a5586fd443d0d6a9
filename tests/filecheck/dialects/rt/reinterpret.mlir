// RUN: xrelax-opt %s | filecheck %s
// RUN: xrelax-opt %s --print-op-generic | xrelax-opt | filecheck %s

// CHECK-LABEL: @reinterpret
rt.func @reinterpret(%x: !tir.buffer<[n, 12], f32>, %y: !tir.buffer<[n, 3, 4], f32>) results 1 {
  // CHECK: %0 = rt.reinterpret %x : !tir.buffer<[n, 12], f32> to !tir.buffer<[n, 3, 4], f32>
  %0 = rt.reinterpret %x : !tir.buffer<[n, 12], f32> to !tir.buffer<[n, 3, 4], f32>
  rt.copy %0, %y : !tir.buffer<[n, 3, 4], f32>, !tir.buffer<[n, 3, 4], f32>
}
