// RUN: xrelax-opt %s -p resolve-shapes --split-input-file | filecheck %s

// Open dims of parameters get symbols; those that a cast declares are what they are.
// CHECK-LABEL: relax.func @cast(%x: !relax.tensor<[x_0, x_1], f32>, %w: !relax.tensor<[k], f32>) -> !relax.tensor<[x_0, k], f32> {
relax.func @cast(%x: !relax.tensor<rank 2, f32>, %w: !relax.tensor<[k], f32>) -> !relax.tensor<rank 2, f32> {
  // CHECK-NEXT: %r = relax.nn.relu %x : !relax.tensor<[x_0, x_1], f32> -> !relax.tensor<[x_0, x_1], f32>
  %r = relax.nn.relu %x : !relax.tensor<rank 2, f32> -> !relax.tensor<rank 2, f32>
  // CHECK-NEXT: %y = relax.match_cast %r written "(n, k)" : !relax.tensor<[x_0, x_1], f32> -> !relax.tensor<[x_0, k], f32>
  %y = relax.match_cast %r : !relax.tensor<rank 2, f32> -> !relax.tensor<[n, k], f32>
  // CHECK-NEXT: %z = relax.add %y, %w : !relax.tensor<[x_0, k], f32>, !relax.tensor<[k], f32> -> !relax.tensor<[x_0, k], f32>
  %z = relax.add %y, %w : !relax.tensor<[n, k], f32>, !relax.tensor<[k], f32> -> !relax.tensor<[n, k], f32>
  relax.return %z : !relax.tensor<[n, k], f32>
}

// -----

// Both branches may call their symbols the same.
// CHECK-LABEL: relax.func @branches
relax.func @branches(%c: !relax.tensor<[], i1>, %x: !relax.tensor<[a], f32>, %y: !relax.tensor<[b], f32>) -> !relax.tensor<rank 1, f32> {
  %z = relax.if %c : !relax.tensor<[], i1> -> !relax.tensor<rank 1, f32> {
    // CHECK: relax.match_cast %x written "(n,)" : !relax.tensor<[a], f32> -> !relax.tensor<[a], f32>
    %p = relax.match_cast %x : !relax.tensor<[a], f32> -> !relax.tensor<[n], f32>
    relax.yield %p : !relax.tensor<[n], f32>
  } else {
    // CHECK: relax.match_cast %y written "(n,)" : !relax.tensor<[b], f32> -> !relax.tensor<[b], f32>
    %q = relax.match_cast %y : !relax.tensor<[b], f32> -> !relax.tensor<[n], f32>
    // CHECK: relax.match_cast %q written "(a,)" : !relax.tensor<[b], f32> -> !relax.tensor<[a], f32>
    %s = relax.match_cast %q : !relax.tensor<[n], f32> -> !relax.tensor<[a], f32>
    relax.yield %s : !relax.tensor<[a], f32>
  }
  // CHECK: relax.return %z : !relax.tensor<[a], f32>
  relax.return %z : !relax.tensor<rank 1, f32>
}

// -----

// What a call returns is known once the callee's shapes are; shapes have symbols too, and integers
// that something reads as a size.
// CHECK-LABEL: relax.func @caller
relax.func @caller(%x: !relax.tensor<[4, n], f32>, %s: !relax.shape<rank 1>, %p: !relax.prim<i64>, %q: !relax.prim<i64>) -> !relax.tensor<rank 2, f32> {
  // CHECK-NEXT: relax.call @callee(%x, %s, %p, %q) : (!relax.tensor<[4, n], f32>, !relax.shape<[s_0]>, !relax.prim<i64>, !relax.prim<i64, q>) -> !relax.tensor<[4, n], f32>
  %y = relax.call @callee(%x, %s, %p, %q) : (!relax.tensor<[4, n], f32>, !relax.shape<rank 1>, !relax.prim<i64>, !relax.prim<i64>) -> !relax.tensor<rank 2, f32>
  relax.return %y : !relax.tensor<rank 2, f32>
}
// CHECK: relax.func private @callee(%x: !relax.tensor<[x_0, x_1], f32>, %s: !relax.shape<[s_0]>, %p: !relax.prim<i64>, %q: !relax.prim<i64, q>) -> !relax.tensor<[x_0, x_1], f32> {
relax.func private @callee(%x: !relax.tensor<rank 2, f32>, %s: !relax.shape<rank 1>, %p: !relax.prim<i64>, %q: !relax.prim<i64>) -> !relax.tensor<rank 2, f32> {
  // CHECK-NEXT: relax.match_cast %q written "m" : !relax.prim<i64, q> -> !relax.prim<i64, q>
  %0 = relax.match_cast %q : !relax.prim<i64> -> !relax.prim<i64, m>
  relax.return %x : !relax.tensor<rank 2, f32>
}

