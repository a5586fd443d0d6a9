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
  // CHECK: rt.call_packed "env.f" returns (%x) outs(%y) : (!tir.buffer<[n], f32>), (!tir.buffer<[n], f32>)
  rt.call_packed "env.f" returns (%x) outs(%y) : (!tir.buffer<[n], f32>), (!tir.buffer<[n], f32>)
  // CHECK: rt.call_packed "env.g" returns kept {{\[\[0, 2\], \[\]\]}} (%x) outs() : (!tir.buffer<[n], f32>), ()
  rt.call_packed "env.g" returns kept [[0, 2], []] (%x) outs() : (!tir.buffer<[n], f32>), ()
  // CHECK: rt.call_packed "relax.print" text "{}" (%x) outs() : (!tir.buffer<[n], f32>), ()
  rt.call_packed "relax.print" text "{}" (%x) outs() : (!tir.buffer<[n], f32>), ()
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

// -----

// Choices by a bool in memory or a number, and conditions on sizes.
// CHECK-LABEL: @control
rt.func @control(%c: !tir.buffer<[], i1>, %x: !tir.buffer<[n, k], f32>, %y: !tir.buffer<[n, k], f32>) results 1 {
  // CHECK:      rt.assert n * 2 eq k, "expected {0}, got {1}"
  rt.assert 2 * n eq k, "expected {0}, got {1}"
  // CHECK-NEXT: rt.assert n - 3 ge 0, "too small"
  rt.assert n - 3 ge 0, "too small"
  // CHECK-NEXT: rt.if %c : !tir.buffer<[], i1> {
  rt.if %c : !tir.buffer<[], i1> {
    // CHECK-NEXT: rt.copy %x, %y
    rt.copy %x, %y : !tir.buffer<[n, k], f32>, !tir.buffer<[n, k], f32>
  // CHECK-NEXT: } else {
  } else {
    // CHECK-NEXT: rt.if expr n - 1 {
    // CHECK-NEXT: } else {
    // CHECK-NEXT: }
    rt.if expr n - 1 { } else { }
  }
}

// -----

// A function that may call itself, with a symbol that its callers give.
// CHECK: rt.func private recursive @f(%x: !tir.buffer<[n], f32>, %y: !tir.buffer<[n], f32>) results 1 symbols [k, "max"] {
rt.func private recursive @f(%x: !tir.buffer<[n], f32>, %y: !tir.buffer<[n], f32>) results 1 symbols [k, "max"] {
  // CHECK-NEXT: rt.call_dps @f(%x) outs(%y) vars [k - 1, "max"]
  rt.call_dps @f(%x) outs(%y) vars [k - 1, "max"] : (!tir.buffer<[n], f32>), (!tir.buffer<[n], f32>)
}

// -----

// What users pass and get where it is not one tensor each.
// CHECK: rt.func @g(%t: !tir.buffer<[n], f32>, %t_1: !tir.buffer<[2], f32>, %y: !tir.buffer<[n], f32>) params ("t.0", "t.1") results 1 symbols [k] signature ("t", "s") : (tuple<!relax.tensor<[n], f32>, !relax.tensor<[2], f32>>, !relax.shape<[k]>) -> !relax.tensor<[n], f32> {
rt.func @g(%t: !tir.buffer<[n], f32>, %t_1: !tir.buffer<[2], f32>, %y: !tir.buffer<[n], f32>) params ("t.0", "t.1", "y") results 1 symbols [k] signature ("t", "s") : (tuple<!relax.tensor<[n], f32>, !relax.tensor<[2], f32>>, !relax.shape<[k]>) -> !relax.tensor<[n], f32> {
}

// A result that is a parameter, which the function writes.
// CHECK: rt.func @h(%x: !tir.buffer<[n], f32>, %y: !tir.buffer<[n], f32>) results tuple 1 written [0] signature ("x") : (!relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>> aliased [0, -1] {
rt.func @h(%x: !tir.buffer<[n], f32>, %y: !tir.buffer<[n], f32>) results tuple 1 written [0] signature ("x") : (!relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>> aliased [0, -1] {
}

// -----

// Objects of Python are numbers in memory; shapes, numbers and tuples are parts of a signature.
// CHECK: rt.func @objects(%o: !tir.buffer<[], i64>, %x: !tir.buffer<[n], f32>, %y: !tir.buffer<[], i64>)
rt.func @objects(%o: !tir.buffer<[], i64>, %x: !tir.buffer<[n], f32>, %y: !tir.buffer<[], i64>) results 1 signature ("o", "x") : (!relax.object, !relax.tensor<[n], f32>) -> !relax.object {
  // CHECK-NEXT: rt.call_packed "f" returns (%o, %x) outs(%y) : (!tir.buffer<[], i64>, !tir.buffer<[n], f32>), (!tir.buffer<[], i64>) signature (!relax.object, tuple<!relax.tensor<[n], f32>, !relax.shape<[n, 4]>>, !relax.prim<i64, 3>) -> !relax.object
  rt.call_packed "f" returns (%o, %x) outs(%y) : (!tir.buffer<[], i64>, !tir.buffer<[n], f32>), (!tir.buffer<[], i64>) signature (!relax.object, tuple<!relax.tensor<[n], f32>, !relax.shape<[n, 4]>>, !relax.prim<i64, 3>) -> !relax.object
}
