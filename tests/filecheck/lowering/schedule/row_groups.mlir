// RUN: xrelax-opt %s -p 'schedule-default{target="llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=znver4" rules=row-groups}' --split-input-file | filecheck %s

// The stages of eight rows share a loop; what has one element in a row is scalar.
// CHECK-LABEL: tir.prim_func @rows
// CHECK-NEXT:    %S = tir.alloc_buffer
// CHECK-NEXT:    %D = tir.alloc_buffer
// CHECK-NEXT:    tir.for %i in (0, 16) {
// CHECK-NEXT:      tir.for %i_1 in (0, 8) unrolled {
// CHECK-NEXT:        tir.for %k in (0, 64) vectorized {
// CHECK-NEXT:          tir.block "S" (%vi: spatial (0, 128) = %i * 8 + %i_1,
// CHECK:           tir.for %{{.*}} in (0, 8) unrolled {
// CHECK-NEXT:        tir.block "D"
// CHECK:           tir.for %{{.*}} in (0, 8) unrolled {
// CHECK-NEXT:        tir.for %j in (0, 64) vectorized {
// CHECK-NEXT:          tir.block "Y"
tir.prim_func @rows(%X: !tir.buffer<[128, 64], f32>, %Y: !tir.buffer<[128, 64], f32>) {
  %S = tir.alloc_buffer : !tir.buffer<[128], f32>
  %D = tir.alloc_buffer : !tir.buffer<[128], f32>
  tir.for %i in (0, 128) {
    tir.for %k in (0, 64) {
      tir.block "S" (%vi: spatial (0, 128) = %i, %vk: reduce (0, 64) = %k) reads (%X[%vi, %vk]) writes (%S[%vi]) {
        tir.init {
          %zero = arith.constant 0.0 : f32
          tir.store %zero, %S[%vi] : !tir.buffer<[128], f32>
        }
        %t = tir.load %S[%vi] : !tir.buffer<[128], f32>
        %x = tir.load %X[%vi, %vk] : !tir.buffer<[128, 64], f32>
        %s = arith.addf %t, %x : f32
        tir.store %s, %S[%vi] : !tir.buffer<[128], f32>
      }
    }
  }
  tir.for %i in (0, 128) {
    tir.block "D" (%vi: spatial (0, 128) = %i) reads (%S[%vi]) writes (%D[%vi]) {
      %t = tir.load %S[%vi] : !tir.buffer<[128], f32>
      %d = math.rsqrt %t : f32
      tir.store %d, %D[%vi] : !tir.buffer<[128], f32>
    }
  }
  tir.for %i in (0, 128) {
    tir.for %j in (0, 64) {
      tir.block "Y" (%vi: spatial (0, 128) = %i, %vj: spatial (0, 64) = %j) reads (%X[%vi, %vj], %D[%vi]) writes (%Y[%vi, %vj]) {
        %x = tir.load %X[%vi, %vj] : !tir.buffer<[128, 64], f32>
        %d = tir.load %D[%vi] : !tir.buffer<[128], f32>
        %y = arith.mulf %x, %d : f32
        tir.store %y, %Y[%vi, %vj] : !tir.buffer<[128, 64], f32>
      }
    }
  }
}

// -----

// Fewer rows are in a group if they are long, and the loop over them is not unrolled.
// CHECK-LABEL: tir.prim_func @long
// CHECK:         tir.for %i in (0, 32) {
// CHECK-NEXT:      tir.for %i_1 in (0, 2) {
// CHECK-NEXT:        tir.for %k in (0, 1000) vectorized {
tir.prim_func @long(%X: !tir.buffer<[64, 1000], f32>, %Y: !tir.buffer<[64, 1000], f32>) {
  %S = tir.alloc_buffer : !tir.buffer<[64], f32>
  %D = tir.alloc_buffer : !tir.buffer<[64], f32>
  tir.for %i in (0, 64) {
    tir.for %k in (0, 1000) {
      tir.block "S" (%vi: spatial (0, 64) = %i, %vk: reduce (0, 1000) = %k) reads (%X[%vi, %vk]) writes (%S[%vi]) {
        tir.init {
          %zero = arith.constant 0.0 : f32
          tir.store %zero, %S[%vi] : !tir.buffer<[64], f32>
        }
        %t = tir.load %S[%vi] : !tir.buffer<[64], f32>
        %x = tir.load %X[%vi, %vk] : !tir.buffer<[64, 1000], f32>
        %s = arith.addf %t, %x : f32
        tir.store %s, %S[%vi] : !tir.buffer<[64], f32>
      }
    }
  }
  tir.for %i in (0, 64) {
    tir.block "D" (%vi: spatial (0, 64) = %i) reads (%S[%vi]) writes (%D[%vi]) {
      %t = tir.load %S[%vi] : !tir.buffer<[64], f32>
      %d = math.rsqrt %t : f32
      tir.store %d, %D[%vi] : !tir.buffer<[64], f32>
    }
  }
  tir.for %i in (0, 64) {
    tir.for %j in (0, 1000) {
      tir.block "Y" (%vi: spatial (0, 64) = %i, %vj: spatial (0, 1000) = %j) reads (%X[%vi, %vj], %D[%vi]) writes (%Y[%vi, %vj]) {
        %x = tir.load %X[%vi, %vj] : !tir.buffer<[64, 1000], f32>
        %d = tir.load %D[%vi] : !tir.buffer<[64], f32>
        %y = arith.mulf %x, %d : f32
        tir.store %y, %Y[%vi, %vj] : !tir.buffer<[64, 1000], f32>
      }
    }
  }
}

