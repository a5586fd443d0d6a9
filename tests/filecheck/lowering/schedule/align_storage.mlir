// RUN: xrelax-opt %s -p align-storage | filecheck %s

// Rows are 8 elements longer than a multiple of 32: there is unused memory after each.

// CHECK-LABEL: @rows
// CHECK:         %S = tir.alloc_buffer : !tir.buffer<[n, 40], f32>
// CHECK:         tir.block "S" {{.*}} writes (%S[%vi, %vj]) {
// CHECK:           tir.store %0, %S[%vi, %vj] : !tir.buffer<[n, 40], f32>
tir.prim_func @rows(%X: !tir.buffer<[n, 10], f32>) {
  %S = tir.alloc_buffer : !tir.buffer<[n, 10], f32>
  tir.for %i in (0, n) {
    tir.for %j in (0, 10) {
      tir.block "S" (%vi: spatial (0, n) = %i, %vj: spatial (0, 10) = %j) reads (%X[%vi, %vj]) writes (%S[%vi, %vj]) annotations {buffer_dim_align = [[0, 0, 32, 8]]} {
        %0 = tir.load %X[%vi, %vj] : !tir.buffer<[n, 10], f32>
        tir.store %0, %S[%vi, %vj] : !tir.buffer<[n, 10], f32>
      }
    }
  }
}

// Elements 2 apart, and matrices of 50 instead of 48 elements, which become one dim.

// CHECK-LABEL: @several
// CHECK:         %S = tir.alloc_buffer : !tir.buffer<[n, 50], f32>
// CHECK:           tir.store %0, %S[%vi, %vj * 12 + %vk * 2] : !tir.buffer<[n, 50], f32>
tir.prim_func @several(%X: !tir.buffer<[n, 4, 6], f32>) {
  %S = tir.alloc_buffer : !tir.buffer<[n, 4, 6], f32>
  tir.for %i in (0, n) {
    tir.for %j in (0, 4) {
      tir.for %k in (0, 6) {
        tir.block "S" (%vi: spatial (0, n) = %i, %vj: spatial (0, 4) = %j, %vk: spatial (0, 6) = %k) reads (%X[%vi, %vj, %vk]) writes (%S[%vi, %vj, %vk]) annotations {buffer_dim_align = [[0, 0, 7, 1], [0, 2, 2, 0]]} {
          %0 = tir.load %X[%vi, %vj, %vk] : !tir.buffer<[n, 4, 6], f32>
          tir.store %0, %S[%vi, %vj, %vk] : !tir.buffer<[n, 4, 6], f32>
        }
      }
    }
  }
}

// Rows of a symbolic length.

// CHECK-LABEL: @symbolic
// CHECK:         %S = tir.alloc_buffer : !tir.buffer<[n, m + {{.*}} mod 8], f32>
tir.prim_func @symbolic(%X: !tir.buffer<[n, m], f32>) {
  %S = tir.alloc_buffer : !tir.buffer<[n, m], f32>
  tir.for %i in (0, n) {
    tir.for %j in (0, m) {
      tir.block "S" (%vi: spatial (0, n) = %i, %vj: spatial (0, m) = %j) reads (%X[%vi, %vj]) writes (%S[%vi, %vj]) annotations {buffer_dim_align = [[0, 0, 8, 0]]} {
        %0 = tir.load %X[%vi, %vj] : !tir.buffer<[n, m], f32>
        tir.store %0, %S[%vi, %vj] : !tir.buffer<[n, m], f32>
      }
    }
  }
}
