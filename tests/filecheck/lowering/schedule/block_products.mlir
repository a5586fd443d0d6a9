// RUN: xrelax-opt %s -p 'schedule-default{target="llvm -mcpu=haswell" rules=block-products}' --split-input-file | filecheck %s

// Both sums of a tile of two rows and two vectors are in scratch memory of its size, and so for the
// last row. The inner sum is unrolled.

// CHECK-LABEL: tir.prim_func @static
// CHECK-NEXT:    tir.for %[[J:.*]] in (0, 1) {
// CHECK-NEXT:      tir.for %[[I:.*]] in (0, 2) {
// CHECK-NEXT:        %[[T:.*]] = tir.alloc_buffer : !tir.buffer<[2, 16], f32>
// CHECK-NEXT:        tir.for %{{.*}} in (0, 2) unrolled {
// CHECK-NEXT:          tir.for %{{.*}} in (0, 2) unrolled {
// CHECK-NEXT:            tir.for %{{.*}} in (0, 8) vectorized {
// CHECK-NEXT:              tir.block "Y_i0_init"
// CHECK:             tir.for %[[B:.*]] in (0, 2) {
// CHECK-NEXT:          %[[P:.*]] = tir.alloc_buffer : !tir.buffer<[2, 1, 16], f32>
// CHECK:                     tir.block "P_i0_init"
// CHECK:               tir.for %{{.*}} in (0, 4) unrolled {
// CHECK-NEXT:            tir.for %{{.*}} in (0, 2) unrolled {
// CHECK-NEXT:              tir.for %{{.*}} in (0, 2) unrolled {
// CHECK-NEXT:                tir.for %{{.*}} in (0, 8) vectorized {
// CHECK-NEXT:                  tir.block "P_i0_update"
// CHECK:               tir.for %{{.*}} in (0, 2) unrolled {
// CHECK-NEXT:            tir.for %{{.*}} in (0, 2) unrolled {
// CHECK-NEXT:              tir.for %{{.*}} in (0, 8) vectorized {
// CHECK-NEXT:                tir.block "Y_i0_update"
// CHECK-SAME:                  reads (%[[T]][{{.*}}], %[[P]][{{.*}}], %S[{{.*}}]) writes (%[[T]][
// CHECK:             tir.for %{{.*}} in (0, 2) unrolled {
// CHECK-NEXT:          tir.for %{{.*}} in (0, 2) unrolled {
// CHECK-NEXT:            tir.for %{{.*}} in (0, 8) vectorized {
// CHECK-NEXT:              tir.block "Y_global_i0" {{.*}} writes (%Y[
// CHECK:           tir.for %{{.*}} in (2, 1) {
// CHECK:             tir.for %{{.*}} in (0, 1) unrolled {
// CHECK:                     tir.block "Y_i1_init"
tir.prim_func @static(%X: !tir.buffer<[5, 2, 4], f32>, %W: !tir.buffer<[2, 4, 16], f32>, %S: !tir.buffer<[2, 16], f32>, %Y: !tir.buffer<[5, 16], f32>) {
  %P = tir.alloc_buffer : !tir.buffer<[5, 2, 16], f32>
  tir.for %i in (0, 5) {
    tir.for %b in (0, 2) {
      tir.for %j in (0, 16) {
        tir.for %k in (0, 4) {
          tir.block "P" (%vi: spatial (0, 5) = %i, %vb: spatial (0, 2) = %b, %vj: spatial (0, 16) = %j, %vk: reduce (0, 4) = %k) reads (%X[%vi, %vb, %vk], %W[%vb, %vk, %vj]) writes (%P[%vi, %vb, %vj]) {
            tir.init {
              %0 = arith.constant 0.000000e+00 : f32
              tir.store %0, %P[%vi, %vb, %vj] : !tir.buffer<[5, 2, 16], f32>
            }
            %1 = tir.load %P[%vi, %vb, %vj] : !tir.buffer<[5, 2, 16], f32>
            %2 = tir.load %X[%vi, %vb, %vk] : !tir.buffer<[5, 2, 4], f32>
            %3 = tir.load %W[%vb, %vk, %vj] : !tir.buffer<[2, 4, 16], f32>
            %4 = arith.mulf %2, %3 : f32
            %5 = arith.addf %1, %4 : f32
            tir.store %5, %P[%vi, %vb, %vj] : !tir.buffer<[5, 2, 16], f32>
          }
        }
      }
    }
  }
  tir.for %i_1 in (0, 5) {
    tir.for %j_1 in (0, 16) {
      tir.for %b_1 in (0, 2) {
        tir.block "Y" (%vi_1: spatial (0, 5) = %i_1, %vj_1: spatial (0, 16) = %j_1, %vb_1: reduce (0, 2) = %b_1) reads (%P[%vi_1, %vb_1, %vj_1], %S[%vb_1, %vj_1]) writes (%Y[%vi_1, %vj_1]) {
          tir.init {
            %6 = arith.constant 0.000000e+00 : f32
            tir.store %6, %Y[%vi_1, %vj_1] : !tir.buffer<[5, 16], f32>
          }
          %7 = tir.load %Y[%vi_1, %vj_1] : !tir.buffer<[5, 16], f32>
          %8 = tir.load %P[%vi_1, %vb_1, %vj_1] : !tir.buffer<[5, 2, 16], f32>
          %9 = tir.load %S[%vb_1, %vj_1] : !tir.buffer<[2, 16], f32>
          %10 = arith.mulf %8, %9 : f32
          %11 = arith.addf %7, %10 : f32
          tir.store %11, %Y[%vi_1, %vj_1] : !tir.buffer<[5, 16], f32>
        }
      }
    }
  }
}

