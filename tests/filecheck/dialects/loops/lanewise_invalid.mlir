// RUN: xrelax-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: 'loops.lanewise': expected one of arith.cmpf, arith.cmpi, {{.*}}, got 'arith.addf'
loops.func @unknown(%X: !tir.buffer<[4], f32>) {
  %x = loops.load %X[0] : !tir.buffer<[4], f32> -> vector<4xf32>
  %y = loops.lanewise "arith.addf"(%x, %x) : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
}

// -----

// CHECK: 'loops.lanewise': expected vectors of one dim and of one length, got vector<4xf32>, vector<8xi32>
loops.func @lengths(%X: !tir.buffer<[4], f32>) {
  %x = loops.load %X[0] : !tir.buffer<[4], f32> -> vector<4xf32>
  %y = loops.lanewise "arith.fptosi"(%x) : (vector<4xf32>) -> vector<8xi32>
}

// -----

// CHECK: 'loops.lanewise': expected lanes for which 'arith.select' is valid: attribute f32 expected from variable '_T', but got i32
loops.func @lanes(%X: !tir.buffer<[4], f32>, %C: !tir.buffer<[4], i1>) {
  %x = loops.load %X[0] : !tir.buffer<[4], f32> -> vector<4xf32>
  %c = loops.load %C[0] : !tir.buffer<[4], i1> -> vector<4xi1>
  %y = loops.lanewise "arith.select"(%c, %x, %x) : (vector<4xi1>, vector<4xf32>, vector<4xf32>) -> vector<4xi32>
}
