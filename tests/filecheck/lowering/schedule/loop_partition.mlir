// RUN: xrelax-opt %s -p 'schedule-default{target="llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=znver4" rules=loop-partition,transposes,vectorize}' --split-input-file | filecheck %s

// Padding is stored by loops of its own. What is inside has no condition, so that its squares can
// be transposed.
// CHECK-LABEL: tir.prim_func @padded
// CHECK:         tir.for %{{.*}} in (0, 1)
// CHECK-NOT:       scf.if
// CHECK-NOT:       tir.load
// CHECK:         tir.for %{{.*}} in (1, 32)
// CHECK:           tir.for %{{.*}} in (0, 1)
// CHECK-NOT:         tir.load
// CHECK:           tir.for %{{.*}} in (0, 16) vectorized {
// CHECK-NEXT:        tir.block "Y_h1_w1"
// CHECK-NOT:           scf.if
// CHECK:               tir.load %X
// CHECK:           tir.for %{{.*}} in (33, 1)
// CHECK-NOT:         tir.load
// CHECK:         tir.for %{{.*}} in (33, 1)
// CHECK-NOT:       tir.load
// CHECK:       }
tir.prim_func @padded(%X: !tir.buffer<[64, 32, 32], f32>, %Y: !tir.buffer<[34, 34, 64], f32>) {
  tir.for %h in (0, 34) {
    tir.for %w in (0, 34) {
      tir.for %c in (0, 64) {
        tir.block "Y" (%vh: spatial (0, 34) = %h, %vw: spatial (0, 34) = %w, %vc: spatial (0, 64) = %c) reads (%X[%vc, %vh - 1, %vw - 1]) writes (%Y[%vh, %vw, %vc]) {
          %h0 = tir.apply %vh
          %w0 = tir.apply %vw
          %one = tir.apply 1
          %end = tir.apply 33
          %a = arith.cmpi sge, %h0, %one : index
          %b = arith.cmpi slt, %h0, %end : index
          %d = arith.cmpi sge, %w0, %one : index
          %e = arith.cmpi slt, %w0, %end : index
          %ab = arith.andi %a, %b : i1
          %de = arith.andi %d, %e : i1
          %in = arith.andi %ab, %de : i1
          %y = scf.if %in -> (f32) {
            %x = tir.load %X[%vc, %vh - 1, %vw - 1] : !tir.buffer<[64, 32, 32], f32>
            scf.yield %x : f32
          } else {
            %z = arith.constant 0.0 : f32
            scf.yield %z : f32
          }
          tir.store %y, %Y[%vh, %vw, %vc] : !tir.buffer<[34, 34, 64], f32>
        }
      }
    }
  }
}

// -----

// Windows inside of what they slide over have no condition and become straight code; those that
// reach beyond it stay loops.
// CHECK-LABEL: tir.prim_func @pooled
// CHECK:         tir.for %i in (0, 1)
// CHECK:           tir.for %c in (0, 64) vectorized {
// CHECK-NEXT:        tir.for %k in (0, 3) {
// CHECK-NEXT:          tir.block "Y_i0"
// CHECK:                 scf.if
// CHECK:         tir.for %i_1 in (1, 55)
// CHECK:           tir.for %c_1 in (0, 64) vectorized {
// CHECK-NEXT:        tir.for %k_1 in (0, 3) unrolled {
// CHECK-NEXT:          tir.block "Y_i1"
// CHECK-NOT:             scf.if
// CHECK:       }
tir.prim_func @pooled(%X: !tir.buffer<[112, 64], f32>, %Y: !tir.buffer<[56, 64], f32>) {
  tir.for %i in (0, 56) {
    tir.for %c in (0, 64) {
      tir.for %k in (0, 3) {
        tir.block "Y" (%vi: spatial (0, 56) = %i, %vc: spatial (0, 64) = %c, %vk: reduce (0, 3) = %k) reads (%X[%vi * 2 + %vk - 1, %vc]) writes (%Y[%vi, %vc]) {
          tir.init {
            %c0 = arith.constant 0xff800000 : f32
            tir.store %c0, %Y[%vi, %vc] : !tir.buffer<[56, 64], f32>
          }
          %y = tir.load %Y[%vi, %vc] : !tir.buffer<[56, 64], f32>
          %row = tir.apply %vi * 2 + %vk - 1
          %zero = tir.apply 0
          %in = arith.cmpi sge, %row, %zero : index
          %v = scf.if %in -> (f32) {
            %x = tir.load %X[%vi * 2 + %vk - 1, %vc] : !tir.buffer<[112, 64], f32>
            scf.yield %x : f32
          } else {
            %z = arith.constant 0xff800000 : f32
            scf.yield %z : f32
          }
          %m = arith.maximumf %y, %v : f32
          tir.store %m, %Y[%vi, %vc] : !tir.buffer<[56, 64], f32>
        }
      }
    }
  }
}

