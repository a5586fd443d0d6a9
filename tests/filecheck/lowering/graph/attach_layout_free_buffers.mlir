// RUN: xrelax-opt %s -p attach-attr-layout-free-buffers | filecheck %s

// A parameter that all calls give constants, or what kernels compute of constants.

// CHECK: tir.prim_func @constant({{.*}}) attributes {private, layout_free_buffers = [1 : i64]}
tir.prim_func @constant(%X: !tir.buffer<[12, 2], f32>, %W: !tir.buffer<[2, 6], f32>, %Y: !tir.buffer<[12, 6], f32>) attributes {private} {
}

// CHECK: tir.prim_func @turned({{.*}}) attributes {private, layout_free_buffers = [0 : i64]}
tir.prim_func @turned(%X: !tir.buffer<[6, 2], f32>, %Y: !tir.buffer<[2, 6], f32>) attributes {private} {
}

// One call gives an argument of its caller; an attribute that says otherwise goes.

// CHECK: tir.prim_func @mixed({{.*}}) attributes {private}
tir.prim_func @mixed(%X: !tir.buffer<[12, 2], f32>, %W: !tir.buffer<[2, 6], f32>, %Y: !tir.buffer<[12, 6], f32>) attributes {layout_free_buffers = [1], private} {
}

// Users may call a public function, and registered functions write their arguments.

// CHECK: tir.prim_func @public({{[^)]*}}) {
tir.prim_func @public(%X: !tir.buffer<[12, 2], f32>, %W: !tir.buffer<[2, 6], f32>, %Y: !tir.buffer<[12, 6], f32>) {
}

// CHECK: tir.prim_func @of_a_written_constant({{.*}}) attributes {private}
tir.prim_func @of_a_written_constant(%X: !tir.buffer<[12, 2], f32>, %W: !tir.buffer<[2, 6], f32>, %Y: !tir.buffer<[12, 6], f32>) attributes {private} {
}

// CHECK: tir.prim_func @passed({{.*}}) attributes {private}
tir.prim_func @passed(%X: !tir.buffer<[12, 2], f32>, %W: !tir.buffer<[2, 6], f32>, %Y: !tir.buffer<[12, 6], f32>) attributes {private} {
}

relax.func @main(%x: !relax.tensor<[12, 2], f32>, %v: !relax.tensor<[2, 6], f32>) -> !relax.tensor<[12, 6], f32> {
  %w = relax.constant <float32, [2, 6], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0]> : !relax.tensor<[2, 6], f32>
  %u = relax.constant <float32, [6, 2], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0]> : !relax.tensor<[6, 2], f32>
  %t = relax.call_tir @turned(%u) : (!relax.tensor<[6, 2], f32>) -> !relax.tensor<[2, 6], f32>
  %0 = relax.call_tir @constant(%x, %w) : (!relax.tensor<[12, 2], f32>, !relax.tensor<[2, 6], f32>) -> !relax.tensor<[12, 6], f32>
  %1 = relax.call_tir @constant(%x, %t) : (!relax.tensor<[12, 2], f32>, !relax.tensor<[2, 6], f32>) -> !relax.tensor<[12, 6], f32>
  %2 = relax.call_tir @mixed(%x, %w) : (!relax.tensor<[12, 2], f32>, !relax.tensor<[2, 6], f32>) -> !relax.tensor<[12, 6], f32>
  %3 = relax.call_tir @mixed(%x, %v) : (!relax.tensor<[12, 2], f32>, !relax.tensor<[2, 6], f32>) -> !relax.tensor<[12, 6], f32>
  %4 = relax.call_tir @public(%x, %w) : (!relax.tensor<[12, 2], f32>, !relax.tensor<[2, 6], f32>) -> !relax.tensor<[12, 6], f32>
  %6 = relax.call_tir @passed(%x, %w) : (!relax.tensor<[12, 2], f32>, !relax.tensor<[2, 6], f32>) -> !relax.tensor<[12, 6], f32>
  %5 = relax.call_dps_packed "passed"(%x, %w) : (!relax.tensor<[12, 2], f32>, !relax.tensor<[2, 6], f32>) -> !relax.tensor<[12, 6], f32>
  relax.return %0 : !relax.tensor<[12, 6], f32>
}
relax.func impure @effects(%x: !relax.tensor<[12, 2], f32>) -> !relax.tensor<[12, 6], f32> {
  %w = relax.constant <float32, [2, 6], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0]> : !relax.tensor<[2, 6], f32>
  %0 = relax.call_packed "changes"(%w) : (!relax.tensor<[2, 6], f32>) -> !relax.object
  %1 = relax.call_tir @of_a_written_constant(%x, %w) : (!relax.tensor<[12, 2], f32>, !relax.tensor<[2, 6], f32>) -> !relax.tensor<[12, 6], f32>
  relax.return %1 : !relax.tensor<[12, 6], f32>
}
