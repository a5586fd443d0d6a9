// RUN: xrelax-opt %s -p 'schedule-default{target="llvm -mcpu=haswell" rules=contractions}' | filecheck %s

// A layout-free right operand is laid out in panels of whole vectors, a constant at once.

// CHECK-LABEL: tir.prim_func @product(%X: !tir.buffer<[12, 2], f32>, %W: !tir.buffer<[1, 2, 8], f32>, %Y: !tir.buffer<[12, 6], f32>) attributes {private}
// CHECK:       tir.load %W[0, %vk
tir.prim_func @product(%X: !tir.buffer<[12, 2], f32>, %W: !tir.buffer<[2, 6], f32>, %Y: !tir.buffer<[12, 6], f32>) attributes {layout_free_buffers = [1], private} {
  tir.for %i in (0, 12) {
    tir.for %j in (0, 6) {
      tir.for %k in (0, 2) {
        tir.block "Y" (%vi: spatial (0, 12) = %i, %vj: spatial (0, 6) = %j, %vk: reduce (0, 2) = %k) reads (%X[%vi, %vk], %W[%vk, %vj]) writes (%Y[%vi, %vj]) {
          tir.init {
            %c = arith.constant 0.0 : f32
            tir.store %c, %Y[%vi, %vj] : !tir.buffer<[12, 6], f32>
          }
          %y = tir.load %Y[%vi, %vj] : !tir.buffer<[12, 6], f32>
          %x = tir.load %X[%vi, %vk] : !tir.buffer<[12, 2], f32>
          %w = tir.load %W[%vk, %vj] : !tir.buffer<[2, 6], f32>
          %p = arith.mulf %x, %w : f32
          %q = arith.addf %y, %p : f32
          tir.store %q, %Y[%vi, %vj] : !tir.buffer<[12, 6], f32>
        }
      }
    }
  }
}

// CHECK-LABEL: relax.func @main
// CHECK-NEXT:    %[[PANELS:.*]] = relax.constant <float32, [1, 2, 8], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.0, 0.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 0.0, 0.0]>
// CHECK-NEXT:    relax.call_tir @product(%x, %[[PANELS]])
relax.func @main(%x: !relax.tensor<[12, 2], f32>) -> !relax.tensor<[12, 6], f32> {
  %w = relax.constant <float32, [2, 6], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0]> : !relax.tensor<[2, 6], f32>
  %0 = relax.call_tir @product(%x, %w) : (!relax.tensor<[12, 2], f32>, !relax.tensor<[2, 6], f32>) -> !relax.tensor<[12, 6], f32>
  relax.return %0 : !relax.tensor<[12, 6], f32>
}

// What a kernel computes is laid out by another kernel, which other calls use too.

// CHECK-LABEL: relax.func @computed
// CHECK:         %[[T:.*]] = relax.call_tir @turned
// CHECK-NEXT:    %[[COMPUTED:.*]] = relax.call_tir @layout_transform(%[[T]]) : (!relax.tensor<[2, 6], f32>) -> !relax.tensor<[1, 2, 8], f32>
// CHECK-NEXT:    %[[FIRST:.*]] = relax.call_tir @product(%x, %[[COMPUTED]])
// CHECK-NEXT:    relax.call_tir @layout_transform(%[[T]])
relax.func @computed(%x: !relax.tensor<[12, 2], f32>) -> !relax.tensor<[12, 6], f32> {
  %w = relax.constant <float32, [6, 2], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0]> : !relax.tensor<[6, 2], f32>
  %t = relax.call_tir @turned(%w) : (!relax.tensor<[6, 2], f32>) -> !relax.tensor<[2, 6], f32>
  %0 = relax.call_tir @product(%x, %t) : (!relax.tensor<[12, 2], f32>, !relax.tensor<[2, 6], f32>) -> !relax.tensor<[12, 6], f32>
  %1 = relax.call_tir @product(%x, %t) : (!relax.tensor<[12, 2], f32>, !relax.tensor<[2, 6], f32>) -> !relax.tensor<[12, 6], f32>
  relax.return %1 : !relax.tensor<[12, 6], f32>
}
tir.prim_func @turned(%X: !tir.buffer<[6, 2], f32>, %Y: !tir.buffer<[2, 6], f32>) attributes {private, tir.is_scheduled = true} {
}

// Other operands stay as they are.

// CHECK-LABEL: tir.prim_func @given(%X: !tir.buffer<[12, 2], f32>, %W: !tir.buffer<[2, 6], f32>, %Y
tir.prim_func @given(%X: !tir.buffer<[12, 2], f32>, %W: !tir.buffer<[2, 6], f32>, %Y: !tir.buffer<[12, 6], f32>) attributes {private} {
  tir.for %i in (0, 12) {
    tir.for %j in (0, 6) {
      tir.for %k in (0, 2) {
        tir.block "Y" (%vi: spatial (0, 12) = %i, %vj: spatial (0, 6) = %j, %vk: reduce (0, 2) = %k) reads (%X[%vi, %vk], %W[%vk, %vj]) writes (%Y[%vi, %vj]) {
          tir.init {
            %c = arith.constant 0.0 : f32
            tir.store %c, %Y[%vi, %vj] : !tir.buffer<[12, 6], f32>
          }
          %y = tir.load %Y[%vi, %vj] : !tir.buffer<[12, 6], f32>
          %x = tir.load %X[%vi, %vk] : !tir.buffer<[12, 2], f32>
          %w = tir.load %W[%vk, %vj] : !tir.buffer<[2, 6], f32>
          %p = arith.mulf %x, %w : f32
          %q = arith.addf %y, %p : f32
          tir.store %q, %Y[%vi, %vj] : !tir.buffer<[12, 6], f32>
        }
      }
    }
  }
}

// Places of no element hold zeros.

// CHECK-LABEL: tir.prim_func @layout_transform(%W: !tir.buffer<[2, 6], f32>, %T_layout_trans: !tir.buffer<[1, 2, 8], f32>)
// CHECK:         scf.if
// CHECK-NEXT:      tir.load %W[%{{.*}}, %{{.*}}]
// CHECK:           arith.constant 0.000000e+00
