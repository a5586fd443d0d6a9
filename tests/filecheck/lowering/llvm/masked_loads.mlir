// RUN: xrelax-opt %s -p 'convert-to-llvm{target="llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=skylake-avx512"}' | filecheck %s
// RUN: xrelax-opt %s -p 'convert-to-llvm{target="llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=haswell"}' | filecheck %s --check-prefix=PLAIN

// Without a fence LLVM folds the load into the conversion, which has the same mask, and takes it out
// again without one: it would read beyond the end of %X.

// CHECK-LABEL: func internal @xrelax.sum(
// CHECK:         %[[X:.*]] = llvm_ext.intrinsic "llvm.masked.load"
// CHECK-NEXT:    llvm_ext.intrinsic "llvm.arithmetic.fence"(%[[X]])
// PLAIN-LABEL: func internal @xrelax.sum(
// PLAIN-NOT:     fence
loops.func @sum(%X: !tir.buffer<[n], f64>, %Y: !tir.buffer<[16], f32>) symbols [n] noalias {
  %z = arith.constant dense<-0.0> : vector<8xf32>
  %m = loops.mask n mod 8 : vector<8xi1>
  %x = loops.load %X[0] mask %m : !tir.buffer<[n], f64> -> vector<8xf64>
  %t = arith.truncf %x : vector<8xf64> to vector<8xf32>
  %s = loops.lanewise "arith.select"(%m, %t, %z) : (vector<8xi1>, vector<8xf32>, vector<8xf32>) -> vector<8xf32>
  %w = vector.shuffle %s, %z [0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8, 8, 8, 8, 8, 8] : vector<8xf32>, vector<8xf32>
  loops.store %w, %Y[0] : !tir.buffer<[16], f32>, vector<16xf32>
}

// Integers of 32 and 64 bits are fenced as floats.

// CHECK-LABEL: func internal @xrelax.integers(
// CHECK:         llvm_ext.intrinsic "llvm.masked.load"
// CHECK-NEXT:    llvm_ext.cast bitcast
// CHECK-NEXT:    llvm_ext.intrinsic "llvm.arithmetic.fence"
// CHECK-NEXT:    llvm_ext.cast bitcast
// CHECK-LABEL: func internal @xrelax.bytes(
// CHECK-NOT:     fence
loops.func @integers(%X: !tir.buffer<[n], i32>, %Y: !tir.buffer<[8], i32>) symbols [n] noalias {
  %m = loops.mask n mod 8 : vector<8xi1>
  %x = loops.load %X[0] mask %m : !tir.buffer<[n], i32> -> vector<8xi32>
  loops.store %x, %Y[0] : !tir.buffer<[8], i32>, vector<8xi32>
}
loops.func @bytes(%X: !tir.buffer<[n], i8>, %Y: !tir.buffer<[8], i8>) symbols [n] noalias {
  %m = loops.mask n mod 8 : vector<8xi1>
  %x = loops.load %X[0] mask %m : !tir.buffer<[n], i8> -> vector<8xi8>
  loops.store %x, %Y[0] : !tir.buffer<[8], i8>, vector<8xi8>
}
loops.func @halves(%X: !tir.buffer<[n], bf16>, %Y: !tir.buffer<[8], bf16>) symbols [n] noalias {
  %m = loops.mask n mod 8 : vector<8xi1>
  %x = loops.load %X[0] mask %m : !tir.buffer<[n], bf16> -> vector<8xbf16>
  loops.store %x, %Y[0] : !tir.buffer<[8], bf16>, vector<8xbf16>
}
