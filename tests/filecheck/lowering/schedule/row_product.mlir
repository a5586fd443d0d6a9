// RUN: xrelax-opt %s -p 'schedule-default{target="llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=znver4" rules=stream-products,reduction-tiles}' --split-input-file | filecheck %s

// Of a matrix that one row is multiplied by four rows at a time are read, and then the one left.
// CHECK-LABEL: tir.prim_func @odd
// CHECK:         tir.for %k in (0, 12) {
// CHECK-NEXT:      tir.for %j in (0, 70) vectorized {
// CHECK-NEXT:        tir.for %k_1 in (0, 4) unrolled {
// CHECK-NEXT:          tir.block "Y_k0" (%vj: spatial (0, 70) = %j, %vk: reduce (0, 48) = %k * 4 + %k_1)
// CHECK:         tir.for %k_2 in (48, 1) {
// CHECK-NEXT:      tir.for %j_1 in (0, 70) vectorized {
// CHECK-NEXT:        tir.block "Y_k1"
tir.prim_func @odd(%X: !tir.buffer<[49], f32>, %W: !tir.buffer<[49, 70], f32>, %Y: !tir.buffer<[70], f32>) {
  tir.for %j in (0, 70) {
    tir.for %k in (0, 49) {
      tir.block "Y" (%vj: spatial (0, 70) = %j, %vk: reduce (0, 49) = %k) reads (%X[%vk], %W[%vk, %vj]) writes (%Y[%vj]) {
        tir.init {
          %z = arith.constant 0.0 : f32
          tir.store %z, %Y[%vj] : !tir.buffer<[70], f32>
        }
        %y = tir.load %Y[%vj] : !tir.buffer<[70], f32>
        %x = tir.load %X[%vk] : !tir.buffer<[49], f32>
        %w = tir.load %W[%vk, %vj] : !tir.buffer<[49, 70], f32>
        %p = arith.mulf %x, %w : f32
        %s = arith.addf %y, %p : f32
        tir.store %s, %Y[%vj] : !tir.buffer<[70], f32>
      }
    }
  }
}

// -----

// Where a small number divides the rows, those are read at once that it says.
// CHECK-LABEL: tir.prim_func @even
// CHECK:         tir.for %k in (0, 25) {
// CHECK-NEXT:      tir.for %j in (0, 70) {
// CHECK-NEXT:        tir.for %k_1 in (0, 2) unrolled {
tir.prim_func @even(%X: !tir.buffer<[50], f32>, %W: !tir.buffer<[50, 70], f32>, %Y: !tir.buffer<[70], f32>) {
  tir.for %j in (0, 70) {
    tir.for %k in (0, 50) {
      tir.block "Y" (%vj: spatial (0, 70) = %j, %vk: reduce (0, 50) = %k) reads (%X[%vk], %W[%vk, %vj]) writes (%Y[%vj]) {
        tir.init {
          %z = arith.constant 0.0 : f32
          tir.store %z, %Y[%vj] : !tir.buffer<[70], f32>
        }
        %y = tir.load %Y[%vj] : !tir.buffer<[70], f32>
        %x = tir.load %X[%vk] : !tir.buffer<[50], f32>
        %w = tir.load %W[%vk, %vj] : !tir.buffer<[50, 70], f32>
        %p = arith.mulf %x, %w : f32
        %s = arith.addf %y, %p : f32
        tir.store %s, %Y[%vj] : !tir.buffer<[70], f32>
      }
    }
  }
}
