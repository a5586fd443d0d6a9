// RUN: xrelax-opt %s -p convert-tir-to-loops | filecheck %s

// A flag skips the rest of an iteration; what nothing reaches is erased.

// CHECK-LABEL: @continue
// CHECK:         %0 = loops.alloca : !tir.buffer<[], i1>
// CHECK:         loops.for %i in (0, 4) {
// CHECK-NEXT:      %2 = arith.constant false
// CHECK-NEXT:      loops.store %2, %0[]
// CHECK-NEXT:      %c = loops.load %X[%i]
// CHECK-NEXT:      scf.if %c {
// CHECK-NEXT:        %3 = arith.constant true
// CHECK-NEXT:        loops.store %3, %0[]
// CHECK-NEXT:      }
// CHECK-NEXT:      %4 = loops.load %0[]
// CHECK-NEXT:      %5 = arith.constant true
// CHECK-NEXT:      %6 = arith.xori %4, %5
// CHECK-NEXT:      scf.if %6 {
// CHECK-NEXT:        loops.store %c, %Y[%i]
tir.prim_func @continue(%X: !tir.buffer<[4], i1>, %Y: !tir.buffer<[4], i1>) {
  tir.for %i in (0, 4) {
    %c = tir.load %X[%i] : !tir.buffer<[4], i1>
    scf.if %c {
      tir.continue
      tir.store %c, %Y[0] : !tir.buffer<[4], i1>
    }
    tir.store %c, %Y[%i] : !tir.buffer<[4], i1>
  }
}

// Another flag leaves the loop.

// CHECK-LABEL: @break
// CHECK:         [[LEFT:%[0-9]+]] = loops.alloca
// CHECK:         [[SKIPPED:%[0-9]+]] = loops.alloca
// CHECK:         loops.for %i in (0, 4) {
// CHECK-NEXT:      [[IS_LEFT:%[0-9]+]] = loops.load [[LEFT]][]
// CHECK:           scf.if
// CHECK:             %c = loops.load %X[%i]
// CHECK-NEXT:        scf.if %c {
// CHECK:               loops.store {{%[0-9]+}}, [[SKIPPED]][]
// CHECK:               loops.store {{%[0-9]+}}, [[LEFT]][]
tir.prim_func @break(%X: !tir.buffer<[4], i1>) {
  tir.for %i in (0, 4) {
    %c = tir.load %X[%i] : !tir.buffer<[4], i1>
    scf.if %c {
      tir.break
    }
  }
}
