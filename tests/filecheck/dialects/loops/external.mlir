// RUN: xrelax-opt %s | filecheck %s
// RUN: xrelax-opt %s --print-op-generic | xrelax-opt | filecheck %s
// RUN: xrelax-opt %s -p convert-to-llvm | filecheck %s --check-prefix=LLVM

// A kernel of another object file has a signature and a symbol, and is called like any other; it
// may fail.

// CHECK-LABEL: loops.func @relu(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n], f32>) symbols [n] noalias external "xrelax.relu.1f2e" {

// LLVM-LABEL:  llvm.func @xrelax.relu.1f2e(!llvm.ptr, !llvm.ptr, !llvm.ptr, i64) -> i32
// LLVM-LABEL:  @xrelax.main
// LLVM:          [[STATUS:%.*]] = llvm.call @xrelax.relu.1f2e
// LLVM:          llvm.icmp "ne" [[STATUS]]
loops.func @relu(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n], f32>) symbols [n] noalias external "xrelax.relu.1f2e" {
}
rt.func @main(%x: !tir.buffer<[n], f32>, %y: !tir.buffer<[n], f32>) results 1 {
  rt.call_dps @relu(%x) outs(%y) : (!tir.buffer<[n], f32>), (!tir.buffer<[n], f32>)
}
