// RUN: xrelax-opt %s -p 'vectorize-loops{target="llvm -mcpu=skylake-avx512"}' --split-input-file | filecheck %s

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

// An unrolled loop around a vectorized one stays a loop; one inside is expanded before lanes run together.

// CHECK-LABEL: loops.func @unrolled(
// CHECK-NEXT:    loops.for %i in (0, 2) unrolled {
// CHECK-NEXT:      %x = loops.load %X[%i, 0] : {{.*}} -> vector<16xf32>
// CHECK-NEXT:      loops.store %x, %Y[%i * 2, 0] : {{.*}}, vector<16xf32>
// CHECK-NEXT:      %x_1 = loops.load %X[%i, 0] : {{.*}} -> vector<16xf32>
// CHECK-NEXT:      loops.store %x_1, %Y[%i * 2 + 1, 0] : {{.*}}, vector<16xf32>
// CHECK-NEXT:    }
loops.func @unrolled(%X: !tir.buffer<[2, 16], f32>, %Y: !tir.buffer<[4, 16], f32>) noalias {
  loops.for %i in (0, 2) unrolled {
    loops.for %j in (0, 16) vectorized {
      loops.for %k in (0, 2) unrolled {
        %x = loops.load %X[%i, %j] : !tir.buffer<[2, 16], f32> -> f32
        loops.store %x, %Y[%i * 2 + %k, %j] : !tir.buffer<[4, 16], f32>, f32
      }
    }
  }
}

// -----

// What an unrolled loop accumulates stays in a register, and its steps may be taken in any order.

// CHECK-LABEL: loops.func @unrolled_accumulation(
// CHECK:         %[[A:.*]] = loops.load %X[0, 0] : {{.*}} -> vector<16xf32>
// CHECK-NOT:     loops.{{load|store}}
// CHECK:         %[[B:.*]] = arith.maximumf %{{.*}}, %[[A]] fastmath<reassoc,nsz,contract> : vector<16xf32>
// CHECK-NEXT:    %[[C:.*]] = loops.load %X[1, 0] : {{.*}} -> vector<16xf32>
// CHECK-NEXT:    %[[D:.*]] = arith.maximumf %[[B]], %[[C]] fastmath<reassoc,nsz,contract> : vector<16xf32>
// CHECK-NEXT:    loops.store %[[D]], %Y[0]
loops.func @unrolled_accumulation(%X: !tir.buffer<[2, 16], f32>, %Y: !tir.buffer<[16], f32>) noalias {
  loops.for %j in (0, 16) vectorized {
    %c = arith.constant 0xff800000 : f32
    loops.store %c, %Y[%j] : !tir.buffer<[16], f32>, f32
    loops.for %k in (0, 2) unrolled {
      %y = loops.load %Y[%j] : !tir.buffer<[16], f32> -> f32
      %x = loops.load %X[%k, %j] : !tir.buffer<[2, 16], f32> -> f32
      %m = arith.maximumf %y, %x : f32
      loops.store %m, %Y[%j] : !tir.buffer<[16], f32>, f32
    }
  }
}

// -----

// Ten iterations are one vector of which ten lanes are on; forty are two registers and half of one.

// CHECK-LABEL: loops.func @tails(
// CHECK-NEXT:    %one = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:    %0 = loops.mask 10 : vector<16xi1>
// CHECK-NEXT:    %1 = vector.broadcast %one : f32 to vector<16xf32>
// CHECK-NEXT:    loops.store %1, %Y[3] mask %0 : {{.*}}, vector<16xf32>
// CHECK-NEXT:    %2 = vector.broadcast %one : f32 to vector<16xf32>
// CHECK-NEXT:    loops.store %2, %Y[0] : {{.*}}, vector<16xf32>
// CHECK-NEXT:    %3 = vector.broadcast %one : f32 to vector<16xf32>
// CHECK-NEXT:    loops.store %3, %Y[16] : {{.*}}, vector<16xf32>
// CHECK-NEXT:    %4 = vector.broadcast %one : f32 to vector<8xf32>
// CHECK-NEXT:    loops.store %4, %Y[32] : {{.*}}, vector<8xf32>
loops.func @tails(%Y: !tir.buffer<[100], f32>) noalias {
  %one = arith.constant 1.0 : f32
  loops.for %j in (0, 10) vectorized {
    loops.store %one, %Y[%j + 3] : !tir.buffer<[100], f32>, f32
  }
  loops.for %j in (0, 40) vectorized {
    loops.store %one, %Y[%j] : !tir.buffer<[100], f32>, f32
  }
}

