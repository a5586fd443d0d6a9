// RUN: xrelax-opt %s -p remove-redundant-reshape | filecheck %s

// The last of several reshapes is that of the first operand.

// CHECK-LABEL: @twice
// CHECK-NEXT:    %0 = relax.reshape %x {shape = [#sym.expr<n * 2>]}
// CHECK-NEXT:    relax.return %0
relax.func @twice(%x: !relax.tensor<[n, 2], f32>) -> !relax.tensor<[n * 2], f32> {
  %0 = relax.reshape %x {shape = [#sym.expr<2>, #sym.expr<n>]} : !relax.tensor<[n, 2], f32> -> !relax.tensor<[2, n], f32>
  %1 = relax.reshape %0 {shape = [#sym.expr<n * 2>]} : !relax.tensor<[2, n], f32> -> !relax.tensor<[n * 2], f32>
  relax.return %1 : !relax.tensor<[n * 2], f32>
}

// A reshape to the first shape is the tensor.

// CHECK-LABEL: @back
// CHECK-NEXT:    relax.return %x
relax.func @back(%x: !relax.tensor<[n, 2], f32>) -> !relax.tensor<[n, 2], f32> {
  %0 = relax.reshape %x {shape = [#sym.expr<2>, #sym.expr<n>]} : !relax.tensor<[n, 2], f32> -> !relax.tensor<[2, n], f32>
  %1 = relax.reshape %0 {shape = [#sym.expr<n>, #sym.expr<2>]} : !relax.tensor<[2, n], f32> -> !relax.tensor<[n, 2], f32>
  relax.return %1 : !relax.tensor<[n, 2], f32>
}

// Other operators between, and one reshape, stay.

// CHECK-LABEL: @apart
// CHECK-NEXT:    %0 = relax.reshape %x
// CHECK-NEXT:    %1 = relax.nn.relu %0
// CHECK-NEXT:    %2 = relax.reshape %1
relax.func @apart(%x: !relax.tensor<[n, 2], f32>) -> !relax.tensor<[n, 2], f32> {
  %0 = relax.reshape %x {shape = [#sym.expr<2>, #sym.expr<n>]} : !relax.tensor<[n, 2], f32> -> !relax.tensor<[2, n], f32>
  %1 = relax.nn.relu %0 : !relax.tensor<[2, n], f32> -> !relax.tensor<[2, n], f32>
  %2 = relax.reshape %1 {shape = [#sym.expr<n>, #sym.expr<2>]} : !relax.tensor<[2, n], f32> -> !relax.tensor<[n, 2], f32>
  relax.return %2 : !relax.tensor<[n, 2], f32>
}
