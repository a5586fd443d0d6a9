// RUN: xrelax-opt %s -p convert-to-llvm | filecheck %s

// An address that may be outside of the buffer; for reading, into all caches.

// CHECK-LABEL: @xrelax.ahead
// CHECK:         %[[A:.*]] = llvm.getelementptr %X[{{.*}}] : (!llvm.ptr, i64)
// CHECK-NEXT:    llvm_ext.intrinsic "llvm.prefetch"(%[[A]], %{{.*}}, %{{.*}}, %{{.*}})
// CHECK-NEXT:    {{.*}} = llvm.getelementptr inbounds %X
loops.func @ahead(%X: !tir.buffer<[64], f32>, %Y: !tir.buffer<[64], f32>) noalias {
  loops.for %i in (0, 64) {
    loops.prefetch %X[%i + 48] : !tir.buffer<[64], f32>
    %x = loops.load %X[%i] : !tir.buffer<[64], f32> -> f32
    loops.store %x, %Y[%i] : !tir.buffer<[64], f32>, f32
  }
}
