// RUN: xrelax-opt %s | filecheck %s
// RUN: xrelax-opt %s --print-op-generic | xrelax-opt | filecheck %s

// A value and all lanes of vectors.
// CHECK-LABEL: @reductions
loops.func @reductions(%X: !tir.buffer<[16], f32>, %I: !tir.buffer<[8], i32>) {
  %v = loops.load %X[0] : !tir.buffer<[16], f32> -> vector<16xf32>
  %w = loops.load %X[0] : !tir.buffer<[16], f32> -> vector<4xf32>
  %s = loops.load %X[0] : !tir.buffer<[16], f32> -> f32
  // CHECK: %t = loops.multi_reduction <add>, %s, %v, %w fastmath<reassoc,nsz> : f32, vector<16xf32>, vector<4xf32>
  %t = loops.multi_reduction <add>, %s, %v, %w fastmath<reassoc,nsz> : f32, vector<16xf32>, vector<4xf32>
  %i = loops.load %I[0] : !tir.buffer<[8], i32> -> vector<8xi32>
  %j = loops.load %I[0] : !tir.buffer<[8], i32> -> i32
  // CHECK: %k = loops.multi_reduction <maxui>, %j, %i : i32, vector<8xi32>
  %k = loops.multi_reduction <maxui>, %j, %i : i32, vector<8xi32>
}
