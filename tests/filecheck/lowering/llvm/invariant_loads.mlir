// RUN: xrelax-opt %s -p convert-to-llvm --split-input-file | filecheck %s

// An element that a loop does not change is loaded before the loop, if that is known to run.

// CHECK-LABEL: llvm.func internal @xrelax.scale(
// CHECK:         %[[A:.*]] = llvm.load %A
// CHECK-NEXT:    llvm.br
// CHECK:         %[[X:.*]] = llvm.load
// CHECK-NEXT:    llvm.fmul %[[X]], %[[A]]
loops.func @scale(%X: !tir.buffer<[8], f32>, %A: !tir.buffer<[1], f32>, %Y: !tir.buffer<[8], f32>) noalias {
  loops.for %i in (0, 8) {
    %x = loops.load %X[%i] : !tir.buffer<[8], f32> -> f32
    %a = loops.load %A[0] : !tir.buffer<[1], f32> -> f32
    %y = arith.mulf %x, %a : f32
    loops.store %y, %Y[%i] : !tir.buffer<[8], f32>, f32
  }
}

// -----

// It stays where there may be no iteration, where the loop stores to the buffer, and where buffers may overlap.

// CHECK-LABEL: llvm.func internal @xrelax.maybe(
// CHECK:         llvm.icmp "slt"
// CHECK:         llvm.load %A
loops.func @maybe(%A: !tir.buffer<[1], f32>, %Y: !tir.buffer<[n], f32>) symbols [n] noalias {
  loops.for %i in (0, n) {
    %a = loops.load %A[0] : !tir.buffer<[1], f32> -> f32
    loops.store %a, %Y[%i] : !tir.buffer<[n], f32>, f32
  }
}

// -----

// CHECK-LABEL: llvm.func internal @xrelax.changed(
// CHECK:         llvm.icmp "slt"
// CHECK:         llvm.load %Y
loops.func @changed(%Y: !tir.buffer<[8], f32>) noalias {
  loops.for %i in (0, 8) {
    %a = loops.load %Y[0] : !tir.buffer<[8], f32> -> f32
    %b = arith.addf %a, %a : f32
    loops.store %b, %Y[%i] : !tir.buffer<[8], f32>, f32
  }
}

// -----

// CHECK-LABEL: llvm.func internal @xrelax.overlapping(
// CHECK:         llvm.icmp "slt"
// CHECK:         llvm.load %A
loops.func @overlapping(%A: !tir.buffer<[1], f32>, %Y: !tir.buffer<[8], f32>) {
  loops.for %i in (0, 8) {
    %a = loops.load %A[0] : !tir.buffer<[1], f32> -> f32
    loops.store %a, %Y[%i] : !tir.buffer<[8], f32>, f32
  }
}

// -----

// A function that gets the buffer may write it.

// CHECK-LABEL: llvm.func internal @xrelax.passed(
// CHECK:         llvm.icmp "slt"
// CHECK:         llvm.load %A
loops.func @passed(%A: !tir.buffer<[1], f32>, %Y: !tir.buffer<[8], f32>) noalias {
  loops.for %i in (0, 8) {
    tir.call_extern "fill"(%A) : (!tir.buffer<[1], f32>) -> ()
    %a = loops.load %A[0] : !tir.buffer<[1], f32> -> f32
    loops.store %a, %Y[%i] : !tir.buffer<[8], f32>, f32
  }
}