// -----

// A loop that is border for the most part stays whole.
// CHECK-LABEL: tir.prim_func @mostly_border
// CHECK:         tir.for %i in (0, 40)
// CHECK:           scf.if
// CHECK-NOT:     tir.for
tir.prim_func @mostly_border(%X: !tir.buffer<[8], f32>, %Y: !tir.buffer<[40], f32>) {
  tir.for %i in (0, 40) {
    tir.block "Y" (%vi: spatial (0, 40) = %i) reads (%X[%vi]) writes (%Y[%vi]) {
      %i0 = tir.apply %vi
      %end = tir.apply 8
      %in = arith.cmpi slt, %i0, %end : index
      %y = scf.if %in -> (f32) {
        %x = tir.load %X[%vi] : !tir.buffer<[8], f32>
        scf.yield %x : f32
      } else {
        %z = arith.constant 0.0 : f32
        scf.yield %z : f32
      }
      tir.store %y, %Y[%vi] : !tir.buffer<[40], f32>
    }
  }
}

// -----

// What is put together of two buffers has a loop for each, wherever the two meet.
// CHECK-LABEL: tir.prim_func @joined
// CHECK:         tir.for %i in (0, 4)
// CHECK-NEXT:      tir.for %j in (0, 8) vectorized {
// CHECK-NEXT:        tir.block "Y_j0"
// CHECK-NOT:           scf.if
// CHECK:               tir.load %A[%vi, %vj]
// CHECK:           tir.for %j_1 in (8, 32) vectorized {
// CHECK-NEXT:        tir.block "Y_j1"
// CHECK-NOT:           scf.if
// CHECK:               tir.load %B[%{{.*}}, %{{.*}} - 8]
// CHECK-NOT:     tir.for
tir.prim_func @joined(%A: !tir.buffer<[4, 8], f32>, %B: !tir.buffer<[4, 32], f32>, %Y: !tir.buffer<[4, 40], f32>) {
  tir.for %i in (0, 4) {
    tir.for %j in (0, 40) {
      tir.block "Y" (%vi: spatial (0, 4) = %i, %vj: spatial (0, 40) = %j) reads (%A[%vi, %vj], %B[%vi, %vj - 8]) writes (%Y[%vi, %vj]) {
        %end = arith.constant 8 : index
        %is_first = arith.cmpi slt, %vj, %end : index
        %y = scf.if %is_first -> (f32) {
          %a = tir.load %A[%vi, %vj] : !tir.buffer<[4, 8], f32>
          scf.yield %a : f32
        } else {
          %b = tir.load %B[%vi, %vj - 8] : !tir.buffer<[4, 32], f32>
          scf.yield %b : f32
        }
        tir.store %y, %Y[%vi, %vj] : !tir.buffer<[4, 40], f32>
      }
    }
  }
}

// -----

// Where the place depends on two loops, neither is partitioned.
// CHECK-LABEL: tir.prim_func @diagonal
// CHECK:         tir.for %i in (0, 20)
// CHECK:           tir.for %j in (0, 20)
// CHECK:             scf.if
// CHECK-NOT:     tir.for
tir.prim_func @diagonal(%A: !tir.buffer<[20, 20], f32>, %B: !tir.buffer<[20, 20], f32>, %Y: !tir.buffer<[20, 20], f32>) {
  tir.for %i in (0, 20) {
    tir.for %j in (0, 20) {
      tir.block "Y" (%vi: spatial (0, 20) = %i, %vj: spatial (0, 20) = %j) reads (%A[%vi, %vj], %B[%vi, %vj]) writes (%Y[%vi, %vj]) {
        %below = arith.cmpi slt, %vj, %vi : index
        %y = scf.if %below -> (f32) {
          %a = tir.load %A[%vi, %vj] : !tir.buffer<[20, 20], f32>
          scf.yield %a : f32
        } else {
          %b = tir.load %B[%vi, %vj] : !tir.buffer<[20, 20], f32>
          scf.yield %b : f32
        }
        tir.store %y, %Y[%vi, %vj] : !tir.buffer<[20, 20], f32>
      }
    }
  }
}
