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

// Kernels load scalars from tensors of rank 0; integers over symbols for index parameters are listed.

// CHECK-LABEL: tir.prim_func @scale
// CHECK-SAME:    (%X: !tir.buffer<[n], f32>, %s: !tir.buffer<[], f32>, %k: index, %p: !tir.buffer<[], i64>, %Y: !tir.buffer<[n], f32>)
// CHECK-NEXT:    %s_1 = tir.load %s[] : !tir.buffer<[], f32>
// CHECK-NEXT:    %0 = tir.load %p[] : !tir.buffer<[], i64>
// CHECK-NEXT:    %p_1 = arith.index_cast %0 : i64 to index
// CHECK:           tir.apply %p_1 + k
tir.prim_func @scale(%X: !tir.buffer<[n], f32>, %s: f32, %k: index, %p: index, %Y: !tir.buffer<[n], f32>) {
  tir.for %i in (0, n) {
    %0 = tir.load %X[%i] : !tir.buffer<[n], f32>
    %1 = arith.mulf %0, %s : f32
    %2 = tir.apply p + k
    %3 = arith.index_cast %2 : index to i64
    %4 = arith.sitofp %3 : i64 to f32
    %5 = arith.addf %1, %4 : f32
    tir.store %5, %Y[%i] : !tir.buffer<[n], f32>
  }
}

// CHECK-LABEL: @main
// CHECK-NEXT:  %0 = relax.prim_to_tensor %s
// CHECK-NEXT:  %1 = relax.prim_to_tensor %p
// CHECK-NEXT:  %y = relax.call_tir @scale(%x, %0, %1) vars [#sym.expr<m>]
relax.func @main(%x: !relax.tensor<[4], f32>, %s: !relax.prim<f32>, %m: !relax.prim<i64, m>, %p: !relax.prim<i64>) -> !relax.tensor<[4], f32> {
  %y = relax.call_tir @scale(%x, %s, %m, %p) : (!relax.tensor<[4], f32>, !relax.prim<f32>, !relax.prim<i64, m>, !relax.prim<i64>) -> !relax.tensor<[4], f32>
  relax.return %y : !relax.tensor<[4], f32>
}