// -----

// Many vectors are a loop of them.

// CHECK-LABEL: loops.func @chunks(
// CHECK-NEXT:    loops.for %0 in (0, 16) {
// CHECK-NEXT:      %x = loops.load %X[%0 * 16] : {{.*}} -> vector<16xf32>
// CHECK-NEXT:      loops.store %x, %Y[%0 * 16] : {{.*}}, vector<16xf32>
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
// CHECK-NEXT:      %p = arith.mulf %1, %w fastmath<contract> : vector<8xf32>
// CHECK-NEXT:      %u = arith.addf %t, %p fastmath<reassoc,contract> : vector<8xf32>
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
// CHECK-NEXT:    %1 = loops.load %X[1, 3]
// CHECK-NEXT:    %2 = vector.broadcast %0 : f32 to vector<2xf32>
// CHECK-NEXT:    %x = vector.insert %1, %2 [1] : f32 into vector<2xf32>
// CHECK-NEXT:    loops.store %x, %Y[0] : {{.*}}, vector<2xf32>
loops.func @strided(%X: !tir.buffer<[2, n], f32>, %Y: !tir.buffer<[2], f32>) symbols [n] noalias {
  loops.for %j in (0, 2) vectorized {
    %x = loops.load %X[%j, 3] : !tir.buffer<[2, n], f32> -> f32
    loops.store %x, %Y[%j] : !tir.buffer<[2], f32>, f32
  }
}

// -----

// Comparisons, choices and conversions work on lanes, though those of `arith` do not in xDSL.

// CHECK-LABEL: loops.func @lanewise(
// CHECK-NEXT:    %x = loops.load %X[0] : {{.*}} -> vector<16xf32>
// CHECK-NEXT:    %i = loops.load %I[0] : {{.*}} -> vector<16xi32>
// CHECK-NEXT:    %f = loops.lanewise "arith.sitofp"(%i) : (vector<16xi32>) -> vector<16xf32>
// CHECK-NEXT:    %c = loops.lanewise "arith.cmpf"(%x, %f) {predicate = 4 : i64} : (vector<16xf32>, vector<16xf32>) -> vector<16xi1>
// CHECK-NEXT:    %s = loops.lanewise "arith.select"(%c, %x, %f) : (vector<16xi1>, vector<16xf32>, vector<16xf32>) -> vector<16xf32>
// CHECK-NEXT:    loops.store %s, %Y[0]
// CHECK-NEXT:    loops.store %c, %B[0] : {{.*}}, vector<16xi1>
loops.func @lanewise(%X: !tir.buffer<[16], f32>, %I: !tir.buffer<[16], i32>, %Y: !tir.buffer<[16], f32>, %B: !tir.buffer<[16], i1>) noalias {
  loops.for %j in (0, 16) vectorized {
    %x = loops.load %X[%j] : !tir.buffer<[16], f32> -> f32
    %i = loops.load %I[%j] : !tir.buffer<[16], i32> -> i32
    %f = arith.sitofp %i : i32 to f32
    %c = arith.cmpf olt, %x, %f : f32
    %s = arith.select %c, %x, %f : f32
    loops.store %s, %Y[%j] : !tir.buffer<[16], f32>, f32
    loops.store %c, %B[%j] : !tir.buffer<[16], i1>, i1
  }
}

// -----

// Both sides of a choice by data run. Lanes on the other side are not loaded, and what all lanes share is loaded if
// one of them is on this side: there may be none.

