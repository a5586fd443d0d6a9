// RUN: xrelax-opt %s -p vectorize-loops --split-input-file | filecheck %s

// Neighbours in memory become one access; what is the same in all lanes stays scalar until it meets a vector.

// CHECK-LABEL: loops.func @scale(
// CHECK-NEXT:    loops.for %i in (0, n) {
// CHECK-NEXT:      %x = loops.load %X[%i, 0] : {{.*}} -> vector<16xf32>
// CHECK-NEXT:      %a = loops.load %A[%i]
// CHECK-NEXT:      %b = math.exp %a : f32
// CHECK-NEXT:      %0 = vector.broadcast %b : f32 to vector<16xf32>
// CHECK-NEXT:      %y = arith.mulf %x, %0 : vector<16xf32>
// CHECK-NEXT:      loops.store %y, %Y[%i, 0] : {{.*}}, vector<16xf32>
// CHECK-NEXT:    }
loops.func @scale(%X: !tir.buffer<[n, 16], f32>, %A: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n, 16], f32>) symbols [n] noalias {
  loops.for %i in (0, n) {
    loops.for %j in (0, 16) vectorized {
      %x = loops.load %X[%i, %j] : !tir.buffer<[n, 16], f32> -> f32
      %a = loops.load %A[%i] : !tir.buffer<[n], f32> -> f32
      %b = math.exp %a : f32
      %y = arith.mulf %x, %b : f32
      loops.store %y, %Y[%i, %j] : !tir.buffer<[n, 16], f32>, f32
    }
  }
}

// -----

// Ten iterations are one vector of which ten lanes are on; a hundred are a full vector and a partial one.

// CHECK-LABEL: loops.func @tails(
// CHECK-NEXT:    %one = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:    %0 = loops.mask 10 : vector<16xi1>
// CHECK-NEXT:    %1 = vector.broadcast %one : f32 to vector<16xf32>
// CHECK-NEXT:    loops.store %1, %Y[3] mask %0 : {{.*}}, vector<16xf32>
// CHECK-NEXT:    %2 = vector.broadcast %one : f32 to vector<64xf32>
// CHECK-NEXT:    loops.store %2, %Y[0] : {{.*}}, vector<64xf32>
// CHECK-NEXT:    %3 = loops.mask 36 : vector<64xi1>
// CHECK-NEXT:    %4 = vector.broadcast %one : f32 to vector<64xf32>
// CHECK-NEXT:    loops.store %4, %Y[64] mask %3 : {{.*}}, vector<64xf32>
loops.func @tails(%Y: !tir.buffer<[100], f32>) noalias {
  %one = arith.constant 1.0 : f32
  loops.for %j in (0, 10) vectorized {
    loops.store %one, %Y[%j + 3] : !tir.buffer<[100], f32>, f32
  }
  loops.for %j in (0, 100) vectorized {
    loops.store %one, %Y[%j] : !tir.buffer<[100], f32>, f32
  }
}

// -----

// Many vectors are a loop of them.

// CHECK-LABEL: loops.func @chunks(
// CHECK-NEXT:    loops.for %0 in (0, 4) {
// CHECK-NEXT:      %x = loops.load %X[%0 * 64] : {{.*}} -> vector<64xf32>
// CHECK-NEXT:      loops.store %x, %Y[%0 * 64] : {{.*}}, vector<64xf32>
// CHECK-NEXT:    }
loops.func @chunks(%X: !tir.buffer<[256], f32>, %Y: !tir.buffer<[256], f32>) noalias {
  loops.for %j in (0, 256) vectorized {
    %x = loops.load %X[%j] : !tir.buffer<[256], f32> -> f32
    loops.store %x, %Y[%j] : !tir.buffer<[256], f32>, f32
  }
}

// -----

// How many iterations there are is only known at run time: vectors of 16, then what is left under a mask.

