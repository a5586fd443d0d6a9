// RUN: xrelax-opt %s --split-input-file | filecheck %s
// RUN: xrelax-opt %s --split-input-file --print-op-generic | xrelax-opt --split-input-file | filecheck %s

// Functions: results after parameters, users' names, visibility, tuples, parameters written in place.
// CHECK: rt.func @one(%x: !tir.buffer<[n], f32>, %y: !tir.buffer<[n], f32>) results 1 {
rt.func @one(%x: !tir.buffer<[n], f32>, %y: !tir.buffer<[n], f32>) results 1 {
}
// CHECK: rt.func private @two(%x: !tir.buffer<[n], f32>, %y: !tir.buffer<[n], f32>, %z: !tir.buffer<[n], f32>) params ("input") results tuple 2 {
rt.func private @two(%x: !tir.buffer<[n], f32>, %y: !tir.buffer<[n], f32>, %z: !tir.buffer<[n], f32>) params ("input") results tuple 2 {
}
// CHECK: rt.func @none(%x: !tir.buffer<[n], f32>) written [0] {
rt.func @none(%x: !tir.buffer<[n], f32>) written [0] {
}

// -----

// Checked arguments and memory, before and after planning.
// CHECK-LABEL: @memory
rt.func @memory(%x: !tir.buffer<[1, n], f32>, %y: !tir.buffer<[1, n], f32>) results 1 {
  // CHECK: rt.check %x "x" : !tir.buffer<[1, n], f32>
  rt.check %x "x" : !tir.buffer<[1, n], f32>
  // CHECK: %t = rt.alloc : !tir.buffer<[1, n], f32>
  %t = rt.alloc : !tir.buffer<[1, n], f32>
  // CHECK: %a = rt.arena n * 4 + 64
  %a = rt.arena 64 + n * 4
  // CHECK: %v = rt.view %a[64] : !tir.buffer<[n * 4 + 64], i8> to !tir.buffer<[1, n], f32>
  %v = rt.view %a[64] : !tir.buffer<[n * 4 + 64], i8> to !tir.buffer<[1, n], f32>
  // CHECK: %w = rt.constant <float32, [2], [1.0, 2.0]> : !tir.buffer<[2], f32>
  %w = rt.constant <float32, [2], [1.0, 2.0]> : !tir.buffer<[2], f32>
  // CHECK: rt.copy %v, %y : !tir.buffer<[1, n], f32>, !tir.buffer<[1, n], f32>
  rt.copy %v, %y : !tir.buffer<[1, n], f32>, !tir.buffer<[1, n], f32>
}

// -----

// Calls: of the module, with values for index parameters, and of the registry.
// CHECK-LABEL: @calls
rt.func @calls(%x: !tir.buffer<[n], f32>, %y: !tir.buffer<[n], f32>) results 1 {
  // CHECK: rt.call_dps @relu(%x) outs(%y) : (!tir.buffer<[n], f32>), (!tir.buffer<[n], f32>)
  rt.call_dps @relu(%x) outs(%y) : (!tir.buffer<[n], f32>), (!tir.buffer<[n], f32>)
  // CHECK: rt.call_dps @iota() outs(%y) vars [n + 1, 3] : (), (!tir.buffer<[n], f32>)
  rt.call_dps @iota() outs(%y) vars [1 + n, 3] : (), (!tir.buffer<[n], f32>)
  // CHECK: rt.call_packed "env.relu"(%x) outs(%y) : (!tir.buffer<[n], f32>), (!tir.buffer<[n], f32>)
  rt.call_packed "env.relu"(%x) outs(%y) : (!tir.buffer<[n], f32>), (!tir.buffer<[n], f32>)
  // CHECK: rt.call_packed "tick"() outs() : (), ()
  rt.call_packed "tick"() outs() : (), ()
}

// -----

// A dataflow region holds calls, copies and allocations.
// CHECK-LABEL: @dataflow
rt.func @dataflow(%x: !tir.buffer<[n], f32>, %y: !tir.buffer<[n], f32>) results 1 {
  // CHECK:      rt.dataflow {
  rt.dataflow {
    // CHECK-NEXT: %t = rt.alloc : !tir.buffer<[n], f32>
    %t = rt.alloc : !tir.buffer<[n], f32>
    // CHECK-NEXT: rt.call_dps @relu(%x) outs(%t)
    rt.call_dps @relu(%x) outs(%t) : (!tir.buffer<[n], f32>), (!tir.buffer<[n], f32>)
    // CHECK-NEXT: rt.copy %t, %y
    rt.copy %t, %y : !tir.buffer<[n], f32>, !tir.buffer<[n], f32>
  }
  // CHECK:      rt.dataflow {
  // CHECK-NEXT: }
  rt.dataflow {
  }
}
