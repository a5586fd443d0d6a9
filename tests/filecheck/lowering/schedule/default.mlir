// RUN: xrelax-opt %s -p 'schedule-default{target="llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=znver4"}' --split-input-file | filecheck %s

// Operands that are contiguous along the reduction have it in lanes, around unrolled tiles; the rest
// of the columns has a smaller one. The loops around, which are short, are fused for threads.
// CHECK-LABEL: tir.prim_func @dot
// CHECK:       tir.for %j_i_fused in (0, 3) parallel {
// CHECK-NEXT:    %Y_global = tir.alloc_buffer : !tir.buffer<[8, 3], f32>
// CHECK-NEXT:    tir.for %k in (0, m) vectorized {
// CHECK-NEXT:      tir.for %i in (0, 8) unrolled {
// CHECK-NEXT:        tir.for %j in (0, 3) unrolled {
// CHECK-NEXT:          tir.block "Y_j0" (%vi: spatial (0, 8) = %i, %vj: spatial (0, 9) = %j_i_fused * 3 + %j, %vk: reduce (0, m) = %k)
// CHECK:         tir.block "Y_global_j0"
// CHECK:           tir.block "Y_j1" ({{.*}}%vj_1: spatial (9, 1) = %{{.*}}, %vk_1: reduce (0, m) = %{{.*}})
tir.prim_func @dot(%X: !tir.buffer<[8, m], f32>, %W: !tir.buffer<[10, m], f32>, %Y: !tir.buffer<[8, 10], f32>) {
  tir.for %i in (0, 8) {
    tir.for %j in (0, 10) {
      tir.for %k in (0, m) {
        tir.block "Y" (%vi: spatial (0, 8) = %i, %vj: spatial (0, 10) = %j, %vk: reduce (0, m) = %k) reads (%X[%vi, %vk], %W[%vj, %vk]) writes (%Y[%vi, %vj]) {
          tir.init {
            %c = arith.constant 0.0 : f32
            tir.store %c, %Y[%vi, %vj] : !tir.buffer<[8, 10], f32>
          }
          %y = tir.load %Y[%vi, %vj] : !tir.buffer<[8, 10], f32>
          %x = tir.load %X[%vi, %vk] : !tir.buffer<[8, m], f32>
          %w = tir.load %W[%vj, %vk] : !tir.buffer<[10, m], f32>
          %p = arith.mulf %x, %w : f32
          %q = arith.addf %y, %p : f32
          tir.store %q, %Y[%vi, %vj] : !tir.buffer<[8, 10], f32>
        }
      }
    }
  }
}

// -----

// Columns are read several at a time for a single row too: each is a place of its own in memory.

// CHECK-LABEL: tir.prim_func @lone_row
// CHECK:         tir.for %j in (0, 2) {
// CHECK-NEXT:      tir.for %k in (0, 64) {
// CHECK-NEXT:        tir.for %j_1 in (0, 4) unrolled {
tir.prim_func @lone_row(%X: !tir.buffer<[64], f32>, %W: !tir.buffer<[8, 64], f32>, %Y: !tir.buffer<[8], f32>) {
  tir.for %j in (0, 8) {
    tir.for %k in (0, 64) {
      tir.block "Y" (%vj: spatial (0, 8) = %j, %vk: reduce (0, 64) = %k) reads (%X[%vk], %W[%vj, %vk]) writes (%Y[%vj]) {
        tir.init {
          %c = arith.constant 0.0 : f32
          tir.store %c, %Y[%vj] : !tir.buffer<[8], f32>
        }
        %y = tir.load %Y[%vj] : !tir.buffer<[8], f32>
        %x = tir.load %X[%vk] : !tir.buffer<[64], f32>
        %w = tir.load %W[%vj, %vk] : !tir.buffer<[8, 64], f32>
        %p = arith.mulf %x, %w : f32
        %q = arith.addf %y, %p : f32
        tir.store %q, %Y[%vj] : !tir.buffer<[8], f32>
      }
    }
  }
}

// -----

