// RUN: xrelax-opt %s --split-input-file | filecheck %s
// RUN: xrelax-opt %s --split-input-file --print-op-generic | xrelax-opt --split-input-file | filecheck %s

// Sizes in memory are symbols from here on; the function reports one that its result depends on.
// CHECK-LABEL: rt.func @main(%x: !tir.buffer<[n], f32>, %c: !tir.buffer<[2], i64>, %y: !tir.buffer<[n * 4], i8>, %r: !tir.buffer<[2], i64>) results 2 signature ("x", "c") : (!relax.tensor<[n], f32>, !relax.tensor<[2], i64>) -> !relax.tensor<[k], f32> reported [k, l] {
rt.func @main(%x: !tir.buffer<[n], f32>, %c: !tir.buffer<[2], i64>, %y: !tir.buffer<[n * 4], i8>, %r: !tir.buffer<[2], i64>) results 2 signature ("x", "c") : (!relax.tensor<[n], f32>, !relax.tensor<[2], i64>) -> !relax.tensor<[k], f32> reported [k, l] {
  // CHECK: rt.read_sizes %c [k at_most n, l at_most n * 2]
  rt.read_sizes %c [k at_most n, l at_most n * 2]
  // CHECK: %t = rt.alloc : !tir.buffer<[k, l], f32>
  %t = rt.alloc : !tir.buffer<[k, l], f32>
  rt.copy %c, %r : !tir.buffer<[2], i64>, !tir.buffer<[2], i64>
}
