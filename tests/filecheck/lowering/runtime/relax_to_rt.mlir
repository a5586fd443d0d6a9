// RUN: xrelax-opt %s -p convert-relax-to-rt --split-input-file | filecheck %s

// Parameters are checked under the users' names, intermediates allocated, and the returned value is computed
// in the memory of the result. The kernel is called by another name, because its own is now its entry's.

// CHECK-LABEL: rt.func @relu(%x: !tir.buffer<[1, n], f32>, %y: !tir.buffer<[1, n], f32>) written [1] {
// CHECK-NEXT:    rt.check %x "x" : !tir.buffer<[1, n], f32>
// CHECK-NEXT:    rt.check %y "y" : !tir.buffer<[1, n], f32>
// CHECK-NEXT:    rt.call_dps @relu.kernel(%x) outs(%y) : (!tir.buffer<[1, n], f32>), (!tir.buffer<[1, n], f32>)
// CHECK-NEXT:  }
// CHECK-LABEL: tir.prim_func @relu.kernel(%X: !tir.buffer<[1, n], f32>
// CHECK-LABEL: rt.func @main(%x: !tir.buffer<[1, n], f32>, %lv1: !tir.buffer<[1, n], f32>) results 1 {
// CHECK-NEXT:    rt.check %x "x" : !tir.buffer<[1, n], f32>
// CHECK-NEXT:    rt.dataflow {
// CHECK-NEXT:      %lv0 = rt.alloc : !tir.buffer<[1, n], f32>
// CHECK-NEXT:      rt.call_dps @relu.kernel(%x) outs(%lv0)
// CHECK-NEXT:      rt.call_packed "env.relu"(%lv0) outs(%lv1)
// CHECK-NEXT:    }
// CHECK-NEXT:  }
tir.prim_func @relu(%X: !tir.buffer<[1, n], f32>, %Y: !tir.buffer<[1, n], f32>) params ("x", "y") {
  tir.for %j in (0, n) {
    %x = tir.load %X[0, %j] : !tir.buffer<[1, n], f32>
    tir.store %x, %Y[0, %j] : !tir.buffer<[1, n], f32>
  }
}
relax.func @main(%x: !relax.tensor<[1, n], f32>) -> !relax.tensor<[1, n], f32> {
  %out = relax.dataflow -> !relax.tensor<[1, n], f32> {
    %lv0 = relax.call_tir @relu(%x) : (!relax.tensor<[1, n], f32>) -> !relax.tensor<[1, n], f32>
    %lv1 = relax.call_dps_packed "env.relu"(%lv0) : (!relax.tensor<[1, n], f32>) -> !relax.tensor<[1, n], f32>
    relax.output %lv1 : !relax.tensor<[1, n], f32>
  }
  relax.return %out : !relax.tensor<[1, n], f32>
}

// -----

// A private kernel has no entry and keeps its name. What a dataflow block outputs has memory before the block.

