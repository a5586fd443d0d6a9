// RUN: xrelax-opt %s -p 'schedule-default{target="llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=znver4" rules=parallelize}' --split-input-file | filecheck %s

// Polynomials of the same coefficients at places of their own: none has loops that threads share,
// and each writes what no other one touches.

// CHECK-LABEL: tir.prim_func @two
// CHECK-NEXT:    tir.for %section in (0, 2) parallel {
// CHECK-NEXT:      tir.for %{{.*}} in (0, max(-%section + 1, 0)) {
// CHECK:             tir.block "A"
// CHECK:           tir.for %{{.*}} in (0, max(0, %section)) {
// CHECK:             tir.block "B"
// CHECK-NOT:     parallel
tir.prim_func @two(%X: !tir.buffer<[200001], f32>, %A: !tir.buffer<[1], f32>, %B: !tir.buffer<[1], f32>, %C: !tir.buffer<[1], f32>) {
  tir.for %o in (0, 1) {
    tir.for %k in (0, 200001) {
      tir.block "A" (%v: spatial (0, 1) = %o, %vk: reduce (0, 200001) = %k) reads (%X[%vk]) writes (%A[%v]) {
        tir.init {
          %zero = arith.constant 0.0 : f32
          tir.store %zero, %A[%v] : !tir.buffer<[1], f32>
        }
        %a = tir.load %A[%v] : !tir.buffer<[1], f32>
        %x = tir.load %X[%vk] : !tir.buffer<[200001], f32>
        %p = arith.mulf %a, %x : f32
        %s = arith.addf %p, %x : f32
        tir.store %s, %A[%v] : !tir.buffer<[1], f32>
      }
    }
  }
  tir.for %o in (0, 1) {
    tir.for %k in (0, 200001) {
      tir.block "B" (%v: spatial (0, 1) = %o, %vk: reduce (0, 200001) = %k) reads (%X[%vk]) writes (%B[%v]) {
        tir.init {
          %zero = arith.constant 0.0 : f32
          tir.store %zero, %B[%v] : !tir.buffer<[1], f32>
        }
        %a = tir.load %B[%v] : !tir.buffer<[1], f32>
        %x = tir.load %X[%vk] : !tir.buffer<[200001], f32>
        %p = arith.mulf %a, %x : f32
        %s = arith.addf %p, %x : f32
        tir.store %s, %B[%v] : !tir.buffer<[1], f32>
      }
    }
  }
}

// -----

// CHECK-LABEL: tir.prim_func @three
// CHECK-NEXT:    tir.for %section in (0, 3) parallel {
// CHECK-NEXT:      tir.for %{{.*}} in (0, max(-%section + 1, 0)) {
// CHECK:           tir.for %{{.*}} in (0, max(0, min({{.*}}))) {
// CHECK:             tir.block "B"
// CHECK:           tir.for %{{.*}} in (0, max(0, %section - 1)) {
// CHECK:             tir.block "C"
tir.prim_func @three(%X: !tir.buffer<[200001], f32>, %A: !tir.buffer<[1], f32>, %B: !tir.buffer<[1], f32>, %C: !tir.buffer<[1], f32>) {
  tir.for %o in (0, 1) {
    tir.for %k in (0, 200001) {
      tir.block "A" (%v: spatial (0, 1) = %o, %vk: reduce (0, 200001) = %k) reads (%X[%vk]) writes (%A[%v]) {
        tir.init {
          %zero = arith.constant 0.0 : f32
          tir.store %zero, %A[%v] : !tir.buffer<[1], f32>
        }
        %a = tir.load %A[%v] : !tir.buffer<[1], f32>
        %x = tir.load %X[%vk] : !tir.buffer<[200001], f32>
        %p = arith.mulf %a, %x : f32
        %s = arith.addf %p, %x : f32
        tir.store %s, %A[%v] : !tir.buffer<[1], f32>
      }
    }
  }
  tir.for %o in (0, 1) {
    tir.for %k in (0, 200001) {
      tir.block "B" (%v: spatial (0, 1) = %o, %vk: reduce (0, 200001) = %k) reads (%X[%vk]) writes (%B[%v]) {
        tir.init {
          %zero = arith.constant 0.0 : f32
          tir.store %zero, %B[%v] : !tir.buffer<[1], f32>
        }
        %a = tir.load %B[%v] : !tir.buffer<[1], f32>
        %x = tir.load %X[%vk] : !tir.buffer<[200001], f32>
        %p = arith.mulf %a, %x : f32
        %s = arith.addf %p, %x : f32
        tir.store %s, %B[%v] : !tir.buffer<[1], f32>
      }
    }
  }
  tir.for %o in (0, 1) {
    tir.for %k in (0, 200001) {
      tir.block "C" (%v: spatial (0, 1) = %o, %vk: reduce (0, 200001) = %k) reads (%X[%vk]) writes (%C[%v]) {
        tir.init {
          %zero = arith.constant 0.0 : f32
          tir.store %zero, %C[%v] : !tir.buffer<[1], f32>
        }
        %a = tir.load %C[%v] : !tir.buffer<[1], f32>
        %x = tir.load %X[%vk] : !tir.buffer<[200001], f32>
        %p = arith.mulf %a, %x : f32
        %s = arith.addf %p, %x : f32
        tir.store %s, %C[%v] : !tir.buffer<[1], f32>
      }
    }
  }
}

