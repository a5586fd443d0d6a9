// RUN: xrelax-opt %s -p 'schedule-default{target="llvm -mcpu=haswell" rules=contractions}' --split-input-file | filecheck %s

// Rows and columns that tiles do not divide: the loop over k has no condition, and rows that do not
// exist repeat the last one; what is stored is masked. A panel of columns is copied in front of the
// tiles that use it.

// CHECK-LABEL: tir.prim_func @symbolic
// CHECK:       tir.for %j in (0, (n + 23) floordiv 24)
// CHECK-NEXT:    %W_global = tir.alloc_buffer : !tir.buffer<[16, 24], f32>
// CHECK:         tir.block "W_global" ({{.*}}) where (%ax1 * 8 + %ax1_1 + %j * 24 < n)
// CHECK:         tir.for %i in (0, (m + 3) floordiv 4) {
// CHECK-NEXT:      %Y_global = tir.alloc_buffer : !tir.buffer<[4, 24], f32>
// CHECK:           tir.block "Y_init"
// CHECK:           tir.for %k in (0, 16) {
// CHECK-NEXT:        tir.for %i_2 in (0, 4) unrolled {
// CHECK-NEXT:          tir.for %j_3 in (0, 3) unrolled {
// CHECK-NEXT:            tir.for %j_4 in (0, 8) vectorized {
// CHECK-NEXT:              tir.block "Y_update" ({{.*}}%vk: reduce (0, 16) = %k) reads
// CHECK:                     tir.load %X[min(%vi_1, m - 1), %vk]
// CHECK:           tir.block "Y_global" ({{.*}}) where (%i * 4 + %ax0_1 < m, %ax1_2 * 8 + %ax1_3 + %j * 24 < n)
tir.prim_func @symbolic(%X: !tir.buffer<[m, 16], f32>, %W: !tir.buffer<[16, n], f32>, %Y: !tir.buffer<[m, n], f32>) {
  tir.for %i in (0, m) {
    tir.for %j in (0, n) {
      tir.for %k in (0, 16) {
        tir.block "Y" (%vi: spatial (0, m) = %i, %vj: spatial (0, n) = %j, %vk: reduce (0, 16) = %k) reads (%X[%vi, %vk], %W[%vk, %vj]) writes (%Y[%vi, %vj]) {
          tir.init {
            %c = arith.constant 0.0 : f32
            tir.store %c, %Y[%vi, %vj] : !tir.buffer<[m, n], f32>
          }
          %y = tir.load %Y[%vi, %vj] : !tir.buffer<[m, n], f32>
          %x = tir.load %X[%vi, %vk] : !tir.buffer<[m, 16], f32>
          %w = tir.load %W[%vk, %vj] : !tir.buffer<[16, n], f32>
          %p = arith.mulf %x, %w : f32
          %q = arith.addf %y, %p : f32
          tir.store %q, %Y[%vi, %vj] : !tir.buffer<[m, n], f32>
        }
      }
    }
  }
}

// -----

// Columns that are not neighbours become so in the panel, square by square.

// CHECK-LABEL: tir.prim_func @transposed
// CHECK:       %W_global = tir.alloc_buffer : !tir.buffer<[64, 24], f32>
// CHECK-NEXT:  tir.for %ax0 in (0, 3) {
// CHECK-NEXT:    tir.for %ax1 in (0, 8) {
// CHECK-NEXT:      tir.for %ax1_1 in (0, 8) {
// CHECK-NEXT:        tir.for %ax0_1 in (0, 8) vectorized {
// CHECK-NEXT:          tir.block "W_global"
// CHECK:                 tir.store %{{.*}}, %W_global[%v_ax1, %v_ax0 - %{{.*}} * 24]
tir.prim_func @transposed(%X: !tir.buffer<[48, 64], f32>, %W: !tir.buffer<[48, 64], f32>, %Y: !tir.buffer<[48, 48], f32>) {
  tir.for %i in (0, 48) {
    tir.for %j in (0, 48) {
      tir.for %k in (0, 64) {
        tir.block "Y" (%vi: spatial (0, 48) = %i, %vj: spatial (0, 48) = %j, %vk: reduce (0, 64) = %k) reads (%X[%vi, %vk], %W[%vj, %vk]) writes (%Y[%vi, %vj]) {
          tir.init {
            %c = arith.constant 0.0 : f32
            tir.store %c, %Y[%vi, %vj] : !tir.buffer<[48, 48], f32>
          }
          %y = tir.load %Y[%vi, %vj] : !tir.buffer<[48, 48], f32>
          %x = tir.load %X[%vi, %vk] : !tir.buffer<[48, 64], f32>
          %w = tir.load %W[%vj, %vk] : !tir.buffer<[48, 64], f32>
          %p = arith.mulf %x, %w : f32
          %q = arith.addf %y, %p : f32
          tir.store %q, %Y[%vi, %vj] : !tir.buffer<[48, 48], f32>
        }
      }
    }
  }
}

