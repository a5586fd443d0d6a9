// RUN: xrelax-opt %s -p 'vectorize-loops{target="llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a76"}' --split-input-file | filecheck %s

// Rows are loaded whole and transposed in registers; what the iterations share otherwise is as it was.

// CHECK-LABEL: loops.func @transposed(
// CHECK-NEXT:    %0 = loops.load %X[%a, 0] : {{.*}} -> vector<4xf32>
// CHECK-NEXT:    %1 = loops.load %X[%a + 1, 0] : {{.*}} -> vector<4xf32>
// CHECK-NEXT:    %2 = loops.load %X[%a + 2, 0] : {{.*}} -> vector<4xf32>
// CHECK-NEXT:    %3 = loops.load %X[%a + 3, 0] : {{.*}} -> vector<4xf32>
// CHECK-NEXT:    %4 = vector.shuffle %0, %2 [0, 1, 4, 5]
// CHECK-NEXT:    %5 = vector.shuffle %0, %2 [2, 3, 6, 7]
// CHECK-NEXT:    %6 = vector.shuffle %1, %3 [0, 1, 4, 5]
// CHECK-NEXT:    %7 = vector.shuffle %1, %3 [2, 3, 6, 7]
// CHECK-NEXT:    %x = vector.shuffle %4, %6 [0, 4, 2, 6]
// CHECK-NEXT:    %x_1 = vector.shuffle %4, %6 [1, 5, 3, 7]
// CHECK-NEXT:    %x_2 = vector.shuffle %5, %7 [0, 4, 2, 6]
// CHECK-NEXT:    %x_3 = vector.shuffle %5, %7 [1, 5, 3, 7]
// CHECK-NEXT:    %b = loops.load %B[0]
// CHECK-NEXT:    %8 = vector.broadcast %b
// CHECK-NEXT:    %y = arith.addf %x, %8
// CHECK-NEXT:    loops.store %y, %Y[0, 0]
loops.func @transposed(%X: !tir.buffer<[8, 4], f32>, %B: !tir.buffer<[4], f32>, %Y: !tir.buffer<[4, 4], f32>, %a: index) noalias {
  loops.for %i in (0, 4) {
    loops.for %j in (0, 4) vectorized {
      %x = loops.load %X[%a + %j, %i] : !tir.buffer<[8, 4], f32> -> f32
      %b = loops.load %B[%i] : !tir.buffer<[4], f32> -> f32
      %y = arith.addf %x, %b : f32
      loops.store %y, %Y[%i, %j] : !tir.buffer<[4, 4], f32>, f32
    }
  }
}

// -----

// What an iteration stores, another one may load: elements are loaded where they were.

// CHECK-LABEL: loops.func @stored(
// CHECK-NOT:     vector.shuffle
loops.func @stored(%X: !tir.buffer<[4, 4], f32>) noalias {
  loops.for %i in (0, 4) {
    loops.for %j in (0, 4) vectorized {
      %x = loops.load %X[%j, %i] : !tir.buffer<[4, 4], f32> -> f32
      loops.store %x, %X[%j, %i] : !tir.buffer<[4, 4], f32>, f32
    }
  }
}

// -----

// An index that the iterations load is not known in the first one.

// CHECK-LABEL: loops.func @indirect(
// CHECK-NOT:     vector.shuffle
loops.func @indirect(%X: !tir.buffer<[4, 2, 4], f32>, %N: !tir.buffer<[1], i64>, %Y: !tir.buffer<[4, 4], f32>) noalias {
  loops.for %i in (0, 4) {
    loops.for %j in (0, 4) vectorized {
      %n = loops.load %N[0] : !tir.buffer<[1], i64> -> i64
      %k = arith.index_cast %n : i64 to index
      %x = loops.load %X[%j, %k, %i] : !tir.buffer<[4, 2, 4], f32> -> f32
      loops.store %x, %Y[%i, %j] : !tir.buffer<[4, 4], f32>, f32
    }
  }
}
