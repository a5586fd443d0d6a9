// RUN: xrelax-opt %s -p lambda-lift --split-input-file --verify-diagnostics | filecheck %s

// CHECK: expected local function 'inner' only to be called, got it as a value of 'relax.tuple'
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %f = relax.local_func @inner(%a: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
    relax.return %a : !relax.tensor<[n], f32>
  }
  %t = relax.tuple(%f) : (!relax.func<(!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>>) -> tuple<!relax.func<(!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>>>
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected 'again', which takes or returns functions, not to call itself
relax.func @main(%x: !relax.tensor<[], i32>) -> !relax.tensor<[], i32> {
  %f = relax.local_func @inner(%a: !relax.tensor<[], i32>) -> !relax.tensor<[], i32> {
    relax.return %a : !relax.tensor<[], i32>
  }
  %g = relax.local_func @again(%k: !relax.func<(!relax.tensor<[], i32>) -> !relax.tensor<[], i32>>) -> !relax.tensor<[], i32> {
    %0 = relax.own_func : !relax.func<(!relax.func<(!relax.tensor<[], i32>) -> !relax.tensor<[], i32>>) -> !relax.tensor<[], i32>>
    %1 = relax.invoke %0(%k) : !relax.func<(!relax.func<(!relax.tensor<[], i32>) -> !relax.tensor<[], i32>>) -> !relax.tensor<[], i32>>, (!relax.func<(!relax.tensor<[], i32>) -> !relax.tensor<[], i32>>) -> !relax.tensor<[], i32>
    relax.return %1 : !relax.tensor<[], i32>
  }
  %y = relax.invoke %g(%f) : !relax.func<(!relax.func<(!relax.tensor<[], i32>) -> !relax.tensor<[], i32>>) -> !relax.tensor<[], i32>>, (!relax.func<(!relax.tensor<[], i32>) -> !relax.tensor<[], i32>>) -> !relax.tensor<[], i32>
  relax.return %y : !relax.tensor<[], i32>
}