// CHECK-LABEL: builtin.module {
// CHECK-NEXT:    tir.prim_func @relu(
// CHECK-NEXT:    }
// CHECK-NEXT:    rt.func @main(%x: !tir.buffer<[4], f32>, %y: !tir.buffer<[4], f32>) results 1 {
// CHECK-NEXT:      rt.check %x "x" : !tir.buffer<[4], f32>
// CHECK-NEXT:      %a = rt.alloc : !tir.buffer<[4], f32>
// CHECK-NEXT:      rt.dataflow {
// CHECK-NEXT:        rt.call_dps @relu(%x) outs(%a)
// CHECK-NEXT:      }
// CHECK-NEXT:      rt.call_dps @relu(%a) outs(%y)
tir.prim_func @relu(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n], f32>) attributes {"private"} {
}
relax.func @main(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %g = relax.dataflow -> !relax.tensor<[4], f32> {
    %a = relax.call_tir @relu(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
    relax.output %a : !relax.tensor<[4], f32>
  }
  %y = relax.call_tir @relu(%g) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  relax.return %y : !relax.tensor<[4], f32>
}

// -----

// Calls for effects keep their order; memory with undefined content is allocated, here as the result.

// CHECK-LABEL: rt.func @main(%x: !tir.buffer<[4], f32>, %a: !tir.buffer<[4], f32>) results 1 {
// CHECK-NEXT:    rt.check %x "x"
// CHECK-NEXT:    rt.call_packed "log"(%x) outs() : (!tir.buffer<[4], f32>), ()
// CHECK-NEXT:    rt.call_packed "fill"(%x, %a) outs() : (!tir.buffer<[4], f32>, !tir.buffer<[4], f32>), ()
// CHECK-NEXT:    rt.call_packed "log"(%a) outs() : (!tir.buffer<[4], f32>), ()
// CHECK-NEXT:  }
relax.func impure @main(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %a = relax.alloc_tensor : !relax.tensor<[4], f32>
  %0 = relax.call_packed "log"(%x) : (!relax.tensor<[4], f32>) -> !relax.object
  %1 = relax.call_packed "fill"(%x, %a) : (!relax.tensor<[4], f32>, !relax.tensor<[4], f32>) -> !relax.object
  %2 = relax.call_packed "log"(%a) : (!relax.tensor<[4], f32>) -> !relax.object
  relax.return %a : !relax.tensor<[4], f32>
}

// -----

// Parameters and constants are copied into results, and a value that is returned again from its first place.

// CHECK-LABEL: rt.func @main(%x: !tir.buffer<[2], f32>, %x_1: !tir.buffer<[2], f32>, %c: !tir.buffer<[2], f32>, %y: !tir.buffer<[2], f32>, %y_1: !tir.buffer<[2], f32>) results tuple 4 {
// CHECK-NEXT:    rt.check %x "x"
// CHECK-NEXT:    %c_1 = rt.constant <float32, [2], [1.0, 2.0]> : !tir.buffer<[2], f32>
// CHECK-NEXT:    rt.call_packed "add"(%x, %c_1) outs(%y)
// CHECK-NEXT:    rt.copy %x, %x_1 :
// CHECK-NEXT:    rt.copy %c_1, %c :
// CHECK-NEXT:    rt.copy %y, %y_1 :
// CHECK-NEXT:  }
relax.func @main(%x: !relax.tensor<[2], f32>) -> tuple<!relax.tensor<[2], f32>, !relax.tensor<[2], f32>, !relax.tensor<[2], f32>, !relax.tensor<[2], f32>> {
  %c = relax.constant <float32, [2], [1.0, 2.0]> : !relax.tensor<[2], f32>
  %y = relax.call_dps_packed "add"(%x, %c) : (!relax.tensor<[2], f32>, !relax.tensor<[2], f32>) -> !relax.tensor<[2], f32>
  %t = relax.tuple(%x, %c, %y, %y) : (!relax.tensor<[2], f32>, !relax.tensor<[2], f32>, !relax.tensor<[2], f32>, !relax.tensor<[2], f32>) -> tuple<!relax.tensor<[2], f32>, !relax.tensor<[2], f32>, !relax.tensor<[2], f32>, !relax.tensor<[2], f32>>
  relax.return %t : tuple<!relax.tensor<[2], f32>, !relax.tensor<[2], f32>, !relax.tensor<[2], f32>, !relax.tensor<[2], f32>>
}

// -----

// A kernel with several outputs; the tuple of them leaves nothing behind.

// CHECK-LABEL: rt.func @main(%x: !tir.buffer<[4], f32>, %a: !tir.buffer<[2], f32>, %s: !tir.buffer<[2], f32>) results tuple 2 {
// CHECK:         %s_1 = rt.alloc : !tir.buffer<[2], f32>
// CHECK-NEXT:    rt.call_dps @split.kernel(%x) outs(%s_1, %s) : (!tir.buffer<[4], f32>), (!tir.buffer<[2], f32>, !tir.buffer<[2], f32>)
// CHECK-NEXT:    rt.call_packed "env.relu"(%s_1) outs(%a)
// CHECK-NEXT:  }
tir.prim_func @split(%X: !tir.buffer<[4], f32>, %A: !tir.buffer<[2], f32>, %B: !tir.buffer<[2], f32>) {
}
relax.func @main(%x: !relax.tensor<[4], f32>) -> tuple<!relax.tensor<[2], f32>, !relax.tensor<[2], f32>> {
  %s = relax.call_tir @split(%x) : (!relax.tensor<[4], f32>) -> tuple<!relax.tensor<[2], f32>, !relax.tensor<[2], f32>>
  %s0 = "relax.tuple_get_item"(%s) <{index = #builtin.int<0>}> : (tuple<!relax.tensor<[2], f32>, !relax.tensor<[2], f32>>) -> !relax.tensor<[2], f32>
  %a = relax.call_dps_packed "env.relu"(%s0) : (!relax.tensor<[2], f32>) -> !relax.tensor<[2], f32>
  %b = "relax.tuple_get_item"(%s) <{index = #builtin.int<1>}> : (tuple<!relax.tensor<[2], f32>, !relax.tensor<[2], f32>>) -> !relax.tensor<[2], f32>
  %t = relax.tuple(%a, %b) : (!relax.tensor<[2], f32>, !relax.tensor<[2], f32>) -> tuple<!relax.tensor<[2], f32>, !relax.tensor<[2], f32>>
  relax.return %t : tuple<!relax.tensor<[2], f32>, !relax.tensor<[2], f32>>
}

// -----

// Graph functions call private ones, which check nothing; a public one that is called is there twice.

// CHECK-LABEL: builtin.module {
// CHECK-NEXT:    rt.func @f(%x: !tir.buffer<[n], f32>, %y: !tir.buffer<[n], f32>) results 1 {
// CHECK-NEXT:      rt.check %x "x"
// CHECK-NEXT:      rt.call_packed "env.f"(%x) outs(%y)
// CHECK-NEXT:    }
// CHECK-NEXT:    rt.func private @f.body(%x: !tir.buffer<[n], f32>, %y: !tir.buffer<[n], f32>) results 1 {
// CHECK-NEXT:      rt.call_packed "env.f"(%x) outs(%y)
// CHECK-NEXT:    }
// CHECK-NEXT:    rt.func private @g(%t: !tir.buffer<[n], f32>, %t_1: !tir.buffer<[m], f32>, %z: !tir.buffer<[m], f32>) params ("t.0", "t.1") results 1 {
// CHECK-NEXT:      rt.call_packed "env.g"(%t, %t_1) outs(%z)
// CHECK-NEXT:    }
// CHECK-NEXT:    rt.func @main(%x: !tir.buffer<[4], f32>, %b: !tir.buffer<[4], f32>) results 1 {
// CHECK-NEXT:      rt.check %x "x"
// CHECK-NEXT:      %a = rt.alloc : !tir.buffer<[4], f32>
// CHECK-NEXT:      rt.call_dps @f.body(%x) outs(%a)
// CHECK-NEXT:      rt.call_dps @g(%a, %x) outs(%b)
// CHECK-NEXT:    }
relax.func @f(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %y = relax.call_dps_packed "env.f"(%x) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  relax.return %y : !relax.tensor<[n], f32>
}
relax.func private @g(%t: tuple<!relax.tensor<[n], f32>, !relax.tensor<[m], f32>>) -> !relax.tensor<[m], f32> {
  %z = relax.call_dps_packed "env.g"(%t) : (tuple<!relax.tensor<[n], f32>, !relax.tensor<[m], f32>>) -> !relax.tensor<[m], f32>
  relax.return %z : !relax.tensor<[m], f32>
}
relax.func @main(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %a = relax.call @f(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  %t = relax.tuple(%a, %x) : (!relax.tensor<[4], f32>, !relax.tensor<[4], f32>) -> tuple<!relax.tensor<[4], f32>, !relax.tensor<[4], f32>>
  %b = relax.call @g(%t) : (tuple<!relax.tensor<[4], f32>, !relax.tensor<[4], f32>>) -> !relax.tensor<[4], f32>
  relax.return %b : !relax.tensor<[4], f32>
}

// -----

// What a kernel needs of symbolic dims becomes what the function asks of its arguments, through calls as well.

// CHECK-LABEL: rt.func private @sum
// CHECK-SAME:      (%a: !tir.buffer<[p], f32>, %b: !tir.buffer<[p], f32>, %c: !tir.buffer<[p], f32>)
// CHECK-LABEL: rt.func @main(%x: !tir.buffer<[n], f32>, %y: !tir.buffer<[n * 2], f32>, %z: !tir.buffer<[8], f32>
// CHECK-NEXT:    rt.check %x "x" : !tir.buffer<[n], f32>
// CHECK-NEXT:    rt.check %y "y" : !tir.buffer<[n * 2], f32>
// CHECK-NEXT:    rt.check %z "z" : !tir.buffer<[8], f32>
tir.prim_func @add(%A: !tir.buffer<[n], f32>, %B: !tir.buffer<[n], f32>, %C: !tir.buffer<[n], f32>) {
}
tir.prim_func @twice(%A: !tir.buffer<[n], f32>, %B: !tir.buffer<[n * 2], f32>) {
}
tir.prim_func @eight(%A: !tir.buffer<[8], f32>, %B: !tir.buffer<[8], f32>) {
}
relax.func private @sum(%a: !relax.tensor<[p], f32>, %b: !relax.tensor<[q], f32>) -> !relax.tensor<[p], f32> {
  %c = relax.call_tir @add(%a, %b) : (!relax.tensor<[p], f32>, !relax.tensor<[q], f32>) -> !relax.tensor<[p], f32>
  relax.return %c : !relax.tensor<[p], f32>
}
relax.func @main(%x: !relax.tensor<[n], f32>, %y: !relax.tensor<[m], f32>, %z: !relax.tensor<[k], f32>) -> !relax.tensor<[8], f32> {
  %0 = relax.call_tir @twice(%x) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n * 2], f32>
  %1 = relax.call @sum(%0, %y) : (!relax.tensor<[n * 2], f32>, !relax.tensor<[m], f32>) -> !relax.tensor<[n * 2], f32>
  %2 = relax.call_tir @eight(%z) : (!relax.tensor<[k], f32>) -> !relax.tensor<[8], f32>
  relax.return %2 : !relax.tensor<[8], f32>
}

// -----

// Index parameters get their values from the graph, and in an entry from the shapes.

// CHECK-LABEL: rt.func @fill(%X: !tir.buffer<[n], f32>) written [0] {
// CHECK-NEXT:    rt.check %X "X"
// CHECK-NEXT:    rt.call_dps @fill.kernel() outs(%X) vars [n]
// CHECK-LABEL: tir.prim_func @window(
// CHECK-LABEL: rt.func @main
// CHECK:         rt.call_dps @window(%x) outs(%y) vars [k * 2]
tir.prim_func @fill(%X: !tir.buffer<[n], f32>, %n: index) {
  tir.for %i in (0, n) {
    %0 = arith.constant 0.0 : f32
    tir.store %0, %X[%i] : !tir.buffer<[n], f32>
  }
}
tir.prim_func @window(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n - i], f32>, %i: index) {
}
relax.func @main(%x: !relax.tensor<[k * 4], f32>, %s: !relax.tensor<[k], f32>) -> !relax.tensor<[k * 2], f32> {
  %y = relax.call_tir @window(%x) vars [#sym.expr<k * 2>] : (!relax.tensor<[k * 4], f32>) -> !relax.tensor<[k * 2], f32>
  relax.return %y : !relax.tensor<[k * 2], f32>
}

// -----

// A module without graph functions gets entries alone; what is in `rt` already stays as it is.

// CHECK-LABEL: builtin.module {
// CHECK-NEXT:    rt.func @main(%x: !tir.buffer<[n], f32>) {
// CHECK-NEXT:      rt.check %x "x"
// CHECK-NEXT:    }
// CHECK-NEXT:  }
rt.func @main(%x: !tir.buffer<[n], f32>) {
  rt.check %x "x" : !tir.buffer<[n], f32>
}

// -----

// Branches compute the value of a choice in its memory, or copy it there. A dim that may be negative
// is checked at entry, or in the branch that has such a tensor.
// CHECK-LABEL: rt.func @choice
relax.func @choice(%c: !relax.tensor<[], i1>, %x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  // CHECK: rt.assert n - 1 ge 0, "expected dim n - 1 of 'd' in 'choice' to be at least 0, got {0}"
  %d = relax.call_dps_packed "cut"(%x) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n - 1], f32>
  // CHECK: rt.if %c : !tir.buffer<[], i1> {
  %y = relax.if %c : !relax.tensor<[], i1> -> !relax.tensor<[n], f32> {
    // CHECK-NEXT: rt.assert n - 2 ge 0
    // CHECK-NEXT: %e = rt.alloc : !tir.buffer<[n - 2], f32>
    // CHECK-NEXT: rt.call_packed "cut"(%d) outs(%e)
    %e = relax.call_dps_packed "cut"(%d) : (!relax.tensor<[n - 1], f32>) -> !relax.tensor<[n - 2], f32>
    // CHECK-NEXT: rt.call_packed "f"(%x, %e) outs(%y)
    %f = relax.call_dps_packed "f"(%x, %e) : (!relax.tensor<[n], f32>, !relax.tensor<[n - 2], f32>) -> !relax.tensor<[n], f32>
    relax.yield %f : !relax.tensor<[n], f32>
  // CHECK-NEXT: } else {
  } else {
    // CHECK-NEXT: rt.copy %x, %y
    relax.yield %x : !relax.tensor<[n], f32>
  }
  relax.return %y : !relax.tensor<[n], f32>
}

// -----

// A public function that calls itself has a body that counts its calls, behind an entry.
// CHECK: rt.func @f(
// CHECK: rt.call_dps @f.body(%x) outs(%y) vars [k - 1]
// CHECK: rt.func private recursive @f.body(%x: !tir.buffer<[n], f32>, %y: !tir.buffer<[n], f32>) {{.*}} symbols [k]
// CHECK: rt.call_dps @f.body(%x) outs(%y) vars [k - 1]
relax.func @f(%x: !relax.tensor<[n], f32>, %p: !relax.prim<i64, k>) -> !relax.tensor<[n], f32> {
  %q = relax.prim_value : !relax.prim<i64, k - 1>
  %y = relax.call @f(%x, %q) : (!relax.tensor<[n], f32>, !relax.prim<i64, k - 1>) -> !relax.tensor<[n], f32>
  relax.return %y : !relax.tensor<[n], f32>
}

// -----

// A cast is a condition on sizes where it stands.
// CHECK-LABEL: rt.func @cast
relax.func @cast(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[4], f32> {
  // CHECK: rt.assert 4 eq n, "match_cast of 'x' to (4,) in 'cast': expected dim 0 to be {0}, got {1}"
  %y = relax.match_cast %x : !relax.tensor<[n], f32> -> !relax.tensor<[4], f32>
  // CHECK: rt.call_packed "f"(%x) outs(%z)
  %z = relax.call_dps_packed "f"(%y) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  relax.return %z : !relax.tensor<[4], f32>
}

// -----

// Python functions return into memory; prints and failed assertions are calls of the run time.
// CHECK-LABEL: rt.func @run_time
relax.func impure @run_time(%c: !relax.tensor<[], i1>, %x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  // CHECK: rt.call_packed "relax.print" text "{}" (%x) outs()
  %0 = relax.print "{}"(%x) : (!relax.tensor<[n], f32>) -> tuple<>
  // CHECK-NEXT: rt.if %c : !tir.buffer<[], i1> {
  // CHECK-NEXT: } else {
  // CHECK-NEXT: rt.call_packed "relax.assert" text "no" () outs()
  // CHECK-NEXT: }
  %1 = relax.assert %c, "no"() : !relax.tensor<[], i1>, () -> tuple<>
  // CHECK-NEXT: rt.call_packed "f" returns (%x) outs(%y)
  %y = relax.call_pure_packed "f"(%x) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  relax.return %y : !relax.tensor<[n], f32>
}

// -----

// What registered functions return of unknown shape becomes results, which may be the same.
// CHECK-LABEL: rt.func @unknown(%x: !tir.buffer<[n], f32>) results tuple 0 signature
relax.func impure @unknown(%x: !relax.tensor<[n], f32>) -> tuple<!relax.tensor<rank 1, f32>, !relax.tensor<*, ?>, !relax.tensor<rank 1, f32>> {
  // CHECK: rt.call_packed "f" returns kept {{\[\[0, 2\]\]}} (%x) outs()
  %y = relax.call_pure_packed "f"(%x) : (!relax.tensor<[n], f32>) -> !relax.tensor<rank 1, f32>
  // CHECK-NEXT: rt.call_packed "g" returns kept {{\[\[\], \[1\]\]}} (%x) outs()
  %z = relax.call_packed "g"(%x) : (!relax.tensor<[n], f32>) -> tuple<!relax.tensor<*, ?>, !relax.tensor<*, ?>>
  // CHECK-NEXT: rt.call_packed "h"(%x) outs()
  %v = relax.call_pure_packed "h"(%x) : (!relax.tensor<[n], f32>) -> !relax.tensor<*, f32>
  %w = relax.tuple_get_item %z[1] : tuple<!relax.tensor<*, ?>, !relax.tensor<*, ?>> -> !relax.tensor<*, ?>
  %t = relax.tuple(%y, %w, %y) : (!relax.tensor<rank 1, f32>, !relax.tensor<*, ?>, !relax.tensor<rank 1, f32>) -> tuple<!relax.tensor<rank 1, f32>, !relax.tensor<*, ?>, !relax.tensor<rank 1, f32>>
  relax.return %t : tuple<!relax.tensor<rank 1, f32>, !relax.tensor<*, ?>, !relax.tensor<rank 1, f32>>
}

// -----

// A call in place takes the memory of its argument, also that of users; a view of it is a copy.
// CHECK-LABEL: rt.func @in_place(%x: !tir.buffer<[n], f32>, %v: !tir.buffer<[n, 1], f32>) results 1 written [0] {
relax.func @in_place(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n, 1], f32> {
  // CHECK: %v_1 = rt.alloc
  // CHECK-NEXT: %0 = rt.reinterpret %x
  // CHECK-NEXT: rt.copy %0, %v_1
  %v = relax.memory.view %x {shape = [#sym.expr<n>, #sym.expr<1>]} : !relax.tensor<[n], f32> -> !relax.tensor<[n, 1], f32>
  // CHECK-NEXT: rt.call_dps @twice() outs(%x)
  %a = relax.call_tir_inplace @twice(%x) inplace [0] : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  relax.return %v : !relax.tensor<[n, 1], f32>
}

// A constant, and what a private function gets, are copied.
// CHECK-LABEL: rt.func private @in_place_of_a_copy
relax.func private @in_place_of_a_copy(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  // CHECK: %a = rt.alloc
  // CHECK-NEXT: rt.copy %x, %a
  // CHECK-NEXT: rt.call_dps @twice() outs(%a)
  %a = relax.call_tir_inplace @twice(%x) inplace [0] : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  // CHECK-NEXT: rt.call_dps @twice() outs(%a)
  %b = relax.call_tir_inplace @twice(%a) inplace [0] : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  // CHECK-NEXT: rt.call_packed "f"(%a) outs(%z)
  %z = relax.call_dps_packed "f"(%b) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  relax.return %z : !relax.tensor<[n], f32>
}

// A result that is computed in place of a parameter is that parameter, whose memory is the caller's.
// CHECK-LABEL: rt.func @returned_in_place(%x: !tir.buffer<[n], f32>, %z: !tir.buffer<[n], f32>)
// CHECK-SAME: results tuple 1 written [0] signature ("x") : (!relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>> aliased [0, -1] {
relax.func @returned_in_place(%x: !relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>> {
  // CHECK-NEXT: rt.check %x "x"
  // CHECK-NEXT: rt.call_dps @twice() outs(%x)
  %a = relax.call_tir_inplace @twice(%x) inplace [0] : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  // CHECK-NEXT: rt.call_dps @twice() outs(%x)
  %b = relax.call_tir_inplace @twice(%a) inplace [0] : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  // CHECK-NEXT: rt.call_packed "f"(%x) outs(%z)
  %z = relax.call_dps_packed "f"(%b) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  %t = relax.tuple(%b, %z) : (!relax.tensor<[n], f32>, !relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>>
  // CHECK-NEXT: }
  relax.return %t : tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>>
}

// What only a call in place uses is computed in the memory of its output, here the result.
// CHECK-LABEL: rt.func @replaced(%x: !tir.buffer<[n], f32>, %b: !tir.buffer<[n], f32>) results 1 {
relax.func @replaced(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %y = relax.dataflow -> !relax.tensor<[n], f32> {
    // CHECK: rt.call_packed "f"(%x) outs(%b)
    %a = relax.call_dps_packed "f"(%x) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
    // CHECK-NEXT: rt.call_dps @twice() outs(%b)
    %b = relax.call_tir_inplace @twice(%a) inplace [0] : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
    relax.output %b : !relax.tensor<[n], f32>
  }
  // CHECK-NEXT: }
  relax.return %y : !relax.tensor<[n], f32>
}
tir.prim_func @twice(%A: !tir.buffer<[n], f32>) attributes {"private"} {
}

// -----

// A scalar of a kernel becomes memory without dims, unsigned where its numbers are. An index that no
// buffer has as a dim is a number that users pass.
// CHECK-LABEL: rt.func @scale(%X: !tir.buffer<[n], f32>, %s: !tir.buffer<[], ui8>) written [0] symbols [i] signature ("X", "s", "i") : (!relax.tensor<[n], f32>, !relax.tensor<[], ui8>, !relax.prim<i64, i>) -> () {
// CHECK-NEXT:    rt.check %X "X"
// CHECK-NEXT:    rt.check %s "s"
// CHECK-NEXT:    rt.call_dps @scale.kernel() outs(%X, %s) vars [i] :
// CHECK:       tir.prim_func @scale.kernel(%X: !tir.buffer<[n], f32>, %s: !tir.buffer<[], ui8>, %i: index) {
// CHECK-NEXT:    %s_1 = tir.load %s[] : !tir.buffer<[], ui8>
// CHECK-NEXT:    %f = arith.uitofp %s_1 : i8 to f32
tir.prim_func @scale(%X: !tir.buffer<[n], f32>, %s: i8, %i: index) unsigned ("s") {
  %f = arith.uitofp %s : i8 to f32
  tir.store %f, %X[0] : !tir.buffer<[n], f32>
}

// -----

// The ranges of symbols are checked at entry, also in tuples, shapes and numbers.

// CHECK-LABEL: rt.func @ranges
// CHECK-NEXT: rt.check %x "x"
// CHECK-NEXT: rt.check %t "t.1"
// CHECK-NEXT: rt.assert n ge 2, "expected dim 0 ('n') of argument 'x' to be in [2, 8], got {0}"
// CHECK-NEXT: rt.assert 8 ge n, "expected dim 0 ('n') of argument 'x' to be in [2, 8], got {1}"
// CHECK-NEXT: rt.assert m ge 1, "expected dim 1 ('m') of argument 't.1' to be at least 1, got {0}"
// CHECK-NEXT: rt.assert 4 ge k, "expected argument 'k' to be in [0, 4], got {1}"
// CHECK-NEXT: rt.dataflow
relax.func @ranges(%x: !relax.tensor<[n], f32>, %t: tuple<!relax.shape<[l]>, !relax.tensor<[n, m], f32>>, %k: !relax.prim<i64, k>) -> !relax.tensor<[n], f32> attributes {"tir_var_lower_bound" = {"n" = 2 : i64, "m" = 1 : i64}, "tir_var_upper_bound" = {"n" = 8 : i64, "k" = 4 : i64, "other" = 3 : i64}} {
  %y = relax.dataflow -> !relax.tensor<[n], f32> {
    %0 = relax.call_dps_packed "f"(%x) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
    relax.output %0 : !relax.tensor<[n], f32>
  }
  relax.return %y : !relax.tensor<[n], f32>
}

// -----

// An object is a number in memory. Registered functions see the types that calls have in the graph.

// CHECK-LABEL: rt.func @objects(%cache: !tir.buffer<[], i64>, %x: !tir.buffer<[n], f32>, %new: !tir.buffer<[], i64>, %mode: !tir.buffer<[], i64>)
// CHECK-SAME: results tuple 2 signature ("cache", "x") : (!relax.object, !relax.tensor<[n], f32>) -> tuple<!relax.object, !relax.object> {
// CHECK:         rt.call_packed "relax.str" returns text "max" () outs(%mode) : (), (!tir.buffer<[], i64>) signature () -> !relax.object
// CHECK-NEXT:    rt.call_packed "append" returns (%cache, %x, %mode) outs(%new) : {{.*}} signature (!relax.object, tuple<!relax.tensor<[n], f32>, !relax.shape<[n]>>, !relax.object) -> !relax.object
// CHECK-NEXT:    rt.call_packed "log"(%new) outs() : (!tir.buffer<[], i64>), () signature (!relax.object) -> tuple<>
relax.func impure @objects(%cache: !relax.object, %x: !relax.tensor<[n], f32>) -> tuple<!relax.object, !relax.object> {
  %s = relax.shape_of %x : !relax.tensor<[n], f32> -> !relax.shape<[n]>
  %mode = relax.str "max" : !relax.object
  %t = relax.tuple(%x, %s) : (!relax.tensor<[n], f32>, !relax.shape<[n]>) -> tuple<!relax.tensor<[n], f32>, !relax.shape<[n]>>
  %new = relax.call_packed "append"(%cache, %t, %mode) : (!relax.object, tuple<!relax.tensor<[n], f32>, !relax.shape<[n]>>, !relax.object) -> !relax.object
  %0 = relax.call_packed "log"(%new) : (!relax.object) -> !relax.object
  %1 = relax.tuple(%new, %mode) : (!relax.object, !relax.object) -> tuple<!relax.object, !relax.object>
  relax.return %1 : tuple<!relax.object, !relax.object>
}
