// RUN: xrelax-opt %s -p 'schedule-default{target="llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=znver4" rules=parallelize}' | filecheck %s
// RUN: xrelax-opt %s -p 'schedule-default{target="llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=znver4 -num-cores=2"}' | filecheck %s --check-prefix=TWO
// RUN: xrelax-opt %s -p 'schedule-default{target="llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=znver4 -num-cores=3"}' | filecheck %s

// Eight iterations are four for each of two processors. Among an unknown number, or among three, the
// loops inside are shared out.

// CHECK:     tir.for %i in (0, 8) {
// CHECK:       parallel
// CHECK:       parallel
// CHECK-NOT:   parallel
// TWO:       tir.for %i in (0, 8) parallel {
// TWO-NOT:     parallel
tir.prim_func @two(%X: !tir.buffer<[8, 16777216], f32>, %Y: !tir.buffer<[8, 16777216], f32>, %Z: !tir.buffer<[8, 16777216], f32>) {
  tir.for %i in (0, 8) {
    tir.for %j in (0, 16777216) {
      tir.block "Y" (%vi: spatial (0, 8) = %i, %vj: spatial (0, 16777216) = %j) reads (%X[%vi, %vj]) writes (%Y[%vi, %vj]) {
        %x = tir.load %X[%vi, %vj] : !tir.buffer<[8, 16777216], f32>
        tir.store %x, %Y[%vi, %vj] : !tir.buffer<[8, 16777216], f32>
      }
    }
    tir.for %k in (0, 16777216) {
      tir.block "Z" (%vi: spatial (0, 8) = %i, %vk: spatial (0, 16777216) = %k) reads (%X[%vi, %vk]) writes (%Z[%vi, %vk]) {
        %x = tir.load %X[%vi, %vk] : !tir.buffer<[8, 16777216], f32>
        tir.store %x, %Z[%vi, %vk] : !tir.buffer<[8, 16777216], f32>
      }
    }
  }
}
