// RUN: xrelax-opt %s -p 'schedule-default{target="llvm -mcpu=haswell" rules=contractions}' --split-input-file | filecheck %s

// Seven rows by 42 columns in tiles of 4 by 24: what whole tiles leave has lower and narrower ones,
// and none has a condition in its loop over k. Columns are read where they are, apart from those
// that make up no tile, which are copied into whole vectors.

// CHECK-LABEL: tir.prim_func @in_place
// CHECK:       tir.for %j in (0, 1) {
// CHECK-NEXT:    tir.for %i in (0, 1) {
// CHECK:           tir.for %k in (0, 16) {
// CHECK-NEXT:        tir.for %i_2 in (0, 4) unrolled {
// CHECK-NEXT:          tir.for %j_3 in (0, 3) unrolled {
// CHECK-NEXT:            tir.for %j_4 in (0, 8) vectorized {
// CHECK-NEXT:              tir.block "Y_i0_j0_update" ({{.*}}%vk: reduce (0, 16) = %k) reads
// CHECK:                     tir.load %W[%vk, %vj_1]
// CHECK:           tir.block "Y_global_i0_j0" ({{.*}}%ax1_1) reads
// CHECK:         tir.for %i_3 in (1, 1) {
// CHECK:           tir.for %k_1 in (0, 16) {
// CHECK-NEXT:        tir.for %i_5 in (0, 3) unrolled {
// CHECK:               tir.block "Y_i1_j0_update" ({{.*}}%vk_1: reduce (0, 16) = %k_1) reads
// CHECK:                 tir.load %X[%vi_3, %vk_1]
// CHECK:       tir.block "W_global" ({{.*}}) where (%ax1_4 * 8 + %ax1_5 < 18)
// CHECK:         tir.store %{{.*}}, %W_global[%v_ax0_2, %v_ax1_2 - 24] : !tir.buffer<[16, 24], f32>
// CHECK:       tir.for %j_9 in (1, 1) {
// CHECK:         tir.block "Y_i0_j1_update" ({{.*}}%vk_2: reduce (0, 16) = %k_2) reads
// CHECK:           tir.load %W_global[%vk_2, %vj_5 - 24]
// CHECK:         tir.block "Y_global_i0_j1" ({{.*}}) where (%ax1_6 * 8 + %ax1_7 + 24 < 42)
// CHECK:         tir.block "Y_i1_j1_update" ({{.*}}%vk_3: reduce (0, 16) = %k_3) reads
// CHECK:         tir.block "Y_global_i1_j1" ({{.*}}) where (%ax1_8 * 8 + %ax1_9 + 24 < 42)
tir.prim_func @in_place(%X: !tir.buffer<[7, 16], f32>, %W: !tir.buffer<[16, 42], f32>, %Y: !tir.buffer<[7, 42], f32>) {
  tir.for %i in (0, 7) {
    tir.for %j in (0, 42) {
      tir.for %k in (0, 16) {
        tir.block "Y" (%vi: spatial (0, 7) = %i, %vj: spatial (0, 42) = %j, %vk: reduce (0, 16) = %k) reads (%X[%vi, %vk], %W[%vk, %vj]) writes (%Y[%vi, %vj]) {
          tir.init {
            %c = arith.constant 0.0 : f32
            tir.store %c, %Y[%vi, %vj] : !tir.buffer<[7, 42], f32>
          }
          %y = tir.load %Y[%vi, %vj] : !tir.buffer<[7, 42], f32>
          %x = tir.load %X[%vi, %vk] : !tir.buffer<[7, 16], f32>
          %w = tir.load %W[%vk, %vj] : !tir.buffer<[16, 42], f32>
          %p = arith.mulf %x, %w : f32
          %q = arith.addf %y, %p : f32
          tir.store %q, %Y[%vi, %vj] : !tir.buffer<[7, 42], f32>
        }
      }
    }
  }
}
