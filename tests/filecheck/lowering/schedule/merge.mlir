// RUN: xrelax-opt %s -p 'schedule-default{target="llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=znver4" rules=contractions,fuse-consumers,column-reductions,transposes,vectorize,compact-buffers}' --split-input-file | filecheck %s

// An epilogue runs on the tiles of a product as soon as their sums are complete.
// CHECK-LABEL: tir.prim_func @product
// CHECK-NEXT:    tir.for %j in (0, 1) {
// CHECK-NEXT:      tir.for %i in (0, 2) {
// CHECK-NEXT:        %T = tir.alloc_buffer : !tir.buffer<[3, 8], f32>
// CHECK-NEXT:        tir.for %k in (0, 256) vectorized {
// CHECK-NEXT:          tir.for %j_1 in (0, 8) unrolled {
// CHECK-NEXT:            tir.for %i_1 in (0, 3) unrolled {
// CHECK:                   tir.store %{{.*}}, %T[%vi - %i * 3, %vj] : !tir.buffer<[3, 8], f32>
// CHECK:             tir.for %i_2 in (0, 3) unrolled {
// CHECK-NEXT:          tir.for %j_2 in (0, 8) unrolled {
// CHECK-NEXT:            tir.block "Y_i0" (%vi_1: spatial (0, 6) = %i * 3 + %i_2, %vj_1: spatial (0, 8) = %j_2) reads (%T[%vi_1 - %i * 3, %vj_1]) writes (%Y[%vi_1, %vj_1]) {
tir.prim_func @product(%X: !tir.buffer<[8, 256], f32>, %W: !tir.buffer<[8, 256], f32>, %Y: !tir.buffer<[8, 8], f32>) {
  %T = tir.alloc_buffer : !tir.buffer<[8, 8], f32>
  tir.for %i in (0, 8) {
    tir.for %j in (0, 8) {
      tir.for %k in (0, 256) {
        tir.block "T" (%vi: spatial (0, 8) = %i, %vj: spatial (0, 8) = %j, %vk: reduce (0, 256) = %k) reads (%X[%vi, %vk], %W[%vj, %vk]) writes (%T[%vi, %vj]) {
          tir.init {
            %zero = arith.constant 0.0 : f32
            tir.store %zero, %T[%vi, %vj] : !tir.buffer<[8, 8], f32>
          }
          %t = tir.load %T[%vi, %vj] : !tir.buffer<[8, 8], f32>
          %x = tir.load %X[%vi, %vk] : !tir.buffer<[8, 256], f32>
          %w = tir.load %W[%vj, %vk] : !tir.buffer<[8, 256], f32>
          %p = arith.mulf %x, %w : f32
          %s = arith.addf %t, %p : f32
          tir.store %s, %T[%vi, %vj] : !tir.buffer<[8, 8], f32>
        }
      }
    }
  }
  tir.for %i in (0, 8) {
    tir.for %j in (0, 8) {
      tir.block "Y" (%vi: spatial (0, 8) = %i, %vj: spatial (0, 8) = %j) reads (%T[%vi, %vj]) writes (%Y[%vi, %vj]) {
        %t = tir.load %T[%vi, %vj] : !tir.buffer<[8, 8], f32>
        %zero = arith.constant 0.0 : f32
        %r = arith.maximumf %t, %zero : f32
        tir.store %r, %Y[%vi, %vj] : !tir.buffer<[8, 8], f32>
      }
    }
  }
}

// -----

