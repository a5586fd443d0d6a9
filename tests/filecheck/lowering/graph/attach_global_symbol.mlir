// RUN: xrelax-opt %s -p attach-global-symbol | filecheck %s

// Graph functions and kernels become public; other attributes stay.

// CHECK:      tir.prim_func @kernel(%X: !tir.buffer<[4], f32>) attributes {tir.noalias = true} {
tir.prim_func @kernel(%X: !tir.buffer<[4], f32>) attributes {private, tir.noalias = true} {
}

// CHECK:      relax.func @hidden(%x: !relax.tensor<[4], f32>)
relax.func private @hidden(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  relax.return %x : !relax.tensor<[4], f32>
}

// CHECK:      relax.func @main(%x: !relax.tensor<[4], f32>)
relax.func @main(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %0 = relax.call @hidden(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  relax.return %0 : !relax.tensor<[4], f32>
}
