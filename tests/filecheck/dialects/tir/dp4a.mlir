// RUN: xrelax-opt %s | filecheck %s
// RUN: xrelax-opt %s --print-op-generic | xrelax-opt | filecheck %s

// Each operand's bytes are signed, or unsigned where an attribute says so.
// CHECK-LABEL: tir.prim_func @signs
tir.prim_func @signs(%A: !tir.buffer<[n], ui32>, %B: !tir.buffer<[n], i32>) {
  tir.for %i in (0, n) {
    %a = tir.load %A[%i] : !tir.buffer<[n], ui32>
    %b = tir.load %B[%i] : !tir.buffer<[n], i32>
    // CHECK: %ss = tir.dp4a %b, %b : i32
    %ss = tir.dp4a %b, %b : i32
    // CHECK: %us = tir.dp4a %a, %b {lhs_unsigned} : i32
    %us = tir.dp4a %a, %b {lhs_unsigned} : i32
    // CHECK: %su = tir.dp4a %b, %a {rhs_unsigned} : i32
    %su = tir.dp4a %b, %a {rhs_unsigned} : i32
    // CHECK: %uu = tir.dp4a %a, %a {lhs_unsigned, rhs_unsigned} : i32
    %uu = tir.dp4a %a, %a {lhs_unsigned, rhs_unsigned} : i32
  }
}

// It works on each lane of vectors.
// CHECK-LABEL: loops.func @lanes
loops.func @lanes(%A: !tir.buffer<[16], ui32>, %B: !tir.buffer<[16], i32>) {
  %a = loops.load %A[0] : !tir.buffer<[16], ui32> -> vector<16xi32>
  %b = loops.load %B[0] : !tir.buffer<[16], i32> -> vector<16xi32>
  // CHECK: %d = tir.dp4a %a, %b {lhs_unsigned} : vector<16xi32>
  %d = tir.dp4a %a, %b {lhs_unsigned} : vector<16xi32>
}
