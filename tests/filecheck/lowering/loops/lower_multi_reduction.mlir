// RUN: xrelax-opt %s -p 'lower-multi-reduction{target="llvm -mcpu=haswell"}' --split-input-file | filecheck %s

// Two registers are one before the four lanes of the tail, filled up, are added: one reduction is left.

// CHECK-LABEL: loops.func @tail(
// CHECK:         %[[LOW:[0-9]+]] = vector.shuffle %v, %v [0, 1, 2, 3, 4, 5, 6, 7]
// CHECK-NEXT:    %[[HIGH:[0-9]+]] = vector.shuffle %v, %v [8, 9, 10, 11, 12, 13, 14, 15]
// CHECK-NEXT:    %[[BOTH:[0-9]+]] = arith.addf %[[LOW]], %[[HIGH]] fastmath<reassoc,nsz,contract> : vector<8xf32>
// CHECK-NEXT:    %[[ZERO:[0-9]+]] = arith.constant -0.000000e+00 : f32
// CHECK-NEXT:    %[[ZEROS:[0-9]+]] = vector.broadcast %[[ZERO]] : f32 to vector<4xf32>
// CHECK-NEXT:    %[[REST:[0-9]+]] = vector.shuffle %w, %[[ZEROS]] [0, 1, 2, 3, 4, 4, 4, 4]
// CHECK-NEXT:    %[[ALL:[0-9]+]] = arith.addf %[[BOTH]], %[[REST]] fastmath<reassoc,nsz,contract> : vector<8xf32>
// CHECK-NEXT:    %[[SUM:[0-9]+]] = vector.reduction <add>, %[[ALL]] fastmath<reassoc,nsz,contract> : vector<8xf32> into f32
// CHECK-NEXT:    %{{.*}} = arith.addf %s, %[[SUM]] fastmath<reassoc,nsz,contract> : f32
// CHECK-NOT:     vector.reduction
loops.func @tail(%X: !tir.buffer<[20], f32>, %Y: !tir.buffer<[1], f32>) noalias {
  %s = arith.constant 1.0 : f32
  %v = loops.load %X[0] : !tir.buffer<[20], f32> -> vector<16xf32>
  %a = loops.multi_reduction <add>, %s, %v fastmath<reassoc,nsz,contract> : f32, vector<16xf32>
  %w = loops.load %X[16] : !tir.buffer<[20], f32> -> vector<4xf32>
  %b = loops.multi_reduction <add>, %a, %w fastmath<reassoc,nsz,contract> : f32, vector<4xf32>
  loops.store %b, %Y[0] : !tir.buffer<[1], f32>, f32
}

// -----

// The shorter vector comes first: the order of the terms is open.

// CHECK-LABEL: loops.func @short_first(
// CHECK:         vector.shuffle %v, %v [0, 1, 2, 3, 4, 5, 6, 7]
// CHECK:         vector.shuffle %w, %{{.*}} [0, 1, 2, 3, 4, 4, 4, 4]
// CHECK:         vector.reduction <maxsi>, %{{.*}} : vector<8xi32> into i32
// CHECK-NEXT:    %{{.*}} = arith.maxsi %s, %{{.*}} : i32
// CHECK-NOT:     vector.reduction
loops.func @short_first(%X: !tir.buffer<[20], i32>, %Y: !tir.buffer<[1], i32>) noalias {
  %s = arith.constant 1 : i32
  %w = loops.load %X[0] : !tir.buffer<[20], i32> -> vector<4xi32>
  %a = loops.multi_reduction <maxsi>, %s, %w : i32, vector<4xi32>
  %v = loops.load %X[4] : !tir.buffer<[20], i32> -> vector<16xi32>
  %b = loops.multi_reduction <maxsi>, %a, %v : i32, vector<16xi32>
  loops.store %b, %Y[0] : !tir.buffer<[1], i32>, i32
}

// -----

// A total that something else sees is reduced by itself, and lengths that do not fold are.

