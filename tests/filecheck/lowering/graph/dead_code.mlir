// RUN: xrelax-opt %s -p dead-code-elimination --split-input-file | filecheck %s

// Outputs of dataflow blocks that nobody reads, and what they need alone, go away.
// CHECK-LABEL: @trim
relax.func @trim(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  // CHECK-NEXT: %o = relax.dataflow -> !relax.tensor<[n], f32> {
  %u, %o = relax.dataflow -> !relax.tensor<[n], f32>, !relax.tensor<[n], f32> {
    %a = relax.add %x, %x : !relax.tensor<[n], f32>, !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
    // CHECK-NEXT: %b = relax.multiply
    %b = relax.multiply %x, %x : !relax.tensor<[n], f32>, !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
    // CHECK-NEXT: relax.output %b : !relax.tensor<[n], f32>
    relax.output %a, %b : !relax.tensor<[n], f32>, !relax.tensor<[n], f32>
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: relax.return %o
  relax.return %o : !relax.tensor<[n], f32>
}

// -----

// Effects stay, and casts that check something; a choice and a block without uses do not.
// CHECK-LABEL: @effects
relax.func impure @effects(%c: !relax.tensor<[], i1>, %x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  // CHECK-NEXT: relax.call_packed "log"(%x)
  %0 = relax.call_packed "log"(%x) : (!relax.tensor<[n], f32>) -> !relax.object
  // CHECK-NEXT: relax.match_cast %x
  %1 = relax.match_cast %x : !relax.tensor<[n], f32> -> !relax.tensor<[4], f32>
  %2 = relax.match_cast %x : !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
  %3 = relax.if %c : !relax.tensor<[], i1> -> !relax.tensor<[n], f32> {
    relax.yield %x : !relax.tensor<[n], f32>
  } else {
    relax.yield %x : !relax.tensor<[n], f32>
  }
  // CHECK-NEXT: relax.if
  %4 = relax.if %c : !relax.tensor<[], i1> -> !relax.tensor<[n], f32> {
    // CHECK-NEXT: relax.call_packed "log"(%x)
    %5 = relax.call_packed "log"(%x) : (!relax.tensor<[n], f32>) -> !relax.object
    %6 = relax.add %x, %x : !relax.tensor<[n], f32>, !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
    // CHECK-NEXT: relax.yield %x
    relax.yield %x : !relax.tensor<[n], f32>
  } else {
    relax.yield %x : !relax.tensor<[n], f32>
  }
  relax.dataflow {
    %7 = relax.add %x, %x : !relax.tensor<[n], f32>, !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
    relax.output
  }
  // CHECK: relax.return %x
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// Private functions that nothing reaches go away, a circle of them too; calls of calls reach some.
// CHECK-NOT: @unused
// CHECK-NOT: @round
// CHECK: relax.func private @inner
// CHECK: relax.func private @used
relax.func private @inner(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  relax.return %x : !relax.tensor<[n], f32>
}
relax.func private @unused(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  relax.return %x : !relax.tensor<[n], f32>
}
relax.func private @round(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %y = relax.call @round(%x) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  relax.return %y : !relax.tensor<[n], f32>
}
relax.func private @used(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %y = relax.call @inner(%x) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  relax.return %y : !relax.tensor<[n], f32>
}
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %y = relax.call @used(%x) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  relax.return %y : !relax.tensor<[n], f32>
}

// -----

// Calls of functions from elsewhere run if they are outside of dataflow blocks, pure or not.
// CHECK-LABEL: @foreign
// CHECK-NOT:     "first"
// CHECK:         relax.call_pure_packed "second"
// CHECK-NEXT:    relax.invoke %f(%x)
// CHECK-NEXT:    relax.return %x
relax.func @foreign(%x: !relax.tensor<[n], f32>, %f: !relax.func<(!relax.tensor<[n], f32>) -> tuple<>>) -> !relax.tensor<[n], f32> {
  %0 = relax.dataflow -> !relax.tensor<[n], f32> {
    %1 = relax.call_pure_packed "first"(%x) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
    relax.output %1 : !relax.tensor<[n], f32>
  }
  %2 = relax.call_pure_packed "second"(%x) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  %3 = relax.invoke %f(%x) : !relax.func<(!relax.tensor<[n], f32>) -> tuple<>>, (!relax.tensor<[n], f32>) -> tuple<>
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// So do calls of functions of the module that make such calls, directly or through others. Calls in
// destination-passing style are for their results.
// CHECK-LABEL: relax.func @main
// CHECK-NEXT:    relax.call @logs(%x)
// CHECK-NEXT:    relax.call_tir @notifies(%x)
// CHECK-NEXT:    relax.return %x
relax.func private @log(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %0 = relax.call_pure_packed "log"(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  relax.return %0 : !relax.tensor<[4], f32>
}
relax.func private @logs(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %0 = relax.call @log(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  %1 = relax.call @logs(%0) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  relax.return %1 : !relax.tensor<[4], f32>
}
relax.func private @for_its_result(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %0 = relax.dataflow -> !relax.tensor<[4], f32> {
    %1 = relax.call_pure_packed "log"(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
    relax.output %1 : !relax.tensor<[4], f32>
  }
  relax.return %0 : !relax.tensor<[4], f32>
}
tir.prim_func @notifies(%X: !tir.buffer<[4], f32>, %Y: !tir.buffer<[4], f32>) {
  tir.call_extern "notify"(%X) : (!tir.buffer<[4], f32>) -> ()
}
tir.prim_func @computes(%X: !tir.buffer<[4], f32>, %Y: !tir.buffer<[4], f32>) {
}
relax.func @main(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %0 = relax.call @logs(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  %1 = relax.call_tir @notifies(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  %2 = relax.call_dps_packed "elsewhere"(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  %3 = relax.call @for_its_result(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  %4 = relax.call_tir @computes(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  %5 = relax.call_dps_packed "computes"(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  relax.return %x : !relax.tensor<[4], f32>
}
