// RUN: xrelax-opt %s -p cse-loops | filecheck %s

// Equal arithmetic is done once, also in a loop inside; loads stay, since a store is between them.
// CHECK:       loops.func @twice
// CHECK:         %0 = arith.constant 2.000000e+00 : f32
// CHECK-NOT:     arith.constant
// CHECK:         loops.for %i in (0, n) {
// CHECK-NEXT:      %1 = loops.load %X[%i]
// CHECK-NEXT:      %2 = arith.mulf %1, %0 : f32
// CHECK-NEXT:      loops.store %2, %X[%i]
// CHECK-NEXT:      %3 = loops.load %X[%i]
// CHECK-NEXT:      %4 = arith.addf %3, %2 : f32
// CHECK-NEXT:      loops.store %4, %Y[%i]
loops.func @twice(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n], f32>) symbols [n] noalias {
  %0 = arith.constant 2.000000e+00 : f32
  loops.for %i in (0, n) {
    %1 = loops.load %X[%i] : !tir.buffer<[n], f32> -> f32
    %2 = arith.mulf %1, %0 : f32
    loops.store %2, %X[%i] : !tir.buffer<[n], f32>, f32
    %3 = arith.constant 2.000000e+00 : f32
    %4 = arith.mulf %1, %3 : f32
    %5 = loops.load %X[%i] : !tir.buffer<[n], f32> -> f32
    %6 = arith.addf %5, %4 : f32
    loops.store %6, %Y[%i] : !tir.buffer<[n], f32>, f32
  }
}