// The reductions of each row and what is elementwise in them share the loop over rows.
// CHECK-LABEL: tir.prim_func @rows
// CHECK-NEXT:    tir.for %i in (0, n)
// CHECK-NEXT:      %E = tir.alloc_buffer : !tir.buffer<[1, m], f32>
// CHECK-NEXT:      %M = tir.alloc_buffer : !tir.buffer<[1], f32>
// CHECK-NEXT:      tir.for %k in (0, m)
// CHECK-NEXT:        tir.block "M"
// CHECK:           tir.for %{{.*}} in (0, m)
// CHECK-NEXT:        tir.block "E"
// CHECK:           tir.for %{{.*}} in (0, m)
// CHECK-NEXT:        tir.block "Y" (%{{.*}}: spatial (0, n) = %i, %{{.*}}: reduce (0, m) = %{{.*}}) reads (%E[
// CHECK-NOT:     tir.for
tir.prim_func @rows(%X: !tir.buffer<[n, m], f32>, %Y: !tir.buffer<[n], f32>) {
  %M = tir.alloc_buffer : !tir.buffer<[n], f32>
  %E = tir.alloc_buffer : !tir.buffer<[n, m], f32>
  tir.for %i in (0, n) {
    tir.for %k in (0, m) {
      tir.block "M" (%vi: spatial (0, n) = %i, %vk: reduce (0, m) = %k) reads (%X[%vi, %vk]) writes (%M[%vi]) {
        tir.init {
          %low = arith.constant 0xFF800000 : f32
          tir.store %low, %M[%vi] : !tir.buffer<[n], f32>
        }
        %t = tir.load %M[%vi] : !tir.buffer<[n], f32>
        %x = tir.load %X[%vi, %vk] : !tir.buffer<[n, m], f32>
        %s = arith.maximumf %t, %x : f32
        tir.store %s, %M[%vi] : !tir.buffer<[n], f32>
      }
    }
  }
  tir.for %i in (0, n) {
    tir.for %j in (0, m) {
      tir.block "E" (%vi: spatial (0, n) = %i, %vj: spatial (0, m) = %j) reads (%X[%vi, %vj], %M[%vi]) writes (%E[%vi, %vj]) {
        %x = tir.load %X[%vi, %vj] : !tir.buffer<[n, m], f32>
        %t = tir.load %M[%vi] : !tir.buffer<[n], f32>
        %d = arith.subf %x, %t : f32
        %e = math.exp %d : f32
        tir.store %e, %E[%vi, %vj] : !tir.buffer<[n, m], f32>
      }
    }
  }
  tir.for %i in (0, n) {
    tir.for %k in (0, m) {
      tir.block "Y" (%vi: spatial (0, n) = %i, %vk: reduce (0, m) = %k) reads (%E[%vi, %vk]) writes (%Y[%vi]) {
        tir.init {
          %zero = arith.constant 0.0 : f32
          tir.store %zero, %Y[%vi] : !tir.buffer<[n], f32>
        }
        %t = tir.load %Y[%vi] : !tir.buffer<[n], f32>
        %e = tir.load %E[%vi, %vk] : !tir.buffer<[n, m], f32>
        %s = arith.addf %t, %e : f32
        tir.store %s, %Y[%vi] : !tir.buffer<[n], f32>
      }
    }
  }
}

// -----

// Rows of two dims, of which the inner one has many: each row stays in the cache for its second sum.
// CHECK-LABEL: tir.prim_func @rows_of_two_dims
// CHECK:         tir.for %i in (0, 3)
// CHECK-NEXT:      tir.for %j in (0, 509)
// CHECK-NEXT:        %M = tir.alloc_buffer : !tir.buffer<[1, 1], f32>
// CHECK-NEXT:        tir.for %k in (0, 400) vectorized
// CHECK-NEXT:          tir.block "M"
// CHECK:             tir.for %k_1 in (0, 400) vectorized
// CHECK-NEXT:          tir.block "Y"
// CHECK-NOT:     tir.for
tir.prim_func @rows_of_two_dims(%X: !tir.buffer<[3, 509, 400], f32>, %Y: !tir.buffer<[3, 509], f32>) {
  %M = tir.alloc_buffer : !tir.buffer<[3, 509], f32>
  tir.for %i in (0, 3) {
    tir.for %j in (0, 509) {
      tir.for %k in (0, 400) {
        tir.block "M" (%vi: spatial (0, 3) = %i, %vj: spatial (0, 509) = %j, %vk: reduce (0, 400) = %k) reads (%X[%vi, %vj, %vk]) writes (%M[%vi, %vj]) {
          tir.init {
            %low = arith.constant 0xFF800000 : f32
            tir.store %low, %M[%vi, %vj] : !tir.buffer<[3, 509], f32>
          }
          %t = tir.load %M[%vi, %vj] : !tir.buffer<[3, 509], f32>
          %x = tir.load %X[%vi, %vj, %vk] : !tir.buffer<[3, 509, 400], f32>
          %s = arith.maximumf %t, %x : f32
          tir.store %s, %M[%vi, %vj] : !tir.buffer<[3, 509], f32>
        }
      }
    }
  }
  tir.for %i in (0, 3) {
    tir.for %j in (0, 509) {
      tir.for %k in (0, 400) {
        tir.block "Y" (%vi: spatial (0, 3) = %i, %vj: spatial (0, 509) = %j, %vk: reduce (0, 400) = %k) reads (%X[%vi, %vj, %vk], %M[%vi, %vj]) writes (%Y[%vi, %vj]) {
          tir.init {
            %zero = arith.constant 0.0 : f32
            tir.store %zero, %Y[%vi, %vj] : !tir.buffer<[3, 509], f32>
          }
          %t = tir.load %Y[%vi, %vj] : !tir.buffer<[3, 509], f32>
          %x = tir.load %X[%vi, %vj, %vk] : !tir.buffer<[3, 509, 400], f32>
          %m = tir.load %M[%vi, %vj] : !tir.buffer<[3, 509], f32>
          %d = arith.subf %x, %m : f32
          %s = arith.addf %t, %d : f32
          tir.store %s, %Y[%vi, %vj] : !tir.buffer<[3, 509], f32>
        }
      }
    }
  }
}

