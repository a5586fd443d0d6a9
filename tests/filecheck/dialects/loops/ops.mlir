// RUN: xrelax-opt %s --split-input-file | filecheck %s
// RUN: xrelax-opt %s --split-input-file --print-op-generic | xrelax-opt --split-input-file | filecheck %s

// CHECK: loops.func @kernel(%X: !tir.buffer<[1, n], f32>, %k: index, %s: f32) symbols [n, m] noalias {
loops.func @kernel(%X: !tir.buffer<[1, n], f32>, %k: index, %s: f32) symbols [n, m] noalias {
}
// CHECK: loops.func @far(%X: !tir.buffer<[4], f32>) noalias reuse_distance 1048576 {
loops.func @far(%X: !tir.buffer<[4], f32>) noalias reuse_distance 1048576 {
}
// CHECK: loops.func @plain(%X: !tir.buffer<[4], f32>) {
loops.func @plain(%X: !tir.buffer<[4], f32>) {
}

// -----

// Loops of all kinds, carried values, and conditions on indices.
// CHECK-LABEL: @control
loops.func @control(%X: !tir.buffer<[n], f32>, %z: f32) symbols [n] {
  %v = arith.constant dense<0.0> : vector<4xf32>
  // CHECK: loops.for %i in (0, n floordiv 4) parallel {
  loops.for %i in (0, n floordiv 4) parallel {
    // CHECK: loops.for %j in (%i * 4, 4) vectorized {
    loops.for %j in (%i * 4, 4) vectorized {
      // CHECK: loops.if (%j < n, %j * %i < 7) {
      loops.if (%j < n, %i * %j < 7) {
      }
    }
    // CHECK: loops.for %u in (0, 2) unrolled block 8 {
    loops.for %u in (0, 2) unrolled block 8 {
    }
  }
  // CHECK:      %sum, %last = loops.for %k in (0, n) carry (%acc = %z : f32, %vec = %v : vector<4xf32>) {
  // CHECK-NEXT:   loops.yield %acc, %vec : f32, vector<4xf32>
  %sum, %last = loops.for %k in (0, n) carry (%acc = %z : f32, %vec = %v : vector<4xf32>) {
    loops.yield %acc, %vec : f32, vector<4xf32>
  }
}

// -----

// Accesses of scalars and vectors, masks, and scratch memory.
// CHECK-LABEL: @access
loops.func @access(%X: !tir.buffer<[1, n], f32>, %B: !tir.buffer<[n], ui8>) symbols [n] {
  // CHECK: %S = loops.alloca : !tir.buffer<[16], f32>
  %S = loops.alloca : !tir.buffer<[16], f32>
  loops.for %j in (0, n floordiv 16) {
    // CHECK: %m = loops.mask -%j * 16 + n : vector<16xi1>
    %m = loops.mask n - %j * 16 : vector<16xi1>
    // CHECK: %a = loops.load %X[0, %j] : !tir.buffer<[1, n], f32> -> f32
    %a = loops.load %X[0, %j] : !tir.buffer<[1, n], f32> -> f32
    // CHECK: %b = loops.load %B[%j] : !tir.buffer<[n], ui8> -> i8
    %b = loops.load %B[%j] : !tir.buffer<[n], ui8> -> i8
    // CHECK: %v = loops.load %X[0, %j * 16] : !tir.buffer<[1, n], f32> -> vector<16xf32>
    %v = loops.load %X[0, %j * 16] : !tir.buffer<[1, n], f32> -> vector<16xf32>
    // CHECK: %w = loops.load %X[0, %j * 16] mask %m : !tir.buffer<[1, n], f32> -> vector<16xf32>
    %w = loops.load %X[0, %j * 16] mask %m : !tir.buffer<[1, n], f32> -> vector<16xf32>
    // CHECK: loops.store %a, %S[0] : !tir.buffer<[16], f32>, f32
    loops.store %a, %S[0] : !tir.buffer<[16], f32>, f32
    // CHECK: loops.store %w, %X[0, %j * 16] mask %m : !tir.buffer<[1, n], f32>, vector<16xf32>
    loops.store %w, %X[0, %j * 16] mask %m : !tir.buffer<[1, n], f32>, vector<16xf32>
    // CHECK: loops.store %v, %X[0, %j * 16] nontemporal : !tir.buffer<[1, n], f32>, vector<16xf32>
    loops.store %v, %X[0, %j * 16] nontemporal : !tir.buffer<[1, n], f32>, vector<16xf32>
    // CHECK: loops.store %w, %X[0, %j * 16] mask %m nontemporal : {{.*}}, vector<16xf32>
    loops.store %w, %X[0, %j * 16] mask %m nontemporal : !tir.buffer<[1, n], f32>, vector<16xf32>
  }
}

// -----

// The memory of a buffer from an element on.
// CHECK-LABEL: @view
loops.func @view(%X: !tir.buffer<[n, 16], f32>, %Y: !tir.buffer<[n], f32>) symbols [n] {
  loops.for %i in (0, n) {
    // CHECK: %v = loops.view %X at %i : !tir.buffer<[n, 16], f32> to !tir.buffer<[4], f32>
    %v = loops.view %X at %i : !tir.buffer<[n, 16], f32> to !tir.buffer<[4], f32>
  }
}
