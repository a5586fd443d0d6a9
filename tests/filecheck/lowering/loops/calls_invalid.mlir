// RUN: xrelax-opt %s -p convert-tir-to-loops --split-input-file --verify-diagnostics | filecheck %s

// CHECK: in '@sync': expected calls that CPU code has, got T.tvm_storage_sync
tir.prim_func @sync() {
  %0 = tir.string "warp"
  %1 = tir.call_intrin "tvm_storage_sync"(%0) : (!tir.handle) -> i32
}

// -----

// CHECK: in '@pointer': expected T.match_buffer for handle 'p'
tir.prim_func @pointer(%p: !tir.handle) {
}

// -----

// CHECK: in '@memory': expected calls that CPU code has, got T.call_llvm_intrin
tir.prim_func @memory() {
  %0 = tir.string "llvm.frameaddress"
  %p = tir.call_intrin "call_llvm_intrin"(%0) : (!tir.handle) -> !tir.handle
  %X = tir.decl_buffer %p : !tir.handle to !tir.buffer<[4], f32>
}

// -----

// CHECK: in '@attr': expected attributes of statements that CPU code has, got 'storage_scope'
tir.prim_func @attr(%x: f32) {
  tir.attr "storage_scope" of "0"(%x) : f32 {
    %s = tir.string "inside"
  }
}

// -----

// CHECK: in '@result': expected a kernel that writes its results to buffers, got 'return'
tir.prim_func @result(%x: f32) {
  tir.return %x : f32
}

// -----

// CHECK: in '@caller': expected a kernel without calls of others, got one of 'caller'
tir.prim_func @caller() {
  tir.call @caller() : () -> ()
}

// -----

// CHECK: in '@part': expected 'f' to get numbers, strings and whole compact buffers, got part of a buffer as 'Y'
tir.prim_func @part(%X: !tir.buffer<[4], f32>) {
  %0 = tir.string "f"
  %Y = tir.match_buffer %X[1] : !tir.buffer<[4], f32> to !tir.buffer<[2], f32>
  %1 = tir.call_intrin "call_packed"(%0, %Y) : (!tir.handle, !tir.buffer<[2], f32>) -> i32
}
