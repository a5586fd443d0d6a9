// RUN: xrelax-opt %s -p canonicalize-bindings --split-input-file | filecheck %s

// Fields of known tuples, casts to the same type, and outputs that come from outside, in branches too.
// CHECK-LABEL: @names
relax.func @names(%c: !relax.tensor<[], i1>, %x: !relax.tensor<[n], f32>, %y: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  // CHECK-NEXT: %o = relax.dataflow -> !relax.tensor<[n], f32> {
  %t = relax.tuple(%x, %y) : (!relax.tensor<[n], f32>, !relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>>
  %o, %p = relax.dataflow -> !relax.tensor<[n], f32>, !relax.tensor<[n], f32> {
    %a = relax.tuple_get_item %t[0] : tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>> -> !relax.tensor<[n], f32>
    %b = relax.match_cast %a : !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
    // CHECK-NEXT: %d = relax.add %x, %y
    %d = relax.add %b, %y : !relax.tensor<[n], f32>, !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
    // CHECK-NEXT: relax.output %d
    relax.output %d, %b : !relax.tensor<[n], f32>, !relax.tensor<[n], f32>
  }
  // CHECK: relax.if %c
  %3 = relax.if %c : !relax.tensor<[], i1> -> !relax.tensor<[n], f32> {
    %q = relax.tuple_get_item %t[1] : tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>> -> !relax.tensor<[n], f32>
    // CHECK-NEXT: relax.yield %y
    relax.yield %q : !relax.tensor<[n], f32>
  } else {
    // CHECK: relax.multiply %o, %x
    %m = relax.multiply %o, %p : !relax.tensor<[n], f32>, !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
    relax.yield %m : !relax.tensor<[n], f32>
  }
  relax.return %3 : !relax.tensor<[n], f32>
}

// -----

// The tuple of all fields is the tuple; of some, or in another order, it is another one.
// CHECK-LABEL: @tuples
relax.func @tuples(%t: tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>>) -> tuple<tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>>, tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>>> {
  %a = relax.tuple_get_item %t[0] : tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>> -> !relax.tensor<[n], f32>
  %b = relax.tuple_get_item %t[1] : tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>> -> !relax.tensor<[n], f32>
  %same = relax.tuple(%a, %b) : (!relax.tensor<[n], f32>, !relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>>
  // CHECK: %other = relax.tuple(%b, %a)
  %other = relax.tuple(%b, %a) : (!relax.tensor<[n], f32>, !relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>>
  // CHECK-NEXT: relax.tuple(%t, %other)
  %r = relax.tuple(%same, %other) : (tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>>, tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>>) -> tuple<tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>>, tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>>>
  relax.return %r : tuple<tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>>, tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>>>
}

// -----

// A cast to another type is checked at run time, and stays.
// CHECK-LABEL: @cast
relax.func @cast(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[4], f32> {
  // CHECK-NEXT: relax.match_cast %x
  %0 = relax.match_cast %x : !relax.tensor<[n], f32> -> !relax.tensor<[4], f32>
  relax.return %0 : !relax.tensor<[4], f32>
}

// -----

// A value is one output of a dataflow block, however often it is listed.
// CHECK-LABEL: @twice
relax.func @twice(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  // CHECK-NEXT: %o = relax.dataflow -> !relax.tensor<[n], f32> {
  %o, %p = relax.dataflow -> !relax.tensor<[n], f32>, !relax.tensor<[n], f32> {
    %a = relax.add %x, %x : !relax.tensor<[n], f32>, !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
    // CHECK: relax.output %a : !relax.tensor<[n], f32>
    relax.output %a, %a : !relax.tensor<[n], f32>, !relax.tensor<[n], f32>
  }
  // CHECK: relax.multiply %o, %o
  %m = relax.multiply %o, %p : !relax.tensor<[n], f32>, !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
  relax.return %m : !relax.tensor<[n], f32>
}

// -----

// Symbols of a cast are the dims that it matches; a cast that says more is kept.

// CHECK-LABEL: relax.func @symbols(%x: !relax.tensor<[m, n], f32>) -> !relax.tensor<[m, 4], f32>
// CHECK-NEXT:    %z = relax.match_cast %x : !relax.tensor<[m, n], f32> -> !relax.tensor<[m, 4], f32>
// CHECK-NEXT:    %s = relax.add %z, %z
// CHECK-NEXT:    relax.return %s
relax.func @symbols(%x: !relax.tensor<[m, n], f32>) -> !relax.tensor<rank 2, f32> {
  %y = relax.match_cast %x : !relax.tensor<[m, n], f32> -> !relax.tensor<[o, p], f32>
  %z = relax.match_cast %y : !relax.tensor<[o, p], f32> -> !relax.tensor<[o, 4], f32>
  %s = relax.add %z, %z : !relax.tensor<[o, 4], f32>, !relax.tensor<[o, 4], f32> -> !relax.tensor<[o, 4], f32>
  relax.return %s : !relax.tensor<[o, 4], f32>
}

// -----

// A symbol that is the dim of a tensor of unknown shape is compared by later casts, which stay.

// CHECK-LABEL: relax.func @compared
// CHECK-NEXT:    relax.match_cast %y : !relax.tensor<rank 1, f32> -> !relax.tensor<[a], f32>
// CHECK-NEXT:    relax.match_cast %x : !relax.tensor<[n], f32> -> !relax.tensor<[a], f32>
relax.func @compared(%x: !relax.tensor<[n], f32>, %y: !relax.tensor<rank 1, f32>) -> !relax.tensor<rank 1, f32> {
  %u = relax.match_cast %y : !relax.tensor<rank 1, f32> -> !relax.tensor<[a], f32>
  %v = relax.match_cast %x : !relax.tensor<[n], f32> -> !relax.tensor<[a], f32>
  %s = relax.add %u, %v : !relax.tensor<[a], f32>, !relax.tensor<[a], f32> -> !relax.tensor<[a], f32>
  relax.return %s : !relax.tensor<[a], f32>
}
