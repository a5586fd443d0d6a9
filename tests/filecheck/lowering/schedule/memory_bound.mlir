// RUN: xrelax-opt %s -p 'schedule-default{target="llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=znver4" rules=split-reductions,row-reductions,column-reductions,transposes,vectorize,nontemporal,parallelize}' --split-input-file | filecheck %s

// Neighbours in memory are neighbours in lanes, whatever is the innermost loop.
// CHECK-LABEL: tir.prim_func @elementwise
// CHECK:         tir.for %i in (0, n)
// CHECK-NEXT:      tir.for %j in (0, m) vectorized {
// CHECK-NEXT:        tir.block "Y"
tir.prim_func @elementwise(%X: !tir.buffer<[n, m], f32>, %B: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n, m], f32>) {
  tir.for %j in (0, m) {
    tir.for %i in (0, n) {
      tir.block "Y" (%vi: spatial (0, n) = %i, %vj: spatial (0, m) = %j) reads (%X[%vi, %vj], %B[%vi]) writes (%Y[%vi, %vj]) {
        %x = tir.load %X[%vi, %vj] : !tir.buffer<[n, m], f32>
        %b = tir.load %B[%vi] : !tir.buffer<[n], f32>
        %y = arith.addf %x, %b : f32
        tir.store %y, %Y[%vi, %vj] : !tir.buffer<[n, m], f32>
      }
    }
  }
}

// -----

// A loop that carries a result from one iteration to the next stays as it is.
// CHECK-LABEL: tir.prim_func @scan
// CHECK:         tir.for %i in (0, 64) {
// CHECK-NEXT:      tir.block "Y"
tir.prim_func @scan(%X: !tir.buffer<[64], f32>, %Y: !tir.buffer<[65], f32>) {
  tir.for %i in (0, 64) {
    tir.block "Y" (%vi: scan (0, 64) = %i) reads (%X[%vi], %Y[%vi]) writes (%Y[%vi + 1]) {
      %x = tir.load %X[%vi] : !tir.buffer<[64], f32>
      %y = tir.load %Y[%vi] : !tir.buffer<[65], f32>
      %s = arith.addf %x, %y : f32
      tir.store %s, %Y[%vi + 1] : !tir.buffer<[65], f32>
    }
  }
}

// -----

// The rows of more memory than the last cache holds are read four at a time, of less one by one.
// CHECK-LABEL: tir.prim_func @row_sums
// CHECK:         tir.for %i in (0, 1024)
// CHECK-NEXT:      tir.for %k in (0, 1000) vectorized {
// CHECK-NEXT:        tir.for %i_1 in (0, 4) unrolled {
// CHECK-NEXT:          tir.block "Y" (%vi: spatial (0, 4096) = %i * 4 + %i_1, %vk: reduce (0, 1000) = %k)
tir.prim_func @row_sums(%X: !tir.buffer<[4096, 1000], f32>, %Y: !tir.buffer<[4096], f32>) {
  tir.for %i in (0, 4096) {
    tir.for %k in (0, 1000) {
      tir.block "Y" (%vi: spatial (0, 4096) = %i, %vk: reduce (0, 1000) = %k) reads (%X[%vi, %vk]) writes (%Y[%vi]) {
        tir.init {
          %c = arith.constant 0.0 : f32
          tir.store %c, %Y[%vi] : !tir.buffer<[4096], f32>
        }
        %y = tir.load %Y[%vi] : !tir.buffer<[4096], f32>
        %x = tir.load %X[%vi, %vk] : !tir.buffer<[4096, 1000], f32>
        %q = arith.addf %y, %x : f32
        tir.store %q, %Y[%vi] : !tir.buffer<[4096], f32>
      }
    }
  }
}

// -----

