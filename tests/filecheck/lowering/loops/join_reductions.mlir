// RUN: xrelax-opt %s -p 'promote-buffers{target="llvm -mcpu=haswell"}' --split-input-file | filecheck %s

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
  %r0 = vector.reduction <add>, %v0 fastmath<reassoc,nsz,contract> : vector<8xf32> into f32
  %a0 = arith.addf %s, %r0 fastmath<reassoc,nsz,contract> : f32
  %r1 = vector.reduction <add>, %v1 fastmath<reassoc,nsz,contract> : vector<8xf32> into f32
  %a1 = arith.addf %s, %r1 fastmath<reassoc,nsz,contract> : f32
  %r2 = vector.reduction <add>, %v2 fastmath<reassoc,nsz,contract> : vector<8xf32> into f32
  %a2 = arith.addf %s, %r2 fastmath<reassoc,nsz,contract> : f32
  %r3 = vector.reduction <add>, %v3 fastmath<reassoc,nsz,contract> : vector<8xf32> into f32
  %a3 = arith.addf %s, %r3 fastmath<reassoc,nsz,contract> : f32
  %r4 = vector.reduction <add>, %v4 fastmath<reassoc,nsz,contract> : vector<8xf32> into f32
  %a4 = arith.addf %s, %r4 fastmath<reassoc,nsz,contract> : f32
  %r5 = vector.reduction <add>, %v5 fastmath<reassoc,nsz,contract> : vector<8xf32> into f32
  %a5 = arith.addf %s, %r5 fastmath<reassoc,nsz,contract> : f32
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
  %r0 = vector.reduction <add>, %v0 fastmath<reassoc,nsz,contract> : vector<8xf32> into f32
  %a0 = arith.addf %s, %r0 fastmath<reassoc,nsz,contract> : f32
  %r1 = vector.reduction <add>, %v1 fastmath<reassoc,nsz,contract> : vector<8xf32> into f32
  %a1 = arith.addf %t, %r1 fastmath<reassoc,nsz,contract> : f32
  loops.store %a0, %Y[0] : !tir.buffer<[8], f32>, f32
  loops.store %a1, %Y[1] : !tir.buffer<[8], f32>, f32
  %r2 = vector.reduction <add>, %v0 fastmath<reassoc,nsz,contract> : vector<8xf32> into f32
  %a2 = arith.addf %s, %r2 fastmath<reassoc,nsz,contract> : f32
  %r3 = vector.reduction <add>, %v1 fastmath<reassoc,nsz,contract> : vector<8xf32> into f32
  %a3 = arith.addf %s, %r3 fastmath<reassoc,nsz,contract> : f32
  loops.store %a2, %Y[2] : !tir.buffer<[8], f32>, f32
  %y = loops.load %Y[2] : !tir.buffer<[8], f32> -> f32
  loops.store %a3, %Y[3] : !tir.buffer<[8], f32>, f32
  loops.store %y, %Z[0] : !tir.buffer<[2], f32>, f32
}
