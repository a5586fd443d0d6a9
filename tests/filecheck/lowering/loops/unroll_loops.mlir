// RUN: xrelax-opt %s -p unroll-loops --split-input-file | filecheck %s

// Iterations follow each other with constant indices; conditions that they decide go. Inner loops whose
// extent depends on an outer one become constant with it.

// CHECK-LABEL: loops.func @triangle(
// CHECK-NEXT:    %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:    loops.if (0 < n) {
// CHECK-NEXT:      loops.store %zero, %Y[1, 0]
// CHECK-NEXT:    }
// CHECK-NEXT:    loops.if (1 < n) {
// CHECK-NEXT:      loops.store %zero, %Y[1, 2]
// CHECK-NEXT:    }
// CHECK-NEXT:    loops.if (0 < n) {
// CHECK-NEXT:      loops.store %zero, %Y[2, 0]
// CHECK-NEXT:    }
// CHECK-NEXT:    loops.if (1 < n) {
// CHECK-NEXT:      loops.store %zero, %Y[2, 2]
// CHECK-NEXT:    }
loops.func @triangle(%Y: !tir.buffer<[4, n], f32>) symbols [n] noalias {
  %zero = arith.constant 0.0 : f32
  loops.for %i in (1, 2) unrolled {
    loops.for %j in (0, %i + 1) unrolled {
      loops.if (%i * 2 + %j < 6, %j < n) {
        loops.store %zero, %Y[%i, %j * 2] : !tir.buffer<[4, n], f32>, f32
      }
    }
  }
}

// -----

// Carried values pass from one iteration to the next.

// CHECK-LABEL: loops.func @carried(
// CHECK-NEXT:    %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:    %x = loops.load %X[0]
// CHECK-NEXT:    %u = arith.addf %zero, %x : f32
// CHECK-NEXT:    %x_1 = loops.load %X[1]
// CHECK-NEXT:    %u_1 = arith.addf %u, %x_1 : f32
// CHECK-NEXT:    loops.store %u_1, %Y[0]
loops.func @carried(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[1], f32>) symbols [n] noalias {
  %zero = arith.constant 0.0 : f32
  %s = loops.for %k in (0, 2) unrolled carry (%t = %zero : f32) {
    %x = loops.load %X[%k] : !tir.buffer<[n], f32> -> f32
    %u = arith.addf %t, %x : f32
    loops.yield %u : f32
  }
  loops.store %s, %Y[0] : !tir.buffer<[1], f32>, f32
}

// -----

// Loops in an iteration are copied with it; a loop without iterations disappears, and data get constant indices.

// CHECK-LABEL: loops.func @around(
// CHECK-NEXT:    %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:    loops.for %i in (0, n) {
// CHECK-NEXT:      loops.for %k in (%i, n) {
// CHECK-NEXT:        loops.store %zero, %Z[%i + %k]
// CHECK-NEXT:      }
// CHECK-NEXT:      %a = arith.constant 0 : index
// CHECK-NEXT:      %c = arith.index_cast %a : index to i64
// CHECK-NEXT:      loops.store %c, %Y[0]
// CHECK-NEXT:      loops.for %k_1 in (%i, n + 1) {
// CHECK-NEXT:        loops.store %zero, %Z[%i + %k_1 + 1]
// CHECK-NEXT:      }
// CHECK-NEXT:      %a_1 = arith.constant 3 : index
// CHECK-NEXT:      %c_1 = arith.index_cast %a_1 : index to i64
// CHECK-NEXT:      loops.store %c_1, %Y[1]
// CHECK-NEXT:    }
loops.func @around(%X: !tir.buffer<[n], f32>, %Z: !tir.buffer<[n * 4], f32>, %Y: !tir.buffer<[2], i64>) symbols [n] noalias {
  %zero = arith.constant 0.0 : f32
  loops.for %never in (0, 0) unrolled {
    loops.store %zero, %X[%never] : !tir.buffer<[n], f32>, f32
  }
  loops.for %i in (0, n) {
    loops.for %j in (0, 2) unrolled {
      loops.for %k in (%i, %j + n) {
        loops.store %zero, %Z[%i + %j + %k] : !tir.buffer<[n * 4], f32>, f32
      }
      %a = tir.apply %j * 3
      %c = arith.index_cast %a : index to i64
      loops.store %c, %Y[%j] : !tir.buffer<[2], i64>, i64
    }
  }
}

// -----

// A very long loop stays one.

// CHECK-LABEL: loops.func @long(
// CHECK-NEXT:    %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:    loops.for %i in (0, 5000) unrolled {
// CHECK-NEXT:      loops.store %zero, %Y[%i]
// CHECK-NEXT:    }
loops.func @long(%Y: !tir.buffer<[5000], f32>) noalias {
  %zero = arith.constant 0.0 : f32
  loops.for %i in (0, 5000) unrolled {
    loops.store %zero, %Y[%i] : !tir.buffer<[5000], f32>, f32
  }
}

// -----

// What a comparison of indices decides is folded; others stay.

// CHECK-LABEL: loops.func @choices(
// CHECK-NEXT:    %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:    %one = arith.constant 1.000000e+00 : f32
// CHECK:         loops.store %zero, %Y[0]
// CHECK:         arith.cmpi slt, %{{.*}}, %n{{.*}} : index
// CHECK-NEXT:    %[[S:.*]] = arith.select
// CHECK-NEXT:    loops.store %[[S]], %Z[0]
// CHECK:         loops.store %one, %Y[1]
// CHECK:         arith.cmpi slt, %{{.*}}, %n{{.*}} : index
// CHECK-NOT:     scf.if
loops.func @choices(%Y: !tir.buffer<[2], f32>, %Z: !tir.buffer<[n], f32>) symbols [n] noalias {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  loops.for %i in (0, 2) unrolled {
    %first = arith.constant 0 : index
    %c = arith.cmpi eq, %i, %first : index
    %y = scf.if %c -> (f32) {
      scf.yield %zero : f32
    } else {
      scf.yield %one : f32
    }
    loops.store %y, %Y[%i] : !tir.buffer<[2], f32>, f32
    %n = tir.apply n
    %d = arith.cmpi slt, %i, %n : index
    %z = arith.select %d, %zero, %one : f32
    loops.store %z, %Z[%i] : !tir.buffer<[n], f32>, f32
  }
}