// A sum of much is one of partial sums, of rows that each fit the cache.
// CHECK-LABEL: tir.prim_func @total
// CHECK:         tir.for %k in (0, 1024)
// CHECK-NEXT:      tir.for %l in (0, 1000) vectorized {
// CHECK-NEXT:        tir.for %k_1 in (0, 4) unrolled {
// CHECK-NEXT:          tir.block "Y_rf" (%v_k: spatial (0, 4096) = %k * 4 + %k_1, %vl: reduce (0, 1000) = %l)
// CHECK:         tir.for %{{.*}} in (0, 4096) vectorized {
// CHECK-NEXT:      tir.block "Y" (%{{.*}}: reduce (0, 4096) = %{{.*}})
tir.prim_func @total(%X: !tir.buffer<[4096, 1000], f32>, %Y: !tir.buffer<[], f32>) {
  tir.for %k in (0, 4096) {
    tir.for %l in (0, 1000) {
      tir.block "Y" (%vk: reduce (0, 4096) = %k, %vl: reduce (0, 1000) = %l) reads (%X[%vk, %vl]) writes (%Y[]) {
        tir.init {
          %c = arith.constant 0.0 : f32
          tir.store %c, %Y[] : !tir.buffer<[], f32>
        }
        %y = tir.load %Y[] : !tir.buffer<[], f32>
        %x = tir.load %X[%vk, %vl] : !tir.buffer<[4096, 1000], f32>
        %q = arith.addf %y, %x : f32
        tir.store %q, %Y[] : !tir.buffer<[], f32>
      }
    }
  }
}

// -----

// So is a long sum of one dim, if parts of one length cover it.
// CHECK-LABEL: tir.prim_func @long_sum
// CHECK:         tir.for %k in (0, 4)
// CHECK-NEXT:      tir.for %k_1 in (0, 12500) vectorized {
// CHECK-NEXT:        tir.block "Y_rf"
tir.prim_func @long_sum(%X: !tir.buffer<[50000], f32>, %Y: !tir.buffer<[], f32>) {
  tir.for %k in (0, 50000) {
    tir.block "Y" (%vk: reduce (0, 50000) = %k) reads (%X[%vk]) writes (%Y[]) {
      tir.init {
        %c = arith.constant 0.0 : f32
        tir.store %c, %Y[] : !tir.buffer<[], f32>
      }
      %y = tir.load %Y[] : !tir.buffer<[], f32>
      %x = tir.load %X[%vk] : !tir.buffer<[50000], f32>
      %q = arith.addf %y, %x : f32
      tir.store %q, %Y[] : !tir.buffer<[], f32>
    }
  }
}

// -----

// Sums of columns stay in the cache while rows stream by, eight of them for each load of a sum; the
// rows that are left over follow.
// CHECK-LABEL: tir.prim_func @column_sums
// CHECK:         tir.for %k in (0, 12) {
// CHECK-NEXT:      tir.for %j in (0, n) vectorized {
// CHECK-NEXT:        tir.for %k_1 in (0, 8) unrolled {
// CHECK-NEXT:          tir.block "Y_k0" (%vj: spatial (0, n) = %j, %vk: reduce (0, 96) = %k * 8 + %k_1)
// CHECK:         tir.for %{{.*}} in (96, 4) {
// CHECK-NEXT:      tir.for %{{.*}} in (0, n) vectorized {
// CHECK-NEXT:        tir.block "Y_k1"
// CHECK-NOT:     tir.init
tir.prim_func @column_sums(%X: !tir.buffer<[100, n], f32>, %Y: !tir.buffer<[n], f32>) {
  tir.for %j in (0, n) {
    tir.for %k in (0, 100) {
      tir.block "Y" (%vj: spatial (0, n) = %j, %vk: reduce (0, 100) = %k) reads (%X[%vk, %vj]) writes (%Y[%vj]) {
        tir.init {
          %c = arith.constant 0.0 : f32
          tir.store %c, %Y[%vj] : !tir.buffer<[n], f32>
        }
        %y = tir.load %Y[%vj] : !tir.buffer<[n], f32>
        %x = tir.load %X[%vk, %vj] : !tir.buffer<[100, n], f32>
        %q = arith.addf %y, %x : f32
        tir.store %q, %Y[%vj] : !tir.buffer<[n], f32>
      }
    }
  }
}

// -----