// CHECK-LABEL: loops.func @symbolic(
// CHECK-NEXT:    loops.for %0 in (0, n floordiv 16) {
// CHECK-NEXT:      %x = loops.load %X[%0 * 16] : {{.*}} -> vector<16xf32>
// CHECK-NEXT:      loops.store %x, %Y[%0 * 16] : {{.*}}, vector<16xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    loops.if (0 < n mod 16) {
// CHECK-NEXT:      %1 = loops.mask n mod 16 : vector<16xi1>
// CHECK-NEXT:      %x_1 = loops.load %X[(n floordiv 16) * 16] mask %1 : {{.*}} -> vector<16xf32>
// CHECK-NEXT:      loops.store %x_1, %Y[(n floordiv 16) * 16] mask %1 : {{.*}}, vector<16xf32>
// CHECK-NEXT:    }
loops.func @symbolic(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n], f32>) symbols [n] noalias {
  loops.for %j in (0, n) vectorized {
    %x = loops.load %X[%j] : !tir.buffer<[n], f32> -> f32
    loops.store %x, %Y[%j] : !tir.buffer<[n], f32>, f32
  }
}

// -----

// A condition on the loop variable becomes a mask, and a test whether any lane is on; others stay conditions.

// CHECK-LABEL: loops.func @masked(
// CHECK-NEXT:    loops.for %i in (0, (n + 7) floordiv 8) {
// CHECK-NEXT:      loops.if (%i < 5, 0 < -%i * 8 + n) {
// CHECK-NEXT:        %0 = loops.mask -%i * 8 + n : vector<8xi1>
// CHECK-NEXT:        %x = loops.load %X[%i * 8] mask %0 : {{.*}} -> vector<8xf32>
// CHECK-NEXT:        loops.store %x, %Y[%i * 8] mask %0 : {{.*}}, vector<8xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:    }
loops.func @masked(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n], f32>) symbols [n] noalias {
  loops.for %i in (0, (n + 7) floordiv 8) {
    loops.for %j in (0, 8) vectorized {
      loops.if (%i * 8 + %j < n, %i < 5) {
        %x = loops.load %X[%i * 8 + %j] : !tir.buffer<[n], f32> -> f32
        loops.store %x, %Y[%i * 8 + %j] : !tir.buffer<[n], f32>, f32
      }
    }
  }
}

// -----

// Loops inside carry vectors.

// CHECK-LABEL: loops.func @inner_reduction(
// CHECK-NEXT:    %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:    %0 = vector.broadcast %zero : f32 to vector<8xf32>
// CHECK-NEXT:    %s = loops.for %k in (0, m) carry (%t = %0 : vector<8xf32>) {
// CHECK-NEXT:      %x = loops.load %X[%k]
// CHECK-NEXT:      %w = loops.load %W[%k, 0] : {{.*}} -> vector<8xf32>
// CHECK-NEXT:      %1 = vector.broadcast %x : f32 to vector<8xf32>
// CHECK-NEXT:      %p = arith.mulf %1, %w : vector<8xf32>
// CHECK-NEXT:      %u = arith.addf %t, %p : vector<8xf32>
// CHECK-NEXT:      loops.yield %u : vector<8xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    loops.store %s, %Y[0] : {{.*}}, vector<8xf32>
loops.func @inner_reduction(%X: !tir.buffer<[m], f32>, %W: !tir.buffer<[m, 8], f32>, %Y: !tir.buffer<[8], f32>) symbols [m] noalias {
  %zero = arith.constant 0.0 : f32
  loops.for %j in (0, 8) vectorized {
    %s = loops.for %k in (0, m) carry (%t = %zero : f32) {
      %x = loops.load %X[%k] : !tir.buffer<[m], f32> -> f32
      %w = loops.load %W[%k, %j] : !tir.buffer<[m, 8], f32> -> f32
      %p = arith.mulf %x, %w : f32
      %u = arith.addf %t, %p : f32
      loops.yield %u : f32
    }
    loops.store %s, %Y[%j] : !tir.buffer<[8], f32>, f32
  }
}

// -----

// Lanes that are not neighbours are loaded one by one.

// CHECK-LABEL: loops.func @strided(
// CHECK-NEXT:    %0 = loops.load %X[0, 3]
// CHECK-NEXT:    %1 = vector.broadcast %0 : f32 to vector<2xf32>
// CHECK-NEXT:    %2 = loops.load %X[1, 3]
// CHECK-NEXT:    %x = vector.insert %2, %1 [1] : f32 into vector<2xf32>
// CHECK-NEXT:    loops.store %x, %Y[0] : {{.*}}, vector<2xf32>
loops.func @strided(%X: !tir.buffer<[2, n], f32>, %Y: !tir.buffer<[2], f32>) symbols [n] noalias {
  loops.for %j in (0, 2) vectorized {
    %x = loops.load %X[%j, 3] : !tir.buffer<[2, n], f32> -> f32
    loops.store %x, %Y[%j] : !tir.buffer<[2], f32>, f32
  }
}

