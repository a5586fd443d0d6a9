// RUN: xrelax-opt %s | filecheck %s
// RUN: xrelax-opt %s --print-op-generic | xrelax-opt | filecheck %s

// Operations of `arith` in each lane.
// CHECK-LABEL: @lanewise
loops.func @lanewise(%X: !tir.buffer<[16], f32>, %Y: !tir.buffer<[16], f32>) {
  %x = loops.load %X[0] : !tir.buffer<[16], f32> -> vector<16xf32>
  // CHECK: %c = loops.lanewise "arith.cmpf"(%x, %x) {predicate = 4 : i64} : (vector<16xf32>, vector<16xf32>) -> vector<16xi1>
  %c = loops.lanewise "arith.cmpf"(%x, %x) {predicate = 4 : i64} : (vector<16xf32>, vector<16xf32>) -> vector<16xi1>
  // CHECK: %i = loops.lanewise "arith.extui"(%c) : (vector<16xi1>) -> vector<16xi32>
  %i = loops.lanewise "arith.extui"(%c) : (vector<16xi1>) -> vector<16xi32>
  // CHECK: %f = loops.lanewise "arith.sitofp"(%i) : (vector<16xi32>) -> vector<16xf32>
  %f = loops.lanewise "arith.sitofp"(%i) : (vector<16xi32>) -> vector<16xf32>
  // CHECK: %s = loops.lanewise "arith.select"(%c, %x, %f) : (vector<16xi1>, vector<16xf32>, vector<16xf32>) -> vector<16xf32>
  %s = loops.lanewise "arith.select"(%c, %x, %f) : (vector<16xi1>, vector<16xf32>, vector<16xf32>) -> vector<16xf32>
  loops.store %s, %Y[0] : !tir.buffer<[16], f32>, vector<16xf32>
}
