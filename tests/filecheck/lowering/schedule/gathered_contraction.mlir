// RUN: xrelax-opt %s -p 'schedule-default{target="llvm -mcpu=haswell" rules=contractions}' | filecheck %s

// The right operand is gathered: a matrix for each j, by an index that is loaded. Rows of a tile are
// those that share it, so that vectors of it are loaded once for three rows, and it is not packed.

// CHECK-LABEL: tir.prim_func @gathered
// CHECK-NEXT:    tir.for %[[J:.*]] in (0, 4) {
// CHECK-NEXT:      tir.for %{{.*}} in (0, 1) {
// CHECK-NEXT:        tir.for %{{.*}} in (0, 1) {
// CHECK-NEXT:          %[[T:.*]] = tir.alloc_buffer : !tir.buffer<[3, 1, 16], f32>
// CHECK:               tir.for %{{.*}} in (0, 8) {
// CHECK-NEXT:            tir.for %{{.*}} in (0, 3) unrolled {
// CHECK-NEXT:              tir.for %{{.*}} in (0, 2) unrolled {
// CHECK-NEXT:                tir.for %{{.*}} in (0, 8) vectorized {
// CHECK-NEXT:                  tir.block "S_update" {{.*}} reads (%[[T]][{{.*}}], %Q[%[[G:.*]], %[[D:.*]]], %R[%{{.*}}], %K[0 : 9, %[[D]], %
tir.prim_func @gathered(%Q: !tir.buffer<[3, 8], f32>, %K: !tir.buffer<[9, 8, 16], f32>, %R: !tir.buffer<[4], i32>, %S: !tir.buffer<[3, 4, 16], f32>) {
  tir.for %g in (0, 3) {
    tir.for %j in (0, 4) {
      tir.for %p in (0, 16) {
        tir.for %d in (0, 8) {
          tir.block "S" (%vg: spatial (0, 3) = %g, %vj: spatial (0, 4) = %j, %vp: spatial (0, 16) = %p, %vd: reduce (0, 8) = %d) reads (%Q[%vg, %vd], %R[%vj], %K[0 : 9, %vd, %vp]) writes (%S[%vg, %vj, %vp]) {
            tir.init {
              %0 = arith.constant 0.000000e+00 : f32
              tir.store %0, %S[%vg, %vj, %vp] : !tir.buffer<[3, 4, 16], f32>
            }
            %1 = tir.load %S[%vg, %vj, %vp] : !tir.buffer<[3, 4, 16], f32>
            %2 = tir.load %Q[%vg, %vd] : !tir.buffer<[3, 8], f32>
            %3 = tir.load %R[%vj] : !tir.buffer<[4], i32>
            %4 = arith.extsi %3 : i32 to i64
            %5 = arith.index_cast %4 : i64 to index
            %6 = tir.load %K[%5, %vd, %vp] : !tir.buffer<[9, 8, 16], f32>
            %7 = arith.mulf %2, %6 : f32
            %8 = arith.addf %1, %7 : f32
            tir.store %8, %S[%vg, %vj, %vp] : !tir.buffer<[3, 4, 16], f32>
          }
        }
      }
    }
  }
}
