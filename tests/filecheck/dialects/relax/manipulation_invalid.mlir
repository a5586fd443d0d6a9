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

// CHECK: expected shape of 'relax.memory.view' to have at most the elements of (n, 4), got (n + 1, 4)
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.memory.view %x {shape = [#sym.expr<n + 1>, #sym.expr<4>]} : !relax.tensor<[n, 4], f32> -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected distinct axis of 'relax.expand_dims', got (0, 0)
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.expand_dims %x {axis = array<i64: 0, 0>} : !relax.tensor<[n, 4], f32> -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected dim 0 of 'relax.squeeze' to be known, got (n, 4)
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.squeeze %x {axis = array<i64: 0>} : !relax.tensor<[n, 4], f32> -> !relax.tensor<*, f32>
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

// CHECK: expected pad_value of 'relax.nn.pad' to be one of int8, got 300
relax.func @main(%x: !relax.tensor<[n], i8>) -> !relax.tensor<[n], i8> {
  %0 = relax.nn.pad %x {pad_width = array<i64: 1, 1>, pad_value = 300 : i64} : !relax.tensor<[n], i8> -> !relax.tensor<[n + 2], i8>
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

// CHECK: expected at least 1 section of 'relax.split', got 0
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.split %x {indices_or_sections = 0 : i64} : !relax.tensor<[n, 4], f32> -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected a map of indices, got "i, j"
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[4, n], f32> {
  %0 = relax.layout_transform %x {index_map = "i, j"} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[4, n], f32>
  relax.return %0 : !relax.tensor<[4, n], f32>
}

// -----

// CHECK: expected data of 'relax.layout_transform' to have rank 1, got (n, 4)
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[4, n], f32> {
  %0 = relax.layout_transform %x {index_map = "lambda i: (i,)"} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[4, n], f32>
  relax.return %0 : !relax.tensor<[4, n], f32>
}

// -----

// CHECK: expected new index i0 - i1 to be at least 0, got -d1 + 1
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[4, n], f32> {
  %0 = relax.layout_transform %x {index_map = "lambda i, j: (i - j, j)"} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[4, n], f32>
  relax.return %0 : !relax.tensor<[4, n], f32>
}

// -----

// CHECK: expected pad_value of 'relax.layout_transform' to be int32, got 1.5
relax.func @main(%x: !relax.tensor<[n, 4], i32>) -> !relax.tensor<[4, n], i32> {
  %0 = relax.layout_transform %x {index_map = "lambda i, j: (j, i)", pad_value = 1.5 : f64} : !relax.tensor<[n, 4], i32> -> !relax.tensor<[4, n], i32>
  relax.return %0 : !relax.tensor<[4, n], i32>
}

// -----

// CHECK: expected tensor 1 of 'relax.meshgrid' to have rank 1, got (n, 4)
relax.func @main(%x: !relax.tensor<[4], f32>, %y: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[4], f32> {
  %0 = relax.meshgrid %x, %y : (!relax.tensor<[4], f32>, !relax.tensor<[n, 4], f32>) -> tuple<!relax.tensor<[4, n], f32>, !relax.tensor<[4, n], f32>>
  relax.return %x : !relax.tensor<[4], f32>
}

// -----

// CHECK: expected at least 1 tensor of 'relax.meshgrid', got 0
relax.func @main(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %0 = relax.meshgrid : () -> tuple<!relax.tensor<[], f32>>
  relax.return %x : !relax.tensor<[4], f32>
}

// -----

// CHECK: expected relative_byte_offset of 'relax.memory.view' to be an integer of at least 0, got -4
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.memory.view %x {relative_byte_offset = #sym.expr<-4>} : !relax.tensor<[n, 4], f32> -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected a smaller view of 'relax.memory.view' from byte 4 on
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.memory.view %x {relative_byte_offset = #sym.expr<4>} : !relax.tensor<[n, 4], f32> -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected numbers other than bfloat16 for a dtype of 'relax.memory.view', got bool
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.memory.view %x {dtype = i1} : !relax.tensor<[n, 4], f32> -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected dtype of 'relax.memory.view' to be as wide as float32 of its operand, got uint8
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.memory.view %x {dtype = ui8} : !relax.tensor<[n, 4], f32> -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected dims of 'relax.memory.view' to be at least 0, got (-1,)
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.memory.view %x {shape = [#sym.expr<-1>], dtype = i32} : !relax.tensor<[n, 4], f32> -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}

// -----

// CHECK: expected a view of 'relax.memory.view' within n * 16 bytes of (n, 4), got one of (n, 4) up to byte n * 16 + 8
relax.func @main(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.memory.view %x {shape = [#sym.expr<n>, #sym.expr<4>], relative_byte_offset = #sym.expr<8>} : !relax.tensor<[n, 4], f32> -> !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n, 4], f32>
}