// -----

// What another iteration makes is not there yet: the nests stay apart.
// CHECK-LABEL: tir.prim_func @reversed
// CHECK-NEXT:    %T = tir.alloc_buffer : !tir.buffer<[4, 4], f32>
// CHECK-NEXT:    tir.for
// CHECK-NEXT:      tir.for
// CHECK-NEXT:        tir.block "T"
// CHECK:         tir.for
// CHECK-NEXT:      tir.for
// CHECK-NEXT:        tir.block "Y"
tir.prim_func @reversed(%X: !tir.buffer<[4, 4], f32>, %Y: !tir.buffer<[4, 4], f32>) {
  %T = tir.alloc_buffer : !tir.buffer<[4, 4], f32>
  tir.for %i in (0, 4) {
    tir.for %j in (0, 4) {
      tir.block "T" (%vi: spatial (0, 4) = %i, %vj: spatial (0, 4) = %j) reads (%X[%vi, %vj]) writes (%T[%vi, %vj]) {
        %x = tir.load %X[%vi, %vj] : !tir.buffer<[4, 4], f32>
        tir.store %x, %T[%vi, %vj] : !tir.buffer<[4, 4], f32>
      }
    }
  }
  tir.for %i in (0, 4) {
    tir.for %j in (0, 4) {
      tir.block "Y" (%vi: spatial (0, 4) = %i, %vj: spatial (0, 4) = %j) reads (%T[3 - %vi, %vj]) writes (%Y[%vi, %vj]) {
        %t = tir.load %T[3 - %vi, %vj] : !tir.buffer<[4, 4], f32>
        tir.store %t, %Y[%vi, %vj] : !tir.buffer<[4, 4], f32>
      }
    }
  }
}

// -----

