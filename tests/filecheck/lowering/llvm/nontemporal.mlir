// RUN: xrelax-opt %s -p 'convert-to-llvm{target="llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=znver4"}' --split-input-file | filecheck %s
// RUN: xrelax-opt %s -p 'convert-to-llvm{target="llvm -mtriple=aarch64-unknown-linux-gnu -mcpu=generic"}' --split-input-file | filecheck %s --check-prefix=OTHER

// A vector goes past the caches where its address is aligned; all have arrived when the function
// returns. Elements, and vectors under a mask, are written as any others.

// CHECK-LABEL: llvm.func internal @xrelax.vectors(
// CHECK:         %[[LOW:.*]] = llvm.and %{{.*}}, %{{.*}} : i64
// CHECK-NEXT:    %[[ALIGNED:.*]] = llvm.icmp "eq" %[[LOW]], %{{.*}} : i64
// CHECK-NEXT:    llvm.cond_br %[[ALIGNED]], ^[[PAST:.*]], ^[[THROUGH:.*]]
// CHECK-NEXT:  ^[[PAST]]:
// CHECK-NEXT:    llvm.store %{{.*}}, %Y {alignment = 64 : i64, nontemporal} : vector<16xf32>
// CHECK-NEXT:    llvm.br ^[[FOLLOWING:.*]]
// CHECK-NEXT:  ^[[THROUGH]]:
// CHECK-NEXT:    llvm.store %{{.*}}, %Y {alignment = 4 : i64} : vector<16xf32>
// CHECK-NEXT:    llvm.br ^[[FOLLOWING]]
// CHECK-NEXT:  ^[[FOLLOWING]]:
// CHECK-NOT:     nontemporal
// CHECK:         llvm_ext.intrinsic "llvm.masked.store"
// CHECK-NOT:     nontemporal
// CHECK:         llvm_ext.intrinsic "llvm.x86.sse.sfence"() overloads [] : () -> ()
// CHECK-NEXT:    llvm.return

// OTHER-LABEL: llvm.func internal @xrelax.vectors(
// OTHER-NOT:     nontemporal
// OTHER-NOT:     sfence
loops.func @vectors(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n], f32>) symbols [n] noalias {
  %m = loops.mask n - 16 : vector<16xi1>
  %x = loops.load %X[0] : !tir.buffer<[n], f32> -> vector<16xf32>
  %y = loops.load %X[0] : !tir.buffer<[n], f32> -> f32
  loops.store %x, %Y[0] nontemporal : !tir.buffer<[n], f32>, vector<16xf32>
  loops.store %x, %Y[16] mask %m nontemporal : !tir.buffer<[n], f32>, vector<16xf32>
  loops.store %y, %Y[40] nontemporal : !tir.buffer<[n], f32>, f32
}

// -----

// A function without such stores has no fence; a thread's part of a loop has its own.

// CHECK-LABEL: llvm.func internal @xrelax.plain(
// CHECK-NOT:     sfence
// CHECK-LABEL: llvm.func internal @xrelax.threads.body0(
// CHECK:         nontemporal
// CHECK:         sfence
// CHECK-LABEL: llvm.func internal @xrelax.threads.parallel0(
// CHECK-NOT:     sfence
loops.func @plain(%X: !tir.buffer<[64, 16], f32>, %Y: !tir.buffer<[64, 16], f32>) noalias {
  %x = loops.load %X[0, 0] : !tir.buffer<[64, 16], f32> -> vector<16xf32>
  loops.store %x, %Y[0, 0] : !tir.buffer<[64, 16], f32>, vector<16xf32>
}
loops.func @threads(%X: !tir.buffer<[64, 16], f32>, %Y: !tir.buffer<[64, 16], f32>) noalias {
  loops.for %i in (0, 64) parallel {
    %x = loops.load %X[%i, 0] : !tir.buffer<[64, 16], f32> -> vector<16xf32>
    loops.store %x, %Y[%i, 0] nontemporal : !tir.buffer<[64, 16], f32>, vector<16xf32>
  }
}
