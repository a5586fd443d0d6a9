// RUN: xrelax-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: expected shape of 'relax.reshape' to have the elements of (2, 4), got (3, 3)
relax.func @main(%x: !relax.tensor<[2, 4], f32>) -> !relax.tensor<[2, 4], f32> {
  %0 = relax.reshape %x {shape = [#sym.expr<3>, #sym.expr<3>]} : !relax.tensor<[2, 4], f32> -> !relax.tensor<[3, 3], f32>
  relax.return %x : !relax.tensor<[2, 4], f32>
}

// -----

// CHECK: expected shape of 'relax.reshape' to have the elements of (n, 4), got (n, 5): use R.match_cast on the operand
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.reshape %x {shape = [#sym.expr<n>, #sym.expr<5>]} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 5], f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected dims of 'relax.reshape' to be at least 0 and at most one of them -1, got (-1, -1)
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.reshape %x {shape = [#sym.expr<-1>, #sym.expr<-1>]} : !relax.tensor<[n, 4], f32> -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected shape of 'relax.memory.view' to have the elements of (n, 4), got (n, 5)
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.memory.view %x {shape = [#sym.expr<n>, #sym.expr<5>]} : !relax.tensor<[n, 4], f32> -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected the last dim of 'relax.memory.view' to be of whole int32, got (n, 6) of int8
relax.func @main(%x: !relax.tensor<[n, 6], i8>) -> !relax.tensor<[n, 6], i8> {
  %0 = relax.memory.view %x {shape = [#sym.expr<n>, #sym.expr<2>], dtype = i32} : !relax.tensor<[n, 6], i8> -> !relax.tensor<*, i32>
  relax.return %x : !relax.tensor<[n, 6], i8>
}

// -----

// CHECK: expected operands of 'relax.memory.view' to be one of int8, uint8, bfloat16, got float32
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.memory.view %x {shape = [#sym.expr<n>, #sym.expr<4>], dtype = i32} : !relax.tensor<[n, 4], f32> -> !relax.tensor<*, i32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected dtype of 'relax.memory.view' to be an integer, got float32
relax.func @main(%x: !relax.tensor<[n, 4], i8>) -> !relax.tensor<[n, 4], i8> {
  %0 = relax.memory.view %x {shape = [#sym.expr<n>, #sym.expr<1>], dtype = f32} : !relax.tensor<[n, 4], i8> -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n, 4], i8>
}

// -----

// CHECK: expected distinct axis of 'relax.expand_dims', got (0, 0)
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.expand_dims %x {axis = array<i64: 0, 0>} : !relax.tensor<[n, 4], f32> -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected dim 1 of 'relax.squeeze' to be 1, got (n, 4)
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.squeeze %x {axis = array<i64: 1>} : !relax.tensor<[n, 4], f32> -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected axes of 'relax.permute_dims' to permute 2 dims, got (0, 0)
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.permute_dims %x {axes = array<i64: 0, 0>} : !relax.tensor<[n, 4], f32> -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected a tensor that 'relax.broadcast_to' can broadcast to (n, 5), got (n, 4)
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.broadcast_to %x {shape = [#sym.expr<n>, #sym.expr<5>]} : !relax.tensor<[n, 4], f32> -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected dims of 'relax.broadcast_to' to be at least 0, got (-1, 4)
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.broadcast_to %x {shape = [#sym.expr<-1>, #sym.expr<4>]} : !relax.tensor<[n, 4], f32> -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected repeats of 'relax.repeat' to be at least 0, got -1
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.repeat %x {repeats = -1 : i64} : !relax.tensor<[n, 4], f32> -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected repeats of 'relax.tile' to be at least 0, got (-1,)
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.tile %x {repeats = array<i64: -1>} : !relax.tensor<[n, 4], f32> -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected axis of 'relax.flip' in [-2, 2), got 2
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.flip %x {axis = array<i64: 2>} : !relax.tensor<[n, 4], f32> -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected axis of 'relax.roll' in [-2, 2), got -3
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.roll %x {shift = 1 : i64, axis = -3 : i64} : !relax.tensor<[n, 4], f32> -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected as many axes, begins, ends and strides of 'relax.strided_slice', got 1, 2, 1, 1
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.strided_slice %x {axes = array<i64: 0>, begin = [#sym.expr<0>, #sym.expr<0>], end = [#sym.expr<1>]} : !relax.tensor<[n, 4], f32> -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected strides of 'relax.strided_slice' other than 0, got (0,)
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.strided_slice %x {axes = array<i64: 0>, begin = [#sym.expr<0>], end = [#sym.expr<1>], strides = array<i64: 0>} : !relax.tensor<[n, 4], f32> -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected 2 pairs of widths of 'relax.nn.pad', at least 0, got (1, 1)
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.nn.pad %x {pad_width = array<i64: 1, 1>} : !relax.tensor<[n, 4], f32> -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected pad_value of 'relax.nn.pad' to be one of int8, got 0.5
relax.func @main(%x: !relax.tensor<[n], i8>) -> !relax.tensor<[n], i8> {
  %0 = relax.nn.pad %x {pad_width = array<i64: 1, 1>, pad_value = 5.000000e-01 : f64} : !relax.tensor<[n], i8> -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n], i8>
}

// -----

// CHECK: expected padded dims of 'relax.nn.pad' to have elements to copy, got (0,)
relax.func @main(%x: !relax.tensor<[0], f32>) -> !relax.tensor<[0], f32> {
  %0 = relax.nn.pad %x {pad_width = array<i64: 1, 1>, pad_mode = "circular"} : !relax.tensor<[0], f32> -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[0], f32>
}

// -----

// CHECK: expected one of constant, reflect, replicate, circular, got "edge"
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.nn.pad %x {pad_width = array<i64: 1, 1>, pad_mode = "edge"} : !relax.tensor<[n, 4], f32> -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected tensors of 'relax.concat' to have the same dims but for 0, got (n, 4), (n, 5)
relax.func @main(%x: !relax.tensor<[n, 4], f32>, %y: !relax.tensor<[n, 5], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.concat %x, %y : (!relax.tensor<[n, 4], f32>, !relax.tensor<[n, 5], f32>) -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected tensors of 'relax.concat' to have one rank, got (n, 4), (n,)
relax.func @main(%x: !relax.tensor<[n, 4], f32>, %y: !relax.tensor<[n], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.concat %x, %y : (!relax.tensor<[n, 4], f32>, !relax.tensor<[n], f32>) -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected tensors of 'relax.stack' to have the same dims, got (n, 4), (n, 5)
relax.func @main(%x: !relax.tensor<[n, 4], f32>, %y: !relax.tensor<[n, 5], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.stack %x, %y : (!relax.tensor<[n, 4], f32>, !relax.tensor<[n, 5], f32>) -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected tensors of 'relax.stack', got none
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.stack : () -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected 3 sections of 'relax.split' to divide dim 0, got (n, 4)
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.split %x {indices_or_sections = 3 : i64} : !relax.tensor<[n, 4], f32> -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected at least 1 section of 'relax.split', got 0
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.split %x {indices_or_sections = 0 : i64} : !relax.tensor<[n, 4], f32> -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}