// A reduction across rows runs in lanes over its results, as does one that follows it: what uses
// them has a nest of its own.
// CHECK-LABEL: tir.prim_func @columns
// CHECK:         tir.for %k in (0, 50)
// CHECK-NEXT:      tir.for %j in (0, 1024) vectorized
// CHECK-NEXT:        tir.for %{{.*}} in (0, 8) unrolled
// CHECK-NEXT:          tir.block "M"
// CHECK:         tir.for %{{.*}} in (0, 50)
// CHECK-NEXT:      tir.for %{{.*}} in (0, 1024) vectorized
// CHECK-NEXT:        tir.for %{{.*}} in (0, 8) unrolled
// CHECK-NEXT:          tir.block "S"
// CHECK:         tir.for %{{.*}} in (0, 400)
// CHECK-NEXT:      tir.for %{{.*}} in (0, 1024) vectorized
// CHECK-NEXT:        tir.block "Y"
tir.prim_func @columns(%X: !tir.buffer<[400, 1024], f32>, %Y: !tir.buffer<[400, 1024], f32>) {
  %M = tir.alloc_buffer : !tir.buffer<[1024], f32>
  %S = tir.alloc_buffer : !tir.buffer<[1024], f32>
  tir.for %j in (0, 1024) {
    tir.for %k in (0, 400) {
      tir.block "M" (%vj: spatial (0, 1024) = %j, %vk: reduce (0, 400) = %k) reads (%X[%vk, %vj]) writes (%M[%vj]) {
        tir.init {
          %zero = arith.constant 0.0 : f32
          tir.store %zero, %M[%vj] : !tir.buffer<[1024], f32>
        }
        %m = tir.load %M[%vj] : !tir.buffer<[1024], f32>
        %x = tir.load %X[%vk, %vj] : !tir.buffer<[400, 1024], f32>
        %n = arith.maximumf %m, %x : f32
        tir.store %n, %M[%vj] : !tir.buffer<[1024], f32>
      }
    }
  }
  tir.for %j in (0, 1024) {
    tir.for %k in (0, 400) {
      tir.block "S" (%vj: spatial (0, 1024) = %j, %vk: reduce (0, 400) = %k) reads (%X[%vk, %vj], %M[%vj]) writes (%S[%vj]) {
        tir.init {
          %zero = arith.constant 0.0 : f32
          tir.store %zero, %S[%vj] : !tir.buffer<[1024], f32>
        }
        %s = tir.load %S[%vj] : !tir.buffer<[1024], f32>
        %x = tir.load %X[%vk, %vj] : !tir.buffer<[400, 1024], f32>
        %m = tir.load %M[%vj] : !tir.buffer<[1024], f32>
        %d = arith.subf %x, %m : f32
        %t = arith.addf %s, %d : f32
        tir.store %t, %S[%vj] : !tir.buffer<[1024], f32>
      }
    }
  }
  tir.for %k in (0, 400) {
    tir.for %j in (0, 1024) {
      tir.block "Y" (%vk: spatial (0, 400) = %k, %vj: spatial (0, 1024) = %j) reads (%X[%vk, %vj], %S[%vj]) writes (%Y[%vk, %vj]) {
        %x = tir.load %X[%vk, %vj] : !tir.buffer<[400, 1024], f32>
        %s = tir.load %S[%vj] : !tir.buffer<[1024], f32>
        %y = arith.subf %x, %s : f32
        tir.store %y, %Y[%vk, %vj] : !tir.buffer<[400, 1024], f32>
      }
    }
  }
}

// -----

// Tiles reach beyond the last of 40 columns; the transposition of their results does not.
// CHECK-LABEL: tir.prim_func @swapped_operands
// CHECK:         tir.block "Z{{[^"]*}}" (%{{.*}}: spatial (0, 32) = {{.*}}) reads
// CHECK:         tir.block "Z{{[^"]*}}" (%{{.*}}: spatial (24, 16) = {{.*}}) reads
// CHECK-NOT:     where
tir.prim_func @swapped_operands(%X: !tir.buffer<[64, 99], f32>, %W: !tir.buffer<[1, 99, 48], f32>, %Z: !tir.buffer<[40, 64], f32>) {
  %T = tir.alloc_buffer : !tir.buffer<[64, 40], f32>
  tir.for %i in (0, 64) {
    tir.for %j in (0, 40) {
      tir.for %k in (0, 99) {
        tir.block "T" (%vi: spatial (0, 64) = %i, %vj: spatial (0, 40) = %j, %vk: reduce (0, 99) = %k) reads (%X[%vi, %vk], %W[0, %vk, %vj]) writes (%T[%vi, %vj]) {
          tir.init {
            %zero = arith.constant 0.0 : f32
            tir.store %zero, %T[%vi, %vj] : !tir.buffer<[64, 40], f32>
          }
          %x = tir.load %X[%vi, %vk] : !tir.buffer<[64, 99], f32>
          %w = tir.load %W[0, %vk, %vj] : !tir.buffer<[1, 99, 48], f32>
          %p = arith.mulf %x, %w : f32
          %s = tir.load %T[%vi, %vj] : !tir.buffer<[64, 40], f32>
          %a = arith.addf %s, %p : f32
          tir.store %a, %T[%vi, %vj] : !tir.buffer<[64, 40], f32>
        }
      }
    }
  }
  tir.for %j in (0, 40) {
    tir.for %i in (0, 64) {
      tir.block "Z" (%vj: spatial (0, 40) = %j, %vi: spatial (0, 64) = %i) reads (%T[%vi, %vj]) writes (%Z[%vj, %vi]) {
        %t = tir.load %T[%vi, %vj] : !tir.buffer<[64, 40], f32>
        tir.store %t, %Z[%vj, %vi] : !tir.buffer<[40, 64], f32>
      }
    }
  }
}

