// RUN: xrelax-opt %s -p 'schedule-default{target="llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=znver4" rules=column-reductions,parallelize}' --split-input-file | filecheck %s

// Sums of many rows are made in blocks of 256 rows, eight at a time; the rest goes to the results.
// CHECK-LABEL: tir.prim_func @columns
// CHECK:         %Y_block = tir.alloc_buffer : !tir.buffer<[n], f32>
// CHECK:         tir.block "Y_init"
// CHECK:         tir.for %k in (0, 3) {
// CHECK-NEXT:      tir.for %j_2 in (0, n) vectorized {
// CHECK-NEXT:        tir.block "Y_start" (%vj_1: spatial (0, n) = %j_2) writes (%Y_block[%vj_1]) {
// CHECK-NEXT:          arith.constant -0.000000e+00 : f32
// CHECK:           tir.for %k_1 in (0, 32) {
// CHECK-NEXT:        tir.for %j_3 in (0, n) vectorized {
// CHECK-NEXT:          tir.for %k_2 in (0, 8) unrolled {
// CHECK-NEXT:            tir.block {{.*}}= %k * 256 + %k_1 * 8 + %k_2) reads (%Y_block[
// CHECK:           tir.block "Y_total" {{.*}}reduce (0, 3) = %k) reads (%Y[%{{.*}}], %Y_block[%{{.*}}]) writes (%Y[
// CHECK:         tir.for %k_3 in (96, 1) {
// CHECK:           tir.block {{.*}} writes (%Y[
// CHECK:         tir.for %k_5 in (776, 1) {
// CHECK:           tir.block {{.*}} writes (%Y[
tir.prim_func @columns(%X: !tir.buffer<[777, n], f32>, %Y: !tir.buffer<[n], f32>) {
  tir.for %k in (0, 777) {
    tir.for %j in (0, n) {
      tir.block "Y" (%vj: spatial (0, n) = %j, %vk: reduce (0, 777) = %k) reads (%X[%vk, %vj]) writes (%Y[%vj]) {
        tir.init {
          %c = arith.constant 0.0 : f32
          tir.store %c, %Y[%vj] : !tir.buffer<[n], f32>
        }
        %y = tir.load %Y[%vj] : !tir.buffer<[n], f32>
        %x = tir.load %X[%vk, %vj] : !tir.buffer<[777, n], f32>
        %q = arith.addf %y, %x : f32
        tir.store %q, %Y[%vj] : !tir.buffer<[n], f32>
      }
    }
  }
}

// -----

// So are the totals of blocks of rows whose number is not known.
// CHECK-LABEL: tir.prim_func @rows_unknown
// CHECK:         tir.for %k in (0, m floordiv 16384) {
// CHECK:           tir.for %k_1 in (0, 64) {
// CHECK:             tir.for %k_2 in (0, 32) {
// CHECK:         tir.for %{{.*}} in ((m floordiv 16384) * 64, (m floordiv 256) mod 64) {
// CHECK:         tir.for %{{.*}} in ((m floordiv 256) * 32, (m floordiv 8) mod 32) {
// CHECK:         tir.for %{{.*}} in ((m floordiv 8) * 8, m mod 8) {
tir.prim_func @rows_unknown(%X: !tir.buffer<[m, n], f32>, %Y: !tir.buffer<[n], f32>) {
  tir.for %k in (0, m) {
    tir.for %j in (0, n) {
      tir.block "Y" (%vj: spatial (0, n) = %j, %vk: reduce (0, m) = %k) reads (%X[%vk, %vj]) writes (%Y[%vj]) {
        tir.init {
          %c = arith.constant 0.0 : f32
          tir.store %c, %Y[%vj] : !tir.buffer<[n], f32>
        }
        %y = tir.load %Y[%vj] : !tir.buffer<[n], f32>
        %x = tir.load %X[%vk, %vj] : !tir.buffer<[m, n], f32>
        %q = arith.addf %y, %x : f32
        tir.store %q, %Y[%vj] : !tir.buffer<[n], f32>
      }
    }
  }
}

// -----

// Sums of few rows stay as they are, and so does what no rounding is in: a largest value.
// CHECK-LABEL: tir.prim_func @few
// CHECK-NOT:     alloc_buffer
tir.prim_func @few(%X: !tir.buffer<[512, n], f32>, %Y: !tir.buffer<[n], f32>) {
  tir.for %k in (0, 512) {
    tir.for %j in (0, n) {
      tir.block "Y" (%vj: spatial (0, n) = %j, %vk: reduce (0, 512) = %k) reads (%X[%vk, %vj]) writes (%Y[%vj]) {
        tir.init {
          %c = arith.constant 0.0 : f32
          tir.store %c, %Y[%vj] : !tir.buffer<[n], f32>
        }
        %y = tir.load %Y[%vj] : !tir.buffer<[n], f32>
        %x = tir.load %X[%vk, %vj] : !tir.buffer<[512, n], f32>
        %q = arith.addf %y, %x : f32
        tir.store %q, %Y[%vj] : !tir.buffer<[n], f32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @largest
// CHECK-NOT:     alloc_buffer
tir.prim_func @largest(%X: !tir.buffer<[m, n], f32>, %Y: !tir.buffer<[n], f32>) {
  tir.for %k in (0, m) {
    tir.for %j in (0, n) {
      tir.block "Y" (%vj: spatial (0, n) = %j, %vk: reduce (0, m) = %k) reads (%X[%vk, %vj]) writes (%Y[%vj]) {
        tir.init {
          %c = arith.constant 0xFF800000 : f32
          tir.store %c, %Y[%vj] : !tir.buffer<[n], f32>
        }
        %y = tir.load %Y[%vj] : !tir.buffer<[n], f32>
        %x = tir.load %X[%vk, %vj] : !tir.buffer<[m, n], f32>
        %q = arith.maximumf %y, %x : f32
        tir.store %q, %Y[%vj] : !tir.buffer<[n], f32>
      }
    }
  }
}
