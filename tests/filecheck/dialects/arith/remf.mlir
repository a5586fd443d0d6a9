// RUN: xrelax-opt %s | filecheck %s
// RUN: xrelax-opt %s --print-op-generic | xrelax-opt | filecheck %s
// RUN: xrelax-opt %s -p convert-tir-to-loops,convert-to-llvm | filecheck %s --check-prefix LLVM

// The remainder of floats: f16 is computed in f32, as all arithmetic on it.

// CHECK-LABEL: tir.prim_func @remainder
// LLVM-LABEL: remainder
tir.prim_func @remainder(%A: !tir.buffer<[], f32>, %H: !tir.buffer<[], f16>) {
  %a = tir.load %A[] : !tir.buffer<[], f32>
  // CHECK: arith.remf %a, %a : f32
  // LLVM: llvm.frem %{{.*}} : f32
  %r = arith.remf %a, %a : f32
  tir.store %r, %A[] : !tir.buffer<[], f32>
  %h = tir.load %H[] : !tir.buffer<[], f16>
  // CHECK: arith.remf %h, %h : f16
  // LLVM: llvm_ext.cast fpext %{{.*}} : f16 to f32
  // LLVM: llvm.frem %{{.*}} : f32
  // LLVM: llvm_ext.cast fptrunc %{{.*}} : f32 to f16
  %s = arith.remf %h, %h : f16
  tir.store %s, %H[] : !tir.buffer<[], f16>
}
