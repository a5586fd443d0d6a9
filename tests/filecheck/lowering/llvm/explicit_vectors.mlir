// RUN: xrelax-opt %s -p convert-to-llvm --split-input-file | filecheck %s

// A kernel whose innermost loops work on vectors says so; LLVM then only cleans it up.

// CHECK-LABEL: llvm.func internal @xrelax.vectors(
// CHECK-SAME:    passthrough = {{\[+}}"xrelax-loops", "explicit-vectors"]]
loops.func @vectors(%X: !tir.buffer<[4, 64], f32>, %Y: !tir.buffer<[4, 64], f32>) noalias {
  loops.for %i in (0, 4) {
    loops.for %j in (0, 4) {
      %x = loops.load %X[%i, %j * 16] : !tir.buffer<[4, 64], f32> -> vector<16xf32>
      loops.store %x, %Y[%i, %j * 16] : !tir.buffer<[4, 64], f32>, vector<16xf32>
    }
  }
}

// -----

// One loop over single elements is enough for LLVM to vectorize all it can.

// CHECK-LABEL: llvm.func internal @xrelax.mixed(
// CHECK-NOT:     explicit-vectors
loops.func @mixed(%X: !tir.buffer<[64], f32>, %Y: !tir.buffer<[64], f32>) noalias {
  loops.for %j in (0, 4) {
    %x = loops.load %X[%j * 16] : !tir.buffer<[64], f32> -> vector<16xf32>
    loops.store %x, %Y[%j * 16] : !tir.buffer<[64], f32>, vector<16xf32>
  }
  loops.for %j in (0, 64) {
    %x = loops.load %Y[%j] : !tir.buffer<[64], f32> -> f32
    loops.store %x, %Y[%j] : !tir.buffer<[64], f32>, f32
  }
}
