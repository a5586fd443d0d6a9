// RUN: xrelax-opt %s -p hoist-invariants | filecheck %s

// What does not depend on a loop is computed before it, and before the loops around it too.
// CHECK-LABEL: loops.func @mean
// CHECK-NEXT:    %c = arith.constant
// CHECK-NEXT:    loops.for %i in (0, n) {
// CHECK-NEXT:      %s = loops.load %S[%i]
// CHECK-NEXT:      %m = arith.divf %s, %c
// CHECK-NEXT:      %v = vector.broadcast %m
// CHECK-NEXT:      loops.for %j in (0, 4) {
// CHECK-NEXT:        %x = loops.load %X[%i, %j * 16]
// CHECK-NEXT:        %d = arith.subf %x, %v
// CHECK-NEXT:        loops.store
loops.func @mean(%S: !tir.buffer<[n], f32>, %X: !tir.buffer<[n, 64], f32>) symbols [n] noalias {
  loops.for %i in (0, n) {
    %s = loops.load %S[%i] : !tir.buffer<[n], f32> -> f32
    loops.for %j in (0, 4) {
      %c = arith.constant 64.0 : f32
      %m = arith.divf %s, %c : f32
      %v = vector.broadcast %m : f32 to vector<16xf32>
      %x = loops.load %X[%i, %j * 16] : !tir.buffer<[n, 64], f32> -> vector<16xf32>
      %d = arith.subf %x, %v : vector<16xf32>
      loops.store %d, %X[%i, %j * 16] : !tir.buffer<[n, 64], f32>, vector<16xf32>
    }
  }
}

// A number of elements is an index that is data; what is part of an address stays.
// CHECK-LABEL: loops.func @count
// CHECK-NEXT:    %e = tir.apply n
// CHECK-NEXT:    %c = arith.index_cast %e
// CHECK-NEXT:    %f = arith.sitofp %c
// CHECK-NEXT:    loops.for %i in (0, n) {
// CHECK-NEXT:      %h = tir.apply n floordiv 2
// CHECK-NEXT:      loops.store %f, %X[%h]
loops.func @count(%X: !tir.buffer<[n], f32>) symbols [n] noalias {
  loops.for %i in (0, n) {
    %e = tir.apply n
    %c = arith.index_cast %e : index to i64
    %f = arith.sitofp %c : i64 to f32
    %h = tir.apply n floordiv 2
    loops.store %f, %X[%h] : !tir.buffer<[n], f32>, f32
  }
}

// Loads of tensors stay: the loop may store what they load, or may not run.
// CHECK-LABEL: loops.func @loads
// CHECK-NEXT:    loops.for %i in (0, n) {
// CHECK-NEXT:      %s = loops.load %S[0]
loops.func @loads(%S: !tir.buffer<[1], f32>, %X: !tir.buffer<[n], f32>) symbols [n] noalias {
  loops.for %i in (0, n) {
    %s = loops.load %S[0] : !tir.buffer<[1], f32> -> f32
    %t = arith.addf %s, %s : f32
    loops.store %t, %X[%i] : !tir.buffer<[n], f32>, f32
  }
}

// A scalar in scratch memory is loaded once, if the loop runs and stores none there.
// CHECK-LABEL: loops.func @scratch
// CHECK:         %s = loops.load %S[%i]
// CHECK-NEXT:    %r = math.rsqrt %s
// CHECK-NEXT:    loops.for %j in (0, 64) {
// CHECK-NEXT:      loops.store %r, %Y[%i, %j]
// CHECK:         loops.for %k in (0, n) {
// CHECK-NEXT:      loops.load %S[%i]
// CHECK:         loops.for %k_1 in (0, 8) {
// CHECK-NEXT:      loops.load %S[0]
loops.func @scratch(%Y: !tir.buffer<[8, 64], f32>, %Z: !tir.buffer<[n], f32>) symbols [n] noalias {
  %S = loops.alloca : !tir.buffer<[8], f32>
  loops.for %i in (0, 8) {
    loops.for %j in (0, 64) {
      %s = loops.load %S[%i] : !tir.buffer<[8], f32> -> f32
      %r = math.rsqrt %s : f32
      loops.store %r, %Y[%i, %j] : !tir.buffer<[8, 64], f32>, f32
    }
    loops.for %k in (0, n) {
      %t = loops.load %S[%i] : !tir.buffer<[8], f32> -> f32
      loops.store %t, %Z[%k] : !tir.buffer<[n], f32>, f32
    }
    loops.for %k in (0, 8) {
      %u = loops.load %S[0] : !tir.buffer<[8], f32> -> f32
      loops.store %u, %S[%k] : !tir.buffer<[8], f32>, f32
    }
  }
}
