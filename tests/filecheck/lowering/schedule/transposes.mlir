// RUN: xrelax-opt %s -p 'schedule-default{target="llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=znver4 -cache-sizes=32768,1048576,33554432" rules=transposes}' --split-input-file | filecheck %s

// Loaded rows are farther apart: squares are adjacent in rows that are loaded.
// CHECK-LABEL: tir.prim_func @loads
// CHECK:         tir.for %{{.*}} in (0, 12) {
// CHECK-NEXT:      tir.for %{{.*}} in (0, 20) {
// CHECK-NEXT:        tir.for %{{.*}} in (0, 4) {
// CHECK-NEXT:          tir.for %{{.*}} in (0, 16) {
// CHECK-NEXT:            tir.for %{{.*}} in (0, 16) vectorized {
tir.prim_func @loads(%X: !tir.buffer<[320, 768], f32>, %Y: !tir.buffer<[768, 320], f32>) {
  tir.for %i in (0, 768) {
    tir.for %j in (0, 320) {
      tir.block "Y" (%vi: spatial (0, 768) = %i, %vj: spatial (0, 320) = %j) reads (%X[%vj, %vi]) writes (%Y[%vi, %vj]) {
        %x = tir.load %X[%vj, %vi] : !tir.buffer<[320, 768], f32>
        tir.store %x, %Y[%vi, %vj] : !tir.buffer<[768, 320], f32>
      }
    }
  }
}

// -----

// Stored rows of 2048 bytes have 16 places in the first cache, less than a tile has rows: squares are adjacent in them.
// CHECK-LABEL: tir.prim_func @collides
// CHECK:         tir.for %{{.*}} in (0, 12) {
// CHECK-NEXT:      tir.for %{{.*}} in (0, 4) {
// CHECK-NEXT:        tir.for %{{.*}} in (0, 32) {
// CHECK-NEXT:          tir.for %{{.*}} in (0, 16) {
// CHECK-NEXT:            tir.for %{{.*}} in (0, 16) vectorized {
tir.prim_func @collides(%X: !tir.buffer<[512, 768], f32>, %Y: !tir.buffer<[768, 512], f32>) {
  tir.for %i in (0, 768) {
    tir.for %j in (0, 512) {
      tir.block "Y" (%vi: spatial (0, 768) = %i, %vj: spatial (0, 512) = %j) reads (%X[%vj, %vi]) writes (%Y[%vi, %vj]) {
        %x = tir.load %X[%vj, %vi] : !tir.buffer<[512, 768], f32>
        tir.store %x, %Y[%vi, %vj] : !tir.buffer<[768, 512], f32>
      }
    }
  }
}

// -----

// Twelve columns are less than a register: one masked square for 16 rows.
// CHECK-LABEL: tir.prim_func @narrow
// CHECK:         tir.for %{{.*}} in (0, 16) {
// CHECK-NEXT:      tir.for %{{.*}} in (0, 12) vectorized {
tir.prim_func @narrow(%X: !tir.buffer<[12, 320], f32>, %Y: !tir.buffer<[320, 12], f32>) {
  tir.for %i in (0, 320) {
    tir.for %j in (0, 12) {
      tir.block "Y" (%vi: spatial (0, 320) = %i, %vj: spatial (0, 12) = %j) reads (%X[%vj, %vi]) writes (%Y[%vi, %vj]) {
        %x = tir.load %X[%vj, %vi] : !tir.buffer<[12, 320], f32>
        tir.store %x, %Y[%vi, %vj] : !tir.buffer<[320, 12], f32>
      }
    }
  }
}

// -----

// LLVM interleaves six columns as fast.
// CHECK-LABEL: tir.prim_func @interleaved
// CHECK-NOT:     vectorized
tir.prim_func @interleaved(%X: !tir.buffer<[6, 320], f32>, %Y: !tir.buffer<[320, 6], f32>) {
  tir.for %i in (0, 320) {
    tir.for %j in (0, 6) {
      tir.block "Y" (%vi: spatial (0, 320) = %i, %vj: spatial (0, 6) = %j) reads (%X[%vj, %vi]) writes (%Y[%vi, %vj]) {
        %x = tir.load %X[%vj, %vi] : !tir.buffer<[6, 320], f32>
        tir.store %x, %Y[%vi, %vj] : !tir.buffer<[320, 6], f32>
      }
    }
  }
}

// -----

// It does not, where another loop is between them.
// CHECK-LABEL: tir.prim_func @apart
// CHECK:         tir.for %{{.*}} in (0, 16) {
// CHECK-NEXT:      tir.for %{{.*}} in (0, 6) vectorized {
tir.prim_func @apart(%X: !tir.buffer<[5, 6, 320], f32>, %Y: !tir.buffer<[320, 5, 6], f32>) {
  tir.for %i in (0, 320) {
    tir.for %j in (0, 5) {
      tir.for %k in (0, 6) {
        tir.block "Y" (%vi: spatial (0, 320) = %i, %vj: spatial (0, 5) = %j, %vk: spatial (0, 6) = %k) reads (%X[%vj, %vk, %vi]) writes (%Y[%vi, %vj, %vk]) {
          %x = tir.load %X[%vj, %vk, %vi] : !tir.buffer<[5, 6, 320], f32>
          tir.store %x, %Y[%vi, %vj, %vk] : !tir.buffer<[320, 5, 6], f32>
        }
      }
    }
  }
}