// A transpose runs over tiles of one cache line by four; what is left over is in tiles with some of
// what is before it. Rows that are stored are the longer ones here, and squares go along them.
// CHECK-LABEL: tir.prim_func @transpose(
// CHECK:         tir.for %{{.*}} in (0, 4) {
// CHECK-NEXT:      tir.for %{{.*}} in (0, 6) {
// CHECK-NEXT:      tir.for %{{.*}} in (0, 16) {
// CHECK-NEXT:        tir.for %{{.*}} in (0, 16) vectorized {
// CHECK-NEXT:          tir.block "Y_j0_i0"
// CHECK:           tir.block "Y_j0_i1" (%vi_1: spatial (54, 16) = {{.*}}, %vj_1: spatial (0, 96) = {{.*}})
// CHECK:           tir.block "Y_j1_i0" (%vi_2: spatial (0, 64) = {{.*}}, %vj_2: spatial (84, 16) = {{.*}})
// CHECK:         tir.for %{{.*}} in (0, 16) {
// CHECK-NEXT:      tir.for %{{.*}} in (0, 16) vectorized {
// CHECK-NEXT:        tir.block "Y_j1_i1" (%vi_3: spatial (54, 16) = {{.*}}, %vj_3: spatial (84, 16) = {{.*}})
tir.prim_func @transpose(%X: !tir.buffer<[100, 70], f32>, %Y: !tir.buffer<[70, 100], f32>) {
  tir.for %i in (0, 70) {
    tir.for %j in (0, 100) {
      tir.block "Y" (%vi: spatial (0, 70) = %i, %vj: spatial (0, 100) = %j) reads (%X[%vj, %vi]) writes (%Y[%vi, %vj]) {
        %x = tir.load %X[%vj, %vi] : !tir.buffer<[100, 70], f32>
        tir.store %x, %Y[%vi, %vj] : !tir.buffer<[70, 100], f32>
      }
    }
  }
}

// -----

// What loads what it stores is not repeated: the rest has loops of its own.
// CHECK-LABEL: tir.prim_func @transpose_into(
// CHECK:           tir.block "Y_j0_i0"
// CHECK:         tir.for %{{.*}} in (64, 6) {
// CHECK-NEXT:      tir.for %{{.*}} in (0, 16) vectorized {
// CHECK-NEXT:        tir.block "Y_j0_i1"
// CHECK:         tir.block "Y_j1"
tir.prim_func @transpose_into(%X: !tir.buffer<[100, 70], f32>, %Y: !tir.buffer<[70, 100], f32>) {
  tir.for %i in (0, 70) {
    tir.for %j in (0, 100) {
      tir.block "Y" (%vi: spatial (0, 70) = %i, %vj: spatial (0, 100) = %j) reads (%X[%vj, %vi], %Y[%vi, %vj]) writes (%Y[%vi, %vj]) {
        %x = tir.load %X[%vj, %vi] : !tir.buffer<[100, 70], f32>
        %y = tir.load %Y[%vi, %vj] : !tir.buffer<[70, 100], f32>
        %s = arith.addf %x, %y : f32
        tir.store %s, %Y[%vi, %vj] : !tir.buffer<[70, 100], f32>
      }
    }
  }
}

// -----

// Rows that are loaded are the longer ones: squares go along four lines of them.
// CHECK-LABEL: tir.prim_func @transpose_long(
// CHECK:         tir.for %{{.*}} in (0, 4) {
// CHECK-NEXT:      tir.for %{{.*}} in (0, 2) {
// CHECK-NEXT:        tir.for %{{.*}} in (0, 4) {
// CHECK-NEXT:          tir.for %{{.*}} in (0, 16) {
// CHECK-NEXT:            tir.for %{{.*}} in (0, 16) vectorized {
tir.prim_func @transpose_long(%X: !tir.buffer<[32, 256], f32>, %Y: !tir.buffer<[256, 32], f32>) {
  tir.for %i in (0, 256) {
    tir.for %j in (0, 32) {
      tir.block "Y" (%vi: spatial (0, 256) = %i, %vj: spatial (0, 32) = %j) reads (%X[%vj, %vi]) writes (%Y[%vi, %vj]) {
        %x = tir.load %X[%vj, %vi] : !tir.buffer<[32, 256], f32>
        tir.store %x, %Y[%vi, %vj] : !tir.buffer<[256, 32], f32>
      }
    }
  }
}

// -----

