// RUN: xrelax-opt %s -p 'schedule-default{target="llvm -mcpu=skylake-avx512" rules=row-pairs}' --split-input-file | filecheck %s

// Two rows of 24 columns are three vectors of 16. A tile has seven pairs of rows, whose results are stored as one row.

// CHECK-LABEL: tir.prim_func @pairs
// CHECK-NEXT:    tir.for %[[TILE:.*]] in (0, 2) {
// CHECK-NEXT:      tir.alloc_buffer "C" : !tir.buffer<[14, 24], f32>
// CHECK-NEXT:      tir.for %{{.*}} in (0, 7) unrolled {
// CHECK-NEXT:        tir.for %{{.*}} in (0, 3) unrolled {
// CHECK-NEXT:          tir.for %{{.*}} in (0, 16) vectorized {
// CHECK-NEXT:            tir.block "C_init"
// CHECK:           tir.for %{{.*}} in (0, 9) {
// CHECK-NEXT:        tir.for %[[PAIR:.*]] in (0, 7) unrolled {
// CHECK-NEXT:          tir.for %[[V:.*]] in (0, 3) unrolled {
// CHECK-NEXT:            tir.for %[[L:.*]] in (0, 16) vectorized {
// CHECK-NEXT:              tir.block "C_update" (%{{.*}}: spatial (0, 28) = %[[TILE]] * 14 + %[[PAIR]] * 2 + (%[[V]] * 16 + %[[L]]) floordiv 24, %{{.*}}: spatial (0, 24) = (%[[V]] * 16 + %[[L]]) mod 24,
// CHECK:           tir.for %{{.*}} in (0, 21) unrolled {
// CHECK-NEXT:        tir.for %{{.*}} in (0, 16) vectorized {
// CHECK-NEXT:          tir.block "D"
tir.prim_func @pairs(%A: !tir.buffer<[28, 9], f32>, %B: !tir.buffer<[9, 24], f32>, %b: !tir.buffer<[24], f32>, %D: !tir.buffer<[28, 24], f32>) {
  %C = tir.alloc_buffer "C" : !tir.buffer<[28, 24], f32>
  tir.for %i in (0, 28) {
    tir.for %j in (0, 24) {
      tir.for %k in (0, 9) {
        tir.block "C" (%vi: spatial (0, 28) = %i, %vj: spatial (0, 24) = %j, %vk: reduce (0, 9) = %k) reads (%A[%vi, %vk], %B[%vk, %vj]) writes (%C[%vi, %vj]) {
          tir.init {
            %zero = arith.constant 0.0 : f32
            tir.store %zero, %C[%vi, %vj] : !tir.buffer<[28, 24], f32>
          }
          %c = tir.load %C[%vi, %vj] : !tir.buffer<[28, 24], f32>
          %x = tir.load %A[%vi, %vk] : !tir.buffer<[28, 9], f32>
          %y = tir.load %B[%vk, %vj] : !tir.buffer<[9, 24], f32>
          %p = arith.mulf %x, %y : f32
          %s = arith.addf %c, %p : f32
          tir.store %s, %C[%vi, %vj] : !tir.buffer<[28, 24], f32>
        }
      }
    }
  }
  tir.for %i in (0, 28) {
    tir.for %j in (0, 24) {
      tir.block "D" (%vi: spatial (0, 28) = %i, %vj: spatial (0, 24) = %j) reads (%C[%vi, %vj], %b[%vj]) writes (%D[%vi, %vj]) {
        %c = tir.load %C[%vi, %vj] : !tir.buffer<[28, 24], f32>
        %x = tir.load %b[%vj] : !tir.buffer<[24], f32>
        %s = arith.addf %c, %x : f32
        tir.store %s, %D[%vi, %vj] : !tir.buffer<[28, 24], f32>
      }
    }
  }
}

// -----

// Whole vectors of columns stay for the rule of contractions.

