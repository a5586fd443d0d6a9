// RUN: xrelax-opt %s -p block-sums --split-input-file | filecheck %s

// A long sum is made in blocks that divide it, which start from nothing; so are the blocks' totals.

// CHECK-LABEL: loops.func @whole(
// CHECK:         loops.for %[[B:k[_0-9]*]] in (0, 100) carry (%[[S:s[_0-9]*]] = %zero : f32) {
// CHECK-NEXT:      %[[NONE:[0-9]+]] = arith.constant -0.000000e+00 : f32
// CHECK-NEXT:      %[[T:[0-9]+]] = loops.for %[[K:k[_0-9]*]] in (%[[B]] * 1000, 1000) carry (%[[P:s[_0-9]*]] = %[[NONE]] : f32) {
// CHECK:             arith.addf %[[P]], %{{.*}} fastmath<reassoc,nsz,contract> : f32
// CHECK:           %[[N:[0-9]+]] = arith.addf %[[S]], %[[T]] : f32
// CHECK-NEXT:      loops.yield %[[N]] : f32
loops.func @whole(%X: !tir.buffer<[100000], f32>, %Y: !tir.buffer<[1], f32>) noalias {
  %zero = arith.constant 0.0 : f32
  %t = loops.for %k in (0, 100000) carry (%s = %zero : f32) {
    %x = loops.load %X[%k] : !tir.buffer<[100000], f32> -> f32
    %d = arith.addf %s, %x fastmath<reassoc,nsz,contract> : f32
    loops.yield %d : f32
  }
  loops.store %t, %Y[0] : !tir.buffer<[1], f32>, f32
}

// -----

// A sum of any number of terms has blocks of blocks, the last of which may be shorter.

// CHECK-LABEL: loops.func @any(
// CHECK:         loops.for %{{.*}} in (0, (n + 2097151) floordiv 2097152) carry
// CHECK:           loops.for %{{.*}} in (%{{.*}} * 128, min({{.*}}, 128)) carry
// CHECK:             loops.for %{{.*}} in (%{{.*}} * 128, min({{.*}}, 128)) carry
// CHECK:               loops.for %{{.*}} in (%[[B:k[_0-9]*]] * 128, min(-%[[B]] * 128 + n, 128)) carry (%{{.*}} = %{{[0-9]+}} : vector<16xf32>) {
loops.func @any(%X: !tir.buffer<[n, 16], f32>, %Y: !tir.buffer<[16], f32>) symbols [n] noalias {
  %nothing = arith.constant 0.0 : f32
  %zero = vector.broadcast %nothing : f32 to vector<16xf32>
  %t = loops.for %k in (0, n) carry (%s = %zero : vector<16xf32>) {
    %x = loops.load %X[%k, 0] : !tir.buffer<[n, 16], f32> -> vector<16xf32>
    %d = arith.addf %s, %x fastmath<reassoc,nsz,contract> : vector<16xf32>
    loops.yield %d : vector<16xf32>
  }
  loops.store %t, %Y[0] : !tir.buffer<[16], f32>, vector<16xf32>
}

// -----

// Each row of many terms is a block: its loop starts from nothing, and what it carries besides stays.

// CHECK-LABEL: loops.func @rows(
// CHECK:         loops.for %[[I:i[_0-9]*]] in (0, 200) carry (%[[S:s[_0-9]*]] = %zero : f32, %[[M:m[_0-9]*]] = %zero : f32) {
// CHECK:           loops.for %{{.*}} in (%[[I]], 1) carry (%{{.*}} = %[[NONE:[0-9]+]] : f32, %{{.*}} = %[[M]] : f32) {
// CHECK:             loops.for %k in (0, 1000) carry
loops.func @rows(%X: !tir.buffer<[200, 1000], f32>, %Y: !tir.buffer<[2], f32>) noalias {
  %zero = arith.constant 0.0 : f32
  %t, %u = loops.for %i in (0, 200) carry (%s = %zero : f32, %m = %zero : f32) {
    %v, %w = loops.for %k in (0, 1000) carry (%r = %s : f32, %l = %m : f32) {
      %x = loops.load %X[%i, %k] : !tir.buffer<[200, 1000], f32> -> f32
      %d = arith.addf %r, %x fastmath<reassoc,nsz,contract> : f32
      %e = arith.maximumf %l, %x fastmath<reassoc,nsz,contract> : f32
      loops.yield %d, %e : f32, f32
    }
    loops.yield %v, %w : f32, f32
  }
  loops.store %t, %Y[0] : !tir.buffer<[2], f32>, f32
  loops.store %u, %Y[1] : !tir.buffer<[2], f32>, f32
}

// -----

// Sums in a fixed order stay as they are; so do short ones, maxima, and sums of integers.

// CHECK-LABEL: loops.func @kept(
// CHECK-COUNT-4: loops.for
// CHECK-NOT:     loops.for
loops.func @kept(%X: !tir.buffer<[n], f32>, %I: !tir.buffer<[n], i32>, %zero: f32, %one: i32) symbols [n] noalias {
  %t = loops.for %k in (0, n) carry (%s = %zero : f32) {
    %x = loops.load %X[%k] : !tir.buffer<[n], f32> -> f32
    %d = arith.addf %s, %x : f32
    loops.yield %d : f32
  }
  %u = loops.for %k in (0, min(n, 2048)) carry (%s = %zero : f32) {
    %x = loops.load %X[%k] : !tir.buffer<[n], f32> -> f32
    %d = arith.addf %s, %x fastmath<reassoc,nsz,contract> : f32
    loops.yield %d : f32
  }
  %v = loops.for %k in (0, n) carry (%s = %zero : f32) {
    %x = loops.load %X[%k] : !tir.buffer<[n], f32> -> f32
    %d = arith.maximumf %s, %x fastmath<reassoc,nsz,contract> : f32
    loops.yield %d : f32
  }
  %w = loops.for %k in (0, n) carry (%s = %one : i32) {
    %x = loops.load %I[%k] : !tir.buffer<[n], i32> -> i32
    %d = arith.addi %s, %x : i32
    loops.yield %d : i32
  }
}

// -----

// A loop may say how many terms a block has.

// CHECK-LABEL: loops.func @given(
// CHECK:         loops.for %[[B:k[_0-9]*]] in (0, 4) carry (%[[S:s[_0-9]*]] = %zero : f32) {
// CHECK:           %[[T:[0-9]+]] = loops.for %{{.*}} in (%[[B]] * 16, 16) carry
// CHECK:           arith.addf %[[S]], %[[T]] : f32
loops.func @given(%X: !tir.buffer<[64], f32>, %Y: !tir.buffer<[1], f32>) noalias {
  %zero = arith.constant 0.0 : f32
  %t = loops.for %k in (0, 64) block 16 carry (%s = %zero : f32) {
    %x = loops.load %X[%k] : !tir.buffer<[64], f32> -> f32
    %d = arith.addf %s, %x fastmath<reassoc,nsz,contract> : f32
    loops.yield %d : f32
  }
  loops.store %t, %Y[0] : !tir.buffer<[1], f32>, f32
}