// CHECK-LABEL: loops.func @kept(
// CHECK-NOT:     vector.shuffle
// CHECK:         vector.reduction <add>, %v
// CHECK:         vector.reduction <add>, %w
// CHECK:         vector.reduction <mul>, %u
// CHECK:         vector.reduction <mul>, %w
loops.func @kept(%X: !tir.buffer<[20], f32>, %Y: !tir.buffer<[3], f32>) noalias {
  %s = arith.constant 1.0 : f32
  %v = loops.load %X[0] : !tir.buffer<[20], f32> -> vector<16xf32>
  %w = loops.load %X[16] : !tir.buffer<[20], f32> -> vector<4xf32>
  %u = loops.load %X[0] : !tir.buffer<[20], f32> -> vector<12xf32>
  %c = loops.multi_reduction <add>, %s, %v fastmath<reassoc,nsz,contract> : f32, vector<16xf32>
  loops.store %c, %Y[0] : !tir.buffer<[3], f32>, f32
  %d = loops.multi_reduction <add>, %c, %w fastmath<reassoc,nsz,contract> : f32, vector<4xf32>
  loops.store %d, %Y[1] : !tir.buffer<[3], f32>, f32
  %e = loops.multi_reduction <mul>, %s, %u, %w fastmath<reassoc> : f32, vector<12xf32>, vector<4xf32>
  loops.store %e, %Y[2] : !tir.buffer<[3], f32>, f32
}

// -----

// Four totals become one vector and the two behind a gap another: segments of four lanes have those
// of two vectors, then of four, and are halved.

// CHECK-LABEL: loops.func @six(
// CHECK:         %[[L0:[0-9]+]] = vector.shuffle %v0, %v1 [0, 8, 1, 9, 4, 12, 5, 13]
// CHECK-NEXT:    %[[H0:[0-9]+]] = vector.shuffle %v0, %v1 [2, 10, 3, 11, 6, 14, 7, 15]
// CHECK-NEXT:    %[[A:[0-9]+]] = arith.addf %[[L0]], %[[H0]] fastmath<reassoc,nsz,contract> : vector<8xf32>
// CHECK:         %[[B:[0-9]+]] = arith.addf {{.*}} : vector<8xf32>
// CHECK-NEXT:    %[[L1:[0-9]+]] = vector.shuffle %[[A]], %[[B]] [0, 1, 8, 9, 4, 5, 12, 13]
// CHECK-NEXT:    %[[H1:[0-9]+]] = vector.shuffle %[[A]], %[[B]] [2, 3, 10, 11, 6, 7, 14, 15]
// CHECK-NEXT:    %[[C:[0-9]+]] = arith.addf %[[L1]], %[[H1]] fastmath<reassoc,nsz,contract> : vector<8xf32>
// CHECK-NEXT:    %[[L2:[0-9]+]] = vector.shuffle %[[C]], %[[C]] [0, 1, 2, 3]
// CHECK-NEXT:    %[[H2:[0-9]+]] = vector.shuffle %[[C]], %[[C]] [4, 5, 6, 7]
// CHECK-NEXT:    %[[D:[0-9]+]] = arith.addf %[[L2]], %[[H2]] fastmath<reassoc,nsz,contract> : vector<4xf32>
// CHECK-NEXT:    %[[S:[0-9]+]] = vector.broadcast %s : f32 to vector<4xf32>
// CHECK-NEXT:    %[[E:[0-9]+]] = arith.addf %[[S]], %[[D]] fastmath<reassoc,nsz,contract> : vector<4xf32>
// CHECK-NEXT:    loops.store %[[E]], %Y[0] : !tir.buffer<[8], f32>, vector<4xf32>
// CHECK:         loops.store %{{.*}}, %Y[5] : !tir.buffer<[8], f32>, vector<2xf32>
// CHECK-NOT:     vector.reduction
loops.func @six(%V: !tir.buffer<[6, 8], f32>, %Y: !tir.buffer<[8], f32>) noalias {
  %s = arith.constant 0.0 : f32
  %v0 = loops.load %V[0, 0] : !tir.buffer<[6, 8], f32> -> vector<8xf32>
  %v1 = loops.load %V[1, 0] : !tir.buffer<[6, 8], f32> -> vector<8xf32>
  %v2 = loops.load %V[2, 0] : !tir.buffer<[6, 8], f32> -> vector<8xf32>
  %v3 = loops.load %V[3, 0] : !tir.buffer<[6, 8], f32> -> vector<8xf32>
  %v4 = loops.load %V[4, 0] : !tir.buffer<[6, 8], f32> -> vector<8xf32>
  %v5 = loops.load %V[5, 0] : !tir.buffer<[6, 8], f32> -> vector<8xf32>
  %a0 = loops.multi_reduction <add>, %s, %v0 fastmath<reassoc,nsz,contract> : f32, vector<8xf32>
  %a1 = loops.multi_reduction <add>, %s, %v1 fastmath<reassoc,nsz,contract> : f32, vector<8xf32>
  %a2 = loops.multi_reduction <add>, %s, %v2 fastmath<reassoc,nsz,contract> : f32, vector<8xf32>
  %a3 = loops.multi_reduction <add>, %s, %v3 fastmath<reassoc,nsz,contract> : f32, vector<8xf32>
  %a4 = loops.multi_reduction <add>, %s, %v4 fastmath<reassoc,nsz,contract> : f32, vector<8xf32>
  %a5 = loops.multi_reduction <add>, %s, %v5 fastmath<reassoc,nsz,contract> : f32, vector<8xf32>
  loops.store %a0, %Y[0] : !tir.buffer<[8], f32>, f32
  loops.store %a1, %Y[1] : !tir.buffer<[8], f32>, f32
  loops.store %a2, %Y[2] : !tir.buffer<[8], f32>, f32
  loops.store %a3, %Y[3] : !tir.buffer<[8], f32>, f32
  loops.store %a4, %Y[5] : !tir.buffer<[8], f32>, f32
  loops.store %a5, %Y[6] : !tir.buffer<[8], f32>, f32
}

