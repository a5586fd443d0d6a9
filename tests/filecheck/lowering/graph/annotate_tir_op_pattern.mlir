// RUN: xrelax-opt %s -p annotate-tir-op-pattern --split-input-file | filecheck %s

// Each element from the same element: kElemWise. Several blocks count as what they are together.
// CHECK-LABEL: tir.prim_func @relu_of_sum
// CHECK-SAME:  op_pattern = 0 : i64
tir.prim_func @relu_of_sum(%X: !tir.buffer<[n, 8], f32>, %B: !tir.buffer<[8], f32>, %Y: !tir.buffer<[n, 8], f32>) {
  %T = tir.alloc_buffer : !tir.buffer<[n, 8], f32>
  tir.for %i in (0, n) {
    tir.for %j in (0, 8) {
      tir.block "T" (%vi: spatial (0, n) = %i, %vj: spatial (0, 8) = %j) reads (%X[%vi, %vj], %B[%vj]) writes (%T[%vi, %vj]) {
        %x = tir.load %X[%vi, %vj] : !tir.buffer<[n, 8], f32>
        %b = tir.load %B[%vj] : !tir.buffer<[8], f32>
        %s = arith.addf %x, %b : f32
        tir.store %s, %T[%vi, %vj] : !tir.buffer<[n, 8], f32>
      }
    }
  }
  tir.for %i in (0, n) {
    tir.for %j in (0, 8) {
      tir.block "Y" (%vi: spatial (0, n) = %i, %vj: spatial (0, 8) = %j) reads (%T[%vi, %vj]) writes (%Y[%vi, %vj]) {
        %t = tir.load %T[%vi, %vj] : !tir.buffer<[n, 8], f32>
        %zero = arith.constant 0.0 : f32
        %r = arith.maximumf %t, %zero : f32
        tir.store %r, %Y[%vi, %vj] : !tir.buffer<[n, 8], f32>
      }
    }
  }
}

// -----

// Some of the indices: kBroadcast.
// CHECK-LABEL: tir.prim_func @broadcast
// CHECK-SAME:  op_pattern = 1 : i64
tir.prim_func @broadcast(%B: !tir.buffer<[8], f32>, %Y: !tir.buffer<[4, 8], f32>) {
  tir.for %i in (0, 4) {
    tir.for %j in (0, 8) {
      tir.block "Y" (%vi: spatial (0, 4) = %i, %vj: spatial (0, 8) = %j) reads (%B[%vj]) writes (%Y[%vi, %vj]) {
        %b = tir.load %B[%vj] : !tir.buffer<[8], f32>
        tir.store %b, %Y[%vi, %vj] : !tir.buffer<[4, 8], f32>
      }
    }
  }
}

// -----

// Other indices, also those that are data: kInjective.
// CHECK-LABEL: tir.prim_func @transpose
// CHECK-SAME:  op_pattern = 2 : i64
tir.prim_func @transpose(%X: !tir.buffer<[4, 8], f32>, %Y: !tir.buffer<[8, 4], f32>) {
  tir.for %i in (0, 8) {
    tir.for %j in (0, 4) {
      tir.block "Y" (%vi: spatial (0, 8) = %i, %vj: spatial (0, 4) = %j) reads (%X[%vj, %vi]) writes (%Y[%vi, %vj]) {
        %x = tir.load %X[%vj, %vi] : !tir.buffer<[4, 8], f32>
        tir.store %x, %Y[%vi, %vj] : !tir.buffer<[8, 4], f32>
      }
    }
  }
}
// CHECK-LABEL: tir.prim_func @gather
// CHECK-SAME:  op_pattern = 2 : i64
tir.prim_func @gather(%X: !tir.buffer<[n], f32>, %At: !tir.buffer<[4], i64>, %Y: !tir.buffer<[4], f32>) {
  tir.for %i in (0, 4) {
    tir.block "Y" (%vi: spatial (0, 4) = %i) reads (%X[0 : n], %At[%vi]) writes (%Y[%vi]) {
      %a = tir.load %At[%vi] : !tir.buffer<[4], i64>
      %at = arith.index_cast %a : i64 to index
      %x = tir.load %X[%at] : !tir.buffer<[n], f32>
      tir.store %x, %Y[%vi] : !tir.buffer<[4], f32>
    }
  }
}

// -----

// A reduction that uses each element once: kCommReduce.
// CHECK-LABEL: tir.prim_func @sum
// CHECK-SAME:  op_pattern = 3 : i64
tir.prim_func @sum(%X: !tir.buffer<[n, m], f32>, %Y: !tir.buffer<[n], f32>) {
  tir.for %i in (0, n) {
    tir.for %k in (0, m) {
      tir.block "Y" (%vi: spatial (0, n) = %i, %vk: reduce (0, m) = %k) reads (%X[%vi, %vk]) writes (%Y[%vi]) {
        tir.init {
          %zero = arith.constant 0.0 : f32
          tir.store %zero, %Y[%vi] : !tir.buffer<[n], f32>
        }
        %y = tir.load %Y[%vi] : !tir.buffer<[n], f32>
        %x = tir.load %X[%vi, %vk] : !tir.buffer<[n, m], f32>
        %s = arith.addf %y, %x : f32
        tir.store %s, %Y[%vi] : !tir.buffer<[n], f32>
      }
    }
  }
}

// -----

