// RUN: xrelax-opt %s --emit asm --build-target "llvm -mtriple=x86_64-linux-gnu -mcpu=znver4" | filecheck %s
// RUN: xrelax-opt %s --emit asm --build-target "llvm -mtriple=x86_64-linux-gnu -mcpu=skylake-avx512" | filecheck %s --check-prefix WITHOUT
// RUN: xrelax-opt %s --emit asm --build-target "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-v1" | filecheck %s --check-prefix ARM

// f32 is rounded to bf16 by an instruction, or by integers where there is none.

// CHECK: vcvtneps2bf16

// WITHOUT-NOT: vcvtneps2bf16
// WITHOUT: vpaddd

// ARM: bfcvtn

builtin.module {
  relax.func @main(%x: !relax.tensor<[64, 64], bf16>) -> !relax.tensor<[64, 64], bf16> {
    %0 = relax.add %x, %x : !relax.tensor<[64, 64], bf16>, !relax.tensor<[64, 64], bf16> -> !relax.tensor<[64, 64], bf16>
    relax.return %0 : !relax.tensor<[64, 64], bf16>
  }
}
