// RUN: xrelax-opt %s -p 'convert-to-llvm{target="llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=skylake-avx512"}' | filecheck %s
// RUN: xrelax-opt %s -p 'convert-to-llvm{target="llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=haswell"}' | filecheck %s --check-prefix=BITS

// One instruction multiplies by a power of two where the target has it; it also takes what is
// infinite and NaN, so that the argument needs no bounds. Another one looks up sixteenths of powers,
// so that four operations compute the rest; the bits of the product are brought into its range.

// CHECK-LABEL: llvm.func internal @xrelax.math.exp.v16f32(
// CHECK-NOT:     llvm_ext.fcmp
// CHECK:         llvm_ext.intrinsic "llvm.x86.avx512.permvar.sf.512"({{.*}}) overloads []
// CHECK-COUNT-3: llvm_ext.intrinsic "llvm.fmuladd"
// CHECK:         llvm.and
// CHECK:         llvm.or
// CHECK:         llvm_ext.intrinsic "llvm.x86.avx512.mask.scalef.ps.512"({{.*}}) overloads []
// CHECK-NEXT:    llvm.return

// BITS-LABEL: llvm.func internal @xrelax.math.exp.v16f32(
// BITS-COUNT-2: llvm_ext.select
// BITS-NOT:     scalef
// BITS:         llvm.shl
// BITS:         llvm.return

loops.func @vectors(%X: !tir.buffer<[16], f32>, %Y: !tir.buffer<[16], f32>) noalias {
  %x = loops.load %X[0] : !tir.buffer<[16], f32> -> vector<16xf32>
  %y = math.exp %x : vector<16xf32>
  loops.store %y, %Y[0] : !tir.buffer<[16], f32>, vector<16xf32>
}

// A shorter register has an instruction of its own, but no table; a single float stays as it is.

// CHECK-LABEL: llvm.func internal @xrelax.math.exp.v2f64(
// CHECK-NOT:     permvar
// CHECK-COUNT-1: llvm_ext.fcmp olt
// CHECK:         llvm_ext.intrinsic "llvm.x86.avx512.mask.scalef.pd.128"
// CHECK-LABEL: llvm.func internal @xrelax.math.exp.f64(
// CHECK-NOT:     scalef
// CHECK:         llvm.return
loops.func @shorter(%X: !tir.buffer<[4], f64>, %Y: !tir.buffer<[4], f64>) noalias {
  %x = loops.load %X[0] : !tir.buffer<[4], f64> -> vector<2xf64>
  %y = math.exp %x : vector<2xf64>
  loops.store %y, %Y[0] : !tir.buffer<[4], f64>, vector<2xf64>
  %z = loops.load %X[3] : !tir.buffer<[4], f64> -> f64
  %w = math.exp %z : f64
  loops.store %w, %Y[3] : !tir.buffer<[4], f64>, f64
}

// Several registers are looked up and scaled one after the other.

// CHECK-LABEL: llvm.func internal @xrelax.math.exp.v32f32(
// CHECK-COUNT-2: llvm_ext.intrinsic "llvm.x86.avx512.permvar.sf.512"
// CHECK-COUNT-4: llvm.shufflevector
// CHECK-COUNT-2: llvm_ext.intrinsic "llvm.x86.avx512.mask.scalef.ps.512"
// CHECK-NEXT:    llvm.shufflevector
// CHECK-NEXT:    llvm.return
loops.func @wider(%X: !tir.buffer<[32], f32>, %Y: !tir.buffer<[32], f32>) noalias {
  %x = loops.load %X[0] : !tir.buffer<[32], f32> -> vector<32xf32>
  %y = math.exp %x : vector<32xf32>
  loops.store %y, %Y[0] : !tir.buffer<[32], f32>, vector<32xf32>
}
