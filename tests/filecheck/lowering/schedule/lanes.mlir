// RUN: xrelax-opt %s -p 'schedule-default{target="llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=haswell" rules=vectorize}' --check | filecheck %s

// Rows of a tile, which are unrolled, have vectors in each; the loop around them stays.

// CHECK-LABEL: tir.prim_func @rows
// CHECK-NEXT:    tir.for %i in (0, 10) {
// CHECK-NEXT:      tir.for %r in (0, 3) unrolled {
// CHECK-NEXT:        tir.for %j in (0, 64) vectorized {
tir.prim_func @rows(%X: !tir.buffer<[10, 3, 64], f32>, %Y: !tir.buffer<[10, 3, 64], f32>) {
  tir.for %i in (0, 10) {
    tir.for %r in (0, 3) unrolled {
      tir.for %j in (0, 64) {
        tir.block "Y" (%vi: spatial (0, 10) = %i, %vr: spatial (0, 3) = %r, %vj: spatial (0, 64) = %j) reads (%X[%vi, %vr, %vj]) writes (%Y[%vi, %vr, %vj]) {
          %x = tir.load %X[%vi, %vr, %vj] : !tir.buffer<[10, 3, 64], f32>
          %y = arith.addf %x, %x : f32
          tir.store %y, %Y[%vi, %vr, %vj] : !tir.buffer<[10, 3, 64], f32>
        }
      }
    }
  }
}

// What is unrolled innermost stays too, with the loops around it.

// CHECK-LABEL: tir.prim_func @innermost
// CHECK-NEXT:    tir.for %i in (0, 10) {
// CHECK-NEXT:      tir.for %j in (0, 3) unrolled {
tir.prim_func @innermost(%X: !tir.buffer<[10, 3], f32>, %Y: !tir.buffer<[10, 3], f32>) {
  tir.for %i in (0, 10) {
    tir.for %j in (0, 3) unrolled {
      tir.block "Y" (%vi: spatial (0, 10) = %i, %vj: spatial (0, 3) = %j) reads (%X[%vi, %vj]) writes (%Y[%vi, %vj]) {
        %x = tir.load %X[%vi, %vj] : !tir.buffer<[10, 3], f32>
        %y = arith.addf %x, %x : f32
        tir.store %y, %Y[%vi, %vj] : !tir.buffer<[10, 3], f32>
      }
    }
  }
}