// CHECK-LABEL: loops.func @choice(
// CHECK:         %c = loops.load %C[0] : {{.*}} -> vector<16xi1>
// CHECK-NEXT:    %x = loops.load %X[0] mask %c : {{.*}} -> vector<16xf32>
// CHECK-NEXT:    %0 = vector.reduction <or>, %c : vector<16xi1> into i1
// CHECK-NEXT:    %a = scf.if %0 -> (f32) {
// CHECK-NEXT:      %a_1 = loops.load %A[0] : {{.*}} -> f32
// CHECK-NEXT:      scf.yield %a_1 : f32
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %1 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:      scf.yield %1 : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    %2 = vector.broadcast %a : f32 to vector<16xf32>
// CHECK-NEXT:    %s = arith.addf %x, %2 : vector<16xf32>
// CHECK:         loops.lanewise "arith.select"(%c, %s, %{{.*}})
loops.func @choice(%C: !tir.buffer<[16], i1>, %X: !tir.buffer<[16], f32>, %A: !tir.buffer<[m], f32>, %Y: !tir.buffer<[16], f32>) symbols [m] noalias {
  %zero = arith.constant 0.0 : f32
  loops.for %j in (0, 16) vectorized {
    %c = loops.load %C[%j] : !tir.buffer<[16], i1> -> i1
    %y = scf.if %c -> (f32) {
      %x = loops.load %X[%j] : !tir.buffer<[16], f32> -> f32
      %a = loops.load %A[0] : !tir.buffer<[m], f32> -> f32
      %s = arith.addf %x, %a : f32
      scf.yield %s : f32
    } else {
      scf.yield %zero : f32
    }
    loops.store %y, %Y[%j] : !tir.buffer<[16], f32>, f32
  }
}

// -----

// What exists in any case is loaded without a test.

// CHECK-LABEL: loops.func @choice_of_what_exists(
// CHECK:         %x = loops.load %X[0] mask %c : {{.*}} -> vector<16xf32>
// CHECK-NEXT:    %a = loops.load %A[0] : {{.*}} -> f32
// CHECK-NOT:     scf.if
// CHECK:         loops.lanewise "arith.select"(%c, %s, %{{.*}})
loops.func @choice_of_what_exists(%C: !tir.buffer<[16], i1>, %X: !tir.buffer<[16], f32>, %A: !tir.buffer<[1], f32>, %Y: !tir.buffer<[16], f32>) noalias {
  %zero = arith.constant 0.0 : f32
  loops.for %j in (0, 16) vectorized {
    %c = loops.load %C[%j] : !tir.buffer<[16], i1> -> i1
    %y = scf.if %c -> (f32) {
      %x = loops.load %X[%j] : !tir.buffer<[16], f32> -> f32
      %a = loops.load %A[0] : !tir.buffer<[1], f32> -> f32
      %s = arith.addf %x, %a : f32
      scf.yield %s : f32
    } else {
      scf.yield %zero : f32
    }
    loops.store %y, %Y[%j] : !tir.buffer<[16], f32>, f32
  }
}

// -----

// A condition on the last lanes is the opposite of one on the first.

// CHECK-LABEL: loops.func @last_lanes(
// CHECK-NEXT:    %0 = loops.mask 4 : vector<16xi1>
// CHECK-NEXT:    %1 = arith.constant true
// CHECK-NEXT:    %2 = vector.broadcast %1 : i1 to vector<16xi1>
// CHECK-NEXT:    %3 = arith.xori %0, %2 : vector<16xi1>
// CHECK-NEXT:    %x = loops.load %X[0] mask %3
// CHECK-NEXT:    loops.store %x, %Y[0] mask %3
loops.func @last_lanes(%X: !tir.buffer<[16], f32>, %Y: !tir.buffer<[16], f32>) noalias {
  loops.for %j in (0, 16) vectorized {
    loops.if (3 < %j) {
      %x = loops.load %X[%j] : !tir.buffer<[16], f32> -> f32
      loops.store %x, %Y[%j] : !tir.buffer<[16], f32>, f32
    }
  }
}

// -----

// What all lanes accumulate stays in lanes, here of four registers, and is combined at the end; lanes that are off
// keep what they have.

