// RUN: xrelax-opt %s -p 'use-matrix-products{target="llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-v1"}' | filecheck %s
// RUN: xrelax-opt %s -p 'use-matrix-products{target="llvm -mtriple=aarch64-linux-gnu -mcpu=apple-m1"}' | filecheck %s --check-prefix=WITHOUT

// WITHOUT-NOT: tir.mmla

// Two rows and a vector of columns; the last of three iterations is one of dot products.

// CHECK-LABEL: @bytes
// CHECK:         [[STARTS:%.*]] = vector.shuffle %z, %z [0, 1, 4, 5]
// CHECK:         [[LOW:%.*]], [[HIGH:%.*]] = loops.for %k in (0, 1) carry ([[X:%.*]] = [[STARTS]] : vector<4xi32>, {{.*}}) {
// CHECK-NEXT:      [[A0:%.*]] = loops.load %A[0, %k * 2] : !tir.buffer<[2, 3], i32> -> vector<2xi32>
// CHECK-NEXT:      [[A1:%.*]] = loops.load %A[1, %k * 2] : !tir.buffer<[2, 3], i32> -> vector<2xi32>
// CHECK-NEXT:      [[A:%.*]] = vector.shuffle [[A0]], [[A1]] [0, 1, 2, 3]
// CHECK-NEXT:      [[B0:%.*]] = loops.load %B[%k * 2, 0]
// CHECK-NEXT:      [[B1:%.*]] = loops.load %B[%k * 2 + 1, 0]
// CHECK-NEXT:      [[B:%.*]] = vector.shuffle [[B0]], [[B1]] [0, 4, 1, 5]
// CHECK-NEXT:      {{.*}} = vector.shuffle [[B0]], [[B1]] [2, 6, 3, 7]
// CHECK-NEXT:      [[P:%.*]] = tir.mmla [[A]], [[B]] {lhs_unsigned} : vector<4xi32> -> vector<4xi32>
// CHECK-NEXT:      {{.*}} = arith.addi [[X]], [[P]] : vector<4xi32>
// CHECK:           loops.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    [[S:%.*]] = vector.shuffle [[LOW]], [[HIGH]] [0, 1, 4, 5]
// CHECK-NEXT:    {{.*}} = vector.shuffle [[LOW]], [[HIGH]] [2, 3, 6, 7]
// CHECK:         %h = tir.dp4a %f, %b {lhs_unsigned} : vector<4xi32>
// CHECK:         %j = arith.addi [[S]], %h : vector<4xi32>
loops.func @bytes(%A: !tir.buffer<[2, 3], i32>, %B: !tir.buffer<[3, 4], i32>, %C: !tir.buffer<[2, 4], i32>) noalias {
  %z = arith.constant dense<0> : vector<4xi32>
  %s, %t = loops.for %k in (0, 3) carry (%c = %z : vector<4xi32>, %d = %z : vector<4xi32>) {
    %a = loops.load %A[0, %k] : !tir.buffer<[2, 3], i32> -> i32
    %e = loops.load %A[1, %k] : !tir.buffer<[2, 3], i32> -> i32
    %b = loops.load %B[%k, 0] : !tir.buffer<[3, 4], i32> -> vector<4xi32>
    %f = vector.broadcast %a : i32 to vector<4xi32>
    %g = vector.broadcast %e : i32 to vector<4xi32>
    %h = tir.dp4a %f, %b {lhs_unsigned} : vector<4xi32>
    %i = tir.dp4a %g, %b {lhs_unsigned} : vector<4xi32>
    %j = arith.addi %c, %h : vector<4xi32>
    %l = arith.addi %d, %i : vector<4xi32>
    loops.yield %j, %l : vector<4xi32>, vector<4xi32>
  }
  loops.store %s, %C[0, 0] : !tir.buffer<[2, 4], i32>, vector<4xi32>
  loops.store %t, %C[1, 0] : !tir.buffer<[2, 4], i32>, vector<4xi32>
}

// Three rows of bf16: the last one takes dot products, two in an iteration.