// -----

// A cast that every call runs says the rank and the dtype of a parameter; without one it is an object.
// CHECK-LABEL: relax.func @unknown(%x: !relax.tensor<[x_0, x_1], f32>, %s: !relax.shape<[s_0]>, %y: !relax.object,
relax.func @unknown(%x: !relax.tensor<*, f32>, %s: !relax.object, %y: !relax.tensor<*, f32>, %c: !relax.tensor<[], i1>) -> !relax.tensor<rank 2, f32> {
  %d = relax.dataflow -> !relax.tensor<[n, m], f32> {
    // CHECK: relax.match_cast %x written "(n, m)" : !relax.tensor<[x_0, x_1], f32> -> !relax.tensor<[x_0, x_1], f32>
    %z = relax.match_cast %x : !relax.tensor<*, f32> -> !relax.tensor<[n, m], f32>
    relax.output %z : !relax.tensor<[n, m], f32>
  }
  // CHECK: relax.match_cast %s written "(x_0,)" : !relax.shape<[s_0]> -> !relax.shape<[x_0]>
  %t = relax.match_cast %s : !relax.object -> !relax.shape<[n]>
  %i = relax.if %c : !relax.tensor<[], i1> -> !relax.tensor<[], i1> {
    %w = relax.match_cast %y : !relax.tensor<*, f32> -> !relax.tensor<[2], f32>
    relax.yield %c : !relax.tensor<[], i1>
  } else {
    relax.yield %c : !relax.tensor<[], i1>
  }
  relax.return %d : !relax.tensor<[n, m], f32>
}

// -----

// A cast over known symbols says what a registered function returns; those that one declares are the
// dims of an object.
// CHECK-LABEL: relax.func @packed
relax.func @packed(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n, 4], f32> {
  // CHECK-NEXT: relax.call_pure_packed "f"(%x) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n, 4], f32>
  %y = relax.call_pure_packed "f"(%x) : (!relax.tensor<[n], f32>) -> !relax.tensor<*, ?>
  %z = relax.match_cast %y : !relax.tensor<*, ?> -> !relax.tensor<[n, 4], f32>
  // CHECK: %v = relax.call_pure_packed "g"(%x) : (!relax.tensor<[n], f32>) -> !relax.object
  // CHECK-NEXT: %0 = relax.call_pure_packed "vm.builtin.dims_of"(%v) : (!relax.object) -> !relax.tensor<[1], i64>
  // CHECK-NEXT: %1 = relax.tensor_to_shape %0 : !relax.tensor<[1], i64> -> !relax.shape<rank 1>
  // CHECK-NEXT: relax.match_cast %1 : !relax.shape<rank 1> -> !relax.shape<[m]>
  %v = relax.call_pure_packed "g"(%x) : (!relax.tensor<[n], f32>) -> !relax.tensor<rank 1, f32>
  %w = relax.match_cast %v : !relax.tensor<rank 1, f32> -> !relax.tensor<[m], f32>
  relax.return %z : !relax.tensor<[n, 4], f32>
}

// -----

// A result in place has the shape of the argument.
// CHECK-LABEL: relax.func @in_place
// CHECK-NEXT:    %y = relax.add %x, %x : {{.*}} -> !relax.tensor<[x_0], f32>
// CHECK-NEXT:    %z = relax.call_pure_packed "f"(%y) inplace [0, -1] : (!relax.tensor<[x_0], f32>) -> tuple<!relax.tensor<[x_0], f32>, !relax.object>
relax.func @in_place(%x: !relax.tensor<rank 1, f32>) -> tuple<!relax.tensor<rank 1, f32>, !relax.tensor<rank 1, f32>> {
  %y = relax.add %x, %x : !relax.tensor<rank 1, f32>, !relax.tensor<rank 1, f32> -> !relax.tensor<rank 1, f32>
  %z = relax.call_pure_packed "f"(%y) inplace [0, -1] : (!relax.tensor<rank 1, f32>) -> tuple<!relax.tensor<rank 1, f32>, !relax.tensor<rank 1, f32>>
  relax.return %z : tuple<!relax.tensor<rank 1, f32>, !relax.tensor<rank 1, f32>>
}
