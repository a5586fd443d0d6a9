// RUN: xrelax-opt %s -p 'schedule-default{target="llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=haswell" rules=parallelize}' | filecheck %s
// RUN: not xrelax-opt %s -p 'schedule-default{rules=paralelize}' 2>&1 | filecheck %s --check-prefix=UNKNOWN

// Some of the rules by name: threads share rows whose loops are as they were written.

// CHECK-LABEL: tir.prim_func @double
// CHECK-NEXT:    tir.for %i in (0, 1000) parallel {
// CHECK-NEXT:      tir.for %j in (0, 1000) {

// UNKNOWN: expected a rule (channels-last, {{.*}}, parallelize), got 'paralelize', did you mean 'parallelize'?
tir.prim_func @double(%X: !tir.buffer<[1000, 1000], f32>, %Y: !tir.buffer<[1000, 1000], f32>) {
  tir.for %i in (0, 1000) {
    tir.for %j in (0, 1000) {
      tir.block "Y" (%vi: spatial (0, 1000) = %i, %vj: spatial (0, 1000) = %j) reads (%X[%vi, %vj]) writes (%Y[%vi, %vj]) {
        %x = tir.load %X[%vi, %vj] : !tir.buffer<[1000, 1000], f32>
        %y = arith.addf %x, %x : f32
        tir.store %y, %Y[%vi, %vj] : !tir.buffer<[1000, 1000], f32>
      }
    }
  }
}
