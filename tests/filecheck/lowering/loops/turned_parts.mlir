// RUN: xrelax-opt %s -p 'vectorize-loops{target="llvm -mtriple=x86_64-linux-gnu -mcpu=haswell"}' --split-input-file | filecheck %s

// Of a square that is not whole only rows that exist are loaded, under a mask of as many columns,
// and only these are made.

// CHECK-LABEL: loops.func @partial(
// CHECK:         %0 = loops.mask 2 : vector<8xi1>
// CHECK-COUNT-5: loops.load %X[{{.*}}, 0] mask %0 : {{.*}} -> vector<8xf32>
// CHECK-NOT:     loops.load
// CHECK:         loops.store %{{.*}}, %Y[0, 0] mask
// CHECK:         loops.store %{{.*}}, %Y[1, 0] mask
// CHECK-NOT:     loops.store
loops.func @partial(%X: !tir.buffer<[5, 2], f32>, %Y: !tir.buffer<[2, 5], f32>) noalias {
  loops.for %i in (0, 2) {
    loops.for %j in (0, 5) vectorized {
      %x = loops.load %X[%j, %i] : !tir.buffer<[5, 2], f32> -> f32
      loops.store %x, %Y[%i, %j] : !tir.buffer<[2, 5], f32>, f32
    }
  }
}

// -----

// Without masks, what is no square stays as it was.

// CHECK-LABEL: loops.func @short(
// CHECK-NOT:     vector.shuffle
loops.func @short(%X: !tir.buffer<[8, 2], f16>, %Y: !tir.buffer<[2, 8], f16>) noalias {
  loops.for %i in (0, 2) {
    loops.for %j in (0, 8) vectorized {
      %x = loops.load %X[%j, %i] : !tir.buffer<[8, 2], f16> -> f16
      loops.store %x, %Y[%i, %j] : !tir.buffer<[2, 8], f16>, f16
    }
  }
}
