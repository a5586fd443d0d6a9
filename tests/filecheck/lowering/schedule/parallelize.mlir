// RUN: xrelax-opt %s -p 'schedule-default{target="llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=znver4" rules=vectorize,parallelize}' --split-input-file | filecheck %s

// Rows are independent. The reduction is not: its iterations add to one element.

// CHECK-LABEL: tir.prim_func @rows
// CHECK:         tir.for %i{{[_0-9a-z]*}} in (0, {{.*}}) parallel
// CHECK-NOT:     parallel
// CHECK-LABEL: tir.prim_func @total
tir.prim_func @rows(%X: !tir.buffer<[n, 4096], f32>, %Y: !tir.buffer<[n], f32>) {
  tir.for %i in (0, n) {
    tir.for %k in (0, 4096) {
      tir.block "Y" (%vi: spatial (0, n) = %i, %vk: reduce (0, 4096) = %k) reads (%X[%vi, %vk]) writes (%Y[%vi]) {
        tir.init {
          %zero = arith.constant 0.0 : f32
          tir.store %zero, %Y[%vi] : !tir.buffer<[n], f32>
        }
        %y = tir.load %Y[%vi] : !tir.buffer<[n], f32>
        %x = tir.load %X[%vi, %vk] : !tir.buffer<[n, 4096], f32>
        %s = arith.addf %y, %x : f32
        tir.store %s, %Y[%vi] : !tir.buffer<[n], f32>
      }
    }
  }
}

tir.prim_func @total(%X: !tir.buffer<[n], i32>, %Y: !tir.buffer<[1], i32>) {
  tir.for %k in (0, n) {
    tir.block "Y" (%v: spatial (0, 1) = 0, %vk: reduce (0, n) = %k) reads (%X[%vk]) writes (%Y[0]) {
      tir.init {
        %zero = arith.constant 0 : i32
        tir.store %zero, %Y[0] : !tir.buffer<[1], i32>
      }
      %y = tir.load %Y[0] : !tir.buffer<[1], i32>
      %x = tir.load %X[%vk] : !tir.buffer<[n], i32>
      %s = arith.addi %y, %x : i32
      tir.store %s, %Y[0] : !tir.buffer<[1], i32>
    }
  }
}

// -----

// Little work of a known amount is not worth asking the run time.

// CHECK-LABEL: tir.prim_func @small
// CHECK-NOT:     parallel
tir.prim_func @small(%X: !tir.buffer<[8, 16], f32>, %Y: !tir.buffer<[8, 16], f32>) {
  tir.for %i in (0, 8) {
    tir.for %j in (0, 16) {
      tir.block "Y" (%vi: spatial (0, 8) = %i, %vj: spatial (0, 16) = %j) reads (%X[%vi, %vj]) writes (%Y[%vi, %vj]) {
        %x = tir.load %X[%vi, %vj] : !tir.buffer<[8, 16], f32>
        tir.store %x, %Y[%vi, %vj] : !tir.buffer<[8, 16], f32>
      }
    }
  }
}

// -----

// Lanes are shared out in strips.

// CHECK-LABEL: tir.prim_func @lanes
// CHECK-NEXT:    tir.for %i in (0, (n + 4095) floordiv 4096) parallel {
// CHECK-NEXT:      tir.for %i_1 in (0, min(-%i * 4096 + n, 4096)) vectorized {
tir.prim_func @lanes(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n], f32>) {
  tir.for %i in (0, n) {
    tir.block "Y" (%vi: spatial (0, n) = %i) reads (%X[%vi]) writes (%Y[%vi]) {
      %x = tir.load %X[%vi] : !tir.buffer<[n], f32>
      tir.store %x, %Y[%vi] : !tir.buffer<[n], f32>
    }
  }
}

// -----

// What a loop of one iteration holds runs as if it were outside of it: the loop over rows, not what
// is small beside it.

