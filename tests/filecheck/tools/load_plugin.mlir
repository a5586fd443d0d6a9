// RUN: xrelax-opt %s --load-plugin %S/drop_negations.py -p drop-negations,dce | filecheck %s
// RUN: not xrelax-opt %s --load-plugin %S/print_ir.mlir 2>&1 | filecheck %s --check-prefix=SUFFIX

// A pass of a plugin runs by its name.

// CHECK-LABEL: relax.func @main
// CHECK-NEXT:    relax.return %x
// SUFFIX: expected a Python file
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.negative %x : !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
  %1 = relax.negative %0 : !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
  relax.return %1 : !relax.tensor<[n], f32>
}
