// RUN: xrelax-opt %s -p 'schedule-default{target="llvm -mcpu=haswell -model=loop-start=20 -cache-sizes=1024,8192,16384" rules=contractions,parallelize}' --split-input-file | filecheck %s

// A product whose panels leave the second cache: blocks of results, which stay in the last cache,
// are the sums over blocks of steps, whose panels stay in the second cache. What uses the results
// comes after all of the steps.

// CHECK-LABEL: tir.prim_func @blocks
// CHECK-NEXT:    tir.for %i_j_fused in (0, 18) parallel {
// CHECK-NEXT:      %T = tir.alloc_buffer : !tir.buffer<[11, 32], f32>
// CHECK:               tir.block "T_init"
// CHECK:           tir.for %k in (0, 2) {
// CHECK:             %W_global = tir.alloc_buffer : !tir.buffer<[48, 8], f32>
// CHECK:               tir.block "W_global"
// CHECK:             tir.for %i_2 in (0, 1) {
// CHECK-NEXT:          %T_rf = tir.alloc_buffer "T_rf" : !tir.buffer<[1, 11, 8], f32>
// CHECK:               tir.block "T_rf_init"
// CHECK:               tir.for %k_1 in (0, 48) {
// CHECK:                 tir.block "T_rf_update"
// CHECK:               tir.block "T_update"
// CHECK:           tir.for %i_6 in (0, 11) {
// CHECK:             tir.block "Y"
tir.prim_func @blocks(%X: !tir.buffer<[64, 96], f32>, %W: !tir.buffer<[96, 96], f32>, %Y: !tir.buffer<[64, 96], f32>) {
  %T = tir.alloc_buffer : !tir.buffer<[64, 96], f32>
  tir.for %i in (0, 64) {
    tir.for %j in (0, 96) {
      tir.for %k in (0, 96) {
        tir.block "T" (%vi: spatial (0, 64) = %i, %vj: spatial (0, 96) = %j, %vk: reduce (0, 96) = %k) reads (%X[%vi, %vk], %W[%vk, %vj]) writes (%T[%vi, %vj]) {
          tir.init {
            %c = arith.constant 0.0 : f32
            tir.store %c, %T[%vi, %vj] : !tir.buffer<[64, 96], f32>
          }
          %t = tir.load %T[%vi, %vj] : !tir.buffer<[64, 96], f32>
          %x = tir.load %X[%vi, %vk] : !tir.buffer<[64, 96], f32>
          %w = tir.load %W[%vk, %vj] : !tir.buffer<[96, 96], f32>
          %p = arith.mulf %x, %w : f32
          %s = arith.addf %t, %p : f32
          tir.store %s, %T[%vi, %vj] : !tir.buffer<[64, 96], f32>
        }
      }
    }
  }
  tir.for %i in (0, 64) {
    tir.for %j in (0, 96) {
      tir.block "Y" (%vi: spatial (0, 64) = %i, %vj: spatial (0, 96) = %j) reads (%T[%vi, %vj]) writes (%Y[%vi, %vj]) {
        %t = tir.load %T[%vi, %vj] : !tir.buffer<[64, 96], f32>
        %z = arith.constant 0.0 : f32
        %m = arith.maximumf %t, %z : f32
        tir.store %m, %Y[%vi, %vj] : !tir.buffer<[64, 96], f32>
      }
    }
  }
}

// -----

// Where rows are few, all steps stay in one block.

// CHECK-LABEL: tir.prim_func @few_rows
// CHECK-NOT:     _rf
// CHECK:         tir.for %k in (0, 32) {
tir.prim_func @few_rows(%X: !tir.buffer<[16, 32], f32>, %W: !tir.buffer<[32, 96], f32>, %Y: !tir.buffer<[16, 96], f32>) {
  tir.for %i in (0, 16) {
    tir.for %j in (0, 96) {
      tir.for %k in (0, 32) {
        tir.block "Y" (%vi: spatial (0, 16) = %i, %vj: spatial (0, 96) = %j, %vk: reduce (0, 32) = %k) reads (%X[%vi, %vk], %W[%vk, %vj]) writes (%Y[%vi, %vj]) {
          tir.init {
            %c = arith.constant 0.0 : f32
            tir.store %c, %Y[%vi, %vj] : !tir.buffer<[16, 96], f32>
          }
          %t = tir.load %Y[%vi, %vj] : !tir.buffer<[16, 96], f32>
          %x = tir.load %X[%vi, %vk] : !tir.buffer<[16, 32], f32>
          %w = tir.load %W[%vk, %vj] : !tir.buffer<[32, 96], f32>
          %p = arith.mulf %x, %w : f32
          %s = arith.addf %t, %p : f32
          tir.store %s, %Y[%vi, %vj] : !tir.buffer<[16, 96], f32>
        }
      }
    }
  }
}

// -----

// Where all steps are in one block, but the rows leave the last cache, blocks of rows pass over all
// panels. The rest of the rows is a product of its own, with a tile of its own.