// A loop that the user has marked, and a function that says it is scheduled, stay as they are.
// CHECK-LABEL: tir.prim_func @marked
// CHECK:       tir.for %i in (0, 8) parallel {
// CHECK-NEXT:    tir.for %k in (0, 8) unrolled {
// CHECK-NEXT:      tir.block
tir.prim_func @marked(%X: !tir.buffer<[8, 8], f32>, %Y: !tir.buffer<[8], f32>) {
  tir.for %i in (0, 8) parallel {
    tir.for %k in (0, 8) unrolled {
      tir.block "Y" (%vi: spatial (0, 8) = %i, %vk: reduce (0, 8) = %k) reads (%X[%vi, %vk]) writes (%Y[%vi]) {
        tir.init {
          %c = arith.constant 0.0 : f32
          tir.store %c, %Y[%vi] : !tir.buffer<[8], f32>
        }
        %y = tir.load %Y[%vi] : !tir.buffer<[8], f32>
        %x = tir.load %X[%vi, %vk] : !tir.buffer<[8, 8], f32>
        %q = arith.addf %y, %x : f32
        tir.store %q, %Y[%vi] : !tir.buffer<[8], f32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @scheduled
// CHECK:       tir.for %i in (0, 8) {
// CHECK-NEXT:    tir.for %k in (0, 8) {
// CHECK-NEXT:      tir.block
tir.prim_func @scheduled(%X: !tir.buffer<[8, 8], f32>, %Y: !tir.buffer<[8], f32>) attributes {tir.is_scheduled = true} {
  tir.for %i in (0, 8) {
    tir.for %k in (0, 8) {
      tir.block "Y" (%vi: spatial (0, 8) = %i, %vk: reduce (0, 8) = %k) reads (%X[%vi, %vk]) writes (%Y[%vi]) {
        tir.init {
          %c = arith.constant 0.0 : f32
          tir.store %c, %Y[%vi] : !tir.buffer<[8], f32>
        }
        %y = tir.load %Y[%vi] : !tir.buffer<[8], f32>
        %x = tir.load %X[%vi, %vk] : !tir.buffer<[8, 8], f32>
        %q = arith.addf %y, %x : f32
        tir.store %q, %Y[%vi] : !tir.buffer<[8], f32>
      }
    }
  }
}

// -----

// Every iteration of the opaque axis writes the same element: the order of iterations matters.
// CHECK-LABEL: tir.prim_func @shared
// CHECK:       tir.for %i in (0, 8) {
// CHECK-NEXT:    tir.for %k in (0, 8) vectorized
// CHECK-NEXT:      tir.block
tir.prim_func @shared(%X: !tir.buffer<[8, 8], f32>, %Y: !tir.buffer<[1], f32>) {
  tir.for %i in (0, 8) {
    tir.for %k in (0, 8) {
      tir.block "Y" (%vi: opaque (0, 8) = %i, %vk: reduce (0, 8) = %k) reads (%X[%vi, %vk]) writes (%Y[0]) {
        tir.init {
          %c = arith.constant 0.0 : f32
          tir.store %c, %Y[0] : !tir.buffer<[1], f32>
        }
        %y = tir.load %Y[0] : !tir.buffer<[1], f32>
        %x = tir.load %X[%vi, %vk] : !tir.buffer<[8, 8], f32>
        %q = arith.addf %y, %x : f32
        tir.store %q, %Y[0] : !tir.buffer<[1], f32>
      }
    }
  }
}

// -----

// Sums that depend on the order of their terms have these one after the other, never in lanes.

// CHECK-LABEL: tir.prim_func @in_order
// CHECK-NOT:     tir.for %k{{[_0-9]*}} in (0, 40) vectorized
// CHECK:         tir.block "Y_update"
tir.prim_func @in_order(%X: !tir.buffer<[6, 40], f32>, %W: !tir.buffer<[9, 40], f32>, %Y: !tir.buffer<[6, 9], f32>) {
  tir.for %i in (0, 6) {
    tir.for %j in (0, 9) {
      tir.for %k in (0, 40) {
        tir.block "Y" (%vi: spatial (0, 6) = %i, %vj: spatial (0, 9) = %j, %vk: reduce (0, 40) = %k) reads (%X[%vi, %vk], %W[%vj, %vk]) writes (%Y[%vi, %vj]) {
          tir.init {
            %c = arith.constant 0.0 : f32
            tir.store %c, %Y[%vi, %vj] : !tir.buffer<[6, 9], f32>
          }
          %y = tir.load %Y[%vi, %vj] : !tir.buffer<[6, 9], f32>
          %h = arith.constant 0.5 : f32
          %d = arith.mulf %y, %h : f32
          %x = tir.load %X[%vi, %vk] : !tir.buffer<[6, 40], f32>
          %w = tir.load %W[%vj, %vk] : !tir.buffer<[9, 40], f32>
          %p = arith.mulf %x, %w : f32
          %s = arith.addf %d, %p : f32
          tir.store %s, %Y[%vi, %vj] : !tir.buffer<[6, 9], f32>
        }
      }
    }
  }
}