// -----

// Loops inside of a block that stores several elements are part of it: what follows runs behind it.
// CHECK-LABEL: tir.prim_func @inner_loops
// CHECK:           tir.block "T" (%{{.*}}: spatial (0, 4) = %i)
// CHECK-NEXT:        tir.for %j in (0, 8)
// CHECK:           tir.for %{{.*}} in (0, 8) vectorized
// CHECK-NEXT:        tir.block "Y"
tir.prim_func @inner_loops(%X: !tir.buffer<[4, 8], f32>, %Y: !tir.buffer<[4, 8], f32>) {
  %T = tir.alloc_buffer : !tir.buffer<[4, 8], f32>
  tir.for %i in (0, 4) {
    tir.block "T" (%vi: spatial (0, 4) = %i) reads (%X[%vi, 0 : 8]) writes (%T[%vi, 0 : 8]) {
      tir.for %j in (0, 8) {
        %x = tir.load %X[%vi, %j] : !tir.buffer<[4, 8], f32>
        %s = arith.mulf %x, %x : f32
        tir.store %s, %T[%vi, %j] : !tir.buffer<[4, 8], f32>
      }
    }
  }
  tir.for %i in (0, 4) {
    tir.for %j in (0, 8) {
      tir.block "Y" (%vi: spatial (0, 4) = %i, %vj: spatial (0, 8) = %j) reads (%T[%vi, %vj]) writes (%Y[%vi, %vj]) {
        %t = tir.load %T[%vi, %vj] : !tir.buffer<[4, 8], f32>
        tir.store %t, %Y[%vi, %vj] : !tir.buffer<[4, 8], f32>
      }
    }
  }
}

// -----

// Factors of columns, which all rows share, keep their loop: the rows stay whole for vectors.
// CHECK-LABEL: tir.prim_func @factors
// CHECK-NEXT:    %T = tir.alloc_buffer : !tir.buffer<[64], f32>
// CHECK-NEXT:    tir.for %j in (0, 64) vectorized {
// CHECK:         tir.for %i in (0, 32) {
// CHECK-NEXT:      tir.for %j_1 in (0, 64) vectorized {
// CHECK-NEXT:        tir.block "Y"
tir.prim_func @factors(%X: !tir.buffer<[32, 64], f32>, %S: !tir.buffer<[64], f32>, %Y: !tir.buffer<[32, 64], f32>) {
  %T = tir.alloc_buffer : !tir.buffer<[64], f32>
  tir.for %j in (0, 64) {
    tir.block "T" (%vj: spatial (0, 64) = %j) reads (%S[%vj]) writes (%T[%vj]) {
      %s = tir.load %S[%vj] : !tir.buffer<[64], f32>
      %r = math.rsqrt %s : f32
      tir.store %r, %T[%vj] : !tir.buffer<[64], f32>
    }
  }
  tir.for %i in (0, 32) {
    tir.for %j in (0, 64) {
      tir.block "Y" (%vi: spatial (0, 32) = %i, %vj: spatial (0, 64) = %j) reads (%X[%vi, %vj], %T[%vj]) writes (%Y[%vi, %vj]) {
        %x = tir.load %X[%vi, %vj] : !tir.buffer<[32, 64], f32>
        %t = tir.load %T[%vj] : !tir.buffer<[64], f32>
        %y = arith.mulf %x, %t : f32
        tir.store %y, %Y[%vi, %vj] : !tir.buffer<[32, 64], f32>
      }
    }
  }
}