// CHECK-LABEL: loops.func @sum(
// CHECK-NEXT:    %Y_1 = loops.load %Y[0]
// CHECK-NEXT:    %0 = arith.constant -0.000000e+00 : f32
// CHECK-NEXT:    %Y_2 = vector.broadcast %0 : f32 to vector<64xf32>
// CHECK-NEXT:    %x = loops.load %X[0] : {{.*}} -> vector<64xf32>
// CHECK-NEXT:    %s = arith.addf %Y_2, %x fastmath<reassoc,nsz,contract> : vector<64xf32>
// CHECK-NEXT:    %1 = arith.constant -0.000000e+00 : f32
// CHECK-NEXT:    %Y_3 = vector.broadcast %1 : f32 to vector<8xf32>
// CHECK-NEXT:    %2 = loops.mask 6 : vector<8xi1>
// CHECK-NEXT:    %x_1 = loops.load %X[64] mask %2 : {{.*}} -> vector<8xf32>
// CHECK-NEXT:    %s_1 = arith.addf %Y_3, %x_1 fastmath<reassoc,nsz,contract> : vector<8xf32>
// CHECK-NEXT:    %3 = loops.lanewise "arith.select"(%2, %s_1, %Y_3)
// CHECK-NEXT:    %4 = loops.multi_reduction <add>, %Y_1, %s, %3 fastmath<reassoc,nsz,contract> : f32, vector<64xf32>, vector<8xf32>
// CHECK-NEXT:    loops.store %4, %Y[0]
loops.func @sum(%X: !tir.buffer<[70], f32>, %Y: !tir.buffer<[1], f32>) noalias {
  loops.for %j in (0, 70) vectorized {
    %x = loops.load %X[%j] : !tir.buffer<[70], f32> -> f32
    %y = loops.load %Y[0] : !tir.buffer<[1], f32> -> f32
    %s = arith.addf %y, %x : f32
    loops.store %s, %Y[0] : !tir.buffer<[1], f32>, f32
  }
}

// -----

// Serial instead: all sums are stored, so that their order is seen; a lane reads what another one writes; lanes
// under a condition that are not neighbours.

