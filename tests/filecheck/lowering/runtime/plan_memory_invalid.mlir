// RUN: xrelax-opt %s -p plan-memory --split-input-file --verify-diagnostics | filecheck %s

// CHECK: expected 'main' to be planned once, got both 'rt.arena' and 'rt.alloc'
rt.func @main(%x: !tir.buffer<[4], f32>) {
  %0 = rt.arena 64
  %a = rt.alloc : !tir.buffer<[4], f32>
  rt.call_dps @f(%x) outs(%a) : (!tir.buffer<[4], f32>), (!tir.buffer<[4], f32>)
}

// -----

// CHECK: expected 'main' to call kernels and private functions, got 'f'
rt.func @f(%x: !tir.buffer<[4], f32>, %y: !tir.buffer<[4], f32>) results 1 {
}
rt.func @main(%x: !tir.buffer<[4], f32>, %y: !tir.buffer<[4], f32>) results 1 {
  rt.call_dps @f(%x) outs(%y) : (!tir.buffer<[4], f32>), (!tir.buffer<[4], f32>)
}

// -----

// CHECK: expected 'f', which calls itself, to be 'recursive'
rt.func private @f(%x: !tir.buffer<[4], f32>, %y: !tir.buffer<[4], f32>) results 1 {
  rt.call_dps @f(%x) outs(%y) : (!tir.buffer<[4], f32>), (!tir.buffer<[4], f32>)
}
