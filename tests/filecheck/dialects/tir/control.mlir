// RUN: xrelax-opt %s | filecheck %s
// RUN: xrelax-opt %s --print-op-generic | xrelax-opt | filecheck %s

// Jumps out of loops.
// CHECK-LABEL: tir.prim_func @jumps
tir.prim_func @jumps(%c: i1) {
  tir.for %i in (0, 8) {
    scf.if %c {
      // CHECK: tir.break
      tir.break
    }
    // CHECK: tir.continue
    tir.continue
  }
}

// A result, and calls with memory for a pointer.
// CHECK-LABEL: tir.prim_func @square
tir.prim_func @square(%x: i8, %p: !tir.handle<f32>) unsigned ("x") {
  %0 = arith.muli %x, %x : i8
  // CHECK: tir.return unsigned %0 : i8
  tir.return unsigned %0 : i8
}

// CHECK-LABEL: tir.prim_func @main
tir.prim_func @main(%X: !tir.buffer<[4], f32>, %c: i8) {
  // CHECK-NEXT: %0 = tir.call @square unsigned(%c, %X) : (i8, !tir.buffer<[4], f32>) -> i8
  %0 = tir.call @square unsigned(%c, %X) : (i8, !tir.buffer<[4], f32>) -> i8
  // CHECK-NEXT: tir.attr "pragma_unroll" of "0"(%c) : i8 {
  tir.attr "pragma_unroll" of "0"(%c) : i8 {
    // CHECK-NEXT: tir.attr "storage_alignment"(%X, %c) : !tir.buffer<[4], f32>, i8 {
    tir.attr "storage_alignment"(%X, %c) : !tir.buffer<[4], f32>, i8 {
      %s = tir.string "inside"
    }
  }
}
