// RUN: xrelax-opt %s -p 'schedule-default{target="llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=znver4"}' --split-input-file | filecheck %s

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