// CHECK-LABEL: tir.prim_func @image
// CHECK-NEXT:    tir.for %{{.*}} in (0, 1) {
// CHECK-NEXT:      tir.for %{{.*}} in (0, 64) vectorized {
// CHECK:           tir.for %{{.*}} in (1, 60) parallel {
// CHECK-NOT:     parallel
tir.prim_func @image(%X: !tir.buffer<[1, 60, 40, 64], f32>, %Y: !tir.buffer<[1, 61, 40, 64], f32>) {
  tir.for %b in (0, 1) {
    tir.for %c in (0, 64) {
      tir.block "border" (%vb: spatial (0, 1) = %b, %vc: spatial (0, 64) = %c) reads () writes (%Y[%vb, 0, 0, %vc]) {
        %zero = arith.constant 0.0 : f32
        tir.store %zero, %Y[%vb, 0, 0, %vc] : !tir.buffer<[1, 61, 40, 64], f32>
      }
    }
    tir.for %h in (1, 60) {
      tir.for %w in (0, 40) {
        tir.for %c in (0, 64) {
          tir.block "Y" (%vb: spatial (0, 1) = %b, %vh: spatial (1, 60) = %h, %vw: spatial (0, 40) = %w, %vc: spatial (0, 64) = %c) reads (%X[%vb, %vh - 1, %vw, %vc]) writes (%Y[%vb, %vh, %vw, %vc]) {
            %x = tir.load %X[%vb, %vh - 1, %vw, %vc] : !tir.buffer<[1, 60, 40, 64], f32>
            tir.store %x, %Y[%vb, %vh, %vw, %vc] : !tir.buffer<[1, 61, 40, 64], f32>
          }
        }
      }
    }
  }
}

// -----

// A copy takes as long as its bytes, which is longer than its operations. Few elements of a large
// table are few bytes.

// CHECK-LABEL: tir.prim_func @copy
// CHECK:         tir.for %{{.*}} in (0, 60) parallel {
// CHECK-LABEL: tir.prim_func @gather
// CHECK-NOT:     parallel
tir.prim_func @copy(%X: !tir.buffer<[60, 1024], f32>, %Y: !tir.buffer<[60, 1024], f32>) {
  tir.for %i in (0, 60) {
    tir.for %j in (0, 1024) {
      tir.block "Y" (%vi: spatial (0, 60) = %i, %vj: spatial (0, 1024) = %j) reads (%X[%vi, %vj]) writes (%Y[%vi, %vj]) {
        %x = tir.load %X[%vi, %vj] : !tir.buffer<[60, 1024], f32>
        tir.store %x, %Y[%vi, %vj] : !tir.buffer<[60, 1024], f32>
      }
    }
  }
}

tir.prim_func @gather(%T: !tir.buffer<[30000, 768], f32>, %I: !tir.buffer<[8], i64>, %Y: !tir.buffer<[8, 768], f32>) {
  tir.for %i in (0, 8) {
    tir.for %j in (0, 768) {
      tir.block "Y" (%vi: spatial (0, 8) = %i, %vj: spatial (0, 768) = %j) reads (%T[0 : 30000, %vj], %I[%vi]) writes (%Y[%vi, %vj]) {
        %n = tir.load %I[%vi] : !tir.buffer<[8], i64>
        %r = arith.index_cast %n : i64 to index
        %x = tir.load %T[%r, %vj] : !tir.buffer<[30000, 768], f32>
        tir.store %x, %Y[%vi, %vj] : !tir.buffer<[8, 768], f32>
      }
    }
  }
}

// -----

// A loop of one iteration between two that threads share is fused with both.

// CHECK-LABEL: tir.prim_func @between
// CHECK:         tir.for %i_n_j_fused in (0, 21) parallel {
// CHECK-NOT:     parallel
tir.prim_func @between(%X: !tir.buffer<[7, 3, 8192], f32>, %Y: !tir.buffer<[7, 3, 8192], f32>) {
  tir.for %i in (0, 7) {
    tir.for %n in (0, 1) {
      tir.for %j in (0, 3) {
        tir.for %k in (0, 8192) {
          tir.block "Y" (%vi: spatial (0, 7) = %i, %vj: spatial (0, 3) = %j, %vk: spatial (0, 8192) = %k) reads (%X[%vi, %vj, %vk]) writes (%Y[%vi, %vj, %vk]) {
            %x = tir.load %X[%vi, %vj, %vk] : !tir.buffer<[7, 3, 8192], f32>
            tir.store %x, %Y[%vi, %vj, %vk] : !tir.buffer<[7, 3, 8192], f32>
          }
        }
      }
    }
  }
}
