// RUN: xrelax-opt %s -p lift-workspace --split-input-file --verify-diagnostics | filecheck %s

// CHECK: expected calls of 'kernel', which needs a workspace, to be 'rt.call_dps', got 'relax.call_tir'
relax.func @main(%x: !relax.tensor<[a], f32>) -> !relax.tensor<[a], f32> {
  %y = relax.call_tir @kernel(%x) : (!relax.tensor<[a], f32>) -> !relax.tensor<[a], f32>
  relax.return %y : !relax.tensor<[a], f32>
}
tir.prim_func @kernel(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n], f32>) {
  %T = tir.alloc_buffer : !tir.buffer<[n], f32>
}
