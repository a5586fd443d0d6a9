// RUN: xrelax-opt %s -p split-loops --split-input-file | filecheck %s

// Each branch has a loop of its own, and what compared the variable is gone.

// CHECK-LABEL: loops.func @halves(
// CHECK-NEXT:    loops.for %i in (0, 3) {
// CHECK-NEXT:      [[A:%.*]] = loops.load %X[%i]
// CHECK-NEXT:      loops.store [[A]], %Z[%i]
// CHECK-NEXT:    }
// CHECK-NEXT:    loops.for [[I:%.*]] in (3, 5) {
// CHECK-NEXT:      [[B:%.*]] = loops.load %Y{{\[}}[[I]] - 3]
// CHECK-NEXT:      loops.store [[B]], %Z{{\[}}[[I]]]
// CHECK-NEXT:    }
// CHECK-NEXT:  }
loops.func @halves(%X: !tir.buffer<[3], f32>, %Y: !tir.buffer<[5], f32>, %Z: !tir.buffer<[8], f32>) noalias {
  loops.for %i in (0, 8) {
    %three = arith.constant 3 : index
    %first = arith.cmpi slt, %i, %three : index
    %value = scf.if %first -> (f32) {
      %x = loops.load %X[%i] : !tir.buffer<[3], f32> -> f32
      scf.yield %x : f32
    } else {
      %y = loops.load %Y[%i - 3] : !tir.buffer<[5], f32> -> f32
      scf.yield %y : f32
    }
    loops.store %value, %Z[%i] : !tir.buffer<[8], f32>, f32
  }
}

// -----

// A limit over symbols and outer loops is brought between the ends of the loop; where the variable is
// subtracted, or the comparison is the opposite one, the second branch comes first.

// CHECK-LABEL: loops.func @triangle(
// CHECK:         loops.for %i in (0, n) {
// CHECK-NEXT:      loops.for %j in (0, max({{.*}}min({{.*}}%i + 1{{.*}}) {
// CHECK-NEXT:        loops.store %one, %Y[%i, %j]
// CHECK-NEXT:      }
// CHECK-NEXT:      loops.for [[J:%.*]] in (max({{.*}}
// CHECK-NEXT:        loops.store %zero, %Y[%i, [[J]]]
// CHECK:         loops.for %k in (0, n) {
// CHECK-NEXT:      loops.for %l in (0, max({{.*}}min({{.*}}%k + 1{{.*}}) {
// CHECK-NEXT:        loops.store %one, %Y[%k, %l]
// CHECK-NEXT:      }
// CHECK-NEXT:      loops.for [[L:%.*]] in (max({{.*}}
// CHECK-NEXT:        loops.store %zero, %Y[%k, [[L]]]
loops.func @triangle(%Y: !tir.buffer<[n, n], f32>) symbols [n] noalias {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  loops.for %i in (0, n) {
    loops.for %j in (0, n) {
      %above = arith.cmpi sgt, %j, %i : index
      %value = scf.if %above -> (f32) {
        scf.yield %zero : f32
      } else {
        scf.yield %one : f32
      }
      loops.store %value, %Y[%i, %j] : !tir.buffer<[n, n], f32>, f32
    }
  }
  loops.for %k in (0, n) {
    loops.for %l in (0, n) {
      %d = tir.apply %k - %l
      %c = arith.constant 0 : index
      %below = arith.cmpi sge, %d, %c : index
      %value = scf.if %below -> (f32) {
        scf.yield %one : f32
      } else {
        scf.yield %zero : f32
      }
      loops.store %value, %Y[%k, %l] : !tir.buffer<[n, n], f32>, f32
    }
  }
}

// -----

// A choice without a second branch, and one in a branch of another one.

// CHECK-LABEL: loops.func @three(
// CHECK-NEXT:    %one = arith.constant
// CHECK-NEXT:    loops.for %i in (0, 2) {
// CHECK-NEXT:    }
// CHECK-NEXT:    loops.for [[I:%.*]] in (2, 4) {
// CHECK-NEXT:      loops.store %one, %Y
// CHECK-NEXT:    }
// CHECK-NEXT:    loops.for {{%.*}} in (6, 2) {
// CHECK-NEXT:    }
// CHECK-NEXT:  }
loops.func @three(%Y: !tir.buffer<[8], f32>) noalias {
  %one = arith.constant 1.0 : f32
  loops.for %i in (0, 8) {
    %two = arith.constant 2 : index
    %late = arith.cmpi sge, %i, %two : index
    scf.if %late {
      %six = arith.constant 6 : index
      %early = arith.cmpi slt, %i, %six : index
      scf.if %early {
        loops.store %one, %Y[%i] : !tir.buffer<[8], f32>, f32
      }
    }
  }
}

// -----

// What the data decide, what changes otherwise than by one from iteration to iteration, loops of other
// kinds and those that carry values stay as they are.

