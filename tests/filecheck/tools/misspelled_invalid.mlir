// RUN: xrelax-opt %s --split-input-file --verify-diagnostics | filecheck %s

// What is unknown is named with the nearest that is known.

// CHECK: :7:8: error: 'relax.nn.reluu' is not registered, did you mean 'relax.nn.relu'?
relax.func @operation(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %0 = relax.nn.reluu %x : !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  relax.return %0 : !relax.tensor<[4], f32>
}

// -----

// CHECK: 'relx.func' is not registered, did you mean 'relax.func'?
relx.func @dialect() {}

// -----

// CHECK: 'relax.tensro' is not registered, did you mean 'relax.tensor'?
relax.func @type(%x: !relax.tensro<[4], f32>) {}

// -----

// CHECK: unknown attribute 'axes' of 'relax.sum', did you mean 'axis'?
relax.func @attribute(%x: !relax.tensor<[4, 4], f32>) -> !relax.tensor<[4], f32> {
  %0 = relax.sum %x {axes = array<i64: 1>} : !relax.tensor<[4, 4], f32> -> !relax.tensor<[4], f32>
  relax.return %0 : !relax.tensor<[4], f32>
}

// -----

// An error is at the use of a value that nothing defines, not at the end of the file.

// CHECK: 36:16: error: value '%sum' is used but not defined
relax.func @value(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %sum0 = relax.add %x, %x : !relax.tensor<[4], f32>, !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  relax.return %sum : !relax.tensor<[4], f32>
}

// -----

// Types are near other types, not near the operation of that name.

// CHECK: 'relax.reshape' is not registered, did you mean 'relax.shape'?
relax.func @f(%x: !relax.reshape<i32>) {}