// CHECK-LABEL: @single_row
// CHECK:         loops.for %k in (0, 2) carry ({{.*}}) {
// CHECK-COUNT-2:   tir.mmla {{.*}} -> vector<4xf32>
// CHECK:           [[D:%.*]] = tir.bfdot
// CHECK-NEXT:      [[E:%.*]] = arith.addf {{.*}}, [[D]] fastmath<reassoc>
// CHECK:           [[F:%.*]] = tir.bfdot
// CHECK-NEXT:      arith.addf [[E]], [[F]] fastmath<reassoc>
// CHECK-NEXT:      loops.yield
loops.func @single_row(%A: !tir.buffer<[3, 4], ui32>, %B: !tir.buffer<[4, 4], ui32>, %C: !tir.buffer<[3, 4], f32>) noalias {
  %z = arith.constant dense<0.0> : vector<4xf32>
  %s, %t, %u = loops.for %k in (0, 4) carry (%c = %z : vector<4xf32>, %d = %z : vector<4xf32>, %e = %z : vector<4xf32>) {
    %b = loops.load %B[%k, 0] : !tir.buffer<[4, 4], ui32> -> vector<4xi32>
    %a0 = loops.load %A[0, %k] : !tir.buffer<[3, 4], ui32> -> i32
    %f0 = vector.broadcast %a0 : i32 to vector<4xi32>
    %h0 = tir.bfdot %f0, %b : vector<4xi32> -> vector<4xf32>
    %j0 = arith.addf %c, %h0 fastmath<reassoc> : vector<4xf32>
    %a1 = loops.load %A[1, %k] : !tir.buffer<[3, 4], ui32> -> i32
    %f1 = vector.broadcast %a1 : i32 to vector<4xi32>
    %h1 = tir.bfdot %f1, %b : vector<4xi32> -> vector<4xf32>
    %j1 = arith.addf %d, %h1 fastmath<reassoc> : vector<4xf32>
    %a2 = loops.load %A[2, %k] : !tir.buffer<[3, 4], ui32> -> i32
    %f2 = vector.broadcast %a2 : i32 to vector<4xi32>
    %h2 = tir.bfdot %f2, %b : vector<4xi32> -> vector<4xf32>
    %j2 = arith.addf %e, %h2 fastmath<reassoc> : vector<4xf32>
    loops.yield %j0, %j1, %j2 : vector<4xf32>, vector<4xf32>, vector<4xf32>
  }
  loops.store %s, %C[0, 0] : !tir.buffer<[3, 4], f32>, vector<4xf32>
  loops.store %t, %C[1, 0] : !tir.buffer<[3, 4], f32>, vector<4xf32>
  loops.store %u, %C[2, 0] : !tir.buffer<[3, 4], f32>, vector<4xf32>
}

// Words that do not follow each other in memory are left alone.

// CHECK-LABEL: @apart
// CHECK-NOT:     tir.mmla
loops.func @apart(%A: !tir.buffer<[4, 2], i32>, %B: !tir.buffer<[4, 4], i32>, %C: !tir.buffer<[2, 4], i32>) noalias {
  %z = arith.constant dense<0> : vector<4xi32>
  %s, %t = loops.for %k in (0, 4) carry (%c = %z : vector<4xi32>, %d = %z : vector<4xi32>) {
    %a = loops.load %A[%k, 0] : !tir.buffer<[4, 2], i32> -> i32
    %e = loops.load %A[%k, 1] : !tir.buffer<[4, 2], i32> -> i32
    %b = loops.load %B[%k, 0] : !tir.buffer<[4, 4], i32> -> vector<4xi32>
    %f = vector.broadcast %a : i32 to vector<4xi32>
    %g = vector.broadcast %e : i32 to vector<4xi32>
    %h = tir.dp4a %f, %b : vector<4xi32>
    %i = tir.dp4a %g, %b : vector<4xi32>
    %j = arith.addi %c, %h : vector<4xi32>
    %l = arith.addi %d, %i : vector<4xi32>
    loops.yield %j, %l : vector<4xi32>, vector<4xi32>
  }
  loops.store %s, %C[0, 0] : !tir.buffer<[2, 4], i32>, vector<4xi32>
  loops.store %t, %C[1, 0] : !tir.buffer<[2, 4], i32>, vector<4xi32>
}