// CHECK-LABEL: loops.func @serial(
// CHECK:         loops.for %j0 in (0, 16) carry
// CHECK:         loops.for %j1 in (1, 15) {
// CHECK-NEXT:      %y = loops.load %Y[%j1 - 1]
// CHECK-NEXT:      loops.store %y, %Y[%j1]
// CHECK-NEXT:    }
// CHECK-NEXT:    loops.for %j2 in (0, 16) {
// CHECK-NEXT:      loops.if (%j2 < 10) {
// CHECK-NEXT:        %x_1 = loops.load %X[%j2]
// CHECK-NEXT:        loops.store %x_1, %Z[%j2, 0]
loops.func @serial(%X: !tir.buffer<[16], f32>, %Y: !tir.buffer<[16], f32>, %Z: !tir.buffer<[16, 2], f32>, %S: !tir.buffer<[1], f32>) noalias {
  loops.for %j0 in (0, 16) vectorized {
    %x = loops.load %X[%j0] : !tir.buffer<[16], f32> -> f32
    %y = loops.load %S[0] : !tir.buffer<[1], f32> -> f32
    %s = arith.addf %y, %x : f32
    loops.store %s, %S[0] : !tir.buffer<[1], f32>, f32
    loops.store %s, %Y[%j0] : !tir.buffer<[16], f32>, f32
  }
  loops.for %j1 in (1, 15) vectorized {
    %y = loops.load %Y[%j1 - 1] : !tir.buffer<[16], f32> -> f32
    loops.store %y, %Y[%j1] : !tir.buffer<[16], f32>, f32
  }
  loops.for %j2 in (0, 16) vectorized {
    loops.if (%j2 < 10) {
      %x = loops.load %X[%j2] : !tir.buffer<[16], f32> -> f32
      loops.store %x, %Z[%j2, 0] : !tir.buffer<[16, 2], f32>, f32
    }
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

// -----

// Lanes a few elements apart are shuffled out of vectors that end with the last of them, stored lanes are taken out one
// by one.

// CHECK-LABEL: loops.func @apart(
// CHECK-NEXT:    %0 = loops.load %X[1] : {{.*}} -> vector<4xf32>
// CHECK-NEXT:    %1 = loops.load %X[4] : {{.*}} -> vector<4xf32>
// CHECK-NEXT:    %x = vector.shuffle %0, %1 [0, 2, 5, 7] : vector<4xf32>, vector<4xf32>
// CHECK-NEXT:    %2 = loops.load %X[0] : {{.*}} -> vector<4xf32>
// CHECK-NEXT:    %y = vector.shuffle %2, %2 [3, 2, 1, 0] : vector<4xf32>, vector<4xf32>
// CHECK-NEXT:    %z = arith.addf %x, %y : vector<4xf32>
// CHECK-NEXT:    %3 = vector.extract %z[0] : f32 from vector<4xf32>
// CHECK-NEXT:    loops.store %3, %Z[0, 1]
// CHECK-NEXT:    %4 = vector.extract %z[1] : f32 from vector<4xf32>
// CHECK-NEXT:    loops.store %4, %Z[1, 1]
loops.func @apart(%X: !tir.buffer<[8], f32>, %Z: !tir.buffer<[4, 2], f32>) noalias {
  loops.for %j in (0, 4) vectorized {
    %x = loops.load %X[%j * 2 + 1] : !tir.buffer<[8], f32> -> f32
    %y = loops.load %X[-%j + 3] : !tir.buffer<[8], f32> -> f32
    %z = arith.addf %x, %y : f32
    loops.store %z, %Z[%j, 1] : !tir.buffer<[4, 2], f32>, f32
  }
}

// -----

// Halves that are only copied fill vectors of halves; computing them takes vectors of f32.

// CHECK-LABEL: loops.func @copied(
// CHECK-COUNT-1: loops.store %{{.*}}, %Y[0] : {{.*}}, vector<32xbf16>
// CHECK-COUNT-2: loops.store %{{.*}}, %Z[{{.*}}] : {{.*}}, vector<16xbf16>
loops.func @copied(%X: !tir.buffer<[32], bf16>, %Y: !tir.buffer<[32], bf16>, %Z: !tir.buffer<[32], bf16>) noalias {
  loops.for %i in (0, 32) vectorized {
    %x = loops.load %X[%i] : !tir.buffer<[32], bf16> -> bf16
    loops.store %x, %Y[%i] : !tir.buffer<[32], bf16>, bf16
  }
  loops.for %i in (0, 32) vectorized {
    %x = loops.load %X[%i] : !tir.buffer<[32], bf16> -> bf16
    %z = arith.negf %x : bf16
    loops.store %z, %Z[%i] : !tir.buffer<[32], bf16>, bf16
  }
}

// -----

// Loads of the elements between each other's lanes shuffle the same vectors.

// CHECK-LABEL: loops.func @interleaved(
// CHECK-NEXT:    [[A:%.*]] = loops.load %X[0] : {{.*}} -> vector<4xf32>
// CHECK-NEXT:    [[B:%.*]] = loops.load %X[4] : {{.*}} -> vector<4xf32>
// CHECK-NEXT:    vector.shuffle [[A]], [[B]] [0, 2, 4, 6] : vector<4xf32>, vector<4xf32>
// CHECK-NEXT:    [[C:%.*]] = loops.load %X[0] : {{.*}} -> vector<4xf32>
// CHECK-NEXT:    [[D:%.*]] = loops.load %X[4] : {{.*}} -> vector<4xf32>
// CHECK-NEXT:    vector.shuffle [[C]], [[D]] [1, 3, 5, 7] : vector<4xf32>, vector<4xf32>
loops.func @interleaved(%X: !tir.buffer<[8], f32>, %Y: !tir.buffer<[4], f32>) noalias {
  loops.for %j in (0, 4) vectorized {
    %x = loops.load %X[%j * 2] : !tir.buffer<[8], f32> -> f32
    %y = loops.load %X[%j * 2 + 1] : !tir.buffer<[8], f32> -> f32
    %z = arith.addf %x, %y : f32
    loops.store %z, %Y[%j] : !tir.buffer<[4], f32>, f32
  }
}

// -----

// Under a condition, vectors of near lanes are loaded with masks of the elements of active lanes only. Lanes that are
// further apart stay scalar.

// CHECK-LABEL: loops.func @near_masked(
// CHECK:         [[MASK:%.*]] = arith.xori %{{.*}}, %{{.*}} : vector<4xi1>
// CHECK:         [[OFF:%.*]] = vector.broadcast %{{.*}} : i1 to vector<4xi1>
// CHECK-NEXT:    [[LOW:%.*]] = vector.shuffle [[MASK]], [[OFF]] [0, 4, 1, 4] : vector<4xi1>, vector<4xi1>
// CHECK-NEXT:    [[A:%.*]] = loops.load %X[-1] mask [[LOW]] : {{.*}} -> vector<4xf32>
// CHECK:         [[HIGH:%.*]] = vector.shuffle [[MASK]], %{{.*}} [4, 2, 4, 3] : vector<4xi1>, vector<4xi1>
// CHECK-NEXT:    [[B:%.*]] = loops.load %X[2] mask [[HIGH]] : {{.*}} -> vector<4xf32>
// CHECK-NEXT:    vector.shuffle [[A]], [[B]] [0, 2, 5, 7] : vector<4xf32>, vector<4xf32>
// CHECK:         loops.for %{{.*}} in (0, 4) {
// CHECK:           scf.if
// CHECK-NEXT:        loops.load %X[%{{.*}} * 5]
loops.func @near_masked(%X: !tir.buffer<[16], f32>, %Y: !tir.buffer<[4], f32>, %k: index) noalias {
  loops.for %j in (0, 4) vectorized {
    %at = tir.apply %j * 2
    %c = arith.cmpi sge, %at, %k : index
    %x = scf.if %c -> (f32) {
      %e = loops.load %X[%j * 2 - 1] : !tir.buffer<[16], f32> -> f32
      scf.yield %e : f32
    } else {
      %zero = arith.constant 0.0 : f32
      scf.yield %zero : f32
    }
    loops.store %x, %Y[%j] : !tir.buffer<[4], f32>, f32
  }
  loops.for %i in (0, 4) vectorized {
    %at = tir.apply %i * 5
    %c = arith.cmpi sge, %at, %k : index
    %x = scf.if %c -> (f32) {
      %e = loops.load %X[%i * 5] : !tir.buffer<[16], f32> -> f32
      scf.yield %e : f32
    } else {
      %zero = arith.constant 0.0 : f32
      scf.yield %zero : f32
    }
    loops.store %x, %Y[%i] : !tir.buffer<[4], f32>, f32
  }
}

// -----

// A condition that fails from some lane on is a mask of the first lanes, also if it takes steps.

// CHECK-LABEL: loops.func @steps(
// CHECK:         loops.mask (%k + 2) floordiv 3 : vector<16xi1>
loops.func @steps(%X: !tir.buffer<[16], i32>, %k: index) noalias {
  loops.for %j in (0, 16) vectorized {
    %t = tir.apply %j * 3
    %c = arith.cmpi slt, %t, %k : index
    %one = arith.constant 1 : i32
    %zero = arith.constant 0 : i32
    %x = arith.select %c, %one, %zero : i32
    loops.store %x, %X[%j] : !tir.buffer<[16], i32>, i32
  }
}

// -----

// An element that several lanes load is loaded once.

// CHECK-LABEL: loops.func @repeated(
// CHECK-NEXT:    %0 = loops.load %X[0] : {{.*}} -> vector<8xf32>
// CHECK-NEXT:    %x = vector.shuffle %0, %0 [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7] : vector<8xf32>, vector<8xf32>
// CHECK-NEXT:    loops.store %x, %Y[0] : {{.*}}, vector<16xf32>
// CHECK-NEXT:    %1 = loops.load %X[8] : {{.*}} -> f32
// CHECK-NEXT:    vector.broadcast %1 : f32 to vector<2xf32>
loops.func @repeated(%X: !tir.buffer<[9], f32>, %Y: !tir.buffer<[18], f32>) noalias {
  loops.for %i in (0, 18) vectorized {
    %x = loops.load %X[%i floordiv 2] : !tir.buffer<[9], f32> -> f32
    loops.store %x, %Y[%i] : !tir.buffer<[18], f32>, f32
  }
}

// -----

// Stores that need not stay in the caches are vectors that need not.

// CHECK-LABEL: loops.func @nontemporal(
// CHECK:         loops.store %{{.*}}, %Y[0] nontemporal : {{.*}}, vector<16xf32>
// CHECK:         loops.store %{{.*}}, %Y[16] mask %{{.*}} nontemporal : {{.*}}, vector<4xf32>
loops.func @nontemporal(%X: !tir.buffer<[19], f32>, %Y: !tir.buffer<[19], f32>) noalias {
  loops.for %i in (0, 19) vectorized {
    %x = loops.load %X[%i] : !tir.buffer<[19], f32> -> f32
    loops.store %x, %Y[%i] nontemporal : !tir.buffer<[19], f32>, f32
  }
}

// -----

// A loop that is to be vectorized may sum up in any order; what is no sum stays in order.

// CHECK-LABEL: loops.func @carried(
// CHECK:         loops.multi_reduction <add>, %{{.*}} fastmath<reassoc,nsz,contract>
// CHECK:         loops.for %j in (0, 16) carry (%s_1 = %zero : f32) {
// CHECK-NEXT:      %x_1 = loops.load %X[%j] : {{.*}} -> f32
// CHECK-NEXT:      %z_1 = arith.subf %x_1, %s_1 : f32
loops.func @carried(%X: !tir.buffer<[16], f32>, %Y: !tir.buffer<[2], f32>) noalias {
  %zero = arith.constant 0.0 : f32
  %t = loops.for %i in (0, 16) vectorized carry (%s = %zero : f32) {
    %x = loops.load %X[%i] : !tir.buffer<[16], f32> -> f32
    %z = arith.addf %s, %x : f32
    loops.yield %z : f32
  }
  loops.store %t, %Y[0] : !tir.buffer<[2], f32>, f32
  %u = loops.for %j in (0, 16) vectorized carry (%s = %zero : f32) {
    %x = loops.load %X[%j] : !tir.buffer<[16], f32> -> f32
    %z = arith.subf %x, %s : f32
    loops.yield %z : f32
  }
  loops.store %u, %Y[1] : !tir.buffer<[2], f32>, f32
}

// -----

// The lanes of a fused loop run over the ends of rows: all accesses of these buffers are to one row.

// CHECK-LABEL: loops.func @fused(
// CHECK:         %[[Y:.*]] = loops.view %Y at %{{.*}} : !tir.buffer<[8, 14, 14], f32> to !tir.buffer<[1568], f32>
// CHECK:         %[[X:.*]] = loops.view %X at %{{.*}} : !tir.buffer<[8, 14, 14], f32> to !tir.buffer<[1568], f32>
// CHECK:           loops.if (0 < -%b * 16 + 196) {
// CHECK-NEXT:        %[[M:.*]] = loops.mask -%b * 16 + 196 : vector<16xi1>
// CHECK-NEXT:        %x = loops.load %[[X]][%i * 196 + %b * 16] mask %[[M]] : {{.*}} -> vector<16xf32>
// CHECK-NEXT:        loops.store %x, %[[Y]][%i * 196 + %b * 16] mask %[[M]] : {{.*}}, vector<16xf32>
// CHECK:         %z = loops.load %[[Y]][17] : {{.*}} -> f32
// CHECK-NEXT:    loops.store %z, %Z[0, 1] : {{.*}}, f32
loops.func @fused(%X: !tir.buffer<[8, 14, 14], f32>, %Y: !tir.buffer<[8, 14, 14], f32>, %Z: !tir.buffer<[2, 2], f32>) noalias {
  loops.for %i in (0, 8) {
    loops.for %b in (0, 13) {
      loops.for %l in (0, 16) vectorized {
        loops.if (%b * 16 + %l < 196) {
          %x = loops.load %X[%i, (%b * 16 + %l) floordiv 14, (%b * 2 + %l) mod 14] : !tir.buffer<[8, 14, 14], f32> -> f32
          loops.store %x, %Y[%i, (%b * 16 + %l) floordiv 14, (%b * 2 + %l) mod 14] : !tir.buffer<[8, 14, 14], f32>, f32
        }
      }
    }
  }
  %z = loops.load %Y[0, 1, 3] : !tir.buffer<[8, 14, 14], f32> -> f32
  loops.store %z, %Z[0, 1] : !tir.buffer<[2, 2], f32>, f32
}

// -----

// So are those of symbolic rows. Rows that are apart in memory stay, and are loaded by element.

// CHECK-LABEL: loops.func @rows(
// CHECK:         %[[Y:.*]] = loops.view %Y at %{{.*}} to !tir.buffer<[m * n], f32>
// CHECK-NEXT:    loops.for %[[A:.*]] in (0, (m * n) floordiv 16) {
// CHECK-NEXT:      loops.load %X[(%[[A]] * 16) floordiv m, (%[[A]] * 16) mod m] : {{.*}} -> f32
// CHECK-NEXT:      loops.load %X[(%[[A]] * 16 + 1) floordiv m, (%[[A]] * 16 + 1) mod m] : {{.*}} -> f32
// CHECK:           loops.store %x, %[[Y]][%[[A]] * 16] : {{.*}}, vector<16xf32>
loops.func @rows(%X: !tir.buffer<[n, m], f32, strides = [m + 1, 1]>, %Y: !tir.buffer<[n, m], f32>) symbols [n, m] noalias {
  loops.for %k in (0, n * m) vectorized {
    %x = loops.load %X[%k floordiv m, %k mod m] : !tir.buffer<[n, m], f32, strides = [m + 1, 1]> -> f32
    loops.store %x, %Y[%k floordiv m, %k mod m] : !tir.buffer<[n, m], f32>, f32
  }
}

// -----

// Which lanes are in which row is known where the loop around is unrolled: two elements of two rows are shuffled, columns
// are those of two rows, and scratch memory is one row.

// CHECK-LABEL: loops.func @pair(
// CHECK-NEXT:    %T = loops.alloca : !tir.buffer<[48], f32>
// CHECK:         [[X:%.*]] = loops.load %X[0] : {{.*}} -> f32
// CHECK-NEXT:    [[A:%.*]] = vector.broadcast [[X]] : f32 to vector<16xf32>
// CHECK-NEXT:    [[W:%.*]] = loops.load %W[0] : {{.*}} -> vector<16xf32>
// CHECK-NEXT:    arith.mulf [[A]], [[W]] : vector<16xf32>
// CHECK-NEXT:    loops.store %{{.*}}, %T[0] : {{.*}}, vector<16xf32>
// CHECK:         vector.shuffle %{{.*}}, %{{.*}} [0, 1, 2, 3, 4, 5, 6, 7, 24, 25, 26, 27, 28, 29, 30, 31]
// CHECK:         vector.shuffle %{{.*}}, %{{.*}} [24, 25, 26, 27, 28, 29, 30, 31, 0, 1, 2, 3, 4, 5, 6, 7]
// CHECK:         loops.store %{{.*}}, %T[16] : {{.*}}, vector<16xf32>
// CHECK:         loops.load %W[8] : {{.*}} -> vector<16xf32>
// CHECK:         loops.store %{{.*}}, %T[32] : {{.*}}, vector<16xf32>
loops.func @pair(%X: !tir.buffer<[2], f32>, %W: !tir.buffer<[24], f32>) noalias {
  %T = loops.alloca : !tir.buffer<[2, 24], f32>
  loops.for %v in (0, 3) unrolled {
    loops.for %l in (0, 16) vectorized {
      %x = loops.load %X[(%v * 16 + %l) floordiv 24] : !tir.buffer<[2], f32> -> f32
      %w = loops.load %W[(%v * 16 + %l) mod 24] : !tir.buffer<[24], f32> -> f32
      %y = arith.mulf %x, %w : f32
      loops.store %y, %T[(%v * 16 + %l) floordiv 24, (%v * 16 + %l) mod 24] : !tir.buffer<[2, 24], f32>, f32
    }
  }
}
