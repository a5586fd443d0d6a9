// RUN: xrelax-opt %s -p rewrite-dataflow-reshape --split-input-file | filecheck %s

// Operators that keep the elements and their order become views, and nothing else does.

// CHECK-LABEL: relax.func @views
// CHECK-NEXT:    %a = relax.memory.view %x {shape = [#sym.expr<n>, #sym.expr<3>, #sym.expr<4>]}
// CHECK-NEXT:    %b = relax.memory.view %a {shape = [#sym.expr<n * 12>]}
// CHECK-NEXT:    %c = relax.memory.view %b {shape = [#sym.expr<1>, #sym.expr<n * 12>]}
// CHECK-NEXT:    %d = relax.memory.view %c {shape = [#sym.expr<n * 12>]}
// CHECK-NEXT:    %e = relax.permute_dims %a
// CHECK-NEXT:    %f = relax.memory.view %e {shape = [#sym.expr<4>, #sym.expr<n * 3>]}
// CHECK-NEXT:    relax.return %d
relax.func @views(%x: !relax.tensor<[n, 12], f32>) -> !relax.tensor<[n * 12], f32> {
  %a = relax.reshape %x {shape = [#sym.expr<n>, #sym.expr<3>, #sym.expr<4>]} : !relax.tensor<[n, 12], f32> -> !relax.tensor<[n, 3, 4], f32>
  %b = relax.flatten %a : !relax.tensor<[n, 3, 4], f32> -> !relax.tensor<[n * 12], f32>
  %c = relax.expand_dims %b {axis = array<i64: 0>} : !relax.tensor<[n * 12], f32> -> !relax.tensor<[1, n * 12], f32>
  %d = relax.squeeze %c : !relax.tensor<[1, n * 12], f32> -> !relax.tensor<[n * 12], f32>
  %e = relax.permute_dims %a : !relax.tensor<[n, 3, 4], f32> -> !relax.tensor<[4, 3, n], f32>
  %f = relax.memory.view %e {shape = [#sym.expr<4>, #sym.expr<n * 3>]} : !relax.tensor<[4, 3, n], f32> -> !relax.tensor<[4, n * 3], f32>
  relax.return %d : !relax.tensor<[n * 12], f32>
}

// -----

// An impure function may have its tensors written, so that a reshape is a copy there.

// CHECK-LABEL: relax.func impure @impure
// CHECK-NEXT:    relax.flatten
relax.func impure @impure(%x: !relax.tensor<[n, 12], f32>) -> !relax.tensor<[n * 12], f32> {
  %y = relax.flatten %x : !relax.tensor<[n, 12], f32> -> !relax.tensor<[n * 12], f32>
  %0 = relax.call_packed "log"(%y) : (!relax.tensor<[n * 12], f32>) -> !relax.object
  relax.return %y : !relax.tensor<[n * 12], f32>
}

// -----

// Without a known shape there is no memory to view.

// CHECK-LABEL: relax.func @unknown
// CHECK-NEXT:    relax.flatten
relax.func @unknown(%x: !relax.tensor<rank 2, f32>) -> !relax.tensor<rank 1, f32> {
  %y = relax.flatten %x : !relax.tensor<rank 2, f32> -> !relax.tensor<rank 1, f32>
  relax.return %y : !relax.tensor<rank 1, f32>
}

// -----

// A reshape that splits dims of a slice stays, to be fused with it, unless something else reads the
// slice; one that merges dims would need divisions.

// CHECK-LABEL: relax.func @slices
// CHECK-NEXT:    %a = relax.strided_slice %x
// CHECK-NEXT:    %b = relax.reshape %a
// CHECK-NEXT:    %c = relax.strided_slice %b
// CHECK-NEXT:    %d = relax.memory.view %c
// CHECK-NEXT:    %e = relax.memory.view %c
relax.func @slices(%x: !relax.tensor<[n, 12], f32>) -> !relax.tensor<[n * 3], f32> {
  %a = relax.strided_slice %x {axes = array<i64: 1>, begin = [#sym.expr<0>], end = [#sym.expr<6>]} : !relax.tensor<[n, 12], f32> -> !relax.tensor<[n, 6], f32>
  %b = relax.reshape %a {shape = [#sym.expr<n>, #sym.expr<2>, #sym.expr<3>]} : !relax.tensor<[n, 6], f32> -> !relax.tensor<[n, 2, 3], f32>
  %c = relax.strided_slice %b {axes = array<i64: 1>, begin = [#sym.expr<0>], end = [#sym.expr<1>]} : !relax.tensor<[n, 2, 3], f32> -> !relax.tensor<[n, 1, 3], f32>
  %d = relax.reshape %c {shape = [#sym.expr<n * 3>]} : !relax.tensor<[n, 1, 3], f32> -> !relax.tensor<[n * 3], f32>
  %e = relax.reshape %c {shape = [#sym.expr<n>, #sym.expr<3>]} : !relax.tensor<[n, 1, 3], f32> -> !relax.tensor<[n, 3], f32>
  relax.return %d : !relax.tensor<[n * 3], f32>
}

// -----

// Words of vectors that are whole ones are where the numbers are; others are filled up.

// CHECK-LABEL: relax.func @words
// CHECK-NEXT:    %a = relax.memory.view %x {dtype = i32, shape = [#sym.expr<n>, #sym.expr<3>]}
// CHECK-NEXT:    %b = relax.nn.pack_words %y
// CHECK-NEXT:    %c = relax.nn.pack_words %z {axis = 0 : i64}
relax.func @words(%x: !relax.tensor<[n, 12], i8>, %y: !relax.tensor<[n, 3], bf16>, %z: !relax.tensor<[4, n], ui8>) -> !relax.tensor<[n, 3], i32> {
  %a = relax.nn.pack_words %x : !relax.tensor<[n, 12], i8> -> !relax.tensor<[n, 3], i32>
  %b = relax.nn.pack_words %y : !relax.tensor<[n, 3], bf16> -> !relax.tensor<[n, 2], ui32>
  %c = relax.nn.pack_words %z {axis = 0 : i64} : !relax.tensor<[4, n], ui8> -> !relax.tensor<[1, n], ui32>
  relax.return %a : !relax.tensor<[n, 3], i32>
}