// -----

// Totals with different starts stay as they are, and those that something is read between.

// CHECK-LABEL: loops.func @kept(
// CHECK-NOT:     vector.shuffle
// CHECK-NOT:     vector<2xf32>
loops.func @kept(%V: !tir.buffer<[2, 8], f32>, %Y: !tir.buffer<[8], f32>, %Z: !tir.buffer<[2], f32>) noalias {
  %s = arith.constant 0.0 : f32
  %t = arith.constant 1.0 : f32
  %v0 = loops.load %V[0, 0] : !tir.buffer<[2, 8], f32> -> vector<8xf32>
  %v1 = loops.load %V[1, 0] : !tir.buffer<[2, 8], f32> -> vector<8xf32>
  %a0 = loops.multi_reduction <add>, %s, %v0 fastmath<reassoc,nsz,contract> : f32, vector<8xf32>
  %a1 = loops.multi_reduction <add>, %t, %v1 fastmath<reassoc,nsz,contract> : f32, vector<8xf32>
  loops.store %a0, %Y[0] : !tir.buffer<[8], f32>, f32
  loops.store %a1, %Y[1] : !tir.buffer<[8], f32>, f32
  %a2 = loops.multi_reduction <add>, %s, %v0 fastmath<reassoc,nsz,contract> : f32, vector<8xf32>
  %a3 = loops.multi_reduction <add>, %s, %v1 fastmath<reassoc,nsz,contract> : f32, vector<8xf32>
  loops.store %a2, %Y[2] : !tir.buffer<[8], f32>, f32
  %y = loops.load %Y[2] : !tir.buffer<[8], f32> -> f32
  loops.store %a3, %Y[3] : !tir.buffer<[8], f32>, f32
  loops.store %y, %Z[0] : !tir.buffer<[2], f32>, f32
}

// -----

// Lanes that a loop adds up in each iteration are added up after it.