// CHECK-LABEL: tir.prim_func @far_rows
// CHECK-NEXT:    tir.for %i_j_fused in (0, 32) parallel {
// CHECK-NEXT:      tir.for %i in (0, 5) {
// CHECK:             tir.block "T_whole_init" (%vi: spatial (0, 240) = %i * 6 + %i_1 + (%i_j_fused floordiv 4) * 30,
// CHECK:             tir.block "T_whole_update"
// CHECK:             tir.block "Y_whole"
// CHECK:         tir.for %j_6 in (0, 4) {
// CHECK-NEXT:      tir.for %i_4 in (0, 2) {
// CHECK:             tir.block "T_rest_update"
// CHECK:             tir.block "Y_rest" {{.*}} writes (%Y[%vi_5 + 240, %vj_5])
tir.prim_func @far_rows(%X: !tir.buffer<[250, 16], f32>, %W: !tir.buffer<[16, 64], f32>, %Y: !tir.buffer<[250, 64], f32>) attributes {layout_free_buffers = [1]} {
  %T = tir.alloc_buffer : !tir.buffer<[250, 64], f32>
  tir.for %i in (0, 250) {
    tir.for %j in (0, 64) {
      tir.for %k in (0, 16) {
        tir.block "T" (%vi: spatial (0, 250) = %i, %vj: spatial (0, 64) = %j, %vk: reduce (0, 16) = %k) reads (%X[%vi, %vk], %W[%vk, %vj]) writes (%T[%vi, %vj]) {
          tir.init {
            %c = arith.constant 0.0 : f32
            tir.store %c, %T[%vi, %vj] : !tir.buffer<[250, 64], f32>
          }
          %t = tir.load %T[%vi, %vj] : !tir.buffer<[250, 64], f32>
          %x = tir.load %X[%vi, %vk] : !tir.buffer<[250, 16], f32>
          %w = tir.load %W[%vk, %vj] : !tir.buffer<[16, 64], f32>
          %p = arith.mulf %x, %w : f32
          %s = arith.addf %t, %p : f32
          tir.store %s, %T[%vi, %vj] : !tir.buffer<[250, 64], f32>
        }
      }
    }
  }
  tir.for %i in (0, 250) {
    tir.for %j in (0, 64) {
      tir.block "Y" (%vi: spatial (0, 250) = %i, %vj: spatial (0, 64) = %j) reads (%T[%vi, %vj]) writes (%Y[%vi, %vj]) {
        %t = tir.load %T[%vi, %vj] : !tir.buffer<[250, 64], f32>
        %z = arith.constant 0.0 : f32
        %m = arith.maximumf %t, %z : f32
        tir.store %m, %Y[%vi, %vj] : !tir.buffer<[250, 64], f32>
      }
    }
  }
}

// -----

// Fewer rows stay in the last cache: each panel passes over all of them.

// CHECK-LABEL: tir.prim_func @near_rows
// CHECK-NEXT:    tir.for %j in (0, 4) {
// CHECK-NEXT:      tir.for %i in (0, 20) {
// CHECK-NOT:     _rest
tir.prim_func @near_rows(%X: !tir.buffer<[120, 16], f32>, %W: !tir.buffer<[16, 64], f32>, %Y: !tir.buffer<[120, 64], f32>) attributes {layout_free_buffers = [1]} {
  %T = tir.alloc_buffer : !tir.buffer<[120, 64], f32>
  tir.for %i in (0, 120) {
    tir.for %j in (0, 64) {
      tir.for %k in (0, 16) {
        tir.block "T" (%vi: spatial (0, 120) = %i, %vj: spatial (0, 64) = %j, %vk: reduce (0, 16) = %k) reads (%X[%vi, %vk], %W[%vk, %vj]) writes (%T[%vi, %vj]) {
          tir.init {
            %c = arith.constant 0.0 : f32
            tir.store %c, %T[%vi, %vj] : !tir.buffer<[120, 64], f32>
          }
          %t = tir.load %T[%vi, %vj] : !tir.buffer<[120, 64], f32>
          %x = tir.load %X[%vi, %vk] : !tir.buffer<[120, 16], f32>
          %w = tir.load %W[%vk, %vj] : !tir.buffer<[16, 64], f32>
          %p = arith.mulf %x, %w : f32
          %s = arith.addf %t, %p : f32
          tir.store %s, %T[%vi, %vj] : !tir.buffer<[120, 64], f32>
        }
      }
    }
  }
  tir.for %i in (0, 120) {
    tir.for %j in (0, 64) {
      tir.block "Y" (%vi: spatial (0, 120) = %i, %vj: spatial (0, 64) = %j) reads (%T[%vi, %vj]) writes (%Y[%vi, %vj]) {
        %t = tir.load %T[%vi, %vj] : !tir.buffer<[120, 64], f32>
        %z = arith.constant 0.0 : f32
        %m = arith.maximumf %t, %z : f32
        tir.store %m, %Y[%vi, %vj] : !tir.buffer<[120, 64], f32>
      }
    }
  }
}
