// RUN: xrelax-opt %s -p lambda-lift --split-input-file --verify-diagnostics | filecheck %s

// CHECK: expected local function 'inner' only to be called, got it as a value of 'relax.tuple'
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %f = relax.local_func @inner(%a: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
    relax.return %a : !relax.tensor<[n], f32>
  }
  %t = relax.tuple(%f) : (!relax.func<(!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>>) -> tuple<!relax.func<(!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>>>
  relax.return %x : !relax.tensor<[n], f32>
}
