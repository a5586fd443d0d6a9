// RUN: xrelax-opt %s -p 'convert-to-llvm{target="llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=znver4"}' | filecheck %s
// RUN: xrelax-opt %s -p 'convert-to-llvm{target="llvm -mtriple=aarch64-unknown-linux-gnu -mcpu=generic"}' | filecheck %s --check-prefix=OTHER

// On x86 an accumulation tests what it takes in for NaN, which need not wait for the total; at the
// end all lanes are tested at once while halves are compared.

// CHECK-LABEL: llvm.func internal @xrelax.largest(
// CHECK:         %[[NEW:.*]] = llvm.load
// CHECK-NEXT:    %[[LARGER:.*]] = llvm_ext.fcmp ogt %[[NEW]], %[[TOTAL:.*]] : vector<4xf32>
// CHECK-NEXT:    %[[CHOSEN:.*]] = llvm_ext.select %[[LARGER]], %[[NEW]], %[[TOTAL]]
// CHECK-NEXT:    %[[NUMBER:.*]] = llvm_ext.fcmp ord %[[NEW]], %[[NEW]]
// CHECK-NEXT:    llvm_ext.select %[[NUMBER]], %[[CHOSEN]], %[[NEW]]
// CHECK:         %[[NANS:.*]] = llvm_ext.fcmp uno %[[LANES:.*]], %[[LANES]]
// CHECK-NEXT:    %[[ANY:.*]] = llvm_ext.intrinsic "llvm.vector.reduce.or"(%[[NANS]])
// CHECK-COUNT-2: llvm_ext.fcmp ogt
// CHECK:         llvm_ext.select %[[ANY]], %{{.*}}, %{{.*}} : i1, f32
// CHECK-NOT:     fmaximum

// OTHER-LABEL: llvm.func internal @xrelax.largest(
// OTHER:         llvm_ext.intrinsic "llvm.maximum"
// OTHER:         llvm_ext.intrinsic "llvm.vector.reduce.fmaximum"
loops.func @largest(%X: !tir.buffer<[64], f32>, %Y: !tir.buffer<[1], f32>) noalias {
  %low = arith.constant dense<0xff800000> : vector<4xf32>
  %all = loops.for %i in (0, 16) carry (%c = %low : vector<4xf32>) {
    %x = loops.load %X[%i * 4] : !tir.buffer<[64], f32> -> vector<4xf32>
    %d = arith.maximumf %c, %x fastmath<nsz> : vector<4xf32>
    loops.yield %d : vector<4xf32>
  }
  %y = "vector.reduction"(%all) <{kind = #vector.kind<maximumf>, fastmath = #arith.fastmath<nsz>}> : (vector<4xf32>) -> f32
  loops.store %y, %Y[0] : !tir.buffer<[1], f32>, f32
}

// Where the sign of 0 counts the operation stays.

// CHECK-LABEL: llvm.func internal @xrelax.signs_count(
// CHECK:         llvm_ext.intrinsic "llvm.maximum"
loops.func @signs_count(%X: !tir.buffer<[64], f32>) noalias {
  %x = loops.load %X[0] : !tir.buffer<[64], f32> -> vector<4xf32>
  %y = loops.load %X[4] : !tir.buffer<[64], f32> -> vector<4xf32>
  %z = arith.maximumf %x, %y : vector<4xf32>
  loops.store %z, %X[0] : !tir.buffer<[64], f32>, vector<4xf32>
}

// What is above 0, or NaN. The maximum with -0 may be 0.

// CHECK-LABEL: llvm.func internal @xrelax.above_zero(
// CHECK:         %[[ABOVE:.*]] = llvm_ext.fcmp ugt %[[X:.*]], %[[ZERO:.*]] : vector<4xf32>
// CHECK-NEXT:    llvm_ext.select %[[ABOVE]], %[[X]], %[[ZERO]]
// CHECK-NOT:     fcmp
// CHECK:         llvm_ext.intrinsic "llvm.maximum"

// OTHER-LABEL: llvm.func internal @xrelax.above_zero(
// OTHER-NOT:     llvm_ext.select
// OTHER-COUNT-2: llvm_ext.intrinsic "llvm.maximum"
loops.func @above_zero(%X: !tir.buffer<[64], f32>) noalias {
  %x = loops.load %X[0] : !tir.buffer<[64], f32> -> vector<4xf32>
  %zero = arith.constant dense<0.0> : vector<4xf32>
  %y = arith.maximumf %x, %zero : vector<4xf32>
  loops.store %y, %X[0] : !tir.buffer<[64], f32>, vector<4xf32>
  %1 = arith.constant -0.0 : f32
  %negative = vector.broadcast %1 : f32 to vector<4xf32>
  %z = arith.maximumf %x, %negative : vector<4xf32>
  loops.store %z, %X[4] : !tir.buffer<[64], f32>, vector<4xf32>
}
