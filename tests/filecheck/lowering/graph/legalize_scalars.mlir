// RUN: xrelax-opt %s -p 'legalize-ops{scalars=true}' | filecheck %s
// RUN: xrelax-opt %s -p legalize-ops | filecheck %s --check-prefix MEMORY

// A float of unknown value is a parameter of the kernel, or a buffer of rank 0.

// CHECK-LABEL: tir.prim_func @multiply(%lhs: !tir.buffer<[n], f32>, %rhs: f32, %T_multiply: !tir.buffer<[n], f32>)
// CHECK:         %1 = arith.mulf %0, %rhs
// CHECK-LABEL: relax.func @main
// CHECK-NEXT:    relax.call_tir @multiply(%x, %a) : (!relax.tensor<[n], f32>, !relax.prim<f32>) -> !relax.tensor<[n], f32>
// MEMORY:      tir.prim_func @multiply(%lhs: !tir.buffer<[n], f32>, %rhs: !tir.buffer<[], f32>
// MEMORY:      %0 = relax.prim_to_tensor %a
// MEMORY-NEXT: relax.call_tir @multiply(%x, %0)
relax.func @main(%x: !relax.tensor<[n], f32>, %a: !relax.prim<f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.prim_to_tensor %a : !relax.prim<f32> -> !relax.tensor<[], f32>
  %1 = relax.multiply %x, %0 : !relax.tensor<[n], f32>, !relax.tensor<[], f32> -> !relax.tensor<[n], f32>
  relax.return %1 : !relax.tensor<[n], f32>
}
