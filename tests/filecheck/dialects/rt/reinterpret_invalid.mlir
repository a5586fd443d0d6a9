// RUN: xrelax-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: expected tensors of as many bytes, got !tir.buffer<[3, 4], f32> and !tir.buffer<[13], f32>
rt.func @main(%x: !tir.buffer<[3, 4], f32>) {
  %0 = rt.reinterpret %x : !tir.buffer<[3, 4], f32> to !tir.buffer<[13], f32>
}

// -----

// CHECK: expected dense tensors, got !tir.buffer<[4, n], f32{{.*}}> and !tir.buffer<[n * 4], f32>
rt.func @main(%x: !tir.buffer<[4, n], f32, strides = [1, 4]>) {
  %0 = rt.reinterpret %x : !tir.buffer<[4, n], f32, strides = [1, 4]> to !tir.buffer<[n * 4], f32>
}