// -----

// With few rows the operands are swapped: rows are vectorized, and results are transposed at
// the end: the other operand is read as it is.

// CHECK-LABEL: tir.prim_func @few_rows
// CHECK:       %Y_global = tir.alloc_buffer : !tir.buffer<[96, 8], f32>
// CHECK:       %X_global = tir.alloc_buffer : !tir.buffer<[64, 8], f32>
// CHECK-NOT:   %W_global
// CHECK:       tir.block "Y_update
// CHECK:       tir.load %X_global[%vk, %vi
// CHECK:       tir.load %W[%vj
// CHECK:       tir.load %Y_global[%v_ax1{{.*}}, %v_ax0{{.*}}]
// CHECK-NEXT:  tir.store %{{.*}}, %Y[%v_ax0{{.*}}, %v_ax1{{.*}}]
tir.prim_func @few_rows(%X: !tir.buffer<[8, 64], f32>, %W: !tir.buffer<[96, 64], f32>, %Y: !tir.buffer<[8, 96], f32>) {
  tir.for %i in (0, 8) {
    tir.for %j in (0, 96) {
      tir.for %k in (0, 64) {
        tir.block "Y" (%vi: spatial (0, 8) = %i, %vj: spatial (0, 96) = %j, %vk: reduce (0, 64) = %k) reads (%X[%vi, %vk], %W[%vj, %vk]) writes (%Y[%vi, %vj]) {
          tir.init {
            %c = arith.constant 0.0 : f32
            tir.store %c, %Y[%vi, %vj] : !tir.buffer<[8, 96], f32>
          }
          %y = tir.load %Y[%vi, %vj] : !tir.buffer<[8, 96], f32>
          %x = tir.load %X[%vi, %vk] : !tir.buffer<[8, 64], f32>
          %w = tir.load %W[%vj, %vk] : !tir.buffer<[96, 64], f32>
          %p = arith.mulf %x, %w : f32
          %q = arith.addf %y, %p : f32
          tir.store %q, %Y[%vi, %vj] : !tir.buffer<[8, 96], f32>
        }
      }
    }
  }
}

// -----

// A layout-free operand is read from panels.

// CHECK-LABEL: tir.prim_func @panels
// CHECK-NOT:   alloc_buffer : !tir.buffer<[32, 24]
// CHECK:       tir.load %W[%vj_1 floordiv 24, %vk, %vj_1 mod 24]
tir.prim_func @panels(%X: !tir.buffer<[12, 32], f32>, %W: !tir.buffer<[32, 40], f32>, %Y: !tir.buffer<[12, 40], f32>) attributes {layout_free_buffers = [1], private} {
  tir.for %i in (0, 12) {
    tir.for %j in (0, 40) {
      tir.for %k in (0, 32) {
        tir.block "Y" (%vi: spatial (0, 12) = %i, %vj: spatial (0, 40) = %j, %vk: reduce (0, 32) = %k) reads (%X[%vi, %vk], %W[%vk, %vj]) writes (%Y[%vi, %vj]) {
          tir.init {
            %c = arith.constant 0.0 : f32
            tir.store %c, %Y[%vi, %vj] : !tir.buffer<[12, 40], f32>
          }
          %y = tir.load %Y[%vi, %vj] : !tir.buffer<[12, 40], f32>
          %x = tir.load %X[%vi, %vk] : !tir.buffer<[12, 32], f32>
          %w = tir.load %W[%vk, %vj] : !tir.buffer<[32, 40], f32>
          %p = arith.mulf %x, %w : f32
          %q = arith.addf %y, %p : f32
          tir.store %q, %Y[%vi, %vj] : !tir.buffer<[12, 40], f32>
        }
      }
    }
  }
}