// Where nobody knows how many rows there are, full tiles come first as well, and only the last lines
// of a row may be fewer than four; rows of unknown length are taken for the longer ones.
// CHECK-LABEL: tir.prim_func @transpose_unknown(
// CHECK:         tir.for %{{.*}} in (0, (n + 48) floordiv 64) parallel {
// CHECK-NEXT:      tir.for %[[LINE:.*]] in (0, 4) {
// CHECK-NEXT:        tir.for %{{.*}} in (0, m floordiv 16) {
// CHECK-NEXT:          tir.for %{{.*}} in (0, 16) {
// CHECK-NEXT:            tir.for %{{.*}} in (0, 16) vectorized {
// CHECK-NEXT:              tir.block "Y_j0_i0" (%vi: spatial (0, (n floordiv 16) * 16) = {{.*}}, %vj: spatial (0, (m floordiv 16) * 16) = {{.*}}) where (%i * 4 + %[[LINE]] < n floordiv 16)
// CHECK:         tir.for %{{.*}} in ((n floordiv 16) * 16, n mod 16) {
// CHECK:           tir.block "Y_j0_i1"
// CHECK:         tir.for %{{.*}} in ((m floordiv 16) * 16, m mod 16) vectorized {
// CHECK-NEXT:      tir.block "Y_j1"
tir.prim_func @transpose_unknown(%X: !tir.buffer<[m, n], f32>, %Y: !tir.buffer<[n, m], f32>) {
  tir.for %i in (0, n) {
    tir.for %j in (0, m) {
      tir.block "Y" (%vi: spatial (0, n) = %i, %vj: spatial (0, m) = %j) reads (%X[%vj, %vi]) writes (%Y[%vi, %vj]) {
        %x = tir.load %X[%vj, %vi] : !tir.buffer<[m, n], f32>
        tir.store %x, %Y[%vi, %vj] : !tir.buffer<[n, m], f32>
      }
    }
  }
}

// -----

// The sums of a window stay inside of the loop over results, as straight code.
// CHECK-LABEL: tir.prim_func @window
// CHECK:         tir.for %i in (0, 30) vectorized {
// CHECK-NEXT:      tir.for %k in (0, 3) unrolled {
tir.prim_func @window(%X: !tir.buffer<[32], f32>, %Y: !tir.buffer<[30], f32>) {
  tir.for %i in (0, 30) {
    tir.for %k in (0, 3) {
      tir.block "Y" (%vi: spatial (0, 30) = %i, %vk: reduce (0, 3) = %k) reads (%X[%vi + %vk]) writes (%Y[%vi]) {
        tir.init {
          %c = arith.constant 0.0 : f32
          tir.store %c, %Y[%vi] : !tir.buffer<[30], f32>
        }
        %y = tir.load %Y[%vi] : !tir.buffer<[30], f32>
        %x = tir.load %X[%vi + %vk] : !tir.buffer<[32], f32>
        %q = arith.addf %y, %x : f32
        tir.store %q, %Y[%vi] : !tir.buffer<[30], f32>
      }
    }
  }
}

// -----

// A result that is larger than the last cache goes past the caches.
// CHECK-LABEL: tir.prim_func @large_result
// CHECK:         tir.block "Y" {{.*}} annotations {nontemporal = true} {
// CHECK:         tir.block "Z"
// CHECK-NOT:     nontemporal
tir.prim_func @large_result(%X: !tir.buffer<[4096, 1024], f32>, %Y: !tir.buffer<[4096, 1024], f32>, %Z: !tir.buffer<[1024], f32>) {
  tir.for %i in (0, 4096) {
    tir.for %j in (0, 1024) {
      tir.block "Y" (%vi: spatial (0, 4096) = %i, %vj: spatial (0, 1024) = %j) reads (%X[%vi, %vj]) writes (%Y[%vi, %vj]) {
        %x = tir.load %X[%vi, %vj] : !tir.buffer<[4096, 1024], f32>
        tir.store %x, %Y[%vi, %vj] : !tir.buffer<[4096, 1024], f32>
      }
    }
  }
  tir.for %j in (0, 1024) {
    tir.block "Z" (%vj: spatial (0, 1024) = %j) reads (%X[0, %vj]) writes (%Z[%vj]) {
      %x = tir.load %X[0, %vj] : !tir.buffer<[4096, 1024], f32>
      tir.store %x, %Z[%vj] : !tir.buffer<[1024], f32>
    }
  }
}

// -----

// So does one of half that cache, if its operands fill the other half.
// CHECK-LABEL: tir.prim_func @half
// CHECK:         tir.block "Y" {{.*}} annotations {nontemporal = true} {
tir.prim_func @half(%X: !tir.buffer<[1024, 1024], f32>, %Y: !tir.buffer<[1024, 1024], f32>) {
  tir.for %i in (0, 1024) {
    tir.for %j in (0, 1024) {
      tir.block "Y" (%vi: spatial (0, 1024) = %i, %vj: spatial (0, 1024) = %j) reads (%X[%vi, %vj]) writes (%Y[%vi, %vj]) {
        %x = tir.load %X[%vi, %vj] : !tir.buffer<[1024, 1024], f32>
        tir.store %x, %Y[%vi, %vj] : !tir.buffer<[1024, 1024], f32>
      }
    }
  }
}

