// RUN: xrelax-opt %s -p 'schedule-default{target="llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=haswell" rules=transposes}' | filecheck %s

// Vectors of four lanes: a transpose costs no more than their gathers.
// CHECK-LABEL: tir.prim_func @four_lanes
// CHECK:         tir.for %{{.*}} in (0, 8) vectorized {
tir.prim_func @four_lanes(%X: !tir.buffer<[320, 768], f64>, %Y: !tir.buffer<[768, 320], f64>) {
  tir.for %i in (0, 768) {
    tir.for %j in (0, 320) {
      tir.block "Y" (%vi: spatial (0, 768) = %i, %vj: spatial (0, 320) = %j) reads (%X[%vj, %vi]) writes (%Y[%vi, %vj]) {
        %x = tir.load %X[%vj, %vi] : !tir.buffer<[320, 768], f64>
        tir.store %x, %Y[%vi, %vj] : !tir.buffer<[768, 320], f64>
      }
    }
  }
}
