// RUN: xrelax-opt %s --split-input-file | filecheck %s

// Programs that stay inside of their buffers and regions although intervals alone cannot tell.

// Quotient and remainder of one loop cancel.
// CHECK-LABEL: @remainder
tir.prim_func @remainder(%X: !tir.buffer<[4], f32>) {
  tir.for %i in (0, 16) {
    %v = tir.load %X[%i - (%i floordiv 4) * 4] : !tir.buffer<[4], f32>
    %w = tir.load %X[%i * 2 mod 3] : !tir.buffer<[4], f32>
  }
}

// A triangle: j never exceeds i.
// CHECK-LABEL: @triangle
tir.prim_func @triangle(%X: !tir.buffer<[n], f32>) {
  tir.for %i in (0, n) {
    tir.for %j in (0, %i + 1) {
      %v = tir.load %X[%i - %j] : !tir.buffer<[n], f32>
    }
  }
}

// Two axes of one loop.
// CHECK-LABEL: @diagonal
tir.prim_func @diagonal(%X: !tir.buffer<[4], f32>) {
  tir.for %i in (0, 4) {
    tir.block "b" (%u: spatial (0, 4) = %i, %v: spatial (0, 4) = %i) reads (%X[%u - %v]) {
      %x = tir.load %X[%u - %v] : !tir.buffer<[4], f32>
    }
  }
}

// Loops without iterations access nothing, whatever their bodies say.
// CHECK-LABEL: @zero_extent
tir.prim_func @zero_extent(%X: !tir.buffer<[0, 4], f32>) {
  tir.for %i in (0, 0) {
    tir.for %j in (0, 4) {
      tir.block "b" (%u: spatial (0, 0) = %i, %v: spatial (0, 4) = %j) reads (%X[%u, %v + 1]) {
        %x = tir.load %X[%u, %v + 1] : !tir.buffer<[0, 4], f32>
      }
    }
  }
}

// The predicate keeps the tail of the last tile, and a neighbour, inside.
// CHECK-LABEL: @predicate
tir.prim_func @predicate(%X: !tir.buffer<[17], f32>) {
  tir.for %i in (0, 5) {
    tir.for %j in (0, 4) {
      tir.block "b" (%v: spatial (0, 17) = %i * 4 + %j) where (%i * 4 + %j < 16) reads (%X[%v : 2]) {
        %x = tir.load %X[%v + 1] : !tir.buffer<[17], f32>
      }
    }
  }
}

// Conditions on data guard what is inside: padding, and Python's `and`.
// CHECK-LABEL: @conditional
tir.prim_func @conditional(%X: !tir.buffer<[16], f32>, %ok: i1) {
  tir.for %i in (0, 18) {
    %v = scf.if %ok -> (f32) {
      %x = tir.load %X[%i - 1] : !tir.buffer<[16], f32>
      scf.yield %x : f32
    } else {
      %z = arith.constant 0.0 : f32
      scf.yield %z : f32
    }
  }
}

// Indices that depend on data, and symbols that may turn out equal.
// CHECK-LABEL: @unknown
tir.prim_func @unknown(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[m], f32>, %I: !tir.buffer<[n], i64>) {
  tir.for %i in (0, n) {
    %y = tir.load %Y[%i] : !tir.buffer<[m], f32>
    %d = tir.load %I[%i] : !tir.buffer<[n], i64>
    %k = arith.index_cast %d : i64 to index
    %x = tir.load %X[%k - 1] : !tir.buffer<[n], f32>
  }
}

// An initialization runs in the first iteration of the reduction alone.
// CHECK-LABEL: @init
tir.prim_func @init(%X: !tir.buffer<[1], f32>) {
  tir.for %k in (0, 8) {
    tir.block "b" (%vk: reduce (0, 8) = %k) writes (%X[0]) {
      tir.init {
        %c = arith.constant 0.0 : f32
        tir.for %j in (%vk, 1) {
          tir.store %c, %X[0] : !tir.buffer<[1], f32>
        }
      }
    }
  }
}

// -----

// What a block allocates needs no declaration; a reduction may index scratch memory; the root block
// declares nothing, as in TVM.
// CHECK-LABEL: @scratch
tir.prim_func @scratch(%X: !tir.buffer<[4], f32>) {
  tir.block "root" () {
    tir.for %k in (0, 4) {
      tir.block "b" (%vk: reduce (0, 4) = %k) reads (%X[%vk]) {
        %S = tir.alloc_buffer : !tir.buffer<[4], f32>
        %x = tir.load %X[%vk] : !tir.buffer<[4], f32>
        tir.store %x, %S[%vk] : !tir.buffer<[4], f32>
      }
    }
  }
}

