// RUN: xrelax-opt %s -p normalize --split-input-file | filecheck %s

// The name of a PrimFunc of the module comes before the registry, outside of dataflow blocks too.

// CHECK-LABEL: relax.func @main
// CHECK:         %lv = relax.call_tir @relu(%x) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
// CHECK:         %y = relax.call_tir @relu(%gv) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
tir.prim_func @relu(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n], f32>) {
}
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %gv = relax.dataflow -> !relax.tensor<[n], f32> {
    %lv = relax.call_dps_packed "relu"(%x) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
    relax.output %lv : !relax.tensor<[n], f32>
  }
  %y = relax.call_dps_packed "relu"(%gv) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  relax.return %y : !relax.tensor<[n], f32>
}

// -----

// A name that the module does not have stays as it is, for the registry, and so does a call_tir.

// CHECK-LABEL: relax.func @main
// CHECK:         %0 = relax.call_dps_packed "env.relu"(%x)
// CHECK:         %1 = relax.call_dps_packed "main"(%0)
// CHECK:         %2 = relax.call_tir @relu(%1)
tir.prim_func @relu(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n], f32>) {
}
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.call_dps_packed "env.relu"(%x) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  %1 = relax.call_dps_packed "main"(%0) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  %2 = relax.call_tir @relu(%1) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  relax.return %2 : !relax.tensor<[n], f32>
}

// -----

// One kernel at two shapes, and dims that may turn out equal when the program runs, are accepted.

// CHECK-LABEL: relax.func @main
// CHECK:         relax.call_tir @add(%a, %b)
// CHECK:         relax.call_tir @add(%c, %c)
tir.prim_func @add(%A: !tir.buffer<[n], f32>, %B: !tir.buffer<[n], f32>, %C: !tir.buffer<[n], f32>) {
}
relax.func @main(%a: !relax.tensor<[p], f32>, %b: !relax.tensor<[q], f32>, %c: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %0 = relax.call_tir @add(%a, %b) : (!relax.tensor<[p], f32>, !relax.tensor<[q], f32>) -> !relax.tensor<[p], f32>
  %1 = relax.call_tir @add(%c, %c) : (!relax.tensor<[4], f32>, !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  relax.return %1 : !relax.tensor<[4], f32>
}

// -----

// Scratch memory whose elements iterations of a parallel loop share moves into the loop; what each
// has its own part of, what others use too, and what serial loops share stays.

// CHECK-LABEL: tir.prim_func @scratch
// CHECK-NEXT:    %own = tir.alloc_buffer
// CHECK-NEXT:    %used = tir.alloc_buffer
// CHECK-NEXT:    tir.for %i in (0, n) {
// CHECK-NEXT:      tir.for %j in (0, n) parallel {
// CHECK-NEXT:        %shared = tir.alloc_buffer : !tir.buffer<[1], f32>
// CHECK-NEXT:        tir.block "a"
// CHECK:           tir.block "c"
tir.prim_func @scratch(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n, n], f32>, %Z: !tir.buffer<[1], f32>) {
  %shared = tir.alloc_buffer : !tir.buffer<[1], f32>
  %own = tir.alloc_buffer : !tir.buffer<[n], f32>
  %used = tir.alloc_buffer : !tir.buffer<[1], f32>
  tir.for %i in (0, n) {
    tir.for %j in (0, n) parallel {
      tir.block "a" (%v: spatial (0, n) = %j) reads (%X[%v]) writes (%shared[0], %own[%v], %used[0]) {
        %x = tir.load %X[%v] : !tir.buffer<[n], f32>
        tir.store %x, %shared[0] : !tir.buffer<[1], f32>
        tir.store %x, %own[%v] : !tir.buffer<[n], f32>
        tir.store %x, %used[0] : !tir.buffer<[1], f32>
      }
      tir.block "b" (%u: spatial (0, n) = %i, %v: spatial (0, n) = %j) reads (%shared[0], %own[%v]) writes (%Y[%u, %v]) {
        %s = tir.load %shared[0] : !tir.buffer<[1], f32>
        %t = tir.load %own[%v] : !tir.buffer<[n], f32>
        %y = arith.addf %s, %t : f32
        tir.store %y, %Y[%u, %v] : !tir.buffer<[n, n], f32>
      }
    }
  }
  tir.block "c" () reads (%used[0]) writes (%Z[0]) {
    %z = tir.load %used[0] : !tir.buffer<[1], f32>
    tir.store %z, %Z[0] : !tir.buffer<[1], f32>
  }
}

// -----

// Functions that are parameters are called by one of the runtime, in order if they are impure, and
// objects are cast by another one.

// CHECK-LABEL: relax.func impure @callbacks(%f: !relax.object, %g: !relax.object)
// CHECK-NEXT:    %o = relax.call_pure_packed "vm.builtin.invoke_closure"(%f) : (!relax.object) -> !relax.object
// CHECK-NEXT:    %x = relax.call_pure_packed "vm.builtin.value_of"(%o) : (!relax.object) -> !relax.tensor<[4], f32>
// CHECK-NEXT:    %r = relax.call_packed "vm.builtin.invoke_closure"(%g, %x) : (!relax.object, !relax.tensor<[4], f32>) -> tuple<>
relax.func impure @callbacks(%f: !relax.func<() -> !relax.object>, %g: !relax.func<impure (!relax.object) -> tuple<>>) -> !relax.tensor<[4], f32> {
  %o = relax.invoke %f() : !relax.func<() -> !relax.object>, () -> !relax.object
  %x = relax.match_cast %o : !relax.object -> !relax.tensor<[4], f32>
  %r = relax.invoke %g(%x) : !relax.func<impure (!relax.object) -> tuple<>>, (!relax.tensor<[4], f32>) -> tuple<>
  relax.return %x : !relax.tensor<[4], f32>
}

// -----

// A function that is not called states what is known of its result.

// CHECK-LABEL: relax.func @result
// CHECK-SAME:    -> !relax.tensor<[n], f32>
relax.func @result(%x: !relax.tensor<[n], f32>) -> !relax.tensor<rank 1, f32> {
  relax.return %x : !relax.tensor<[n], f32>
}