// -----

// Rows that fill no vector are computed one at a time, and so are those too few for the threads.
// CHECK-LABEL: tir.prim_func @short
// CHECK-NOT:     (0, 8)
// CHECK:         tir.for %i in (0, 128) {
// CHECK-NEXT:      tir.for %k in (0, 10) {
tir.prim_func @short(%X: !tir.buffer<[128, 10], f32>, %Y: !tir.buffer<[128, 10], f32>) {
  %S = tir.alloc_buffer : !tir.buffer<[128], f32>
  %D = tir.alloc_buffer : !tir.buffer<[128], f32>
  tir.for %i in (0, 128) {
    tir.for %k in (0, 10) {
      tir.block "S" (%vi: spatial (0, 128) = %i, %vk: reduce (0, 10) = %k) reads (%X[%vi, %vk]) writes (%S[%vi]) {
        tir.init {
          %zero = arith.constant 0.0 : f32
          tir.store %zero, %S[%vi] : !tir.buffer<[128], f32>
        }
        %t = tir.load %S[%vi] : !tir.buffer<[128], f32>
        %x = tir.load %X[%vi, %vk] : !tir.buffer<[128, 10], f32>
        %s = arith.addf %t, %x : f32
        tir.store %s, %S[%vi] : !tir.buffer<[128], f32>
      }
    }
  }
  tir.for %i in (0, 128) {
    tir.block "D" (%vi: spatial (0, 128) = %i) reads (%S[%vi]) writes (%D[%vi]) {
      %t = tir.load %S[%vi] : !tir.buffer<[128], f32>
      %d = math.rsqrt %t : f32
      tir.store %d, %D[%vi] : !tir.buffer<[128], f32>
    }
  }
  tir.for %i in (0, 128) {
    tir.for %j in (0, 10) {
      tir.block "Y" (%vi: spatial (0, 128) = %i, %vj: spatial (0, 10) = %j) reads (%X[%vi, %vj], %D[%vi]) writes (%Y[%vi, %vj]) {
        %x = tir.load %X[%vi, %vj] : !tir.buffer<[128, 10], f32>
        %d = tir.load %D[%vi] : !tir.buffer<[128], f32>
        %y = arith.mulf %x, %d : f32
        tir.store %y, %Y[%vi, %vj] : !tir.buffer<[128, 10], f32>
      }
    }
  }
}

// -----

// CHECK-LABEL: tir.prim_func @few
// CHECK-NOT:     (0, 8)
tir.prim_func @few(%X: !tir.buffer<[16, 64], f32>, %Y: !tir.buffer<[16, 64], f32>) {
  %S = tir.alloc_buffer : !tir.buffer<[16], f32>
  %D = tir.alloc_buffer : !tir.buffer<[16], f32>
  tir.for %i in (0, 16) {
    tir.for %k in (0, 64) {
      tir.block "S" (%vi: spatial (0, 16) = %i, %vk: reduce (0, 64) = %k) reads (%X[%vi, %vk]) writes (%S[%vi]) {
        tir.init {
          %zero = arith.constant 0.0 : f32
          tir.store %zero, %S[%vi] : !tir.buffer<[16], f32>
        }
        %t = tir.load %S[%vi] : !tir.buffer<[16], f32>
        %x = tir.load %X[%vi, %vk] : !tir.buffer<[16, 64], f32>
        %s = arith.addf %t, %x : f32
        tir.store %s, %S[%vi] : !tir.buffer<[16], f32>
      }
    }
  }
  tir.for %i in (0, 16) {
    tir.block "D" (%vi: spatial (0, 16) = %i) reads (%S[%vi]) writes (%D[%vi]) {
      %t = tir.load %S[%vi] : !tir.buffer<[16], f32>
      %d = math.rsqrt %t : f32
      tir.store %d, %D[%vi] : !tir.buffer<[16], f32>
    }
  }
  tir.for %i in (0, 16) {
    tir.for %j in (0, 64) {
      tir.block "Y" (%vi: spatial (0, 16) = %i, %vj: spatial (0, 64) = %j) reads (%X[%vi, %vj], %D[%vi]) writes (%Y[%vi, %vj]) {
        %x = tir.load %X[%vi, %vj] : !tir.buffer<[16, 64], f32>
        %d = tir.load %D[%vi] : !tir.buffer<[16], f32>
        %y = arith.mulf %x, %d : f32
        tir.store %y, %Y[%vi, %vj] : !tir.buffer<[16, 64], f32>
      }
    }
  }
}