// A reduction with reuse, here with an epilogue in the same function: kOutEWiseFusable.
// CHECK-LABEL: tir.prim_func @linear
// CHECK-SAME:  op_pattern = 4 : i64
tir.prim_func @linear(%X: !tir.buffer<[4, m], f32>, %W: !tir.buffer<[8, m], f32>, %B: !tir.buffer<[8], f32>, %Y: !tir.buffer<[4, 8], f32>) {
  %T = tir.alloc_buffer : !tir.buffer<[4, 8], f32>
  tir.for %i in (0, 4) {
    tir.for %j in (0, 8) {
      tir.for %k in (0, m) {
        tir.block "T" (%vi: spatial (0, 4) = %i, %vj: spatial (0, 8) = %j, %vk: reduce (0, m) = %k) reads (%X[%vi, %vk], %W[%vj, %vk]) writes (%T[%vi, %vj]) {
          tir.init {
            %zero = arith.constant 0.0 : f32
            tir.store %zero, %T[%vi, %vj] : !tir.buffer<[4, 8], f32>
          }
          %t = tir.load %T[%vi, %vj] : !tir.buffer<[4, 8], f32>
          %x = tir.load %X[%vi, %vk] : !tir.buffer<[4, m], f32>
          %w = tir.load %W[%vj, %vk] : !tir.buffer<[8, m], f32>
          %p = arith.mulf %x, %w : f32
          %s = arith.addf %t, %p : f32
          tir.store %s, %T[%vi, %vj] : !tir.buffer<[4, 8], f32>
        }
      }
    }
  }
  tir.for %i in (0, 4) {
    tir.for %j in (0, 8) {
      tir.block "Y" (%vi: spatial (0, 4) = %i, %vj: spatial (0, 8) = %j) reads (%T[%vi, %vj], %B[%vj]) writes (%Y[%vi, %vj]) {
        %t = tir.load %T[%vi, %vj] : !tir.buffer<[4, 8], f32>
        %b = tir.load %B[%vj] : !tir.buffer<[8], f32>
        %s = arith.addf %t, %b : f32
        tir.store %s, %Y[%vi, %vj] : !tir.buffer<[4, 8], f32>
      }
    }
  }
}

// -----

// Several results, loops that are no plain loops, and what is scheduled already: kOpaque.
// CHECK-LABEL: tir.prim_func @two_results
// CHECK-SAME:  op_pattern = 8 : i64
tir.prim_func @two_results(%X: !tir.buffer<[4], f32>, %Y: !tir.buffer<[4], f32>, %Z: !tir.buffer<[4], f32>) {
  tir.for %i in (0, 4) {
    tir.block "YZ" (%vi: spatial (0, 4) = %i) reads (%X[%vi]) writes (%Y[%vi], %Z[%vi]) {
      %x = tir.load %X[%vi] : !tir.buffer<[4], f32>
      tir.store %x, %Y[%vi] : !tir.buffer<[4], f32>
      tir.store %x, %Z[%vi] : !tir.buffer<[4], f32>
    }
  }
}
// CHECK-LABEL: tir.prim_func @scheduled
// CHECK-SAME:  op_pattern = 8 : i64
tir.prim_func @scheduled(%X: !tir.buffer<[4], f32>, %Y: !tir.buffer<[4], f32>) attributes {tir.is_scheduled = true} {
  tir.for %i in (0, 4) {
    tir.block "Y" (%vi: spatial (0, 4) = %i) reads (%X[%vi]) writes (%Y[%vi]) {
      %x = tir.load %X[%vi] : !tir.buffer<[4], f32>
      tir.store %x, %Y[%vi] : !tir.buffer<[4], f32>
    }
  }
}
// CHECK-LABEL: tir.prim_func @running_sum
// CHECK-SAME:  op_pattern = 8 : i64
tir.prim_func @running_sum(%X: !tir.buffer<[5], f32>, %Y: !tir.buffer<[5], f32>) {
  tir.for %i in (0, 4) {
    %y = tir.load %Y[%i] : !tir.buffer<[5], f32>
    %x = tir.load %X[%i] : !tir.buffer<[5], f32>
    %s = arith.addf %y, %x : f32
    tir.store %s, %Y[%i + 1] : !tir.buffer<[5], f32>
  }
}

// -----

// What a user says stays.
// CHECK-LABEL: tir.prim_func @said
// CHECK-SAME:  op_pattern = 8 : i64
tir.prim_func @said(%X: !tir.buffer<[4], f32>, %Y: !tir.buffer<[4], f32>) attributes {op_pattern = 8 : i64} {
  tir.for %i in (0, 4) {
    tir.block "Y" (%vi: spatial (0, 4) = %i) reads (%X[%vi]) writes (%Y[%vi]) {
      %x = tir.load %X[%vi] : !tir.buffer<[4], f32>
      tir.store %x, %Y[%vi] : !tir.buffer<[4], f32>
    }
  }
}

// -----

// What a block is declared to read, and does not, does not matter.
// CHECK-LABEL: tir.prim_func @declared
// CHECK-SAME:  op_pattern = 0 : i64
tir.prim_func @declared(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n], f32>) {
  tir.for %i in (0, n) {
    tir.block "Y" (%vi: spatial (0, n) = %i) reads (%X[0]) writes (%Y[%vi]) {
      %one = arith.constant 1.0 : f32
      tir.store %one, %Y[%vi] : !tir.buffer<[n], f32>
    }
  }
}
