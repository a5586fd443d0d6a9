// RUN: xrelax-opt %s --emit=schedule --build-target="llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=haswell" | filecheck %s

// What the default schedule does, as Python.

// CHECK:      # sum
// CHECK-NEXT: def schedule(sch: tir.Schedule) -> None:
// CHECK-NEXT:     b0 = sch.get_block("Y")
// CHECK-NEXT:     l1, l2 = sch.get_loops(b0)
// CHECK-NEXT:     sch.vectorize(l2)
// CHECK-NOT:      sch.
tir.prim_func @sum(%X: !tir.buffer<[8, 100], f32>, %Y: !tir.buffer<[8], f32>) {
  tir.for %i in (0, 8) {
    tir.for %k in (0, 100) {
      tir.block "Y" (%vi: spatial (0, 8) = %i, %vk: reduce (0, 100) = %k) reads (%X[%vi, %vk]) writes (%Y[%vi]) {
        tir.init {
          %zero = arith.constant 0.0 : f32
          tir.store %zero, %Y[%vi] : !tir.buffer<[8], f32>
        }
        %y = tir.load %Y[%vi] : !tir.buffer<[8], f32>
        %x = tir.load %X[%vi, %vk] : !tir.buffer<[8, 100], f32>
        %s = arith.addf %y, %x : f32
        tir.store %s, %Y[%vi] : !tir.buffer<[8], f32>
      }
    }
  }
}