// CHECK-LABEL: tir.prim_func @whole
// CHECK-NEXT:    tir.for %i in (0, 28) {
// CHECK-NEXT:      tir.for %j in (0, 32) {
// CHECK-NEXT:        tir.for %k in (0, 9) {
// CHECK-NEXT:          tir.block "C"
tir.prim_func @whole(%A: !tir.buffer<[28, 9], f32>, %B: !tir.buffer<[9, 32], f32>, %C: !tir.buffer<[28, 32], f32>) {
  tir.for %i in (0, 28) {
    tir.for %j in (0, 32) {
      tir.for %k in (0, 9) {
        tir.block "C" (%vi: spatial (0, 28) = %i, %vj: spatial (0, 32) = %j, %vk: reduce (0, 9) = %k) reads (%A[%vi, %vk], %B[%vk, %vj]) writes (%C[%vi, %vj]) {
          tir.init {
            %zero = arith.constant 0.0 : f32
            tir.store %zero, %C[%vi, %vj] : !tir.buffer<[28, 32], f32>
          }
          %c = tir.load %C[%vi, %vj] : !tir.buffer<[28, 32], f32>
          %x = tir.load %A[%vi, %vk] : !tir.buffer<[28, 9], f32>
          %y = tir.load %B[%vk, %vj] : !tir.buffer<[9, 32], f32>
          %p = arith.mulf %x, %y : f32
          %s = arith.addf %c, %p : f32
          tir.store %s, %C[%vi, %vj] : !tir.buffer<[28, 32], f32>
        }
      }
    }
  }
}

// -----

// So does an odd number of rows, and columns that are apart in memory.

// CHECK-LABEL: tir.prim_func @odd
// CHECK-NEXT:    tir.for %i in (0, 27) {
// CHECK-NEXT:      tir.for %j in (0, 24) {
tir.prim_func @odd(%A: !tir.buffer<[27, 9], f32>, %B: !tir.buffer<[9, 24], f32>, %C: !tir.buffer<[27, 24], f32>) {
  tir.for %i in (0, 27) {
    tir.for %j in (0, 24) {
      tir.for %k in (0, 9) {
        tir.block "C" (%vi: spatial (0, 27) = %i, %vj: spatial (0, 24) = %j, %vk: reduce (0, 9) = %k) reads (%A[%vi, %vk], %B[%vk, %vj]) writes (%C[%vi, %vj]) {
          tir.init {
            %zero = arith.constant 0.0 : f32
            tir.store %zero, %C[%vi, %vj] : !tir.buffer<[27, 24], f32>
          }
          %c = tir.load %C[%vi, %vj] : !tir.buffer<[27, 24], f32>
          %x = tir.load %A[%vi, %vk] : !tir.buffer<[27, 9], f32>
          %y = tir.load %B[%vk, %vj] : !tir.buffer<[9, 24], f32>
          %p = arith.mulf %x, %y : f32
          %s = arith.addf %c, %p : f32
          tir.store %s, %C[%vi, %vj] : !tir.buffer<[27, 24], f32>
        }
      }
    }
  }
}

// -----

// CHECK-LABEL: tir.prim_func @apart
// CHECK-NEXT:    tir.for %i in (0, 28) {
// CHECK-NEXT:      tir.for %j in (0, 24) {
tir.prim_func @apart(%A: !tir.buffer<[28, 9], f32>, %B: !tir.buffer<[24, 9], f32>, %C: !tir.buffer<[28, 24], f32>) {
  tir.for %i in (0, 28) {
    tir.for %j in (0, 24) {
      tir.for %k in (0, 9) {
        tir.block "C" (%vi: spatial (0, 28) = %i, %vj: spatial (0, 24) = %j, %vk: reduce (0, 9) = %k) reads (%A[%vi, %vk], %B[%vj, %vk]) writes (%C[%vi, %vj]) {
          tir.init {
            %zero = arith.constant 0.0 : f32
            tir.store %zero, %C[%vi, %vj] : !tir.buffer<[28, 24], f32>
          }
          %c = tir.load %C[%vi, %vj] : !tir.buffer<[28, 24], f32>
          %x = tir.load %A[%vi, %vk] : !tir.buffer<[28, 9], f32>
          %y = tir.load %B[%vj, %vk] : !tir.buffer<[24, 9], f32>
          %p = arith.mulf %x, %y : f32
          %s = arith.addf %c, %p : f32
          tir.store %s, %C[%vi, %vj] : !tir.buffer<[28, 24], f32>
        }
      }
    }
  }
}
