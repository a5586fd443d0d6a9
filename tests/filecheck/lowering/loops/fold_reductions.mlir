// RUN: xrelax-opt %s -p 'promote-buffers{target="llvm -mcpu=haswell"}' --split-input-file | filecheck %s

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
  %r = vector.reduction <add>, %v fastmath<reassoc,nsz,contract> : vector<16xf32> into f32
  %a = arith.addf %s, %r fastmath<reassoc,nsz,contract> : f32
  %w = loops.load %X[16] : !tir.buffer<[20], f32> -> vector<4xf32>
  %q = vector.reduction <add>, %w fastmath<reassoc,nsz,contract> : vector<4xf32> into f32
  %b = arith.addf %a, %q fastmath<reassoc,nsz,contract> : f32
  loops.store %b, %Y[0] : !tir.buffer<[1], f32>, f32
}

// -----

// Sums in a fixed order stay as they are, and a total that something else sees.

// CHECK-LABEL: loops.func @kept(
// CHECK-NOT:     vector.shuffle
loops.func @kept(%X: !tir.buffer<[20], f32>, %Y: !tir.buffer<[2], f32>) noalias {
  %s = arith.constant 1.0 : f32
  %v = loops.load %X[0] : !tir.buffer<[20], f32> -> vector<16xf32>
  %w = loops.load %X[16] : !tir.buffer<[20], f32> -> vector<4xf32>
  %r = vector.reduction <add>, %v : vector<16xf32> into f32
  %a = arith.addf %s, %r : f32
  %q = vector.reduction <add>, %w : vector<4xf32> into f32
  %b = arith.addf %a, %q : f32
  loops.store %b, %Y[0] : !tir.buffer<[2], f32>, f32
  %t = vector.reduction <add>, %v fastmath<reassoc,nsz,contract> : vector<16xf32> into f32
  %c = arith.addf %s, %t fastmath<reassoc,nsz,contract> : f32
  loops.store %c, %Y[0] : !tir.buffer<[2], f32>, f32
  %u = vector.reduction <add>, %w fastmath<reassoc,nsz,contract> : vector<4xf32> into f32
  %d = arith.addf %c, %u fastmath<reassoc,nsz,contract> : f32
  loops.store %d, %Y[1] : !tir.buffer<[2], f32>, f32
}
