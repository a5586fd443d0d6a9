// RUN: xrelax-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: expected an intrinsic of TensorIR, got 'tvm_sync'
tir.prim_func @unknown() {
  %0 = tir.call_intrin "tvm_sync"() : () -> i32
}

// -----

// CHECK: expected an unsigned integer of 'tvm_struct_get', got another result
tir.prim_func @unsigned(%p: !tir.handle) {
  %0 = tir.call_intrin "tvm_struct_get" unsigned(%p) : (!tir.handle) -> f32
}

// -----

// CHECK: expected the name of an intrinsic of LLVM first for 'call_llvm_intrin'
tir.prim_func @unnamed(%x: f32) {
  %0 = tir.call_intrin "call_llvm_intrin"(%x) : (f32) -> f32
}

// -----

// CHECK: expected an element type of a tensor, got index
tir.prim_func @pointers(%p: !tir.handle<index>) {
}
