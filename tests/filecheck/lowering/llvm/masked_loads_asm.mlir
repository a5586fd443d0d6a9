// RUN: xrelax-opt %s --emit asm --build-target "llvm -mtriple=x86_64-linux-gnu -mcpu=skylake-avx512" | filecheck %s

// The last elements of %x are loaded under a mask, and so is nothing beyond them.

// CHECK:     vmovupd {{.*}}, %zmm[[X:[0-9]+]] {%k{{[1-7]}}} {z}
// CHECK:     vcvtpd2ps %zmm[[X]],
relax.func @main(%x: !relax.tensor<[n], f64>) -> !relax.tensor<[1], f32> {
  %y = relax.sum %x {dtype = f32, keepdims = true} : !relax.tensor<[n], f64> -> !relax.tensor<[1], f32>
  relax.return %y : !relax.tensor<[1], f32>
}
