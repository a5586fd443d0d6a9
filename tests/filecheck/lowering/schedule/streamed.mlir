// RUN: xrelax-opt %s -p 'schedule-default{target="llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=znver4" rules=contractions,reduction-tiles}' --split-input-file | filecheck %s

// Few rows that share vectors stream a matrix where nearly all columns are in vectors.
// CHECK-LABEL: tir.prim_func @streamed
// CHECK-NOT:     tir.alloc_buffer
// CHECK:         tir.for %i_1 in (0, 4) unrolled {
// CHECK-NEXT:      tir.for %k_1 in (0, 4) unrolled {
// CHECK-NEXT:        tir.block "Y" ({{.*}}) reads (%X[%vi, %vk], %W[%vk, %vj]) writes (%Y[%vi, %vj]) {
tir.prim_func @streamed(%X: !tir.buffer<[4, 1000], f32>, %W: !tir.buffer<[1000, 52], f32>, %Y: !tir.buffer<[4, 52], f32>) {
  tir.for %i in (0, 4) {
    tir.for %j in (0, 52) {
      tir.for %k in (0, 1000) {
        tir.block "Y" (%vi: spatial (0, 4) = %i, %vj: spatial (0, 52) = %j, %vk: reduce (0, 1000) = %k) reads (%X[%vi, %vk], %W[%vk, %vj]) writes (%Y[%vi, %vj]) {
          tir.init {
            %c = arith.constant 0.0 : f32
            tir.store %c, %Y[%vi, %vj] : !tir.buffer<[4, 52], f32>
          }
          %y = tir.load %Y[%vi, %vj] : !tir.buffer<[4, 52], f32>
          %x = tir.load %X[%vi, %vk] : !tir.buffer<[4, 1000], f32>
          %w = tir.load %W[%vk, %vj] : !tir.buffer<[1000, 52], f32>
          %p = arith.mulf %x, %w : f32
          %q = arith.addf %y, %p : f32
          tir.store %q, %Y[%vi, %vj] : !tir.buffer<[4, 52], f32>
        }
      }
    }
  }
}

// -----

// Where most of the columns are left of vectors, they are copied to a panel, whose vectors are whole.
// CHECK-LABEL: tir.prim_func @copied
// CHECK:         %W_global = tir.alloc_buffer : !tir.buffer<[100, 32], f32>
// CHECK:         tir.for %i_2 in (0, 6) unrolled {
// CHECK-NEXT:      tir.for %j_3 in (0, 2) unrolled {
// CHECK-NEXT:        tir.for %j_4 in (0, 16) vectorized {
// CHECK-NEXT:          tir.block "Y_update" ({{.*}}%vk: reduce (0, 100) = %k)
tir.prim_func @copied(%X: !tir.buffer<[6, 100], f32>, %W: !tir.buffer<[100, 30], f32>, %Y: !tir.buffer<[6, 30], f32>) {
  tir.for %i in (0, 6) {
    tir.for %j in (0, 30) {
      tir.for %k in (0, 100) {
        tir.block "Y" (%vi: spatial (0, 6) = %i, %vj: spatial (0, 30) = %j, %vk: reduce (0, 100) = %k) reads (%X[%vi, %vk], %W[%vk, %vj]) writes (%Y[%vi, %vj]) {
          tir.init {
            %c = arith.constant 0.0 : f32
            tir.store %c, %Y[%vi, %vj] : !tir.buffer<[6, 30], f32>
          }
          %y = tir.load %Y[%vi, %vj] : !tir.buffer<[6, 30], f32>
          %x = tir.load %X[%vi, %vk] : !tir.buffer<[6, 100], f32>
          %w = tir.load %W[%vk, %vj] : !tir.buffer<[100, 30], f32>
          %p = arith.mulf %x, %w : f32
          %q = arith.addf %y, %p : f32
          tir.store %q, %Y[%vi, %vj] : !tir.buffer<[6, 30], f32>
        }
      }
    }
  }
}

// -----

// A column of one element has no rows around it: LLVM vectorizes the steps of the reduction.
// CHECK-LABEL: tir.prim_func @window
// CHECK-NEXT:    tir.for %i in (0, 16) {
// CHECK-NEXT:      tir.for %r in (0, 3) {
// CHECK-NEXT:        tir.for %k in (0, 2) {
// CHECK-NEXT:          tir.for %j in (0, 1) {
// CHECK-NEXT:            tir.for %k_1 in (0, 4) unrolled {
tir.prim_func @window(%X: !tir.buffer<[18, 8], f32>, %W: !tir.buffer<[3, 8, 1], f32>, %Y: !tir.buffer<[16, 1], f32>) {
  tir.for %i in (0, 16) {
    tir.for %j in (0, 1) {
      tir.for %r in (0, 3) {
        tir.for %k in (0, 8) {
          tir.block "Y" (%vi: spatial (0, 16) = %i, %vj: spatial (0, 1) = %j, %vr: reduce (0, 3) = %r, %vk: reduce (0, 8) = %k) reads (%X[%vi + %vr, %vk], %W[%vr, %vk, %vj]) writes (%Y[%vi, %vj]) {
            tir.init {
              %zero = arith.constant 0.0 : f32
              tir.store %zero, %Y[%vi, %vj] : !tir.buffer<[16, 1], f32>
            }
            %y = tir.load %Y[%vi, %vj] : !tir.buffer<[16, 1], f32>
            %x = tir.load %X[%vi + %vr, %vk] : !tir.buffer<[18, 8], f32>
            %w = tir.load %W[%vr, %vk, %vj] : !tir.buffer<[3, 8, 1], f32>
            %p = arith.mulf %x, %w : f32
            %s = arith.addf %y, %p : f32
            tir.store %s, %Y[%vi, %vj] : !tir.buffer<[16, 1], f32>
          }
        }
      }
    }
  }
}
