// RUN: xrelax-opt %s -p remove-unused-parameters | filecheck %s

// A parameter of a private function that it does not use is not passed.
// CHECK-LABEL: relax.func @main
// CHECK-NEXT:    %0 = relax.call @first(%x)
// CHECK-NEXT:    %[[S:.*]] = relax.shape : !relax.shape<[n]>
// CHECK-NEXT:    %{{.*}} = relax.call @zeros(%[[S]])
relax.func @main(%x: !relax.tensor<[n], f32>, %y: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.call @first(%x, %y) : (!relax.tensor<[n], f32>, !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  %1 = relax.call @zeros(%0) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  %2 = relax.call @public(%1, %y) : (!relax.tensor<[n], f32>, !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  relax.return %2 : !relax.tensor<[n], f32>
}

// CHECK: relax.func private @first(%a: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
relax.func private @first(%a: !relax.tensor<[n], f32>, %b: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  relax.return %a : !relax.tensor<[n], f32>
}

// Its shape is passed if the function needs it.
// CHECK: relax.func private @zeros(%param_n: !relax.shape<[n]>) -> !relax.tensor<[n], f32>
relax.func private @zeros(%a: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.zeros {shape = [#sym.expr<n>], dtype = f32} : !relax.tensor<[n], f32>
  relax.return %0 : !relax.tensor<[n], f32>
}

// Parameters of public functions stay.
// CHECK: relax.func @public(%a: !relax.tensor<[n], f32>, %b: !relax.tensor<[n], f32>)
relax.func @public(%a: !relax.tensor<[n], f32>, %b: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  relax.return %a : !relax.tensor<[n], f32>
}

// A cast to a symbol that an unused parameter declares is still a check.
// CHECK-LABEL: relax.func private @checked(%x: !relax.tensor<[8], f32>, %param_k: !relax.shape<[k]>)
relax.func private @checked(%x: !relax.tensor<[8], f32>, %y: !relax.tensor<[k], f32>) -> !relax.tensor<[8], f32> {
  %z = relax.match_cast %x : !relax.tensor<[8], f32> -> !relax.tensor<[k], f32>
  relax.return %x : !relax.tensor<[8], f32>
}
relax.func @calls_checked(%x: !relax.tensor<[8], f32>, %y: !relax.tensor<[m], f32>) -> !relax.tensor<[8], f32> {
  // CHECK: relax.call @checked(%x,
  %z = relax.call @checked(%x, %y) : (!relax.tensor<[8], f32>, !relax.tensor<[m], f32>) -> !relax.tensor<[8], f32>
  relax.return %z : !relax.tensor<[8], f32>
}