// -----

// Rows that do not fill a tile are computed one at a time, in a nest of their own.

// CHECK-LABEL: tir.prim_func @symbolic
// CHECK:         tir.for %{{.*}} in (0, m floordiv 2) {
// CHECK:           tir.block "P_whole_update"
// CHECK:           tir.block "Y_whole_update"
// CHECK:         tir.for %{{.*}} in (0, m mod 2) {
// CHECK-NEXT:      %{{.*}} = tir.alloc_buffer : !tir.buffer<[1, 16], f32>
// CHECK:           tir.block "P_rest_update"
// CHECK:           tir.block "Y_global_rest" {{.*}} writes (%Y[%{{.*}} + (m floordiv 2) * 2, %
tir.prim_func @symbolic(%X: !tir.buffer<[m, 2, 4], f32>, %W: !tir.buffer<[2, 4, 16], f32>, %S: !tir.buffer<[2, 16], f32>, %Y: !tir.buffer<[m, 16], f32>) {
  %P = tir.alloc_buffer : !tir.buffer<[m, 2, 16], f32>
  tir.for %i in (0, m) {
    tir.for %b in (0, 2) {
      tir.for %j in (0, 16) {
        tir.for %k in (0, 4) {
          tir.block "P" (%vi: spatial (0, m) = %i, %vb: spatial (0, 2) = %b, %vj: spatial (0, 16) = %j, %vk: reduce (0, 4) = %k) reads (%X[%vi, %vb, %vk], %W[%vb, %vk, %vj]) writes (%P[%vi, %vb, %vj]) {
            tir.init {
              %0 = arith.constant 0.000000e+00 : f32
              tir.store %0, %P[%vi, %vb, %vj] : !tir.buffer<[m, 2, 16], f32>
            }
            %1 = tir.load %P[%vi, %vb, %vj] : !tir.buffer<[m, 2, 16], f32>
            %2 = tir.load %X[%vi, %vb, %vk] : !tir.buffer<[m, 2, 4], f32>
            %3 = tir.load %W[%vb, %vk, %vj] : !tir.buffer<[2, 4, 16], f32>
            %4 = arith.mulf %2, %3 : f32
            %5 = arith.addf %1, %4 : f32
            tir.store %5, %P[%vi, %vb, %vj] : !tir.buffer<[m, 2, 16], f32>
          }
        }
      }
    }
  }
  tir.for %i_1 in (0, m) {
    tir.for %j_1 in (0, 16) {
      tir.for %b_1 in (0, 2) {
        tir.block "Y" (%vi_1: spatial (0, m) = %i_1, %vj_1: spatial (0, 16) = %j_1, %vb_1: reduce (0, 2) = %b_1) reads (%P[%vi_1, %vb_1, %vj_1], %S[%vb_1, %vj_1]) writes (%Y[%vi_1, %vj_1]) {
          tir.init {
            %6 = arith.constant 0.000000e+00 : f32
            tir.store %6, %Y[%vi_1, %vj_1] : !tir.buffer<[m, 16], f32>
          }
          %7 = tir.load %Y[%vi_1, %vj_1] : !tir.buffer<[m, 16], f32>
          %8 = tir.load %P[%vi_1, %vb_1, %vj_1] : !tir.buffer<[m, 2, 16], f32>
          %9 = tir.load %S[%vb_1, %vj_1] : !tir.buffer<[2, 16], f32>
          %10 = arith.mulf %8, %9 : f32
          %11 = arith.addf %7, %10 : f32
          tir.store %11, %Y[%vi_1, %vj_1] : !tir.buffer<[m, 16], f32>
        }
      }
    }
  }
}

