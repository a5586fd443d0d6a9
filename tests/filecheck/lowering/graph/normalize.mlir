// RUN: xrelax-opt %s -p normalize --split-input-file | filecheck %s

// The name of a PrimFunc of the module comes before the registry, outside of dataflow blocks too.

// CHECK-LABEL: relax.func @main
// CHECK:         %lv = relax.call_tir @relu(%x) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
// CHECK:         %y = relax.call_tir @relu(%gv) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
tir.prim_func @relu(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n], f32>) {
}
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %gv = relax.dataflow -> !relax.tensor<[n], f32> {
    %lv = relax.call_dps_packed "relu"(%x) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
    relax.output %lv : !relax.tensor<[n], f32>
  }
  %y = relax.call_dps_packed "relu"(%gv) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  relax.return %y : !relax.tensor<[n], f32>
}

// -----

// A name that the module does not have stays as it is, for the registry, and so does a call_tir.

// CHECK-LABEL: relax.func @main
// CHECK:         %0 = relax.call_dps_packed "env.relu"(%x)
// CHECK:         %1 = relax.call_dps_packed "main"(%0)
// CHECK:         %2 = relax.call_tir @relu(%1)
tir.prim_func @relu(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n], f32>) {
}
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.call_dps_packed "env.relu"(%x) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  %1 = relax.call_dps_packed "main"(%0) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  %2 = relax.call_tir @relu(%1) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  relax.return %2 : !relax.tensor<[n], f32>
}

// -----

// One kernel at two shapes, and dims that may turn out equal when the program runs, are accepted.

// CHECK-LABEL: relax.func @main
// CHECK:         relax.call_tir @add(%a, %b)
// CHECK:         relax.call_tir @add(%c, %c)
tir.prim_func @add(%A: !tir.buffer<[n], f32>, %B: !tir.buffer<[n], f32>, %C: !tir.buffer<[n], f32>) {
}
relax.func @main(%a: !relax.tensor<[p], f32>, %b: !relax.tensor<[q], f32>, %c: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %0 = relax.call_tir @add(%a, %b) : (!relax.tensor<[p], f32>, !relax.tensor<[q], f32>) -> !relax.tensor<[p], f32>
  %1 = relax.call_tir @add(%c, %c) : (!relax.tensor<[4], f32>, !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  relax.return %1 : !relax.tensor<[4], f32>
}