// -----

// What uses each result once works on the tile.

// CHECK-LABEL: tir.prim_func @epilogue
// CHECK:       tir.block "T_update"
// CHECK:       tir.block "Y" ({{.*}}) reads (%T[%{{.*}} - %{{.*}}, %{{.*}} - %{{.*}}], %B[%{{.*}}]) writes
tir.prim_func @epilogue(%X: !tir.buffer<[48, 64], f32>, %W: !tir.buffer<[64, 48], f32>, %B: !tir.buffer<[48], f32>, %Y: !tir.buffer<[48, 48], f32>) {
  %T = tir.alloc_buffer : !tir.buffer<[48, 48], f32>
  tir.for %i in (0, 48) {
    tir.for %j in (0, 48) {
      tir.for %k in (0, 64) {
        tir.block "T" (%vi: spatial (0, 48) = %i, %vj: spatial (0, 48) = %j, %vk: reduce (0, 64) = %k) reads (%X[%vi, %vk], %W[%vk, %vj]) writes (%T[%vi, %vj]) {
          tir.init {
            %c = arith.constant 0.0 : f32
            tir.store %c, %T[%vi, %vj] : !tir.buffer<[48, 48], f32>
          }
          %y = tir.load %T[%vi, %vj] : !tir.buffer<[48, 48], f32>
          %x = tir.load %X[%vi, %vk] : !tir.buffer<[48, 64], f32>
          %w = tir.load %W[%vk, %vj] : !tir.buffer<[64, 48], f32>
          %p = arith.mulf %x, %w : f32
          %q = arith.addf %y, %p : f32
          tir.store %q, %T[%vi, %vj] : !tir.buffer<[48, 48], f32>
        }
      }
    }
  }
  tir.for %i in (0, 48) {
    tir.for %j in (0, 48) {
      tir.block "Y" (%vi: spatial (0, 48) = %i, %vj: spatial (0, 48) = %j) reads (%T[%vi, %vj], %B[%vj]) writes (%Y[%vi, %vj]) {
        %t = tir.load %T[%vi, %vj] : !tir.buffer<[48, 48], f32>
        %b = tir.load %B[%vj] : !tir.buffer<[48], f32>
        %s = arith.addf %t, %b : f32
        tir.store %s, %Y[%vi, %vj] : !tir.buffer<[48, 48], f32>
      }
    }
  }
}

// -----

// Columns that few rows use are read where they are; those that make up no tile are copied.

// CHECK-LABEL: tir.prim_func @in_place
// CHECK-NEXT:  %W_global = tir.alloc_buffer
// CHECK-NEXT:  tir.for %j in (0, 3) {
// CHECK:         tir.load %W[%vk, %vj_1] : !tir.buffer<[64, 52], f32>
// CHECK:       tir.block "W_global" ({{.*}} spatial (48, 4) = {{.*}}) where
// CHECK:       tir.for %{{.*}} in (3, 1) {
// CHECK:         tir.load %W_global[%vk_1,
tir.prim_func @in_place(%X: !tir.buffer<[48, 64], f32>, %W: !tir.buffer<[64, 52], f32>, %Y: !tir.buffer<[48, 52], f32>) {
  tir.for %i in (0, 48) {
    tir.for %j in (0, 52) {
      tir.for %k in (0, 64) {
        tir.block "Y" (%vi: spatial (0, 48) = %i, %vj: spatial (0, 52) = %j, %vk: reduce (0, 64) = %k) reads (%X[%vi, %vk], %W[%vk, %vj]) writes (%Y[%vi, %vj]) {
          tir.init {
            %c = arith.constant 0.0 : f32
            tir.store %c, %Y[%vi, %vj] : !tir.buffer<[48, 52], f32>
          }
          %y = tir.load %Y[%vi, %vj] : !tir.buffer<[48, 52], f32>
          %x = tir.load %X[%vi, %vk] : !tir.buffer<[48, 64], f32>
          %w = tir.load %W[%vk, %vj] : !tir.buffer<[64, 52], f32>
          %p = arith.mulf %x, %w : f32
          %q = arith.addf %y, %p : f32
          tir.store %q, %Y[%vi, %vj] : !tir.buffer<[48, 52], f32>
        }
      }
    }
  }
}