// A histogram: where the reduction writes depends on data, not on its axis.
// CHECK-LABEL: @histogram
tir.prim_func @histogram(%I: !tir.buffer<[64], i64>, %H: !tir.buffer<[8], i64>) {
  tir.for %k in (0, 64) {
    tir.block "h" (%vk: reduce (0, 64) = %k) reads (%I[%vk]) writes (%H[0 : 8]) {
      %d = tir.load %I[%vk] : !tir.buffer<[64], i64>
      %b = arith.index_cast %d : i64 to index
      %h = tir.load %H[%b] : !tir.buffer<[8], i64>
      %s = arith.addi %h, %d : i64
      tir.store %s, %H[%b] : !tir.buffer<[8], i64>
    }
  }
}

// Axes over part of a buffer, in steps that together cover their range, and of no range at all.
// CHECK-LABEL: @axes
tir.prim_func @axes(%X: !tir.buffer<[20], f32>) {
  tir.for %i in (0, 4) {
    tir.for %j in (0, 4) {
      tir.block "steps" (%v: spatial (2, 16) = %i * 4 + %j + 2, %o: opaque (0, 16) = %i * 4, %e: spatial (0, 1) = 0) reads (%X[%v]) {
        %x = tir.load %X[%v] : !tir.buffer<[20], f32>
      }
    }
  }
}

// Axes that take some values of their ranges only, as in TVM.
// CHECK-LABEL: @some
tir.prim_func @some(%X: !tir.buffer<[32], f32>) {
  tir.for %i in (1, 8) {
    tir.block "some" (%v: spatial (0, 32) = %i * 2, %k: reduce (0, 32) = %i) writes (%X[%v]) {
      %one = arith.constant 1.0 : f32
      tir.store %one, %X[%v] : !tir.buffer<[32], f32>
    }
  }
}

// Iterations of spatial axes store to one element, and accumulate in elements of their own.
// CHECK-LABEL: @spatial
tir.prim_func @spatial(%X: !tir.buffer<[32], f32>, %Y: !tir.buffer<[n, 32], f32>, %I: !tir.buffer<[32], i64>) {
  tir.for %i in (0, 32) {
    tir.block "copies" (%v: spatial (0, 32) = %i) reads (%X[0 : 32]) writes (%X[0]) {
      %x = tir.load %X[%v] : !tir.buffer<[32], f32>
      tir.store %x, %X[0] : !tir.buffer<[32], f32>
    }
    tir.block "digits" (%h: spatial (0, 4) = %i floordiv 8, %l: spatial (0, 8) = %i mod 8) writes (%X[%h * 8 + %l]) {
      %x = tir.load %X[%h * 8 + %l] : !tir.buffer<[32], f32>
      %d = arith.addf %x, %x : f32
      tir.store %d, %X[%h * 8 + %l] : !tir.buffer<[32], f32>
    }
    tir.block "from data" (%v: spatial (0, 32) = %i) reads (%I[%v]) writes (%X[0 : 32]) {
      %p = tir.load %I[%v] : !tir.buffer<[32], i64>
      %q = arith.index_cast %p : i64 to index
      %x = tir.load %X[%q] : !tir.buffer<[32], f32>
      %d = arith.addf %x, %x : f32
      tir.store %d, %X[%q] : !tir.buffer<[32], f32>
    }
    tir.for %j in (0, 1) {
      tir.block "one" (%v: spatial (0, 1) = %j, %w: spatial (0, 32) = %i) writes (%Y[%v, %w]) {
        %x = tir.load %Y[%v, %w] : !tir.buffer<[n, 32], f32>
        %d = arith.addf %x, %x : f32
        tir.store %d, %Y[%v, %w] : !tir.buffer<[n, 32], f32>
      }
    }
  }
}

// A block in a block, through a view of what the outer one declares.
// CHECK-LABEL: @view
tir.prim_func @view(%X: !tir.buffer<[16], f32>) {
  tir.for %i in (0, 4) {
    tir.block "outer" (%o: spatial (0, 4) = %i) reads (%X[%o * 4 : 4]) {
      %V = tir.match_buffer %X[%o * 4] : !tir.buffer<[16], f32> to !tir.buffer<[4], f32>
      tir.for %j in (0, 4) {
        tir.block "inner" (%v: spatial (0, 4) = %j) reads (%V[%v]) {
          %x = tir.load %V[%v] : !tir.buffer<[4], f32>
        }
      }
    }
  }
}
