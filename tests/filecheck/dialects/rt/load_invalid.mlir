// RUN: xrelax-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: 'rt.func': expected no parameters, and nothing private, to run on load
rt.func on_load @load(%x: !tir.buffer<[2], f32>, %p: !tir.buffer<[2], f32>) results tuple 1 {
}

// -----

// CHECK: 'rt.func': expected no parameters, and nothing private, to run on load
rt.func private on_load @load(%p: !tir.buffer<[2], f32>) results tuple 1 {
}

// -----

// CHECK: 'rt.loaded': expected a function that runs on load, got 'other'
rt.func @other(%p: !tir.buffer<[2], f32>) results 1 {
}
rt.func @main() {
  %p = rt.loaded @other[0] : !tir.buffer<[2], f32>
}

// -----

// CHECK: 'rt.loaded': expected one of 1 results of 'load', got 1
rt.func on_load @load(%p: !tir.buffer<[2], f32>) results tuple 1 {
}
rt.func @main() {
  %p = rt.loaded @load[1] : !tir.buffer<[2], f32>
}

// -----

// CHECK: 'rt.loaded': expected result 0 of 'load' to be !tir.buffer<[2], f32>, got !tir.buffer<[3], f32>
rt.func on_load @load(%p: !tir.buffer<[2], f32>) results tuple 1 {
}
rt.func @main() {
  %p = rt.loaded @load[0] : !tir.buffer<[3], f32>
}