// With less to read it fits, and a smaller one leaves most of the cache as it is.
// CHECK-LABEL: tir.prim_func @fits
// CHECK-NOT:     nontemporal
tir.prim_func @fits(%X: !tir.buffer<[1, 1024], f32>, %Y: !tir.buffer<[1024, 1024], f32>) {
  tir.for %i in (0, 1024) {
    tir.for %j in (0, 1024) {
      tir.block "Y" (%vi: spatial (0, 1024) = %i, %vj: spatial (0, 1024) = %j) reads (%X[0, %vj]) writes (%Y[%vi, %vj]) {
        %x = tir.load %X[0, %vj] : !tir.buffer<[1, 1024], f32>
        tir.store %x, %Y[%vi, %vj] : !tir.buffer<[1024, 1024], f32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @small_result
// CHECK-NOT:     nontemporal
tir.prim_func @small_result(%X: !tir.buffer<[1024, 4096], f32>, %Y: !tir.buffer<[1024, 512], f32>) {
  tir.for %i in (0, 1024) {
    tir.for %j in (0, 512) {
      tir.block "Y" (%vi: spatial (0, 1024) = %i, %vj: spatial (0, 512) = %j) reads (%X[%vi, %vj]) writes (%Y[%vi, %vj]) {
        %x = tir.load %X[%vi, %vj] : !tir.buffer<[1024, 4096], f32>
        tir.store %x, %Y[%vi, %vj] : !tir.buffer<[1024, 512], f32>
      }
    }
  }
}

// -----

// One that the function reads stays in the caches; so does one that is not written in order.
// CHECK-LABEL: tir.prim_func @read_again
// CHECK-NOT:     nontemporal
tir.prim_func @read_again(%X: !tir.buffer<[4096, 1024], f32>, %Y: !tir.buffer<[4096, 1024], f32>) {
  tir.for %i in (0, 4096) {
    tir.for %j in (0, 1024) {
      tir.block "Y" (%vi: spatial (0, 4096) = %i, %vj: spatial (0, 1024) = %j) reads (%X[%vi, %vj], %Y[%vi, %vj]) writes (%Y[%vi, %vj]) {
        %x = tir.load %X[%vi, %vj] : !tir.buffer<[4096, 1024], f32>
        %y = tir.load %Y[%vi, %vj] : !tir.buffer<[4096, 1024], f32>
        %s = arith.addf %x, %y : f32
        tir.store %s, %Y[%vi, %vj] : !tir.buffer<[4096, 1024], f32>
      }
    }
  }
}

// CHECK-LABEL: tir.prim_func @transpose
// CHECK-NOT:     nontemporal
tir.prim_func @transpose(%X: !tir.buffer<[4096, 1024], f32>, %Y: !tir.buffer<[1024, 4096], f32>) {
  tir.for %i in (0, 4096) {
    tir.for %j in (0, 1024) {
      tir.block "Y" (%vi: spatial (0, 4096) = %i, %vj: spatial (0, 1024) = %j) reads (%X[%vi, %vj]) writes (%Y[%vj, %vi]) {
        %x = tir.load %X[%vi, %vj] : !tir.buffer<[4096, 1024], f32>
        tir.store %x, %Y[%vj, %vi] : !tir.buffer<[1024, 4096], f32>
      }
    }
  }
}

// -----

// A sum of a few terms costs less one after the other than lanes cost to combine.
// CHECK-LABEL: tir.prim_func @short_sum
// CHECK:         tir.for %k in (0, 3) {
// CHECK-NEXT:      tir.block "Y"
tir.prim_func @short_sum(%X: !tir.buffer<[3], f32>, %Y: !tir.buffer<[1], f32>) {
  tir.for %k in (0, 3) {
    tir.block "Y" (%vk: reduce (0, 3) = %k) reads (%X[%vk]) writes (%Y[0]) {
      tir.init {
        %zero = arith.constant 0.0 : f32
        tir.store %zero, %Y[0] : !tir.buffer<[1], f32>
      }
      %y = tir.load %Y[0] : !tir.buffer<[1], f32>
      %x = tir.load %X[%vk] : !tir.buffer<[3], f32>
      %s = arith.addf %y, %x : f32
      tir.store %s, %Y[0] : !tir.buffer<[1], f32>
    }
  }
}