// -----

// The second one reads what the first one writes, and the third is too little.

// CHECK-LABEL: tir.prim_func @chain
// CHECK-NOT:     section
tir.prim_func @chain(%X: !tir.buffer<[200001], f32>, %A: !tir.buffer<[1], f32>, %B: !tir.buffer<[1], f32>, %C: !tir.buffer<[1], f32>) {
  tir.for %o in (0, 1) {
    tir.for %k in (0, 200001) {
      tir.block "A" (%v: spatial (0, 1) = %o, %vk: reduce (0, 200001) = %k) reads (%X[%vk]) writes (%A[%v]) {
        tir.init {
          %zero = arith.constant 0.0 : f32
          tir.store %zero, %A[%v] : !tir.buffer<[1], f32>
        }
        %a = tir.load %A[%v] : !tir.buffer<[1], f32>
        %x = tir.load %X[%vk] : !tir.buffer<[200001], f32>
        %p = arith.mulf %a, %x : f32
        %s = arith.addf %p, %x : f32
        tir.store %s, %A[%v] : !tir.buffer<[1], f32>
      }
    }
  }
  tir.for %o in (0, 1) {
    tir.for %k in (0, 200001) {
      tir.block "B" (%v: spatial (0, 1) = %o, %vk: reduce (0, 200001) = %k) reads (%X[%vk], %A[0]) writes (%B[%v]) {
        tir.init {
          %zero = arith.constant 0.0 : f32
          tir.store %zero, %B[%v] : !tir.buffer<[1], f32>
        }
        %a = tir.load %B[%v] : !tir.buffer<[1], f32>
        %x = tir.load %X[%vk] : !tir.buffer<[200001], f32>
        %m = tir.load %A[0] : !tir.buffer<[1], f32>
        %p = arith.mulf %a, %m : f32
        %s = arith.addf %p, %x : f32
        tir.store %s, %B[%v] : !tir.buffer<[1], f32>
      }
    }
  }
  tir.for %o in (0, 1) {
    tir.for %k in (0, 100) {
      tir.block "C" (%v: spatial (0, 1) = %o, %vk: reduce (0, 100) = %k) reads (%X[%vk]) writes (%C[%v]) {
        tir.init {
          %zero = arith.constant 0.0 : f32
          tir.store %zero, %C[%v] : !tir.buffer<[1], f32>
        }
        %a = tir.load %C[%v] : !tir.buffer<[1], f32>
        %x = tir.load %X[%vk] : !tir.buffer<[200001], f32>
        %p = arith.mulf %a, %x : f32
        %s = arith.addf %p, %x : f32
        tir.store %s, %C[%v] : !tir.buffer<[1], f32>
      }
    }
  }
}

// -----

// Five tiles of rows and what is left of them, for each of three panels of columns: threads share
// all eighteen at once.

// CHECK-LABEL: tir.prim_func @rows
// CHECK-NEXT:    tir.for %[[F:.*]] in (0, 18) parallel {
// CHECK-NEXT:      tir.for %{{.*}} in (%[[F]] mod 6, min(-(%[[F]] mod 6) + 5, 1)) {
// CHECK:             tir.block "A"
// CHECK:           tir.for %{{.*}} in (5, max(0, %[[F]] mod 6 - 4)) {
// CHECK:             tir.block "B"
// CHECK-NOT:     parallel
tir.prim_func @rows(%X: !tir.buffer<[200001], f32>, %Y: !tir.buffer<[3, 6, 2], f32>) {
  tir.for %j in (0, 3) {
    tir.for %i in (0, 5) {
      tir.for %k in (0, 200001) {
        tir.block "A" (%vj: spatial (0, 3) = %j, %vi: spatial (0, 5) = %i, %vk: reduce (0, 200001) = %k) reads (%X[%vk]) writes (%Y[%vj, %vi, 0]) {
          tir.init {
            %zero = arith.constant 0.0 : f32
            tir.store %zero, %Y[%vj, %vi, 0] : !tir.buffer<[3, 6, 2], f32>
          }
          %a = tir.load %Y[%vj, %vi, 0] : !tir.buffer<[3, 6, 2], f32>
          %x = tir.load %X[%vk] : !tir.buffer<[200001], f32>
          %p = arith.mulf %a, %x : f32
          %s = arith.addf %p, %x : f32
          tir.store %s, %Y[%vj, %vi, 0] : !tir.buffer<[3, 6, 2], f32>
        }
      }
    }
    tir.for %i in (5, 1) {
      tir.for %k in (0, 200001) {
        tir.block "B" (%vj: spatial (0, 3) = %j, %vi: spatial (5, 1) = %i, %vk: reduce (0, 200001) = %k) reads (%X[%vk]) writes (%Y[%vj, %vi, 0]) {
          tir.init {
            %one = arith.constant 1.0 : f32
            tir.store %one, %Y[%vj, %vi, 0] : !tir.buffer<[3, 6, 2], f32>
          }
          %a = tir.load %Y[%vj, %vi, 0] : !tir.buffer<[3, 6, 2], f32>
          %x = tir.load %X[%vk] : !tir.buffer<[200001], f32>
          %p = arith.mulf %a, %x : f32
          %s = arith.subf %p, %x : f32
          tir.store %s, %Y[%vj, %vi, 0] : !tir.buffer<[3, 6, 2], f32>
        }
      }
    }
  }
}
