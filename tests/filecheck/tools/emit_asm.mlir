// RUN: xrelax-opt %s --emit asm --build-target "llvm -mtriple=aarch64-linux-gnu" | filecheck %s
// RUN: xrelax-opt %s --emit rt | xrelax-opt --emit asm --build-target "llvm -mtriple=aarch64-linux-gnu" | filecheck %s
// RUN: xrelax-opt %s --emit llvm-opt --build-target "llvm -mcpu=haswell" | filecheck %s --check-prefix OPT

// A kernel is code by itself, under its name, for the target: vectors of 128 or of 256 bits.

// CHECK:      xrelax.square.kernel.{{[0-9a-f]+}}:
// CHECK:      fmul v{{[0-9]+}}.4s
// CHECK:      ret
// OPT-LABEL:  i32 @xrelax.square.kernel.
// OPT:        fmul <8 x float>
tir.prim_func @square(%X: !tir.buffer<[64], f32>, %Y: !tir.buffer<[64], f32>) {
  tir.for %i in (0, 64) {
    tir.block "Y" (%v: spatial (0, 64) = %i) reads (%X[%v]) writes (%Y[%v]) {
      %x = tir.load %X[%v] : !tir.buffer<[64], f32>
      %y = arith.mulf %x, %x : f32
      tir.store %y, %Y[%v] : !tir.buffer<[64], f32>
    }
  }
}
// The function that users call follows, in an object of its own.

// CHECK:      xrelax.square:
