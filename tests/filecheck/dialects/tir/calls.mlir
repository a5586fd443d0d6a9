// RUN: xrelax-opt %s | filecheck %s
// RUN: xrelax-opt %s --print-op-generic | xrelax-opt | filecheck %s

// Intrinsics with strings, an unsigned result, and pointers as parameters and results.
// CHECK-LABEL: tir.prim_func @intrinsics(%p: !tir.handle, %q: !tir.handle<f32>, %r: !tir.handle<i8, "shared">, %s: !tir.handle<"local">, %x: f32) {
tir.prim_func @intrinsics(%p: !tir.handle, %q: !tir.handle<f32>, %r: !tir.handle<i8, "shared">, %s: !tir.handle<"local">, %x: f32) {
  // CHECK-NEXT: %0 = tir.string "llvm.sqrt.f32"
  // CHECK-NEXT: %1 = tir.call_intrin "call_llvm_pure_intrin"(%0, %x) : (!tir.handle, f32) -> f32
  %0 = tir.string "llvm.sqrt.f32"
  %1 = tir.call_intrin "call_llvm_pure_intrin"(%0, %x) : (!tir.handle, f32) -> f32
  // CHECK-NEXT: %mask = tir.call_intrin "tvm_warp_activemask" unsigned() : () -> i32
  %mask = tir.call_intrin "tvm_warp_activemask" unsigned() : () -> i32
  // CHECK-NEXT: %data = tir.call_intrin "tvm_struct_get"(%p) : (!tir.handle) -> !tir.handle<f32>
  %data = tir.call_intrin "tvm_struct_get"(%p) : (!tir.handle) -> !tir.handle<f32>
  // CHECK-NEXT: %X = tir.decl_buffer %data : !tir.handle<f32> to !tir.buffer<[4], f32>
  %X = tir.decl_buffer %data : !tir.handle<f32> to !tir.buffer<[4], f32>
}
