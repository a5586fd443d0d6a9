// RUN: xrelax-opt %s -p 'pack-constants{target="llvm -mcpu=haswell"}' | filecheck %s
// RUN: xrelax-opt %s -p 'pack-constants{target="llvm -mcpu=haswell"},fold-constant,dead-code-elimination' | filecheck %s --check-prefix FOLDED

// The kernel of a constant reads it in panels of whole vectors; the graph lays the constant out.

// CHECK-LABEL: tir.prim_func @product(%X: !tir.buffer<[12, 2], f32>, %W: !tir.buffer<[1, 2, 8], f32>
// CHECK:       reads (%X[%vi, %vk], %W[0, %vk, %vj])
// CHECK:       tir.load %W[0, %vk, %vj]
tir.prim_func @product(%X: !tir.buffer<[12, 2], f32>, %W: !tir.buffer<[2, 6], f32>, %Y: !tir.buffer<[12, 6], f32>) attributes {private} {
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
// CHECK:         relax.nn.pad
// CHECK-NEXT:    relax.reshape
// CHECK-NEXT:    %[[PANELS:.*]] = relax.permute_dims
// CHECK-NEXT:    relax.call_tir @product(%x, %[[PANELS]])
// FOLDED-LABEL: relax.func @main
// FOLDED-NEXT:    %[[PANELS:.*]] = relax.constant <float32, [1, 2, 8]
// FOLDED-NEXT:    relax.call_tir @product(%x, %[[PANELS]])
relax.func @main(%x: !relax.tensor<[12, 2], f32>) -> !relax.tensor<[12, 6], f32> {
  %w = relax.constant <float32, [2, 6], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0]> : !relax.tensor<[2, 6], f32>
  %0 = relax.call_tir @product(%x, %w) : (!relax.tensor<[12, 2], f32>, !relax.tensor<[2, 6], f32>) -> !relax.tensor<[12, 6], f32>
  relax.return %0 : !relax.tensor<[12, 6], f32>
}

// So is what a kernel computes of a constant, which is there before any call too.

// CHECK-LABEL: tir.prim_func @of_a_kernel(%X: !tir.buffer<[12, 2], f32>, %W: !tir.buffer<[1, 2, 8], f32>
tir.prim_func @of_a_kernel(%X: !tir.buffer<[12, 2], f32>, %W: !tir.buffer<[2, 6], f32>, %Y: !tir.buffer<[12, 6], f32>) attributes {private} {
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
tir.prim_func @turned(%X: !tir.buffer<[6, 2], f32>, %Y: !tir.buffer<[2, 6], f32>) attributes {private} {
}

// CHECK-LABEL: relax.func @computed
// CHECK:         relax.call_tir @turned
// CHECK-NEXT:    relax.nn.pad
// CHECK-NEXT:    relax.reshape
// CHECK-NEXT:    %[[COMPUTED:.*]] = relax.permute_dims
// CHECK-NEXT:    relax.call_tir @of_a_kernel(%x, %[[COMPUTED]])
relax.func @computed(%x: !relax.tensor<[12, 2], f32>) -> !relax.tensor<[12, 6], f32> {
  %w = relax.constant <float32, [6, 2], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0]> : !relax.tensor<[6, 2], f32>
  %t = relax.call_tir @turned(%w) : (!relax.tensor<[6, 2], f32>) -> !relax.tensor<[2, 6], f32>
  %0 = relax.call_tir @of_a_kernel(%x, %t) : (!relax.tensor<[12, 2], f32>, !relax.tensor<[2, 6], f32>) -> !relax.tensor<[12, 6], f32>
  relax.return %0 : !relax.tensor<[12, 6], f32>
}
