// RUN: xrelax-opt %s -p lower-prims --split-input-file | filecheck %s

// A known scalar becomes a tensor; one of unknown value is a tensor in memory.

// CHECK-LABEL: @known
relax.func @known(%n: !relax.prim<i64, n>, %x: !relax.prim<f32>) -> tuple<!relax.tensor<[], i64>, !relax.tensor<[], f32>> {
  // CHECK-NEXT: %0 = relax.arange {start = #sym.expr<n>, end = #sym.expr<n + 1>, dtype = i64}
  // CHECK-NEXT: %1 = relax.reshape %0 {shape = []}
  // CHECK-NEXT: %2 = relax.prim_to_tensor %x
  // CHECK-NEXT: relax.tuple(%1, %2)
  %0 = relax.prim_to_tensor %n : !relax.prim<i64, n> -> !relax.tensor<[], i64>
  %1 = relax.prim_to_tensor %x : !relax.prim<f32> -> !relax.tensor<[], f32>
  %2 = relax.tuple(%0, %1) : (!relax.tensor<[], i64>, !relax.tensor<[], f32>) -> tuple<!relax.tensor<[], i64>, !relax.tensor<[], f32>>
  relax.return %2 : tuple<!relax.tensor<[], i64>, !relax.tensor<[], f32>>
}

// -----

// Branches yield tensors, and a conversion of a conversion is dropped.

// CHECK-LABEL: @branches
relax.func @branches(%c: !relax.tensor<[], i1>, %t: !relax.tensor<[], i64>) -> !relax.tensor<[], i64> {
  // CHECK-NEXT: %0 = relax.if %c : !relax.tensor<[], i1> -> !relax.tensor<[], i64> {
  // CHECK:        %2 = relax.constant <int64, [], [5]>
  // CHECK-NEXT:   relax.yield %2 : !relax.tensor<[], i64>
  // CHECK:        relax.yield %t : !relax.tensor<[], i64>
  // CHECK:      relax.return %0 : !relax.tensor<[], i64>
  %0 = relax.if %c : !relax.tensor<[], i1> -> !relax.prim<i64> {
    %1 = relax.prim_value : !relax.prim<i64, 5>
    relax.yield %1 : !relax.prim<i64, 5>
  } else {
    %2 = relax.tensor_to_prim %t : !relax.tensor<[], i64> -> !relax.prim<i64>
    relax.yield %2 : !relax.prim<i64>
  }
  %3 = relax.prim_to_tensor %0 : !relax.prim<i64> -> !relax.tensor<[], i64>
  relax.return %3 : !relax.tensor<[], i64>
}

// -----

// A kernel that takes a scalar gets a copy that loads it.

// CHECK-LABEL: tir.prim_func @scale(%X: !tir.buffer<[n], f32>, %alpha: f32, %Y: !tir.buffer<[n], f32>)
// CHECK-LABEL: tir.prim_func @scale_1(%X: !tir.buffer<[n], f32>, %alpha: !tir.buffer<[], f32>, %Y: !tir.buffer<[n], f32>)
// CHECK-NEXT:    tir.for %i in (0, n) {
// CHECK-NEXT:      tir.block "Y" (%v: spatial (0, n) = %i) reads (%X[%v], %alpha[]) writes (%Y[%v]) {
// CHECK-NEXT:        %x = tir.load %X[%v]
// CHECK-NEXT:        %0 = tir.load %alpha[]
// CHECK-NEXT:        %y = arith.mulf %x, %0 : f32
tir.prim_func @scale(%X: !tir.buffer<[n], f32>, %alpha: f32, %Y: !tir.buffer<[n], f32>) {
  tir.for %i in (0, n) {
    tir.block "Y" (%v: spatial (0, n) = %i) reads (%X[%v]) writes (%Y[%v]) {
      %x = tir.load %X[%v] : !tir.buffer<[n], f32>
      %y = arith.mulf %x, %alpha : f32
      tir.store %y, %Y[%v] : !tir.buffer<[n], f32>
    }
  }
}
// CHECK-LABEL: relax.func @main
relax.func @main(%x: !relax.tensor<[4], f32>, %a: !relax.prim<f32>) -> !relax.tensor<[4], f32> {
  // CHECK-NEXT: %0 = relax.prim_to_tensor %a
  // CHECK-NEXT: relax.call_tir @scale_1(%x, %0)
  %0 = relax.call_tir @scale(%x, %a) : (!relax.tensor<[4], f32>, !relax.prim<f32>) -> !relax.tensor<[4], f32>
  relax.return %0 : !relax.tensor<[4], f32>
}
