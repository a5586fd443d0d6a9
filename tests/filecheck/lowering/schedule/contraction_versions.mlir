// RUN: xrelax-opt %s -p 'schedule-default{target="llvm -mcpu=haswell -cache-sizes=32768,262144,8388608" rules=contractions,parallelize}' --split-input-file | filecheck %s

// It is not known how many rows there are: full tiles, in which no row is repeated and no store has
// a condition, and then the rows left, in tiles that get lower. What uses the result does so in
// each.

// CHECK-LABEL: tir.prim_func @rows
// CHECK:       tir.for {{.*}}m floordiv 4{{.*}} parallel {
// CHECK-NEXT:    alloc_buffer : !tir.buffer<[4, 24], f32>
// CHECK:         tir.load %X[%vi_{{[0-9]+}}, %vk]
// CHECK:         tir.block "Y_whole"
// CHECK-NOT:     where
// CHECK-SAME:    reads
// CHECK-NOT:     where
// CHECK:       tir.for {{.*}}m mod 4{{.*}} parallel {
// CHECK-NEXT:    alloc_buffer : !tir.buffer<[3, 24], f32>
// CHECK:         tir.load %X[{{.*}}(m floordiv 4) * 4
tir.prim_func @rows(%X: !tir.buffer<[m, 32], f32>, %W: !tir.buffer<[32, 48], f32>, %B: !tir.buffer<[48], f32>, %Y: !tir.buffer<[m, 48], f32>) attributes {layout_free_buffers = [1], private} {
  %T = tir.alloc_buffer : !tir.buffer<[m, 48], f32>
  tir.for %i in (0, m) {
    tir.for %j in (0, 48) {
      tir.for %k in (0, 32) {
        tir.block "T" (%vi: spatial (0, m) = %i, %vj: spatial (0, 48) = %j, %vk: reduce (0, 32) = %k) reads (%X[%vi, %vk], %W[%vk, %vj]) writes (%T[%vi, %vj]) {
          tir.init {
            %c = arith.constant 0.0 : f32
            tir.store %c, %T[%vi, %vj] : !tir.buffer<[m, 48], f32>
          }
          %y = tir.load %T[%vi, %vj] : !tir.buffer<[m, 48], f32>
          %x = tir.load %X[%vi, %vk] : !tir.buffer<[m, 32], f32>
          %w = tir.load %W[%vk, %vj] : !tir.buffer<[32, 48], f32>
          %p = arith.mulf %x, %w : f32
          %q = arith.addf %y, %p : f32
          tir.store %q, %T[%vi, %vj] : !tir.buffer<[m, 48], f32>
        }
      }
    }
  }
  tir.for %i in (0, m) {
    tir.for %j in (0, 48) {
      tir.block "Y" (%vi: spatial (0, m) = %i, %vj: spatial (0, 48) = %j) reads (%T[%vi, %vj], %B[%vj]) writes (%Y[%vi, %vj]) {
        %t = tir.load %T[%vi, %vj] : !tir.buffer<[m, 48], f32>
        %b = tir.load %B[%vj] : !tir.buffer<[48], f32>
        %r = arith.addf %t, %b : f32
        tir.store %r, %Y[%vi, %vj] : !tir.buffer<[m, 48], f32>
      }
    }
  }
}

// -----

// What is multiplied by does not fit the cache: sums wait for it, and rows that a tile repeats take
// no time.

// CHECK-LABEL: tir.prim_func @far
// CHECK-NOT:   m mod
// CHECK:       tir.for %{{.*}} in (0, (m + 3) floordiv 4) {
// CHECK-NOT:   m mod
tir.prim_func @far(%X: !tir.buffer<[m, 4096], f32>, %W: !tir.buffer<[4096, 480], f32>, %Y: !tir.buffer<[m, 480], f32>) attributes {layout_free_buffers = [1], private} {
  tir.for %i in (0, m) {
    tir.for %j in (0, 480) {
      tir.for %k in (0, 4096) {
        tir.block "Y" (%vi: spatial (0, m) = %i, %vj: spatial (0, 480) = %j, %vk: reduce (0, 4096) = %k) reads (%X[%vi, %vk], %W[%vk, %vj]) writes (%Y[%vi, %vj]) {
          tir.init {
            %c = arith.constant 0.0 : f32
            tir.store %c, %Y[%vi, %vj] : !tir.buffer<[m, 480], f32>
          }
          %y = tir.load %Y[%vi, %vj] : !tir.buffer<[m, 480], f32>
          %x = tir.load %X[%vi, %vk] : !tir.buffer<[m, 4096], f32>
          %w = tir.load %W[%vk, %vj] : !tir.buffer<[4096, 480], f32>
          %p = arith.mulf %x, %w : f32
          %q = arith.addf %y, %p : f32
          tir.store %q, %Y[%vi, %vj] : !tir.buffer<[m, 480], f32>
        }
      }
    }
  }
}