// -----

// A user's kernel whose inner sum is used twice keeps its loops.

// CHECK-LABEL: tir.prim_func @used_twice
// CHECK-NOT:     vectorized
tir.prim_func @used_twice(%Z: !tir.buffer<[5, 2, 16], f32>, %X: !tir.buffer<[5, 2, 4], f32>, %W: !tir.buffer<[2, 4, 16], f32>, %S: !tir.buffer<[2, 16], f32>, %Y: !tir.buffer<[5, 16], f32>) {
  %P = tir.alloc_buffer : !tir.buffer<[5, 2, 16], f32>
  tir.for %i in (0, 5) {
    tir.for %b in (0, 2) {
      tir.for %j in (0, 16) {
        tir.for %k in (0, 4) {
          tir.block "P" (%vi: spatial (0, 5) = %i, %vb: spatial (0, 2) = %b, %vj: spatial (0, 16) = %j, %vk: reduce (0, 4) = %k) reads (%X[%vi, %vb, %vk], %W[%vb, %vk, %vj]) writes (%P[%vi, %vb, %vj]) {
            tir.init {
              %0 = arith.constant 0.000000e+00 : f32
              tir.store %0, %P[%vi, %vb, %vj] : !tir.buffer<[5, 2, 16], f32>
            }
            %1 = tir.load %P[%vi, %vb, %vj] : !tir.buffer<[5, 2, 16], f32>
            %2 = tir.load %X[%vi, %vb, %vk] : !tir.buffer<[5, 2, 4], f32>
            %3 = tir.load %W[%vb, %vk, %vj] : !tir.buffer<[2, 4, 16], f32>
            %4 = arith.mulf %2, %3 : f32
            %5 = arith.addf %1, %4 : f32
            tir.store %5, %P[%vi, %vb, %vj] : !tir.buffer<[5, 2, 16], f32>
          }
        }
      }
    }
  }
  tir.for %i_1 in (0, 5) {
    tir.for %j_1 in (0, 16) {
      tir.for %b_1 in (0, 2) {
        tir.block "Y" (%vi_1: spatial (0, 5) = %i_1, %vj_1: spatial (0, 16) = %j_1, %vb_1: reduce (0, 2) = %b_1) reads (%P[%vi_1, %vb_1, %vj_1], %S[%vb_1, %vj_1]) writes (%Y[%vi_1, %vj_1]) {
          tir.init {
            %6 = arith.constant 0.000000e+00 : f32
            tir.store %6, %Y[%vi_1, %vj_1] : !tir.buffer<[5, 16], f32>
          }
          %7 = tir.load %Y[%vi_1, %vj_1] : !tir.buffer<[5, 16], f32>
          %8 = tir.load %P[%vi_1, %vb_1, %vj_1] : !tir.buffer<[5, 2, 16], f32>
          %9 = tir.load %S[%vb_1, %vj_1] : !tir.buffer<[2, 16], f32>
          %10 = arith.mulf %8, %9 : f32
          %11 = arith.addf %7, %10 : f32
          tir.store %11, %Y[%vi_1, %vj_1] : !tir.buffer<[5, 16], f32>
        }
      }
    }
  }
  tir.for %i_2 in (0, 5) {
    tir.for %b_2 in (0, 2) {
      tir.for %j_2 in (0, 16) {
        tir.block "Z" (%vi_2: spatial (0, 5) = %i_2, %vb_2: spatial (0, 2) = %b_2, %vj_2: spatial (0, 16) = %j_2) reads (%P[%vi_2, %vb_2, %vj_2]) writes (%Z[%vi_2, %vb_2, %vj_2]) {
          %12 = tir.load %P[%vi_2, %vb_2, %vj_2] : !tir.buffer<[5, 2, 16], f32>
          tir.store %12, %Z[%vi_2, %vb_2, %vj_2] : !tir.buffer<[5, 2, 16], f32>
        }
      }
    }
  }
}
