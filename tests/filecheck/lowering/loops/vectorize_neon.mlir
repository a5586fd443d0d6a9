// RUN: xrelax-opt %s -p 'vectorize-loops{target="llvm -mtriple=aarch64-linux-gnu"}' --split-input-file | filecheck %s

// Registers of four floats, and no accesses under masks: shorter vectors for a constant rest, single iterations for
// another.

// CHECK-LABEL: loops.func @constant_rest(
// CHECK-NEXT:    %x = loops.load %X[0] : {{.*}} -> vector<4xf32>
// CHECK-NEXT:    loops.store %x, %Y[0]
// CHECK-NEXT:    %x_1 = loops.load %X[4] : {{.*}} -> vector<2xf32>
// CHECK-NEXT:    loops.store %x_1, %Y[4]
// CHECK-NEXT:    %x_2 = loops.load %X[6] : {{.*}} -> vector<1xf32>
// CHECK-NEXT:    loops.store %x_2, %Y[6]
loops.func @constant_rest(%X: !tir.buffer<[7], f32>, %Y: !tir.buffer<[7], f32>) noalias {
  loops.for %j in (0, 7) vectorized {
    %x = loops.load %X[%j] : !tir.buffer<[7], f32> -> f32
    loops.store %x, %Y[%j] : !tir.buffer<[7], f32>, f32
  }
}

// -----

// CHECK-LABEL: loops.func @symbolic_rest(
// CHECK-NEXT:    loops.for %0 in (0, n floordiv 4) {
// CHECK-NEXT:      %x = loops.load %X[%0 * 4] : {{.*}} -> vector<4xf32>
// CHECK-NEXT:      loops.store %x, %Y[%0 * 4]
// CHECK-NEXT:    }
// CHECK-NEXT:    loops.for %j in ((n floordiv 4) * 4, n mod 4) {
// CHECK-NEXT:      %x_1 = loops.load %X[%j] : {{.*}} -> f32
// CHECK-NEXT:      loops.store %x_1, %Y[%j]
// CHECK-NEXT:    }
loops.func @symbolic_rest(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n], f32>) symbols [n] noalias {
  loops.for %j in (0, n) vectorized {
    %x = loops.load %X[%j] : !tir.buffer<[n], f32> -> f32
    loops.store %x, %Y[%j] : !tir.buffer<[n], f32>, f32
  }
}