// -----

// Columns would be copied in each call. Few rows read them where they are instead: one of two loops
// has an iteration. What uses the result does so in each, and what is in them runs on threads.

// CHECK-LABEL: tir.prim_func @in_place
// CHECK:       tir.for {{.*}} in (0, -min(1, m floordiv [[LIMIT:[0-9]+]]) + 1) {
// CHECK-NEXT:    tir.for {{.*}} parallel {
// CHECK-NOT:     %W_global
// CHECK:         tir.load %W[
// CHECK:         tir.block "Y_few"
// CHECK:       tir.for {{.*}} in (0, min(1, m floordiv [[LIMIT]])) {
// CHECK-NEXT:    tir.for {{.*}} parallel {
// CHECK-NEXT:      %W_global = tir.alloc_buffer
// CHECK:         tir.block "Y_many"
tir.prim_func @in_place(%X: !tir.buffer<[m, 256], f32>, %W: !tir.buffer<[256, 192], f32>, %Y: !tir.buffer<[m, 192], f32>) {
  %T = tir.alloc_buffer : !tir.buffer<[m, 192], f32>
  tir.for %i in (0, m) {
    tir.for %j in (0, 192) {
      tir.for %k in (0, 256) {
        tir.block "T" (%vi: spatial (0, m) = %i, %vj: spatial (0, 192) = %j, %vk: reduce (0, 256) = %k) reads (%X[%vi, %vk], %W[%vk, %vj]) writes (%T[%vi, %vj]) {
          tir.init {
            %c = arith.constant 0.0 : f32
            tir.store %c, %T[%vi, %vj] : !tir.buffer<[m, 192], f32>
          }
          %y = tir.load %T[%vi, %vj] : !tir.buffer<[m, 192], f32>
          %x = tir.load %X[%vi, %vk] : !tir.buffer<[m, 256], f32>
          %w = tir.load %W[%vk, %vj] : !tir.buffer<[256, 192], f32>
          %p = arith.mulf %x, %w : f32
          %q = arith.addf %y, %p : f32
          tir.store %q, %T[%vi, %vj] : !tir.buffer<[m, 192], f32>
        }
      }
    }
  }
  tir.for %i in (0, m) {
    tir.for %j in (0, 192) {
      tir.block "Y" (%vi: spatial (0, m) = %i, %vj: spatial (0, 192) = %j) reads (%T[%vi, %vj]) writes (%Y[%vi, %vj]) {
        %t = tir.load %T[%vi, %vj] : !tir.buffer<[m, 192], f32>
        %r = arith.addf %t, %t : f32
        tir.store %r, %Y[%vi, %vj] : !tir.buffer<[m, 192], f32>
      }
    }
  }
}

// -----

// What takes long to compile is there once, so there is one version.

// CHECK-LABEL: tir.prim_func @heavy
// CHECK-NOT:   min(1,
// CHECK:       math.exp
// CHECK-NOT:   min(1,
tir.prim_func @heavy(%X: !tir.buffer<[m, 256], f32>, %W: !tir.buffer<[256, 192], f32>, %Y: !tir.buffer<[m, 192], f32>) {
  %T = tir.alloc_buffer : !tir.buffer<[m, 192], f32>
  tir.for %i in (0, m) {
    tir.for %j in (0, 192) {
      tir.for %k in (0, 256) {
        tir.block "T" (%vi: spatial (0, m) = %i, %vj: spatial (0, 192) = %j, %vk: reduce (0, 256) = %k) reads (%X[%vi, %vk], %W[%vk, %vj]) writes (%T[%vi, %vj]) {
          tir.init {
            %c = arith.constant 0.0 : f32
            tir.store %c, %T[%vi, %vj] : !tir.buffer<[m, 192], f32>
          }
          %y = tir.load %T[%vi, %vj] : !tir.buffer<[m, 192], f32>
          %x = tir.load %X[%vi, %vk] : !tir.buffer<[m, 256], f32>
          %w = tir.load %W[%vk, %vj] : !tir.buffer<[256, 192], f32>
          %p = arith.mulf %x, %w : f32
          %q = arith.addf %y, %p : f32
          tir.store %q, %T[%vi, %vj] : !tir.buffer<[m, 192], f32>
        }
      }
    }
  }
  tir.for %i in (0, m) {
    tir.for %j in (0, 192) {
      tir.block "Y" (%vi: spatial (0, m) = %i, %vj: spatial (0, 192) = %j) reads (%T[%vi, %vj]) writes (%Y[%vi, %vj]) {
        %t = tir.load %T[%vi, %vj] : !tir.buffer<[m, 192], f32>
        %r = math.exp %t : f32
        tir.store %r, %Y[%vi, %vj] : !tir.buffer<[m, 192], f32>
      }
    }
  }
}
