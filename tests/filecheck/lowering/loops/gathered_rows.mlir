// RUN: xrelax-opt %s -p 'prefetch-panels{target="llvm -mtriple=aarch64-linux-gnu"}' --split-input-file | filecheck %s

// While a loop reads the row that an entry of a table selects, it asks for that of the next entry: each line once.

// CHECK-LABEL: @by_table
// CHECK:         loops.for %j in (0, n) {
// CHECK-NEXT:      %s = loops.for %d in (0, 64)
// CHECK-NEXT:        %[[E:.*]] = loops.load %T[min(%j + 1, n - 1)] : !tir.buffer<[n], i32> -> i32
// CHECK-NEXT:        %[[M:.*]] = arith.maxsi %[[E]], %o : i32
// CHECK-NEXT:        %[[W:.*]] = arith.extsi %[[M]] : i32 to i64
// CHECK-NEXT:        %[[I:.*]] = arith.index_cast %[[W]] : i64 to index
// CHECK-NEXT:        %t = loops.load %T[%j]
// CHECK:             loops.prefetch %K[%[[I]], %d, 0] : !tir.buffer<[m, 64, 32], f32>
// CHECK-NEXT:        loops.load %K[{{.*}}, %d, 0]
// CHECK-NOT:         loops.prefetch
// CHECK:             loops.load %K[{{.*}}, %d, 8]
// CHECK-NOT:         loops.prefetch
// CHECK:             loops.yield
loops.func @by_table(%T: !tir.buffer<[n], i32>, %K: !tir.buffer<[m, 64, 32], f32>, %Y: !tir.buffer<[n, 8], f32>) symbols [n, m] noalias {
  %z = arith.constant dense<0.0> : vector<8xf32>
  %o = arith.constant 0 : i32
  loops.for %j in (0, n) {
    %s = loops.for %d in (0, 64) carry (%a = %z : vector<8xf32>) {
      %t = loops.load %T[%j] : !tir.buffer<[n], i32> -> i32
      %u = arith.maxsi %t, %o : i32
      %w = arith.extsi %u : i32 to i64
      %p = arith.index_cast %w : i64 to index
      %k = loops.load %K[%p, %d, 0] : !tir.buffer<[m, 64, 32], f32> -> vector<8xf32>
      %t2 = loops.load %T[%j] : !tir.buffer<[n], i32> -> i32
      %u2 = arith.maxsi %t2, %o : i32
      %w2 = arith.extsi %u2 : i32 to i64
      %p2 = arith.index_cast %w2 : i64 to index
      %l = loops.load %K[%p2, %d, 8] : !tir.buffer<[m, 64, 32], f32> -> vector<8xf32>
      %b = arith.addf %a, %k : vector<8xf32>
      %c = arith.addf %b, %l : vector<8xf32>
      loops.yield %c : vector<8xf32>
    }
    loops.store %s, %Y[%j, 0] : !tir.buffer<[n, 8], f32>, vector<8xf32>
  }
}

// -----

// Not for small tables of rows, entries that do not move on, and rows of different length, whose entry may not be there.

// CHECK-LABEL: @others
// CHECK-NOT:     loops.prefetch
loops.func @others(%T: !tir.buffer<[n], i32>, %K: !tir.buffer<[8, 64, 16], f32>, %L: !tir.buffer<[m, 64, 16], f32>, %Y: !tir.buffer<[n, 8], f32>) symbols [n, m] noalias {
  %z = arith.constant dense<0.0> : vector<8xf32>
  loops.for %j in (0, n) {
    %s = loops.for %d in (0, 64) carry (%a = %z : vector<8xf32>) {
      %t = loops.load %T[%j] : !tir.buffer<[n], i32> -> i32
      %p = arith.index_cast %t : i32 to index
      %k = loops.load %K[%p, %d, 0] : !tir.buffer<[8, 64, 16], f32> -> vector<8xf32>
      %b = arith.addf %a, %k : vector<8xf32>
      loops.yield %b : vector<8xf32>
    }
    %u = loops.for %d in (0, 64) carry (%a = %s : vector<8xf32>) {
      %t = loops.load %T[0] : !tir.buffer<[n], i32> -> i32
      %p = arith.index_cast %t : i32 to index
      %k = loops.load %L[%p, %d, 0] : !tir.buffer<[m, 64, 16], f32> -> vector<8xf32>
      %b = arith.addf %a, %k : vector<8xf32>
      loops.yield %b : vector<8xf32>
    }
    %v = loops.for %d in (0, %j) carry (%a = %u : vector<8xf32>) {
      %t = loops.load %T[%j] : !tir.buffer<[n], i32> -> i32
      %p = arith.index_cast %t : i32 to index
      %k = loops.load %L[%p, %d, 0] : !tir.buffer<[m, 64, 16], f32> -> vector<8xf32>
      %b = arith.addf %a, %k : vector<8xf32>
      loops.yield %b : vector<8xf32>
    }
    loops.store %v, %Y[%j, 0] : !tir.buffer<[n, 8], f32>, vector<8xf32>
  }
}