// CHECK-LABEL: loops.func @hoisted(
// CHECK:         %[[START:[0-9]+]] = arith.constant -0.000000e+00 : f32
// CHECK-NEXT:    %[[LANES:[0-9]+]] = vector.broadcast %[[START]] : f32 to vector<8xf32>
// CHECK-NEXT:    %[[SUMS:[0-9]+]] = loops.for %i in (0, 4) carry (%{{.*}} = %[[LANES]] : vector<8xf32>) {
// CHECK-NEXT:      %x = loops.load %X[%i, 0]
// CHECK-NEXT:      %t = arith.addf %{{.*}}, %x fastmath<reassoc,nsz,contract> : vector<8xf32>
// CHECK-NEXT:      loops.yield %t : vector<8xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[SUM:[0-9]+]] = vector.reduction <add>, %[[SUMS]] fastmath<reassoc,nsz,contract> : vector<8xf32> into f32
// CHECK-NEXT:    %sum = arith.addf %y0, %[[SUM]] fastmath<reassoc,nsz,contract> : f32
// CHECK-NEXT:    loops.store %sum, %Y[0]
loops.func @hoisted(%X: !tir.buffer<[4, 8], f32>, %Y: !tir.buffer<[1], f32>) noalias {
  %zero = arith.constant -0.0 : f32
  %y0 = loops.load %Y[0] : !tir.buffer<[1], f32> -> f32
  %sum = loops.for %i in (0, 4) carry (%y = %y0 : f32) {
    %z = vector.broadcast %zero : f32 to vector<8xf32>
    %x = loops.load %X[%i, 0] : !tir.buffer<[4, 8], f32> -> vector<8xf32>
    %t = arith.addf %z, %x fastmath<reassoc,nsz,contract> : vector<8xf32>
    %s = loops.multi_reduction <add>, %y, %t fastmath<reassoc,nsz,contract> : f32, vector<8xf32>
    loops.yield %s : f32
  }
  loops.store %sum, %Y[0] : !tir.buffer<[1], f32>, f32
}

// -----

// Lanes that something else sees in the loop, or that start from something else, are reduced in it.

// CHECK-LABEL: loops.func @seen(
// CHECK:         loops.for %i in (0, 4) carry (%y = %y0 : f32) {
// CHECK:           vector.reduction <add>, %t
// CHECK:         loops.for %i_1 in (0, 4) carry (%y_1 = %y0 : f32) {
// CHECK:           vector.reduction <add>, %t_1
loops.func @seen(%X: !tir.buffer<[4, 8], f32>, %Y: !tir.buffer<[2], f32>, %Z: !tir.buffer<[4, 8], f32>) noalias {
  %zero = arith.constant -0.0 : f32
  %one = arith.constant 1.0 : f32
  %y0 = loops.load %Y[0] : !tir.buffer<[2], f32> -> f32
  %sum = loops.for %i in (0, 4) carry (%y = %y0 : f32) {
    %z = vector.broadcast %zero : f32 to vector<8xf32>
    %x = loops.load %X[%i, 0] : !tir.buffer<[4, 8], f32> -> vector<8xf32>
    %t = arith.addf %z, %x fastmath<reassoc,nsz,contract> : vector<8xf32>
    loops.store %t, %Z[%i, 0] : !tir.buffer<[4, 8], f32>, vector<8xf32>
    %s = loops.multi_reduction <add>, %y, %t fastmath<reassoc,nsz,contract> : f32, vector<8xf32>
    loops.yield %s : f32
  }
  loops.store %sum, %Y[0] : !tir.buffer<[2], f32>, f32
  %more = loops.for %i in (0, 4) carry (%y = %y0 : f32) {
    %z = vector.broadcast %one : f32 to vector<8xf32>
    %x = loops.load %X[%i, 0] : !tir.buffer<[4, 8], f32> -> vector<8xf32>
    %t = arith.addf %z, %x fastmath<reassoc,nsz,contract> : vector<8xf32>
    %s = loops.multi_reduction <add>, %y, %t fastmath<reassoc,nsz,contract> : f32, vector<8xf32>
    loops.yield %s : f32
  }
  loops.store %more, %Y[1] : !tir.buffer<[2], f32>, f32
}
