// RUN: xrelax-opt %s --split-input-file | filecheck %s
// RUN: xrelax-opt %s --split-input-file --print-op-generic | xrelax-opt --split-input-file | filecheck %s

// Other shapes of the same elements; a -1 is worked out.
// CHECK-LABEL: @reshaping
relax.func @reshaping(%x: !relax.tensor<[n, 12], f32>) -> !relax.tensor<[n, 12], f32> {
  // CHECK: %0 = relax.reshape %x {shape = [#sym.expr<n>, #sym.expr<3>, #sym.expr<4>]} : !relax.tensor<[n, 12], f32> -> !relax.tensor<[n, 3, 4], f32>
  %0 = relax.reshape %x {shape = [#sym.expr<n>, #sym.expr<3>, #sym.expr<4>]} : !relax.tensor<[n, 12], f32> -> !relax.tensor<[n, 3, 4], f32>
  // CHECK: %1 = relax.flatten %x : !relax.tensor<[n, 12], f32> -> !relax.tensor<[n * 12], f32>
  %1 = relax.flatten %x : !relax.tensor<[n, 12], f32> -> !relax.tensor<[n * 12], f32>
  // CHECK: %2 = relax.expand_dims %x {axis = array<i64: 0, -1>} : !relax.tensor<[n, 12], f32> -> !relax.tensor<[1, n, 12, 1], f32>
  %2 = relax.expand_dims %x {axis = array<i64: 0, -1>} : !relax.tensor<[n, 12], f32> -> !relax.tensor<[1, n, 12, 1], f32>
  // CHECK: %3 = relax.squeeze %x : !relax.tensor<[n, 12], f32> -> !relax.tensor<[n, 12], f32>
  %3 = relax.squeeze %x : !relax.tensor<[n, 12], f32> -> !relax.tensor<[n, 12], f32>
  // CHECK: %4 = relax.squeeze %x {axis = array<i64>} : !relax.tensor<[n, 12], f32> -> !relax.tensor<[n, 12], f32>
  %4 = relax.squeeze %x {axis = array<i64>} : !relax.tensor<[n, 12], f32> -> !relax.tensor<[n, 12], f32>
  // CHECK: %5 = relax.memory.view %x {shape = [#sym.expr<n * 12>]} : !relax.tensor<[n, 12], f32> -> !relax.tensor<[n * 12], f32>
  %5 = relax.memory.view %x {shape = [#sym.expr<n * 12>]} : !relax.tensor<[n, 12], f32> -> !relax.tensor<[n * 12], f32>
  relax.return %x : !relax.tensor<[n, 12], f32>
}

// -----

// The bits of short numbers as integers.

relax.func @bits(%x: !relax.tensor<[n, 12], i8>, %y: !relax.tensor<[n, 2], bf16>) -> !relax.tensor<[n, 12], i8> {
  // CHECK: %0 = relax.memory.view %x {shape = [#sym.expr<n>, #sym.expr<3>], dtype = i32} : !relax.tensor<[n, 12], i8> -> !relax.tensor<[n, 3], i32>
  %0 = relax.memory.view %x {shape = [#sym.expr<n>, #sym.expr<3>], dtype = i32} : !relax.tensor<[n, 12], i8> -> !relax.tensor<[n, 3], i32>
  // CHECK: %1 = relax.memory.view %y {shape = [#sym.expr<n>], dtype = ui32}
  %1 = relax.memory.view %y {shape = [#sym.expr<n>], dtype = ui32} : !relax.tensor<[n, 2], bf16> -> !relax.tensor<[n], ui32>
  relax.return %x : !relax.tensor<[n, 12], i8>
}

// -----

// Elements in other places.
// CHECK-LABEL: @moving
relax.func @moving(%x: !relax.tensor<[n, 12], f32>) -> !relax.tensor<[n, 12], f32> {
  // CHECK: %0 = relax.permute_dims %x : !relax.tensor<[n, 12], f32> -> !relax.tensor<[12, n], f32>
  %0 = relax.permute_dims %x : !relax.tensor<[n, 12], f32> -> !relax.tensor<[12, n], f32>
  // CHECK: %1 = relax.permute_dims %x {axes = array<i64: 1, 0>} : !relax.tensor<[n, 12], f32> -> !relax.tensor<[12, n], f32>
  %1 = relax.permute_dims %x {axes = array<i64: 1, 0>} : !relax.tensor<[n, 12], f32> -> !relax.tensor<[12, n], f32>
  // CHECK: %2 = relax.broadcast_to %x {shape = [#sym.expr<2>, #sym.expr<n>, #sym.expr<12>]} : !relax.tensor<[n, 12], f32> -> !relax.tensor<[2, n, 12], f32>
  %2 = relax.broadcast_to %x {shape = [#sym.expr<2>, #sym.expr<n>, #sym.expr<12>]} : !relax.tensor<[n, 12], f32> -> !relax.tensor<[2, n, 12], f32>
  // CHECK: %3 = relax.repeat %x {repeats = 2 : i64} : !relax.tensor<[n, 12], f32> -> !relax.tensor<[n * 24], f32>
  %3 = relax.repeat %x {repeats = 2 : i64} : !relax.tensor<[n, 12], f32> -> !relax.tensor<[n * 24], f32>
  // CHECK: %4 = relax.repeat %x {repeats = 2 : i64, axis = 1 : i64} : !relax.tensor<[n, 12], f32> -> !relax.tensor<[n, 24], f32>
  %4 = relax.repeat %x {repeats = 2 : i64, axis = 1 : i64} : !relax.tensor<[n, 12], f32> -> !relax.tensor<[n, 24], f32>
  // CHECK: %5 = relax.tile %x {repeats = array<i64: 2, 1, 3>} : !relax.tensor<[n, 12], f32> -> !relax.tensor<[2, n, 36], f32>
  %5 = relax.tile %x {repeats = array<i64: 2, 1, 3>} : !relax.tensor<[n, 12], f32> -> !relax.tensor<[2, n, 36], f32>
  // CHECK: %6 = relax.flip %x {axis = array<i64: 1>} : !relax.tensor<[n, 12], f32> -> !relax.tensor<[n, 12], f32>
  %6 = relax.flip %x {axis = array<i64: 1>} : !relax.tensor<[n, 12], f32> -> !relax.tensor<[n, 12], f32>
  // CHECK: %7 = relax.roll %x {shift = -1 : i64, axis = 0 : i64} : !relax.tensor<[n, 12], f32> -> !relax.tensor<[n, 12], f32>
  %7 = relax.roll %x {shift = -1 : i64, axis = 0 : i64} : !relax.tensor<[n, 12], f32> -> !relax.tensor<[n, 12], f32>
  relax.return %x : !relax.tensor<[n, 12], f32>
}

// -----

// Parts, which may begin and end at symbols, and margins. Defaults are not written.
// CHECK-LABEL: @slicing
relax.func @slicing(%x: !relax.tensor<[n, 12], f32>, %y: !relax.tensor<[m, n], f32>) -> !relax.tensor<[n, 12], f32> {
  // CHECK: %0 = relax.strided_slice %x {axes = array<i64: 0>, begin = [#sym.expr<0>], end = [#sym.expr<n>]} : !relax.tensor<[n, 12], f32> -> !relax.tensor<[n, 12], f32>
  %0 = relax.strided_slice %x {axes = array<i64: 0>, begin = [#sym.expr<0>], end = [#sym.expr<n>]} : !relax.tensor<[n, 12], f32> -> !relax.tensor<[n, 12], f32>
  // CHECK: %1 = relax.strided_slice %y {axes = array<i64: 0, 1>, begin = [#sym.expr<0>, #sym.expr<m>], end = [#sym.expr<n>, #sym.expr<m + 4>], strides = array<i64: 1, 2>} : !relax.tensor<[m, n], f32> -> !relax.tensor<[min(m, n), max(0, min((-m + n + 1) floordiv 2, 2))], f32>
  %1 = relax.strided_slice %y {axes = array<i64: 0, 1>, begin = [#sym.expr<0>, #sym.expr<m>], end = [#sym.expr<n>, #sym.expr<m + 4>], strides = array<i64: 1, 2>} : !relax.tensor<[m, n], f32> -> !relax.tensor<[min(m, n), max(0, min((-m + n + 1) floordiv 2, 2))], f32>
  // CHECK: %2 = relax.strided_slice %x {axes = array<i64: 0>, begin = [#sym.expr<n - 1>], end = [#sym.expr<n>], assume_inbound = true} : !relax.tensor<[n, 12], f32> -> !relax.tensor<[1, 12], f32>
  %2 = relax.strided_slice %x {axes = array<i64: 0>, begin = [#sym.expr<n - 1>], end = [#sym.expr<n>], assume_inbound = true} : !relax.tensor<[n, 12], f32> -> !relax.tensor<[1, 12], f32>
  // CHECK: %3 = relax.nn.pad %x {pad_width = array<i64: 1, 1, 0, 2>} : !relax.tensor<[n, 12], f32> -> !relax.tensor<[n + 2, 14], f32>
  %3 = relax.nn.pad %x {pad_width = array<i64: 1, 1, 0, 2>} : !relax.tensor<[n, 12], f32> -> !relax.tensor<[n + 2, 14], f32>
  // CHECK: %4 = relax.nn.pad %x {pad_width = array<i64: 1, 1, 0, 2>, pad_mode = "reflect"} : !relax.tensor<[n, 12], f32> -> !relax.tensor<[n + 2, 14], f32>
  %4 = relax.nn.pad %x {pad_width = array<i64: 1, 1, 0, 2>, pad_mode = "reflect"} : !relax.tensor<[n, 12], f32> -> !relax.tensor<[n + 2, 14], f32>
  // CHECK: %5 = relax.nn.pad %x {pad_width = array<i64: 1, 1, 0, 2>, pad_value = 1.500000e+00 : f64} : !relax.tensor<[n, 12], f32> -> !relax.tensor<[n + 2, 14], f32>
  %5 = relax.nn.pad %x {pad_width = array<i64: 1, 1, 0, 2>, pad_value = 1.500000e+00 : f64} : !relax.tensor<[n, 12], f32> -> !relax.tensor<[n + 2, 14], f32>
  relax.return %x : !relax.tensor<[n, 12], f32>
}

// -----

// Tensors put together and taken apart.
// CHECK-LABEL: @joining
relax.func @joining(%x: !relax.tensor<[n, 12], f32>, %y: !relax.tensor<[m, 12], f32>) -> !relax.tensor<[n, 12], f32> {
  // CHECK: %0 = relax.concat %x, %y : (!relax.tensor<[n, 12], f32>, !relax.tensor<[m, 12], f32>) -> !relax.tensor<[m + n, 12], f32>
  %0 = relax.concat %x, %y : (!relax.tensor<[n, 12], f32>, !relax.tensor<[m, 12], f32>) -> !relax.tensor<[m + n, 12], f32>
  // CHECK: %1 = relax.concat %x, %x {axis = -1 : i64} : (!relax.tensor<[n, 12], f32>, !relax.tensor<[n, 12], f32>) -> !relax.tensor<[n, 24], f32>
  %1 = relax.concat %x, %x {axis = -1 : i64} : (!relax.tensor<[n, 12], f32>, !relax.tensor<[n, 12], f32>) -> !relax.tensor<[n, 24], f32>
  // CHECK: %2 = relax.stack %x, %x {axis = 2 : i64} : (!relax.tensor<[n, 12], f32>, !relax.tensor<[n, 12], f32>) -> !relax.tensor<[n, 12, 2], f32>
  %2 = relax.stack %x, %x {axis = 2 : i64} : (!relax.tensor<[n, 12], f32>, !relax.tensor<[n, 12], f32>) -> !relax.tensor<[n, 12, 2], f32>
  // CHECK: %3 = relax.split %x {indices_or_sections = 3 : i64, axis = 1 : i64} : !relax.tensor<[n, 12], f32> -> tuple<!relax.tensor<[n, 4], f32>, !relax.tensor<[n, 4], f32>, !relax.tensor<[n, 4], f32>>
  %3 = relax.split %x {indices_or_sections = 3 : i64, axis = 1 : i64} : !relax.tensor<[n, 12], f32> -> tuple<!relax.tensor<[n, 4], f32>, !relax.tensor<[n, 4], f32>, !relax.tensor<[n, 4], f32>>
  // CHECK: %4 = relax.split %x {indices_or_sections = [#sym.expr<2>, #sym.expr<m>]} : !relax.tensor<[n, 12], f32> -> tuple<!relax.tensor<[min(2, n), 12], f32>, !relax.tensor<[max(0, min(m, n) - 2), 12], f32>, !relax.tensor<[max(-m + n, 0), 12], f32>>
  %4 = relax.split %x {indices_or_sections = [#sym.expr<2>, #sym.expr<m>]} : !relax.tensor<[n, 12], f32> -> tuple<!relax.tensor<[min(2, n), 12], f32>, !relax.tensor<[max(0, min(m, n) - 2), 12], f32>, !relax.tensor<[max(-m + n, 0), 12], f32>>
  relax.return %x : !relax.tensor<[n, 12], f32>
}
