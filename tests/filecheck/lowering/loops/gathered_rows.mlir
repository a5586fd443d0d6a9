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

// -----

// Rows of a page go on to the next one with its entry. What computes the entry is followed once, however often it is used.

// CHECK-LABEL: @slots
// CHECK:         loops.for %j in (0, n) {
// CHECK:             %[[E:.*]] = loops.load %T[(min(%j + 1, n - 1)) floordiv 16]
// CHECK:             loops.prefetch %K[%{{.*}}, (min(%j + 1, n - 1)) mod 16, %d * 8]
// CHECK-NEXT:        loops.load %K[%{{.*}}, %j mod 16, %d * 8]
loops.func @slots(%T: !tir.buffer<[n], i32>, %K: !tir.buffer<[m, 16, 64], f32>, %Y: !tir.buffer<[n, 8], f32>) symbols [n, m] noalias {
  %z = arith.constant dense<0.0> : vector<8xf32>
  loops.for %j in (0, n) {
    %s = loops.for %d in (0, 8) carry (%a = %z : vector<8xf32>) {
      %t0 = loops.load %T[%j floordiv 16] : !tir.buffer<[n], i32> -> i32
      %t1 = arith.muli %t0, %t0 : i32
      %t2 = arith.muli %t1, %t1 : i32
      %t3 = arith.muli %t2, %t2 : i32
      %t4 = arith.muli %t3, %t3 : i32
      %t5 = arith.muli %t4, %t4 : i32
      %t6 = arith.muli %t5, %t5 : i32
      %t7 = arith.muli %t6, %t6 : i32
      %t8 = arith.muli %t7, %t7 : i32
      %t9 = arith.muli %t8, %t8 : i32
      %t10 = arith.muli %t9, %t9 : i32
      %t11 = arith.muli %t10, %t10 : i32
      %t12 = arith.muli %t11, %t11 : i32
      %t13 = arith.muli %t12, %t12 : i32
      %t14 = arith.muli %t13, %t13 : i32
      %t15 = arith.muli %t14, %t14 : i32
      %t16 = arith.muli %t15, %t15 : i32
      %t17 = arith.muli %t16, %t16 : i32
      %t18 = arith.muli %t17, %t17 : i32
      %t19 = arith.muli %t18, %t18 : i32
      %t20 = arith.muli %t19, %t19 : i32
      %t21 = arith.muli %t20, %t20 : i32
      %t22 = arith.muli %t21, %t21 : i32
      %p = arith.index_cast %t22 : i32 to index
      %k = loops.load %K[%p, %j mod 16, %d * 8] : !tir.buffer<[m, 16, 64], f32> -> vector<8xf32>
      %b = arith.addf %a, %k : vector<8xf32>
      loops.yield %b : vector<8xf32>
    }
    loops.store %s, %Y[%j, 0] : !tir.buffer<[n, 8], f32>, vector<8xf32>
  }
}

// -----

// The next iteration may read no entry, or another one, if it has its own number of rows or first entry.

// CHECK-LABEL: @ragged
// CHECK-NOT:     loops.prefetch
// CHECK-NOT:     loops.load %T[{{.*}}min
loops.func @ragged(%N: !tir.buffer<[n], i32>, %T: !tir.buffer<[m], i32>, %K: !tir.buffer<[m, 64, 16], f32>, %Y: !tir.buffer<[n, 8], f32>) symbols [n, m] noalias {
  %z = arith.constant dense<0.0> : vector<8xf32>
  loops.for %j in (0, n) {
    %l = loops.load %N[%j] : !tir.buffer<[n], i32> -> i32
    %e = arith.index_cast %l : i32 to index
    %s = loops.for %d in (0, %e) carry (%a = %z : vector<8xf32>) {
      %t = loops.load %T[%j] : !tir.buffer<[m], i32> -> i32
      %p = arith.index_cast %t : i32 to index
      %k = loops.load %K[%p, %d, 0] : !tir.buffer<[m, 64, 16], f32> -> vector<8xf32>
      %b = arith.addf %a, %k : vector<8xf32>
      loops.yield %b : vector<8xf32>
    }
    %u = loops.for %d in (0, 64) carry (%a = %s : vector<8xf32>) {
      %t = loops.load %T[%e + %j] : !tir.buffer<[m], i32> -> i32
      %p = arith.index_cast %t : i32 to index
      %k = loops.load %K[%p, %d, 0] : !tir.buffer<[m, 64, 16], f32> -> vector<8xf32>
      %b = arith.addf %a, %k : vector<8xf32>
      loops.yield %b : vector<8xf32>
    }
    loops.store %u, %Y[%j, 0] : !tir.buffer<[n, 8], f32>, vector<8xf32>
  }
}

// -----

// An entry that is extended to two widths has both.

// CHECK-LABEL: @widths
// CHECK:         %[[E:.*]] = loops.load %T[min(%j + 1, n - 1)]
// CHECK-NEXT:    %[[A:.*]] = arith.extsi %[[E]] : i8 to i32
// CHECK-NEXT:    %[[B:.*]] = arith.extsi %[[A]] : i32 to i64
// CHECK-NEXT:    %[[C:.*]] = arith.extsi %[[E]] : i8 to i64
// CHECK-NEXT:    arith.addi %[[B]], %[[C]] : i64
loops.func @widths(%T: !tir.buffer<[n], i8>, %K: !tir.buffer<[m, 64], f32>, %Y: !tir.buffer<[n, 8], f32>) symbols [n, m] noalias {
  %z = arith.constant dense<0.0> : vector<8xf32>
  loops.for %j in (0, n) {
    %s = loops.for %d in (0, 8) carry (%a = %z : vector<8xf32>) {
      %t = loops.load %T[%j] : !tir.buffer<[n], i8> -> i8
      %u = arith.extsi %t : i8 to i32
      %v = arith.extsi %u : i32 to i64
      %w = arith.extsi %t : i8 to i64
      %i = arith.addi %v, %w : i64
      %p = arith.index_cast %i : i64 to index
      %k = loops.load %K[%p, %d * 8] : !tir.buffer<[m, 64], f32> -> vector<8xf32>
      %b = arith.addf %a, %k : vector<8xf32>
      loops.yield %b : vector<8xf32>
    }
    loops.store %s, %Y[%j, 0] : !tir.buffer<[n, 8], f32>, vector<8xf32>
  }
}