// -----

// Serial instead: all lanes write one element; a lane reads what another one writes; lanes are stored apart; the
// condition is not on the first lanes; a comparison has no vector form.

// CHECK-LABEL: loops.func @serial(
// CHECK-NEXT:    loops.for %j0 in (0, 16) {
// CHECK-NEXT:      %x = loops.load %X[%j0]
// CHECK-NEXT:      %y = loops.load %Y[0]
// CHECK-NEXT:      %s = arith.addf %y, %x : f32
// CHECK-NEXT:      loops.store %s, %Y[0]
// CHECK-NEXT:    }
// CHECK-NEXT:    loops.for %j1 in (1, 15) {
// CHECK-NEXT:      %y_1 = loops.load %Y[%j1 - 1]
// CHECK-NEXT:      loops.store %y_1, %Y[%j1]
// CHECK-NEXT:    }
// CHECK-NEXT:    loops.for %j2 in (0, 16) {
// CHECK-NEXT:      %x_1 = loops.load %X[%j2]
// CHECK-NEXT:      loops.store %x_1, %Z[%j2, 0]
// CHECK-NEXT:    }
// CHECK-NEXT:    loops.for %j3 in (0, 16) {
// CHECK-NEXT:      loops.if (3 < %j3) {
// CHECK-NEXT:        %x_2 = loops.load %X[%j3]
// CHECK-NEXT:        loops.store %x_2, %Y[%j3]
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    loops.for %j4 in (0, 16) {
// CHECK-NEXT:      %x_3 = loops.load %X[%j4]
// CHECK-NEXT:      %c = arith.cmpf olt, %x_3, %x_3 : f32
// CHECK-NEXT:      loops.store %c, %B[%j4]
// CHECK-NEXT:    }
loops.func @serial(%X: !tir.buffer<[16], f32>, %Y: !tir.buffer<[16], f32>, %Z: !tir.buffer<[16, 2], f32>, %B: !tir.buffer<[16], i1>) noalias {
  loops.for %j0 in (0, 16) vectorized {
    %x = loops.load %X[%j0] : !tir.buffer<[16], f32> -> f32
    %y = loops.load %Y[0] : !tir.buffer<[16], f32> -> f32
    %s = arith.addf %y, %x : f32
    loops.store %s, %Y[0] : !tir.buffer<[16], f32>, f32
  }
  loops.for %j1 in (1, 15) vectorized {
    %y = loops.load %Y[%j1 - 1] : !tir.buffer<[16], f32> -> f32
    loops.store %y, %Y[%j1] : !tir.buffer<[16], f32>, f32
  }
  loops.for %j2 in (0, 16) vectorized {
    %x = loops.load %X[%j2] : !tir.buffer<[16], f32> -> f32
    loops.store %x, %Z[%j2, 0] : !tir.buffer<[16, 2], f32>, f32
  }
  loops.for %j3 in (0, 16) vectorized {
    loops.if (3 < %j3) {
      %x = loops.load %X[%j3] : !tir.buffer<[16], f32> -> f32
      loops.store %x, %Y[%j3] : !tir.buffer<[16], f32>, f32
    }
  }
  loops.for %j4 in (0, 16) vectorized {
    %x = loops.load %X[%j4] : !tir.buffer<[16], f32> -> f32
    %c = arith.cmpf olt, %x, %x : f32
    loops.store %c, %B[%j4] : !tir.buffer<[16], i1>, i1
  }
}

// -----

// Buffers that may overlap keep the order of the iterations.

// CHECK-LABEL: loops.func @aliased(
// CHECK-NEXT:    loops.for %j in (0, 16) {
// CHECK-NEXT:      %x = loops.load %X[%j]
// CHECK-NEXT:      loops.store %x, %Y[%j]
// CHECK-NEXT:    }
loops.func @aliased(%X: !tir.buffer<[16], f32>, %Y: !tir.buffer<[16], f32>) {
  loops.for %j in (0, 16) vectorized {
    %x = loops.load %X[%j] : !tir.buffer<[16], f32> -> f32
    loops.store %x, %Y[%j] : !tir.buffer<[16], f32>, f32
  }
}