// CHECK-LABEL: loops.func @stays(
// CHECK-COUNT-4: loops.for
// CHECK-NOT:     loops.for
loops.func @stays(%X: !tir.buffer<[8], i1>, %Y: !tir.buffer<[8], f32>) noalias {
  %one = arith.constant 1.0 : f32
  %four = arith.constant 4 : index
  loops.for %i in (0, 8) {
    %c = loops.load %X[%i] : !tir.buffer<[8], i1> -> i1
    scf.if %c {
      loops.store %one, %Y[%i] : !tir.buffer<[8], f32>, f32
    }
  }
  loops.for %i in (0, 8) {
    %m = tir.apply %i mod 2
    %c = arith.cmpi slt, %m, %four : index
    scf.if %c {
      loops.store %one, %Y[%i] : !tir.buffer<[8], f32>, f32
    }
  }
  loops.for %i in (0, 8) parallel {
    %c = arith.cmpi slt, %i, %four : index
    scf.if %c {
      loops.store %one, %Y[%i] : !tir.buffer<[8], f32>, f32
    }
  }
  %s = loops.for %i in (0, 8) carry (%sum = %one : f32) {
    %c = arith.cmpi slt, %i, %four : index
    %next = scf.if %c -> (f32) {
      scf.yield %sum : f32
    } else {
      scf.yield %one : f32
    }
    loops.yield %next : f32
  }
  loops.store %s, %Y[0] : !tir.buffer<[8], f32>, f32
}

// -----

// A vectorized loop is split where one side alone calls a function; not a short one, and not one of which both
// sides are cheap.

// CHECK-LABEL: loops.func @vectors(
// CHECK:         loops.for %j in (0, max(0, min(%k + 1, n))) vectorized {
// CHECK:           math.exp
// CHECK:         loops.for %{{.*}} in (max(0, min(%k + 1, n)), {{.*}}) vectorized {
// CHECK-NOT:       math.exp
// CHECK:         }
// CHECK-NEXT:    loops.for %{{.*}} in (0, 16) vectorized {
// CHECK:           scf.if
// CHECK:         loops.for %{{.*}} in (0, n) vectorized {
// CHECK:           scf.if
loops.func @vectors(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n], f32>, %k: index) symbols [n] noalias {
  %zero = arith.constant 0.0 : f32
  loops.for %j in (0, n) vectorized {
    %c = arith.cmpi sle, %j, %k : index
    %y = scf.if %c -> (f32) {
      %x = loops.load %X[%j] : !tir.buffer<[n], f32> -> f32
      %e = math.exp %x : f32
      scf.yield %e : f32
    } else {
      scf.yield %zero : f32
    }
    loops.store %y, %Y[%j] : !tir.buffer<[n], f32>, f32
  }
  loops.for %j in (0, 16) vectorized {
    %c = arith.cmpi sle, %j, %k : index
    %y = scf.if %c -> (f32) {
      %x = loops.load %X[%j] : !tir.buffer<[n], f32> -> f32
      %e = math.exp %x : f32
      scf.yield %e : f32
    } else {
      scf.yield %zero : f32
    }
    loops.store %y, %Y[%j] : !tir.buffer<[n], f32>, f32
  }
  loops.for %j in (0, n) vectorized {
    %c = arith.cmpi sle, %j, %k : index
    %y = scf.if %c -> (f32) {
      %x = loops.load %X[%j] : !tir.buffer<[n], f32> -> f32
      scf.yield %x : f32
    } else {
      scf.yield %zero : f32
    }
    loops.store %y, %Y[%j] : !tir.buffer<[n], f32>, f32
  }
}

// -----

// Where one part of a conjunction is decided, the other is the condition, at which the loop is split again.

// CHECK-LABEL: loops.func @both(
// CHECK:         loops.for %j in (0, max(0, min(%k, max(0, min(8, %m))))) {
// CHECK-NEXT:      loops.store %one, %Y[%j]
// CHECK-NEXT:    }
// CHECK-NEXT:    loops.for [[J:%.*]] in (max(0, min(%k, max(0, min(8, %m)))), {{.*}}) {
// CHECK-NEXT:      loops.store %zero, %Y{{\[}}[[J]]]
// CHECK-NEXT:    }
// CHECK-NEXT:    loops.for [[L:%.*]] in (max(0, min(8, %m)), -max(0, min(8, %m)) + 8) {
// CHECK-NEXT:      loops.store %zero, %Y{{\[}}[[L]]]
// CHECK-NEXT:    }
// CHECK-NEXT:  }
loops.func @both(%Y: !tir.buffer<[8], f32>, %k: index, %m: index) noalias {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  loops.for %j in (0, 8) {
    %a = arith.cmpi slt, %j, %m : index
    %b = arith.cmpi slt, %j, %k : index
    %c = arith.andi %a, %b : i1
    %y = scf.if %c -> (f32) {
      scf.yield %one : f32
    } else {
      scf.yield %zero : f32
    }
    loops.store %y, %Y[%j] : !tir.buffer<[8], f32>, f32
  }
}

// -----

// In the second part, a constant that only a comparison used, twice, is erased once.

// CHECK-LABEL: loops.func @compared_with_itself(
// CHECK:         loops.for %i in (0, 3) {
// CHECK:           scf.if %never
// CHECK:         loops.for %i_1 in (3, 5) {
// CHECK-NEXT:    }
loops.func @compared_with_itself(%Y: !tir.buffer<[8], f32>) noalias {
  %one = arith.constant 1.0 : f32
  loops.for %i in (0, 8) {
    %three = arith.constant 3 : index
    %zero = arith.constant 0 : index
    %first = arith.cmpi slt, %i, %three : index
    %never = arith.cmpi slt, %zero, %zero : index
    %both = arith.andi %first, %never : i1
    scf.if %both {
      loops.store %one, %Y[%i] : !tir.buffer<[8], f32>, f32
    }
  }
}
